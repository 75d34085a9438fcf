#include <algorithm>
#include <cmath>
#include <optional>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

__extension__ using Int128 = __int128;

/// What a conversion does, packed into Op::target.
struct Conversion {
  DataType to = DataType::none;
  DataType from = DataType::none;
  bool integral = false;  ///< rounds to an integer value (.rni, .rzi, .rmi, .rpi)
  bool relu = false;
  bool finite = false;  ///< .satfinite

  [[nodiscard]] std::uint32_t pack() const {
    return static_cast<std::uint32_t>(to) | static_cast<std::uint32_t>(from) << 8U |
           (integral ? 1U << 16U : 0U) | (relu ? 1U << 17U : 0U) | (finite ? 1U << 18U : 0U);
  }
  static Conversion unpack(std::uint32_t bits) {
    return {static_cast<DataType>(bits & 0xFFU), static_cast<DataType>((bits >> 8U) & 0xFFU),
            (bits >> 16U & 1U) != 0, (bits >> 17U & 1U) != 0, (bits >> 18U & 1U) != 0};
  }
};

Int128 value_of(std::uint64_t x, DataType type) {
  const unsigned bits = 8 * size_of(type);
  return is_signed(type) ? Int128{sign_extended(x, bits)} : Int128{x << (64 - bits) >> (64 - bits)};
}
Int128 lowest(DataType t) {
  return is_signed(t) ? -(Int128{1} << (8 * size_of(t) - 1)) : 0;
}
Int128 highest(DataType t) {
  return (Int128{1} << (8 * size_of(t) - (is_signed(t) ? 1 : 0))) - 1;
}

double to_integral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: return std::nearbyint(x);
    case Rounding::zero: return std::trunc(x);
    case Rounding::down: return std::floor(x);
    case Rounding::up: return std::ceil(x);
  }
  return x;
}

double read_float(std::uint64_t raw, DataType type, const Op& op) {
  if (type == DataType::f64) return bits_as<double>(raw);
  if (type == DataType::f16) return decode(static_cast<std::uint16_t>(raw), kHalf);
  if (type == DataType::bf16) return decode(static_cast<std::uint16_t>(raw), kBrain);
  return static_cast<double>(flushed(op, bits_as<float>(static_cast<std::uint32_t>(raw))));
}

/// Explicit bits of the significand.
unsigned mantissa_bits(DataType t) {
  return t == DataType::f64 ? 52 : t == DataType::f32 ? 23 : t == DataType::f16 ? 10 : 7;
}

/// A NaN of type `from`, made quiet, as one of type `to`: its sign, and of its payload what there is room
/// for.
std::uint64_t carried_nan(std::uint64_t raw, DataType from, DataType to) {
  const unsigned had = mantissa_bits(from);
  const unsigned has = mantissa_bits(to);
  const std::uint64_t payload = raw & ((std::uint64_t{1} << had) - 1);
  const std::uint64_t moved = has > had ? payload << (has - had) : payload >> (had - has);
  const unsigned sign = 8 * size_of(to) - 1;
  const std::uint64_t exponent = (std::uint64_t{1} << sign) - (std::uint64_t{1} << has);
  return (raw >> (8 * size_of(from) - 1) & 1U) << sign | exponent | std::uint64_t{1} << (has - 1) | moved;
}

/// What becomes of NaN, which the PTX ISA leaves open, where an H200 was found to keep its payload: from and
/// to binary64, and where the bits are only moved. Nothing where the result is canonical.
std::optional<std::uint64_t> kept_nan(std::uint64_t raw, const Op& op, const Conversion& c) {
  if (op.saturate) return std::nullopt;
  const bool moves = c.from == c.to && !c.integral && !op.flush;
  if (moves && (c.to == DataType::f32 || c.to == DataType::f64)) return raw;
  if (c.from == DataType::bf16 && c.to == DataType::f32 && !c.integral && !op.flush) return raw << 16U;
  if (c.from != DataType::f64 && c.to != DataType::f64) return std::nullopt;
  return carried_nan(raw, c.from, c.to);
}

