#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

enum class Relation : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

/// Flushes its binary32 operands first.
struct Flushed {
  float value;
};
float number(Flushed x) {
  return flush_subnormal(x.value);
}
struct HalfValue {
  std::uint16_t bits;
};
/// Flushed first, too.
struct FlushedHalf {
  std::uint16_t bits;
};
struct BrainValue {
  std::uint16_t bits;
};
double number(HalfValue x) {
  return decode(x.bits, kHalf);
}
double number(FlushedHalf x) {
  return (x.bits & 0x7C00U) == 0 ? 0.0 : decode(x.bits, kHalf);
}
double number(BrainValue x) {
  return decode(x.bits, kBrain);
}
template <class T>
T number(T x) {
  return x;
}

template <class T>
bool holds(Relation relation, T left, T right) {
  const auto a = number(left);
  const auto b = number(right);
  const bool unordered = a != a || b != b;
  switch (relation) {
    case Relation::eq: return a == b;
    case Relation::ne: return a != b && !unordered;
    case Relation::lt: return a < b;
    case Relation::le: return a <= b;
    case Relation::gt: return a > b;
    case Relation::ge: return a >= b;
    case Relation::equ: return a == b || unordered;
    case Relation::neu: return a != b;
    case Relation::ltu: return !(a >= b);
    case Relation::leu: return !(a > b);
    case Relation::gtu: return !(a <= b);
    case Relation::geu: return !(a < b);
    case Relation::num: return !unordered;
    case Relation::nan: return unordered;
  }
  return false;
}

template <class T, Relation kRelation>
LaneMask compare_lanes(const void* left, const void* right) {
  const auto* a = static_cast<const Storage<T>*>(left);
  const auto* b = static_cast<const Storage<T>*>(right);
  LaneMask mask = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const bool is = holds(kRelation, bits_as<T>(a[i]), bits_as<T>(b[i]));
    // Without a choice, the host does several narrow ones at once; wide ones are quicker with it.
    mask |= sizeof(T) < 8 ? (0U - static_cast<LaneMask>(is)) & kLaneBit[i] : is ? kLaneBit[i] : 0U;
  }
  return mask;
}

template <class T, std::size_t... N>
Comparison comparison(Relation r, std::index_sequence<N...>) {
  constexpr std::array<Comparison, sizeof...(N)> kByRelation = {
      &compare_lanes<T, static_cast<Relation>(N)>...};
  const auto n = static_cast<std::size_t>(r);
  return n < kByRelation.size() ? kByRelation[n] : nullptr;
}
/// Null where `r` is none of type T: integers are always ordered.
template <class T>
Comparison comparison(Relation r) {
  constexpr Relation kLast = std::is_integral_v<T> ? Relation::ge : Relation::nan;
  return comparison<T>(r, std::make_index_sequence<static_cast<std::size_t>(kLast) + 1>{});
}

Comparison comparison_of(DataType type, Relation r, bool flush) {
  switch (type) {
    case DataType::f32: return flush ? comparison<Flushed>(r) : comparison<float>(r);
    case DataType::f64: return comparison<double>(r);
    case DataType::f16x2:
    case DataType::f16: return flush ? comparison<FlushedHalf>(r) : comparison<HalfValue>(r);
    case DataType::bf16x2:
    case DataType::bf16: return comparison<BrainValue>(r);
    default: return with_integer(type, [r](auto zero) { return comparison<decltype(zero)>(r); });
  }
}

/// What joins the result with a second predicate: nothing, or one of the qualifiers in their order.
enum class Combine : std::uint8_t { alone, conjunction, disjunction, difference };

LaneMask combine(const Op& op, const Frame& f, LaneMask holds) {
  const auto with = static_cast<Combine>(op.mode);
  if (with == Combine::alone) return holds;
  const LaneMask c = f.condition(op);
  return with == Combine::conjunction ? holds & c : with == Combine::disjunction ? holds | c : holds ^ c;
}

/// r: p, a, b, none, q.
void run_setp(const Op& op, Frame& f) {
  const LaneMask holds = op.compare(f.at(op.r[1]), f.at(op.r[2]));
  const LaneMask p = combine(op, f, holds);
  const LaneMask q = op.r[4] == kNoRef ? 0 : combine(op, f, ~holds);
  f.set_predicate(op.r[0], p);
  f.set_predicate(op.r[4], q);
}

