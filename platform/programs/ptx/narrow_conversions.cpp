// Conversions of `cvt` from and to formats of 4 to 8 bits, tf32 and packed integers, and those that round by
// chance.
#include <algorithm>
#include <cmath>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

/// An element of a packed register.
enum class Narrow : std::uint8_t { half, brain, e4m3, e5m2, e2m3, e3m2, e2m1, scale };

constexpr std::array<SmallFormat, 7> kFormats = {kHalf, kBrain, kE4m3, kE5m2, kE2m3, kE3m2, kE2m1};

/// Bits that an element takes in its register; one of 6 bits lies in a byte.
constexpr unsigned slot_bits(Narrow n) {
  return n <= Narrow::brain ? 16 : n == Narrow::e2m1 ? 4 : 8;
}

// Op::mode: the Narrow element on the narrow side; Op::count: elements; Op::target: these.
constexpr std::uint32_t kRelu = 1;
constexpr std::uint32_t kFinite = 2;
constexpr std::uint32_t kRandom = 4;
constexpr std::uint32_t kFromBrain = 8;  ///< packed operands are bfloat16, not half

/// PTX ISA, "cvt", on `.ue8m0`: a power of two, whatever the sign; all ones is NaN.
std::uint32_t scale_of(double x, bool up, bool finite) {
  if (std::isnan(x)) return 0xFF;
  const std::uint32_t beyond = finite ? 0xFE : 0xFF;
  if (std::isinf(x)) return beyond;
  const double magnitude = std::fabs(x);
  if (magnitude <= std::ldexp(1.0, -127)) return 0;
  const int exponent = std::ilogb(magnitude);
  const bool power = std::ldexp(1.0, exponent) == magnitude;
  const int biased = exponent + 127 + (up && !power ? 1 : 0);
  return biased > 0xFE ? beyond : static_cast<std::uint32_t>(biased);
}

/// The random bits for element `e` of an operation, and how many they are. The first two of four share one
/// half, the others the other.
std::pair<std::uint32_t, unsigned> random_of(Narrow format, unsigned e, std::uint32_t bits) {
  switch (format) {
    case Narrow::half: return {(e == 0 ? bits >> 16U : bits) & 0x1FFFU, 13};
    case Narrow::brain: return {(e == 0 ? bits >> 16U : bits) & 0xFFFFU, 16};
    case Narrow::e2m1: {
      const std::uint32_t part = e < 2 ? bits >> 8U : bits;
      return {((part >> 8U) & 0xFF00U) | (part & 0xFFU), 16};
    }
    default: return {(e < 2 ? bits >> 16U : bits) & 0xFFFFU, 16};
  }
}

/// `.relu`: what is negative becomes +0. NaN is encoded as positive.
std::uint32_t rectified(std::uint32_t bits, SmallFormat format, bool relu) {
  return relu && (bits >> (format.bits() - 1)) != 0 ? 0 : bits;
}

std::uint32_t narrowed(const Op& op, double x) {
  const auto narrow = static_cast<Narrow>(op.mode);
  const bool finite = (op.target & kFinite) != 0;
  if (narrow == Narrow::scale) return scale_of(x, op.rounding == Rounding::up, finite);
  const SmallFormat format = kFormats.at(op.mode);
  return rectified(encode(x, format, op.rounding, finite), format, (op.target & kRelu) != 0);
}

/// r[1] and on: the elements, the uppermost first; r[5]: random bits.
void run_pack_floats(const Op& op, Frame& f) {
  const auto narrow = static_cast<Narrow>(op.mode);
  const bool random = (op.target & kRandom) != 0;
  std::uint32_t t[kWarpLanes] = {};
  for (unsigned e = 0; e < op.count; ++e) {
    const auto* x = f.in<float>(op.r[1 + e]);
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      const auto value = bits_as<float>(x[i]);
      std::uint32_t bits = 0;
      if (random) {
        const SmallFormat format = kFormats.at(op.mode);
        const auto [draw, count] = random_of(narrow, e, f.in<std::uint32_t>(op.r[5])[i]);
        bits = rectified(encode_stochastic(value, format, draw, count, (op.target & kFinite) != 0), format,
                         (op.target & kRelu) != 0);
      } else {
        bits = narrowed(op, static_cast<double>(value));
      }
      t[i] = t[i] << slot_bits(narrow) | bits;
    }
  }
  copy_lanes(f.active, op.register_bytes, f.file + op.r[0], op.register_bytes, t, sizeof t[0]);
}

/// From two halves of a register to two elements.
std::uint16_t narrow_pair(const Op& op, std::uint32_t a) {
  const SmallFormat from = (op.target & kFromBrain) != 0 ? kBrain : kHalf;
  const unsigned slot = slot_bits(static_cast<Narrow>(op.mode));
  const std::uint32_t upper = narrowed(op, decode(static_cast<std::uint16_t>(a >> 16U), from));
  return static_cast<std::uint16_t>(upper << slot |
                                    narrowed(op, decode(static_cast<std::uint16_t>(a), from)));
}

