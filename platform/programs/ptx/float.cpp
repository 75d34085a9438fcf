#include <cmath>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"
#include "platform/programs/ptx/single_arithmetic.h"

namespace warpline::ptx {
namespace {

// What binary32 code mostly consists of: to nearest, no flushing, no clamping.
float plain_add(float a, float b) {
  return canonical(a + b);
}
float plain_sub(float a, float b) {
  return canonical(a - b);
}
float plain_mul(float a, float b) {
  return canonical(a * b);
}
float plain_fma(float a, float b, float c) {
  return canonical(fma32(a, b, c));
}

#if defined(__x86_64__)
/// As plain_fma, and to the bit the same, on hosts that fuse in hardware.
__attribute__((target("avx2,fma"))) void run_fused32(const Op& op, Frame& f) {
  const auto* a = f.in<float>(op.r[1]);
  const auto* b = f.in<float>(op.r[2]);
  const auto* c = f.in<float>(op.r[3]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const float r = __builtin_fmaf(bits_as<float>(a[i]), bits_as<float>(b[i]), bits_as<float>(c[i]));
    t[i] = r != r ? kNan32 : bits_as<std::uint32_t>(r);
  }
  f.write(op.r[0], t);
}
#endif

Handler fused32() {
#if defined(__x86_64__)
  static const bool kInHardware = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
  if (kInHardware) return &run_fused32;
#endif
  return &run_lanes<&plain_fma>;
}

template <FloatOperation kOperation>
double in_64_bits(const Op& op, double a, double b, double c) {
  const double r = rounded64(op.rounding, a, b, c, [](double x, double y, [[maybe_unused]] double z) {
    if constexpr (kOperation == FloatOperation::add) return x + y;
    if constexpr (kOperation == FloatOperation::sub) return x - y;
    if constexpr (kOperation == FloatOperation::mul) return x * y;
    if constexpr (kOperation == FloatOperation::fma) return std::fma(x, y, z);
    return x;
  });
  return kOperation == FloatOperation::fma ? with_payload(r, b, c, a) : with_payload(r, b, a);
}

/// Bit 0 of mode: a NaN operand makes the result NaN; bit 1: .xorsign.abs; bit 2: .abs. -0 is below +0.
template <class T, bool kMax>
T extreme_of(const Op& op, T x, T y) {
  const bool negative = std::signbit(x) != std::signbit(y);
  if constexpr (sizeof(T) == 4) {
    x = flushed(op, x);
    y = flushed(op, y);
  }
  if ((op.mode & 6U) != 0) x = std::fabs(x), y = std::fabs(y);
  T r = x;
  if (x != x || y != y)
    r = (op.mode & 1U) != 0 || (x != x && y != y) ? std::numeric_limits<T>::quiet_NaN() : (x != x ? y : x);
  else if (x == y)
    r = std::signbit(x) == kMax ? y : x;
  else
    r = (x < y) == kMax ? y : x;
  if ((op.mode & 2U) != 0 && negative) r = -r;
  if constexpr (sizeof(T) == 8)
    return with_payload(r, y, x);
  else
    return canonical(r);
}

/// Of the bits of a binary32 or binary64. NaN is unspecified; that of binary64 keeps its sign, as on an H200.
template <class U, bool kNegate>
U with_other_sign(const Op& op, U x) {
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  if constexpr (sizeof(U) == 4) {
    const auto number = bits_as<float>(x);
    if (number != number) return kNan32;
    x = bits_as<U>(flushed(op, number));
  } else {
    const auto number = bits_as<double>(x);
    if (number != number) return bits_as<U>(quiet(number));
  }
  return kNegate ? x ^ kSign : x & ~kSign;
}

void decode_signs(Decoder& d, FloatOperation operation, DataType type) {
  const bool flush = type == DataType::f32 && d.take(".ftz");
  Op op = d.operands(type, 1);
  op.flush = flush;
  const bool negate = operation == FloatOperation::neg;
  if (type == DataType::f64)
    op.run = negate ? &run_lanes<&with_other_sign<std::uint64_t, true>>
                    : &run_lanes<&with_other_sign<std::uint64_t, false>>;
  else
    op.run = negate ? &run_lanes<&with_other_sign<std::uint32_t, true>>
                    : &run_lanes<&with_other_sign<std::uint32_t, false>>;
  d.emit(op, latency::kSimple);
}

void decode_extremes(Decoder& d, FloatOperation operation, DataType type) {
  Op op;
  op.flush = type == DataType::f32 && d.take(".ftz");
  if (d.take(".NaN")) op.mode |= 1U;
  if (d.take(".xorsign")) {
    if (!d.take(".abs")) d.fail("'.xorsign' goes with '.abs'");
    op.mode |= 2U;
  }
  d.need_operands(3, 4);
  if (d.operand_count() == 4) {
    if ((op.mode & 2U) != 0) d.fail("'.xorsign' takes two sources");
    if (d.take(".abs")) op.mode |= 4U;
  }
  const bool high = operation == FloatOperation::max;
  if (type == DataType::f64)
    op.run = high ? &run_lanes<&extreme_of<double, true>> : &run_lanes<&extreme_of<double, false>>;
  else
    op.run = high ? &run_lanes<&extreme_of<float, true>> : &run_lanes<&extreme_of<float, false>>;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  if (d.operand_count() == 4) {
    const Register middle = d.new_register(type);
    op.r[0] = d.writes(middle);
    d.emit(op, latency::kSimple);
    op.r[1] = d.reads(middle);
    op.r[2] = d.source(3, type);
  }
  op.r[0] = d.destination(0, type);
  d.emit(op, type == DataType::f64 ? latency::kDouble : latency::kSimple);
}

/// Of 16-bit floats and a binary32: what they are as binary32 is exact. Op::wide_address: halves, not
/// bfloat16.
float widened(const Op& op, std::uint16_t x) {
  return static_cast<float>(decode(x, op.wide_address ? kHalf : kBrain));
}
template <FloatOperation kOperation>
float mixed_sum(const Op& op, std::uint16_t a, float c) {
  return modified<kOperation>(op, widened(op, a), c, c);
}
float mixed_product(const Op& op, std::uint16_t a, std::uint16_t b, float c) {
  return modified<FloatOperation::fma>(op, widened(op, a), widened(op, b), c);
}

/// add, sub and fma with a result of .f32 and operands of `narrow` (PTX ISA, "Mixed Precision Floating-Point
/// Instructions").
void decode_mixed(Decoder& d, FloatOperation operation, DataType narrow) {
  using O = FloatOperation;
  Op op;
  op.rounding = d.take_rounding();
  op.saturate = d.take(".sat");
  op.wide_address = narrow == DataType::f16;
  if (operation == O::fma) {
    op.r = d.operands(DataType::f32, {narrow, narrow, DataType::f32}).r;
    op.run = &run_lanes<&mixed_product>;
  } else {
    op.r = d.operands(DataType::f32, {narrow, DataType::f32}).r;
    op.run = operation == O::add ? &run_lanes<&mixed_sum<O::add>> : &run_lanes<&mixed_sum<O::sub>>;
  }
  d.emit(op, latency::kSimple);
}

template <FloatOperation kOperation>
Handler arithmetic_handler(DataType type, bool plain, Handler fast) {
  if (type == DataType::f64) return &run_lanes<&in_64_bits<kOperation>>;
  return plain ? fast : &run_lanes<&modified<kOperation>>;
}

Handler arithmetic_handler(FloatOperation operation, DataType type, bool plain) {
  using O = FloatOperation;
  switch (operation) {
    case O::add: return arithmetic_handler<O::add>(type, plain, &run_lanes<&plain_add>);
    case O::sub: return arithmetic_handler<O::sub>(type, plain, &run_lanes<&plain_sub>);
    case O::mul: return arithmetic_handler<O::mul>(type, plain, &run_lanes<&plain_mul>);
    default: return arithmetic_handler<O::fma>(type, plain, fused32());
  }
}

}  // namespace

void decode_float(Decoder& d, FloatOperation operation, DataType type) {
  if (size_of(type) == 2 || type == DataType::f16x2 || type == DataType::bf16x2)
    return decode_half(d, operation, type);
  if (operation == FloatOperation::min || operation == FloatOperation::max)
    return decode_extremes(d, operation, type);
  if (operation == FloatOperation::abs || operation == FloatOperation::neg)
    return decode_signs(d, operation, type);
  const bool fused = operation == FloatOperation::fma;
  if (type == DataType::f32 && operation != FloatOperation::mul && (d.has(".f16") || d.has(".bf16")))
    return decode_mixed(d, operation, d.take_type({DataType::f16, DataType::bf16}));
  const Rounding rounding = d.take_rounding();
  const bool flush = type == DataType::f32 && d.take(".ftz");
  const bool saturate = type == DataType::f32 && d.take(".sat");
  Op op = d.operands(type, fused ? 3 : 2);
  if (!fused) op.r[3] = op.r[2];
  op.rounding = rounding;
  op.flush = flush;
  op.saturate = saturate;
  op.run = arithmetic_handler(operation, type, rounding == Rounding::nearest && !flush && !saturate);
  d.emit(op, type == DataType::f64 ? latency::kDouble : latency::kSimple);
}

}  // namespace warpline::ptx