/// Compares element `k` of registers that hold two.
LaneMask compare_element(const Op& op, const Frame& f, unsigned k) {
  const auto* a = f.in<std::uint32_t>(op.r[1]);
  const auto* b = f.in<std::uint32_t>(op.r[2]);
  std::uint16_t x[kWarpLanes];
  std::uint16_t y[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    x[i] = static_cast<std::uint16_t>(a[i] >> (16 * k));
    y[i] = static_cast<std::uint16_t>(b[i] >> (16 * k));
  }
  return combine(op, f, op.compare(x, y));
}

/// The two results are those of the two elements.
void run_setp_pair(const Op& op, Frame& f) {
  const LaneMask p = compare_element(op, f, 0);
  const LaneMask q = compare_element(op, f, 1);
  f.set_predicate(op.r[0], p);
  f.set_predicate(op.r[4], q);
}

/// `immediate` is what a register of type T gets where the comparison holds.
template <class T>
void run_set(const Op& op, Frame& f) {
  const LaneMask p = combine(op, f, op.compare(f.at(op.r[1]), f.at(op.r[2])));
  const auto yes = static_cast<T>(op.immediate);
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = (p & kLaneBit[i]) != 0 ? yes : T{0};
  f.write(op.r[0], t);
}
void run_set_pair(const Op& op, Frame& f) {
  const LaneMask first = compare_element(op, f, 0);
  const LaneMask second = compare_element(op, f, 1);
  const auto yes = static_cast<std::uint32_t>(op.immediate) & 0xFFFFU;
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] = ((first & kLaneBit[i]) != 0 ? yes : 0U) | ((second & kLaneBit[i]) != 0 ? yes << 16U : 0U);
  f.write(op.r[0], t);
}

/// The relation that the qualifiers name; `lo ls hi hs` are the unsigned spellings.
Relation take_relation(Decoder& d) {
  const std::size_t r = d.need_one_of({".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".equ", ".neu", ".ltu",
                                       ".leu", ".gtu", ".geu", ".num", ".nan", ".lo", ".ls", ".hi", ".hs"},
                                      d.opcode() + " needs a comparison such as '.lt'");
  return static_cast<Relation>(r < 14 ? r : r - 14 + static_cast<std::size_t>(Relation::lt));
}

/// Reads qualifiers and the operands a, b and c (operand 3, where the results are combined).
Op comparison_operands(Decoder& d) {
  const Relation relation = take_relation(d);
  const auto with = d.take_one_of({".and", ".or", ".xor"});
  const bool flush = d.take(".ftz");
  const DataType type = d.take_type();
  Op op;
  op.count = type == DataType::f16x2 || type == DataType::bf16x2 ? 2 : 1;
  op.compare = comparison_of(type, relation, flush);
  if (op.compare == nullptr) d.fail("this comparison does not exist for type " + type_text(type));
  op.mode = static_cast<std::uint8_t>(with ? *with + 1 : 0);
  d.need_operands(with ? 4 : 3);
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  if (with) d.take_condition(op, 3);
  return op;
}

void decode_setp(Decoder& d) {
  Op op = comparison_operands(d);
  const Operand& result = d.operand(0);
  op.r[4] = kNoRef;
  if (result.kind == Operand::Kind::pair) {
    op.r[0] = d.predicate_destination(result.elements[0]);
    op.r[4] = d.predicate_destination(result.elements[1]);
  } else {
    op.r[0] = d.predicate_destination(result);
  }
  op.run = op.count == 2 ? &run_setp_pair : &run_setp;
  d.emit(op, latency::kSimple);
}

void decode_set(Decoder& d) {
  const DataType to = d.take_type({DataType::u32, DataType::s32, DataType::f32, DataType::u16, DataType::s16,
                                   DataType::f16, DataType::bf16, DataType::f16x2, DataType::bf16x2});
  Op op = comparison_operands(d);
  if (op.count == 2 && size_of(to) != 4) d.fail("a comparison of pairs has a result of 32 bits");
  op.r[0] = d.destination(0, to);
  const bool half = to == DataType::f16 || to == DataType::f16x2;
  const bool brain = to == DataType::bf16 || to == DataType::bf16x2;
  op.immediate = to == DataType::f32 ? 0x3F800000 : half ? 0x3C00 : brain ? 0x3F80 : 0xFFFFFFFF;
  op.run = op.count == 2      ? &run_set_pair
           : size_of(to) == 2 ? static_cast<Handler>(&run_set<std::uint16_t>)
                              : &run_set<std::uint32_t>;
  d.emit(op, latency::kSimple);
}

}  // namespace

Comparison at_least(DataType type, bool flush) {
  return comparison_of(type, Relation::ge, flush);
}

std::vector<Opcode> compare_opcodes() {
  return {{"setp", &decode_setp}, {"set", &decode_set}};
}

}  // namespace warpline::ptx