/// From one of two elements to 16 bits.
std::uint32_t widened(const Op& op, std::uint32_t bits) {
  if (static_cast<Narrow>(op.mode) == Narrow::scale) {
    const double x = bits == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
    return encode(x, kBrain, Rounding::nearest);
  }
  const SmallFormat format = kFormats.at(op.mode);
  const auto cut = static_cast<std::uint16_t>(bits & ((1U << format.bits()) - 1));
  return rectified(encode(decode(cut, format), kHalf, Rounding::nearest), kHalf, (op.target & kRelu) != 0);
}

template <class T>
std::uint32_t widen_pair(const Op& op, T a) {
  const unsigned slot = slot_bits(static_cast<Narrow>(op.mode));
  const std::uint32_t mask = (1U << slot) - 1;
  return widened(op, (static_cast<std::uint32_t>(a) >> slot) & mask) << 16U |
         widened(op, static_cast<std::uint32_t>(a) & mask);
}

enum class TensorRounding : std::uint8_t { nearest, zero, away };

/// Op::mode: a TensorRounding. The 13 low bits, which tf32 has not, are zero.
std::uint32_t to_tf32(const Op& op, std::uint32_t x) {
  constexpr std::uint32_t kInfinity = 0x7F800000;
  constexpr std::uint32_t kCut = 0x1FFF;
  if ((x & 0x7FFFFFFFU) > kInfinity) return kNan32 & ~kCut;
  const std::uint32_t sign = x & 0x80000000U;
  if ((op.target & kRelu) != 0 && sign != 0) return 0;
  std::uint32_t r = x;
  if ((x & kInfinity) != kInfinity) {
    const auto rounding = static_cast<TensorRounding>(op.mode);
    if (rounding == TensorRounding::nearest) r += 0xFFF + ((x >> 13U) & 1U);
    if (rounding == TensorRounding::away) r += 0x1000;
    r &= ~kCut;
  }
  const bool over = (r & kInfinity) == kInfinity;
  return over && (op.target & kFinite) != 0 ? sign | (kInfinity - kCut - 1) : r;
}

/// cvt.pack: r[1] above r[2], both clamped to an element of `data_bytes` bits; above them what r[3] has low.
std::uint32_t pack_integers(const Op& op, std::int32_t a, std::int32_t b, std::uint32_t c) {
  const unsigned bits = op.data_bytes;
  const std::int64_t low = op.saturate ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t high = (std::int64_t{1} << (bits - (op.saturate ? 1U : 0U))) - 1;
  const auto clamped = [=](std::int64_t x) {
    return static_cast<std::uint32_t>(std::clamp(x, low, high)) & ((1U << bits) - 1);
  };
  const std::uint32_t pair = clamped(a) << bits | clamped(b);
  return bits == 16 ? pair : c << (2 * bits) | pair;
}

void decode_integer_pack(Decoder& d) {
  if (!d.take(".sat")) d.fail("'cvt.pack' needs '.sat'");
  constexpr std::array<std::uint8_t, 8> kBits = {16, 16, 8, 8, 4, 4, 2, 2};
  const std::size_t to = d.need_one_of({".u16", ".s16", ".u8", ".s8", ".u4", ".s4", ".u2", ".s2"},
                                       "'cvt.pack' needs a type to convert to, such as '.s16'");
  d.take_type({DataType::s32});
  Op op;
  op.data_bytes = kBits.at(to);
  op.saturate = to % 2 == 1;  // to a signed type
  if (op.data_bytes == 16) {
    op.r = d.operands(DataType::b32, {DataType::s32, DataType::s32}).r;
    op.r[3] = op.r[1];
  } else {
    d.take_type({DataType::b32});
    op.r = d.operands(DataType::b32, {DataType::s32, DataType::s32, DataType::b32}).r;
  }
  op.run = &run_lanes<&pack_integers>;
  d.emit(op, latency::kBits);
}

void decode_tf32(Decoder& d, Op op) {
  d.take_type({DataType::f32});
  const std::size_t rounding =
      d.need_one_of({".rn", ".rz", ".rna"}, "a conversion to '.tf32' needs '.rn', '.rz' or '.rna'");
  op.mode = static_cast<std::uint8_t>(rounding);
  if (rounding == 2 && (op.target & kRelu) != 0) d.fail("'.rna' does not go with '.relu'");
  op.r = d.operands(DataType::b32, {DataType::f32}).r;
  op.run = &run_lanes<&to_tf32>;
  d.emit(op, latency::kBits);
}

/// The packed types of elements, in pairs and in fours, in the order of Narrow; a pair's name is the first.
struct PackedType {
  std::string_view pair;
  std::string_view four;
  Narrow element;
};
constexpr std::array<PackedType, 8> kPacked = {{{".e4m3x2", ".e4m3x4", Narrow::e4m3},
                                                {".e5m2x2", ".e5m2x4", Narrow::e5m2},
                                                {".e2m3x2", ".e2m3x4", Narrow::e2m3},
                                                {".e3m2x2", ".e3m2x4", Narrow::e3m2},
                                                {".e2m1x2", ".e2m1x4", Narrow::e2m1},
                                                {".ue8m0x2", "", Narrow::scale},
                                                {".f16x2", "", Narrow::half},
                                                {".bf16x2", "", Narrow::brain}}};