/// `x`, exact or rounded to odd, as a number of type `to`. Pre: no NaN to binary64 without `.sat`.
std::uint64_t write_float(double x, const Op& op, const Conversion& c) {
  if (op.saturate) x = saturated(x);
  if (c.relu && std::signbit(x) && x == x) x = 0;
  switch (c.to) {
    case DataType::f64: return bits_as<std::uint64_t>(x);
    case DataType::f16: return encode(x, kHalf, op.rounding, c.finite);
    case DataType::bf16: return encode(x, kBrain, op.rounding, c.finite);
    default: break;
  }
  return bits_as<std::uint32_t>(canonical(flushed(op, narrow(x, op.rounding))));
}

/// PTX ISA, "cvt": NaN becomes zero, or to or from 64 bits the number whose highest bit alone is set.
std::uint64_t float_to_integer(double x, const Op& op, const Conversion& c) {
  if (x != x) {
    if (c.from != DataType::f64 && size_of(c.to) != 8) return 0;
    return static_cast<std::uint64_t>(is_signed(c.to) ? lowest(c.to) : (highest(c.to) >> 1) + 1);
  }
  const double whole = to_integral(x, op.rounding);
  const Int128 low = lowest(c.to);
  const Int128 high = highest(c.to);
  if (whole <= static_cast<double>(low)) return static_cast<std::uint64_t>(low);
  if (whole >= static_cast<double>(high)) return static_cast<std::uint64_t>(high);
  return static_cast<std::uint64_t>(static_cast<Int128>(whole));
}

std::uint64_t integer_to_float(Int128 value, const Op& op, const Conversion& c) {
  if (op.saturate) value = std::clamp<Int128>(value, 0, 1);
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
  const double sign = value < 0 ? -1 : 1;
  const double high = sign * static_cast<double>(magnitude & ~std::uint64_t{0x7FF});
  const double low = sign * static_cast<double>(magnitude & 0x7FFU);
  if (c.to == DataType::f64)
    return bits_as<std::uint64_t>(
        rounded64(op.rounding, high, low, 0, [](double a, double b, double) { return a + b; }));
  return write_float(sum_to_odd(high, low), op, c);
}

std::uint64_t convert(std::uint64_t raw, const Op& op, const Conversion& c) {
  if (!is_float(c.from) && !is_float(c.to)) {
    const Int128 value = value_of(raw, c.from);
    if (!op.saturate) return static_cast<std::uint64_t>(value_of(static_cast<std::uint64_t>(value), c.to));
    return static_cast<std::uint64_t>(std::clamp(value, lowest(c.to), highest(c.to)));
  }
  if (!is_float(c.from)) return integer_to_float(value_of(raw, c.from), op, c);
  const double x = read_float(raw, c.from, op);
  if (!is_float(c.to)) return float_to_integer(x, op, c);
  if (x != x)
    if (const auto nan = kept_nan(raw, op, c)) return *nan;
  return write_float(c.integral ? to_integral(x, op.rounding) : x, op, c);
}

/// Any pair of types, whatever the registers' widths.
void run_convert(const Op& op, Frame& f) {
  const Conversion c = Conversion::unpack(op.target);
  const std::byte* from = f.at(op.r[1]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    std::uint64_t raw = 0;
    std::memcpy(&raw, from + std::size_t{i} * op.data_bytes, std::min<unsigned>(op.data_bytes, 8));
    t[i] = convert(raw, op, c);
  }
  copy_lanes(f.active, op.register_bytes, f.file + op.r[0], op.register_bytes, t, sizeof t[0]);
}

/// cvt.{f16x2,bf16x2}.f32 d, a, b: a is the upper half.
std::uint32_t convert_pair(const Op& op, std::uint32_t a, std::uint32_t b) {
  const Conversion c = Conversion::unpack(op.target);
  return static_cast<std::uint32_t>(convert(a, op, c) << 16U | convert(b, op, c));
}

