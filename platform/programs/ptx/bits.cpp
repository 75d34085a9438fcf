#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
struct And : Same<T> {
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or : Same<T> {
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor : Same<T> {
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct Not : Same<T> {
  static T apply(T a) { return static_cast<T>(~a); }
};
template <class T>
struct IsZero : Same<T> {
  static T apply(T a) { return a == 0 ? T{1} : T{0}; }
};
/// Shifts take a 32-bit amount; amounts of the width or more shift everything out.
template <class T>
struct ShiftLeft : Same<T> {
  using B = std::uint32_t;
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const T shifted = static_cast<T>(static_cast<Wrapping<T>>(a) << (n & (kBits - 1)));
    return n >= kBits ? T{0} : shifted;
  }
};
template <class T>
struct ShiftRight : Same<T> {
  using B = std::uint32_t;
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const T shifted = static_cast<T>(a >> (n & (kBits - 1)));
    const T all = static_cast<T>(a < T{0} ? ~T{0} : T{0});
    return n >= kBits ? all : shifted;
  }
};

/// PTX ISA, "lop3": bit (a << 2 | b << 1 | c) of the table is the result.
void run_lop3(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  std::uint32_t want[8];
  for (unsigned k = 0; k < 8; ++k) want[k] = ((op.immediate >> k) & 1) != 0 ? ~0U : 0U;
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint32_t x = a[i], y = b[i], z = c[i];
    t[i] = (want[0] & ~x & ~y & ~z) | (want[1] & ~x & ~y & z) | (want[2] & ~x & y & ~z) |
           (want[3] & ~x & y & z) | (want[4] & x & ~y & ~z) | (want[5] & x & ~y & z) |
           (want[6] & x & y & ~z) | (want[7] & x & y & z);
  }
  f.write(op.r[0], t);
}

/// Bit 0 of mode: shift right; bit 1: clamp the amount at 32.
void run_funnel(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const std::uint64_t pair = (std::uint64_t{b[i]} << 32U) | a[i];
    const std::uint32_t n = (op.mode & 2U) != 0 ? std::min(c[i], 32U) : c[i] & 31U;
    t[i] = static_cast<std::uint32_t>((op.mode & 1U) != 0 ? pair >> n : (pair << n) >> 32U);
  }
  f.write(op.r[0], t);
}

enum class Logic : std::uint8_t { conjunction, disjunction, exclusive };
template <Logic kLogic>
void run_predicates(const Op& op, Frame& f) {
  const LaneMask a = f.predicate(op.r[1]);
  const LaneMask b = f.predicate(op.r[2]);
  f.set_predicate(op.r[0], kLogic == Logic::conjunction   ? a & b
                           : kLogic == Logic::disjunction ? a | b
                                                          : a ^ b);
}
void run_not_predicate(const Op& op, Frame& f) {
  f.set_predicate(op.r[0], ~f.predicate(op.r[1]));
}

template <Logic kLogic, template <class> class F>
void decode_logic(Decoder& d) {
  const DataType type = d.take_type({DataType::pred, DataType::b16, DataType::b32, DataType::b64});
  if (type == DataType::pred) {
    d.need_operands(3);
    Op op;
    op.r[1] = d.predicate_source(d.operand(1));
    op.r[2] = d.predicate_source(d.operand(2));
    op.r[0] = d.predicate_destination(d.operand(0));
    op.run = &run_predicates<kLogic>;
    d.emit(op, latency::kSimple);
    return;
  }
  Op op = plain_operands(d, type, 2);
  op.run = for_integer<F, Binary>(type);
  d.emit(op, integer_latency(type));
}

template <template <class> class F, bool kPredicate>
void decode_not(Decoder& d) {
  const DataType type = d.take_type({DataType::pred, DataType::b16, DataType::b32, DataType::b64});
  if (type == DataType::pred && kPredicate) {
    d.need_operands(2);
    Op op;
    op.r[1] = d.predicate_source(d.operand(1));
    op.r[0] = d.predicate_destination(d.operand(0));
    op.run = &run_not_predicate;
    d.emit(op, latency::kSimple);
    return;
  }
  Op op = plain_operands(d, type, 1);
  op.run = for_integer<F, Unary>(type);
  d.emit(op, integer_latency(type));
}

template <template <class> class F>
void decode_shift(Decoder& d) {
  const DataType type = d.take_type();
  d.need_operands(3);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, DataType::u32);
  op.r[0] = d.destination(std::size_t{0}, type);
  op.run = for_integer<F, Binary>(type);
  if (op.run == nullptr) d.fail("type ." + std::string(name_of(type)) + " cannot be shifted");
  d.emit(op, integer_latency(type));
}

void decode_lop3(Decoder& d) {
  d.take_type({DataType::b32});
  d.need_operands(5);
  const Operand& table = d.operand(4);
  if (table.kind != Operand::Kind::integer || table.bits > 255)
    d.fail(table.token.place(), "expected a table from 0 to 255");
  Op op;
  for (unsigned i = 1; i < 4; ++i) op.r.at(i) = d.source(i, DataType::b32);
  op.r[0] = d.destination(std::size_t{0}, DataType::b32);
  op.immediate = static_cast<std::int64_t>(table.bits);
  op.run = &run_lop3;
  d.emit(op, latency::kSimple);
}

void decode_funnel(Decoder& d) {
  const auto direction = d.take_one_of({".l", ".r"});
  const auto amount = d.take_one_of({".wrap", ".clamp"});
  if (!direction || !amount) d.fail("'shf' needs '.l' or '.r', and '.wrap' or '.clamp'");
  d.take_type({DataType::b32});
  Op op = plain_operands(d, DataType::b32, 3);
  op.mode = static_cast<std::uint8_t>(*direction | (*amount << 1U));
  op.run = &run_funnel;
  d.emit(op, latency::kSimple);
}

}  // namespace

const std::vector<Opcode>& bit_opcodes() {
  static const std::vector<Opcode> kOpcodes = {
      {"and", &decode_logic<Logic::conjunction, And>},
      {"or", &decode_logic<Logic::disjunction, Or>},
      {"xor", &decode_logic<Logic::exclusive, Xor>},
      {"not", &decode_not<Not, true>},
      {"cnot", &decode_not<IsZero, false>},
      {"shl", &decode_shift<ShiftLeft>},
      {"shr", &decode_shift<ShiftRight>},
      {"lop3", &decode_lop3},
      {"shf", &decode_funnel},
  };
  return kOpcodes;
}

}  // namespace warpline::ptx
