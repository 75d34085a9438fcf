#include <algorithm>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
struct And {
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct Not {
  static T apply(T a) { return static_cast<T>(~a); }
};
template <class T>
struct IsZero {
  static T apply(T a) { return a == 0 ? T{1} : T{0}; }
};
/// Shifts take a 32-bit amount; amounts of the width or more shift everything out.
template <class T>
struct ShiftLeft {
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const T shifted = static_cast<T>(static_cast<Wrapping<T>>(a) << (n & (kBits - 1)));
    return n >= kBits ? T{0} : shifted;
  }
};
template <class T>
struct ShiftRight {
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const T shifted = static_cast<T>(a >> (n & (kBits - 1)));
    const T all = static_cast<T>(a < T{0} ? ~T{0} : T{0});
    return n >= kBits ? all : shifted;
  }
};

/// PTX ISA, "lop3": bit (a << 2 | b << 1 | c) of the table is the result.
void run_lop3(const Op& op, Frame& f) {
  std::uint32_t want[8];
  for (unsigned k = 0; k < 8; ++k) want[k] = ((op.immediate >> k) & 1) != 0 ? ~0U : 0U;
  using U = std::uint32_t;
  fill_lanes<U, U, U>(op, f, [&want](U a, U b, U c) {
    return (want[0] & ~a & ~b & ~c) | (want[1] & ~a & ~b & c) | (want[2] & ~a & b & ~c) |
           (want[3] & ~a & b & c) | (want[4] & a & ~b & ~c) | (want[5] & a & ~b & c) |
           (want[6] & a & b & ~c) | (want[7] & a & b & c);
  });
}

/// lop3.BoolOp: whether the result is not zero, joined with a predicate, goes to the predicate r[4]; the
/// result itself to r[0], if there is one. Op::mode: 0 and, 1 or.
void run_lop3_test(const Op& op, Frame& f) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  const auto* c = f.in<std::uint32_t>(op.r[3]);
  std::uint32_t t[kWarpLanes] = {};
  LaneMask set = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    for (unsigned k = 0; k < 8; ++k)
      if (((op.immediate >> k) & 1) != 0)
        t[i] |=
            ((k & 4U) != 0 ? a[i] : ~a[i]) & ((k & 2U) != 0 ? b[i] : ~b[i]) & ((k & 1U) != 0 ? c[i] : ~c[i]);
    set |= t[i] != 0 ? kLaneBit[i] : 0U;
  }
  const LaneMask q = f.condition(op);
  if (op.r[0] != kNoRef) f.write(op.r[0], t);
  f.set_predicate(op.r[4], op.mode == 0 ? set & q : set | q);
}

/// Bit 0 of mode: shift right; bit 1: clamp the amount at 32.
std::uint32_t funnel(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t pair = (std::uint64_t{b} << 32U) | a;
  const std::uint32_t n = (op.mode & 2U) != 0 ? std::min(c, 32U) : c & 31U;
  return static_cast<std::uint32_t>((op.mode & 1U) != 0 ? pair >> n : (pair << n) >> 32U);
}

template <template <class> class F>
void run_predicates(const Op& op, Frame& f) {
  f.set_predicate(op.r[0], F<LaneMask>::apply(f.source_predicate(op, 1), f.source_predicate(op, 2)));
}
void run_not_predicate(const Op& op, Frame& f) {
  f.set_predicate(op.r[0], ~f.source_predicate(op, 1));
}

template <template <class> class F>
void decode_logic(Decoder& d) {
  const DataType type = d.take_type({DataType::pred, DataType::b16, DataType::b32, DataType::b64});
  Op op = type == DataType::pred ? d.predicates(2) : d.operands(type, 2);
  op.run = type == DataType::pred ? &run_predicates<F> : for_integer<F>(type);
  d.emit(op, integer_latency(type));
}

template <template <class> class F, bool kPredicate>
void decode_not(Decoder& d) {
  const DataType type = d.take_type({DataType::pred, DataType::b16, DataType::b32, DataType::b64});
  const bool predicate = kPredicate && type == DataType::pred;
  Op op = predicate ? d.predicates(1) : d.operands(type, 1);
  op.run = predicate ? &run_not_predicate : for_integer<F>(type);
  d.emit(op, integer_latency(type));
}

/// A shift by the same amount in all lanes: the host has instructions that do several of those at once.
template <template <class> class F, class T>
void run_shift_by_constant(const Op& op, Frame& f) {
  const std::uint32_t amount = *f.in<std::uint32_t>(op.r[2]);
  fill_lanes<T>(op, f, [amount](T a) { return F<T>::apply(a, amount); });
}

template <template <class> class F>
void decode_shift(Decoder& d) {
  const DataType type = d.take_type();
  Op op = d.operands(type, {type, DataType::u32});
  op.run = !is_constant(op.r[2]) ? for_integer<F>(type) : with_integer(type, [](auto zero) -> Handler {
    return &run_shift_by_constant<F, decltype(zero)>;
  });
  if (op.run == nullptr) d.fail("type " + type_text(type) + " cannot be shifted");
  d.emit(op, integer_latency(type));
}

void decode_lop3(Decoder& d) {
  d.take_type({DataType::b32});
  const auto test = d.take_one_of({".and", ".or"});
  d.need_operands(test ? 6 : 5);
  const Operand& table = d.operand(4);
  if (table.kind != Operand::Kind::integer || table.bits > 255)
    d.fail(table.token.place(), "expected a table from 0 to 255");
  Op op;
  for (unsigned i = 1; i < 4; ++i) op.r.at(i) = d.source(i, DataType::b32);
  op.immediate = static_cast<std::int64_t>(table.bits);
  op.run = &run_lop3;
  const Operand& to = d.operand(0);
  if (test) {
    if (to.kind != Operand::Kind::pair) d.fail(to.token.place(), "expected a result and a predicate, 'd|p'");
    op.mode = static_cast<std::uint8_t>(*test);
    d.take_condition(op, 5);
    const Operand& value = to.elements[0];
    op.r[0] = value.kind == Operand::Kind::sink ? kNoRef : d.destination(value, DataType::b32);
    op.r[4] = d.predicate_destination(to.elements[1]);
    op.run = &run_lop3_test;
  } else {
    op.r[0] = d.destination(0, DataType::b32);
  }
  d.emit(op, latency::kSimple);
}

void decode_funnel(Decoder& d) {
  const auto direction = d.take_one_of({".l", ".r"});
  const auto amount = d.take_one_of({".wrap", ".clamp"});
  if (!direction || !amount) d.fail("'shf' needs '.l' or '.r', and '.wrap' or '.clamp'");
  d.take_type({DataType::b32});
  Op op = d.operands(DataType::b32, 3);
  op.mode = static_cast<std::uint8_t>(*direction | (*amount << 1U));
  op.run = &run_lanes<&funnel>;
  d.emit(op, latency::kSimple);
}

}  // namespace

std::vector<Opcode> bit_opcodes() {
  return {
      {"and", &decode_logic<And>},
      {"or", &decode_logic<Or>},
      {"xor", &decode_logic<Xor>},
      {"not", &decode_not<Not, true>},
      {"cnot", &decode_not<IsZero, false>},
      {"shl", &decode_shift<ShiftLeft>},
      {"shr", &decode_shift<ShiftRight>},
      {"lop3", &decode_lop3},
      {"shf", &decode_funnel},
  };
}

}  // namespace warpline::ptx