template <class To, class From>
To cast(From a) {
  if constexpr (std::is_floating_point_v<From>) {
    constexpr bool kWidens = sizeof(To) > sizeof(From);
    constexpr DataType kFrom = kWidens ? DataType::f32 : DataType::f64;
    constexpr DataType kTo = kWidens ? DataType::f64 : DataType::f32;
    using Bits = std::conditional_t<kWidens, std::uint64_t, std::uint32_t>;
    using Raw = std::conditional_t<kWidens, std::uint32_t, std::uint64_t>;
    if (a != a) return bits_as<To>(static_cast<Bits>(carried_nan(bits_as<Raw>(a), kFrom, kTo)));
  }
  return static_cast<To>(a);
}

/// The handler of conversions that compiled code is full of, where the registers have the types' widths.
Handler quick_handler(const Conversion& c) {
  using T = DataType;
  const auto is = [&c](T to, T from) { return c.to == to && c.from == from; };
  const bool integers = !is_float(c.to) && !is_float(c.from);
  if (is(T::u64, T::u32) || is(T::s64, T::u32)) return &run_lanes<&cast<std::uint64_t, std::uint32_t>>;
  if (is(T::s64, T::s32) || is(T::u64, T::s32)) return &run_lanes<&cast<std::int64_t, std::int32_t>>;
  if (integers && size_of(c.to) == 4 && size_of(c.from) == 8)
    return &run_lanes<&cast<std::uint32_t, std::uint64_t>>;
  if (integers && size_of(c.to) == 2 && size_of(c.from) == 4)
    return &run_lanes<&cast<std::uint16_t, std::uint32_t>>;
  if (is(T::u32, T::u16) || is(T::s32, T::u16)) return &run_lanes<&cast<std::uint32_t, std::uint16_t>>;
  if (is(T::s32, T::s16) || is(T::u32, T::s16)) return &run_lanes<&cast<std::int32_t, std::int16_t>>;
  if (is(T::f32, T::s32)) return &run_lanes<&cast<float, std::int32_t>>;
  if (is(T::f32, T::u32)) return &run_lanes<&cast<float, std::uint32_t>>;
  if (is(T::f64, T::s32)) return &run_lanes<&cast<double, std::int32_t>>;
  if (is(T::f32, T::f64)) return &run_lanes<&cast<float, double>>;
  if (is(T::f64, T::f32)) return &run_lanes<&cast<double, float>>;
  return nullptr;
}

bool convertible(DataType t) {
  return t != DataType::none && t != DataType::pred && size_of(t) <= 8 && (t > DataType::b128) &&
         t != DataType::f16x2 && t != DataType::bf16x2;
}

/// How a conversion between floats may round.
enum class Rounds : std::uint8_t { never, may, must };
Rounds rounds_between_floats(const Conversion& c) {
  if (c.to == c.from) return Rounds::never;
  if (size_of(c.to) == size_of(c.from)) return Rounds::may;  // f16 and bf16
  if (size_of(c.to) < size_of(c.from)) return Rounds::must;
  return c.from == DataType::bf16 ? Rounds::may : Rounds::never;
}

bool holds_all(DataType to, DataType from) {
  return lowest(to) <= lowest(from) && highest(from) <= highest(to);
}