/// The type of a register with so many elements.
DataType holder(Narrow n, unsigned elements) {
  return bits_of_size(slot_bits(n) * elements / 8);
}

/// From .f32 elements.
void decode_from_floats(Decoder& d, Op op, Narrow to, unsigned elements) {
  d.take_type({DataType::f32});
  const bool random = d.take(".rs");
  op.rounding = random ? Rounding::nearest : d.take_rounding();
  if (random) op.target |= kRandom;
  if (elements == 4 && !random) d.fail("a conversion to four elements rounds by '.rs'");
  if (random && elements == 2 && to > Narrow::brain) d.fail("'.rs' converts to four such elements");
  const bool must = to > Narrow::brain && to != Narrow::scale;
  if (must && (op.target & kFinite) == 0) d.fail("a conversion to such a type needs '.satfinite'");
  op.mode = static_cast<std::uint8_t>(to);
  op.count = static_cast<std::uint8_t>(elements);
  const bool listed = elements == 4;
  d.need_operands((listed ? 2 : 3) + (random ? 1 : 0));
  if (listed && (d.operand(1).kind != Operand::Kind::vector || d.operand(1).elements.size() != 4))
    d.fail(d.operand(1).token.place(), "expected four elements");
  for (unsigned e = 0; e < elements; ++e)
    op.r.at(1 + e) = d.source(listed ? d.operand(1).elements[e] : d.operand(1 + e), DataType::f32);
  op.r[5] = random ? d.source(d.operand_count() - 1, DataType::b32) : kNoRef;
  const DataType type = holder(to, elements);
  op.register_bytes = static_cast<std::uint8_t>(size_of(type));
  op.r[0] = d.destination(0, type);
  op.run = &run_pack_floats;
  d.emit(op, latency::kBits);
}

/// From a pair of 16-bit floats to one of narrower elements, or back.
void decode_between_pairs(Decoder& d, Op op, Narrow to, Narrow from) {
  const bool narrows = to > Narrow::brain;
  const Narrow narrow = narrows ? to : from;
  const Narrow wide = narrows ? from : to;
  if (narrow <= Narrow::brain || wide > Narrow::brain || (narrow == Narrow::scale) != (wide == Narrow::brain))
    d.fail("'cvt' does not convert between these types");
  op.mode = static_cast<std::uint8_t>(narrow);
  op.rounding = d.take_rounding();
  if (wide == Narrow::brain) op.target |= kFromBrain;
  if (narrows && narrow != Narrow::scale && (op.target & kFinite) == 0)
    d.fail("a conversion to such a type needs '.satfinite'");
  const DataType type = holder(narrow, 2);
  if (narrows && size_of(type) != 2) d.fail("'cvt' does not convert between these types");
  op.r = narrows ? d.operands(type, {DataType::b32}).r : d.operands(DataType::b32, {type}).r;
  op.run = narrows              ? &run_lanes<&narrow_pair>
           : size_of(type) == 1 ? static_cast<Handler>(&run_lanes<&widen_pair<std::uint8_t>>)
                                : &run_lanes<&widen_pair<std::uint16_t>>;
  d.emit(op, latency::kBits);
}

/// Takes the first packed type among the qualifiers: its element, and how many there are.
std::optional<std::pair<Narrow, unsigned>> take_packed(Decoder& d) {
  const Token* first = nullptr;
  for (const Token& q : d.statement().qualifiers)
    for (const PackedType& p : kPacked)
      if (first == nullptr && d.is_left(q) && (q.is(p.pair) || q.is(p.four))) first = &q;
  if (first == nullptr) return std::nullopt;
  d.take(first->text);
  for (const PackedType& p : kPacked)
    if (first->is(p.pair) || first->is(p.four)) return std::make_pair(p.element, first->is(p.pair) ? 2U : 4U);
  return std::nullopt;
}

}  // namespace

bool decode_narrow_conversion(Decoder& d) {
  if (d.take(".pack")) return decode_integer_pack(d), true;
  const bool tensor = d.has(".tf32");
  const bool plain = !d.has(".rs") && !tensor &&
                     std::none_of(kPacked.begin(), kPacked.begin() + 6,
                                  [&](const PackedType& p) { return d.has(p.pair) || d.has(p.four); });
  if (plain) return false;
  Op op;
  if (d.take(".relu")) op.target |= kRelu;
  if (d.take(".satfinite")) op.target |= kFinite;
  if (tensor) {
    d.take(".tf32");
    return decode_tf32(d, op), true;
  }
  const auto to = take_packed(d);
  if (!to) d.fail("'cvt' does not convert between these types");
  if (d.has(".f32")) return decode_from_floats(d, op, to->first, to->second), true;
  const auto from = take_packed(d);
  if (!from || to->second != 2 || from->second != 2) d.fail("'cvt' does not convert between these types");
  decode_between_pairs(d, op, to->first, from->first);
  return true;
}

}  // namespace warpline::ptx
