#include <cmath>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"

// Division, roots and the approximate functions. An `.approx` or `.full` result is the exact
// value correctly rounded, which lies within every error bound that the PTX ISA gives; silicon
// differs in the last bits.

namespace warpline::ptx {
namespace {

enum class Function : std::uint8_t {
  reciprocal,
  square_root,
  reciprocal_root,
  sine,
  cosine,
  logarithm,
  power,
  tangent,
};

template <Function kFunction>
float evaluate(float a, Rounding rounding) {
  const auto x = static_cast<double>(a);
  if constexpr (kFunction == Function::reciprocal) return div32(1.0F, a, rounding);
  if constexpr (kFunction == Function::square_root) return sqrt32(a, rounding);
  if constexpr (kFunction == Function::reciprocal_root) return static_cast<float>(1.0 / std::sqrt(x));
  if constexpr (kFunction == Function::sine) return static_cast<float>(std::sin(x));
  if constexpr (kFunction == Function::cosine) return static_cast<float>(std::cos(x));
  if constexpr (kFunction == Function::logarithm) return static_cast<float>(std::log2(x));
  if constexpr (kFunction == Function::power) return static_cast<float>(std::exp2(x));
  if constexpr (kFunction == Function::tangent) return static_cast<float>(std::tanh(x));
}

template <Function kFunction>
float function32(const Op& op, float a) {
  return canonical(flushed(op, evaluate<kFunction>(flushed(op, a), op.rounding)));
}

template <Function kFunction>
double function64(const Op& op, double a) {
  const double r = rounded64(op.rounding, a, 0, 0, [](double x, double, double) {
    if constexpr (kFunction == Function::square_root) return std::sqrt(x);
    if constexpr (kFunction == Function::reciprocal_root) return 1.0 / std::sqrt(x);
    return 1.0 / x;
  });
  return with_payload(r, a);
}

/// On one 16-bit float, or on two side by side: T. Op::wide_address: halves, not bfloat16.
template <Function kFunction, class T>
T function16(const Op& op, T a) {
  const SmallFormat format = op.wide_address ? kHalf : kBrain;
  const unsigned mantissa = static_cast<unsigned>(format.mantissa);
  const auto flush = [&](std::uint32_t x) {
    return op.flush && ((x & 0x7FFFU) >> mantissa) == 0 ? x & 0x8000U : x;
  };
  std::uint32_t r = 0;
  for (unsigned k = 0; k < 8 * sizeof(T); k += 16) {
    const double x = decode(static_cast<std::uint16_t>(flush((std::uint32_t{a} >> k) & 0xFFFFU)), format);
    const double exact = kFunction == Function::power ? std::exp2(x) : std::tanh(x);
    r |= flush(encode(exact, format, Rounding::nearest)) << k;
  }
  return static_cast<T>(r);
}

/// Of .f16, .bf16 or pairs of them: ex2 and tanh.
template <Function kFunction>
void decode_function16(Decoder& d, DataType type, bool flush) {
  Op op = d.operands(type, 1);
  op.flush = flush;
  op.wide_address = type == DataType::f16 || type == DataType::f16x2;
  op.run = size_of(type) == 4 ? &run_lanes<&function16<kFunction, std::uint32_t>>
                              : static_cast<Handler>(&run_lanes<&function16<kFunction, std::uint16_t>>);
  d.emit(op, latency::kFunction);
}

/// `.approx.ftz.f64`: subnormals count as zero, and the low 32 bits of operand and result are zero, those of
/// NaN, too.
template <Function kFunction>
std::uint64_t gross64(std::uint64_t a) {
  const auto flush = [](std::uint64_t bits) {
    return (bits & 0x7FF0000000000000U) == 0 ? bits & 0x8000000000000000U : bits;
  };
  const auto x = bits_as<double>(flush(a & 0xFFFFFFFF00000000U));
  const double r = kFunction == Function::reciprocal ? 1.0 / x : 1.0 / std::sqrt(x);
  if (r != r) return 0x7FFFFFFF00000000U;
  return flush(bits_as<std::uint64_t>(r) & 0xFFFFFFFF00000000U);
}

template <Function kFunction, bool kRounds, bool kDouble>
void decode_function(Decoder& d) {
  const bool approximate = d.take(".approx");
  const bool rounded = !approximate && kRounds;
  const Rounding rounding = rounded ? d.take_rounding() : Rounding::nearest;
  const bool flush = d.take(".ftz");
  constexpr bool kHalves = kFunction == Function::power || kFunction == Function::tangent;
  const DataType type =
      kHalves ? d.take_type({DataType::f32, DataType::f16, DataType::f16x2, DataType::bf16, DataType::bf16x2})
              : d.take_type({DataType::f32, DataType::f64});
  if constexpr (kHalves)
    if (type != DataType::f32) return decode_function16<kFunction>(d, type, flush);
  if (type == DataType::f64 && !kDouble) d.fail(d.opcode() + " has no .f64 form");
  Op op = d.operands(type, 1);
  op.flush = flush;
  op.rounding = rounding;
  if (type == DataType::f32) {
    op.run = &run_lanes<&function32<kFunction>>;
  } else if constexpr (kDouble) {
    op.run = approximate && flush ? &run_lanes<&gross64<kFunction>> : &run_lanes<&function64<kFunction>>;
  }
  const bool exact32 = rounded && type == DataType::f32;
  const bool exact64 = rounded && type == DataType::f64;
  d.emit(op, exact64 ? latency::kDivide64 : exact32 ? latency::kDivide32 : latency::kFunction);
}

float divide32(const Op& op, float a, float b) {
  const float x = flushed(op, a);
  const float y = flushed(op, b);
  // Under `.ftz` what is below the normal numbers before it is rounded becomes zero.
  const bool tiny = std::fabs(static_cast<double>(x)) < std::fabs(static_cast<double>(y)) * kLeastNormal32;
  const float q = div32(x, y, op.rounding);
  return op.flush && tiny && !std::isinf(y) ? std::copysign(0.0F, q) : canonical(flushed(op, q));
}

/// PTX ISA, "div", `.approx.f32`: the reciprocal of a divisor above 2^126 counts as zero.
float divide_roughly(const Op& op, float a, float b) {
  const float magnitude = std::fabs(b);
  const bool vanishes = magnitude > 0x1p126F && !std::isinf(magnitude);
  return vanishes ? canonical(flushed(op, a) * std::copysign(0.0F, b)) : divide32(op, a, b);
}

double divide64(const Op& op, double a, double b) {
  return with_payload(rounded64(op.rounding, a, b, 0, [](double x, double y, double) { return x / y; }), a,
                      b);
}

/// Of the bits of floating-point numbers.
template <class U>
U with_sign_of(U sign, U value) {
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  return (sign & kSign) | (value & ~kSign);
}

void decode_copysign(Decoder& d) {
  const DataType type = d.take_type({DataType::f32, DataType::f64});
  d.compute(type == DataType::f64 ? &run_lanes<&with_sign_of<std::uint64_t>>
                                  : &run_lanes<&with_sign_of<std::uint32_t>>,
            latency::kSimple, type, {type, type});
}

enum class Test : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

/// PTX ISA, "testp": zeros count as normal.
template <class T>
bool passes(const Op& op, T a) {
  const int kind = std::fpclassify(a);
  switch (static_cast<Test>(op.mode)) {
    case Test::finite: return kind != FP_INFINITE && kind != FP_NAN;
    case Test::infinite: return kind == FP_INFINITE;
    case Test::number: return kind != FP_NAN;
    case Test::notanumber: return kind == FP_NAN;
    case Test::normal: return kind == FP_NORMAL || kind == FP_ZERO;
    case Test::subnormal: return kind == FP_SUBNORMAL;
  }
  return false;
}

void decode_test(Decoder& d) {
  const std::size_t test =
      d.need_one_of({".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"},
                    "'testp' needs a property such as '.finite'");
  const DataType type = d.take_type({DataType::f32, DataType::f64});
  d.need_operands(2);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[0] = d.predicate_destination(d.operand(0));
  op.mode = static_cast<std::uint8_t>(test);
  op.run = type == DataType::f64 ? &run_lanes<&passes<double>> : &run_lanes<&passes<float>>;
  d.emit(op, latency::kSimple);
}

}  // namespace

void decode_float_divide(Decoder& d, DataType type) {
  const bool single = type == DataType::f32;
  const bool rough = single && d.take(".approx");
  const bool approximate = rough || (single && d.take(".full"));
  const Rounding rounding = approximate ? Rounding::nearest : d.take_rounding();
  const bool flush = single && d.take(".ftz");
  Op op = d.operands(type, 2);
  op.rounding = rounding;
  op.flush = flush;
  op.run = !single ? &run_lanes<&divide64> : rough ? &run_lanes<&divide_roughly> : &run_lanes<&divide32>;
  d.emit(op, !single ? latency::kDivide64 : approximate ? latency::kFunction : latency::kDivide32);
}

std::vector<Opcode> float_opcodes() {
  return {
      {"rcp", &decode_function<Function::reciprocal, true, true>},
      {"sqrt", &decode_function<Function::square_root, true, true>},
      {"rsqrt", &decode_function<Function::reciprocal_root, false, true>},
      {"sin", &decode_function<Function::sine, false, false>},
      {"cos", &decode_function<Function::cosine, false, false>},
      {"lg2", &decode_function<Function::logarithm, false, false>},
      {"ex2", &decode_function<Function::power, false, false>},
      {"tanh", &decode_function<Function::tangent, false, false>},
      {"copysign", &decode_copysign},
      {"testp", &decode_test},
  };
}

}  // namespace warpline::ptx