/// Refuses the modifiers that no conversion between these types has (PTX ISA, "cvt", and what its assembler
/// takes). `rounded`: one of .rn, .rz, .rm and .rp is said.
void check_modifiers(Decoder& d, const Op& op, const Conversion& c, bool rounded) {
  const bool from_float = is_float(c.from);
  const bool to_float = is_float(c.to);
  const bool brain = c.from == DataType::bf16 || c.to == DataType::bf16;
  if (brain && (size_of(c.from) == 1 || size_of(c.to) == 1))
    d.fail("'cvt' does not convert between these types");
  if (op.flush && c.from != DataType::f32 && c.to != DataType::f32)
    d.fail("'.ftz' goes with a conversion from or to '.f32'");
  if (op.saturate && brain) d.fail("'.sat' does not go with '.bf16'");
  if (op.saturate && !from_float && !to_float && holds_all(c.to, c.from))
    d.fail("'.sat' goes with a type that does not hold every value of the other");
  if (!from_float || !to_float) {
    if (c.integral && !(from_float && !to_float))
      d.fail("'cvt' rounds to an integer value only from a float");
    if (rounded && !to_float)
      d.fail("a conversion to an integer takes none of '.rn', '.rz', '.rm' and '.rp'");
    if (!rounded && to_float) d.fail("a conversion from integer to float needs '.rn', '.rz', '.rm' or '.rp'");
    return;
  }
  const Rounds rounds = rounds_between_floats(c);
  if (c.integral && c.to != c.from)
    d.fail("a float is rounded to an integer value only where its type stays the same");
  if (rounds == Rounds::must && !rounded)
    d.fail("a conversion to a narrower float needs '.rn', '.rz', '.rm' or '.rp'");
  if (rounds == Rounds::never && rounded) d.fail("this conversion is exact, and takes no rounding modifier");
}

void decode_pair(Decoder& d, Op op, Conversion c) {
  c.to = c.to == DataType::f16x2 ? DataType::f16 : DataType::bf16;
  op.r = d.operands(DataType::b32, {DataType::f32, DataType::f32}).r;
  op.target = c.pack();
  op.run = &run_lanes<&convert_pair>;
  d.emit(op, latency::kBits);
}

void decode_cvt(Decoder& d) {
  if (decode_narrow_conversion(d)) return;
  Op op;
  Conversion c;
  const bool rounded = d.has(".rn") || d.has(".rz") || d.has(".rm") || d.has(".rp");
  const auto integral = d.take_one_of({".rni", ".rzi", ".rmi", ".rpi"});
  c.integral = integral.has_value();
  op.rounding = integral ? static_cast<Rounding>(*integral) : d.take_rounding();
  op.flush = d.take(".ftz");
  op.saturate = d.take(".sat");
  c.relu = d.take(".relu");
  c.finite = d.take(".satfinite");
  c.to = d.take_type();
  c.from = d.take_type();
  if ((c.to == DataType::f16x2 || c.to == DataType::bf16x2) && c.from == DataType::f32)
    return decode_pair(d, op, c);
  if (!convertible(c.to) || !convertible(c.from)) d.fail("'cvt' does not convert between these types");
  if (is_float(c.from) && !is_float(c.to) && !c.integral)
    d.fail("a conversion from float to integer needs '.rni', '.rzi', '.rmi' or '.rpi'");
  check_modifiers(d, op, c, rounded);
  d.need_operands(2);
  const auto register_type = [](DataType t) { return size_of(t) == 2 && is_float(t) ? DataType::b16 : t; };
  op.target = c.pack();
  op.r[1] = d.wide_source(d.operand(1), register_type(c.from), op.data_bytes);
  op.r[0] = d.wide_destination(d.operand(0), register_type(c.to), op.register_bytes);
  const bool plain = !op.flush && !op.saturate && !c.integral && !c.relu && op.rounding == Rounding::nearest;
  const bool exact = op.data_bytes == size_of(c.from) && op.register_bytes == size_of(c.to);
  const Handler quick = plain && exact ? quick_handler(c) : nullptr;
  op.run = quick != nullptr ? quick : &run_convert;
  const bool move = !is_float(c.from) && !is_float(c.to);
  d.emit(op, move ? latency::kSimple : latency::kBits);
}

}  // namespace

std::vector<Opcode> convert_opcodes() {
  return {{"cvt", &decode_cvt}};
}

}  // namespace warpline::ptx
