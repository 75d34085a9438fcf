#include <cmath>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {
namespace {

// What binary32 code mostly consists of: to nearest, no flushing, no clamping.
struct Add32 : Same<float> {
  static float apply(float a, float b) { return canonical(a + b); }
};
struct Sub32 : Same<float> {
  static float apply(float a, float b) { return canonical(a - b); }
};
struct Mul32 : Same<float> {
  static float apply(float a, float b) { return canonical(a * b); }
};
struct Fma32 : Same<float> {
  static float apply(float a, float b, float c) { return canonical(fma32(a, b, c)); }
};

#if defined(__x86_64__)
/// As run3<Fma32>, and to the bit the same, on hosts that fuse in hardware.
__attribute__((target("avx2,fma"))) void run_fused32(const Op& op, Frame& f) {
  const auto* a = f.in<float>(op.r[1]);
  const auto* b = f.in<float>(op.r[2]);
  const auto* c = f.in<float>(op.r[3]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const float r = __builtin_fmaf(bits_to<float>(a[i]), bits_to<float>(b[i]), bits_to<float>(c[i]));
    t[i] = r != r ? kNan32 : bits_to<std::uint32_t>(r);
  }
  f.write(op.r[0], t);
}
#endif

Handler fused32() {
#if defined(__x86_64__)
  static const bool kInHardware = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
  if (kInHardware) return &run_fused32;
#endif
  return &run3<Fma32>;
}

/// Every combination of modifiers; the operation decides per lane.
template <FloatOperation kOperation>
void run_f32(const Op& op, Frame& f) {
  const auto* a = f.in<float>(op.r[1]);
  const auto* b = f.in<float>(op.r[2]);
  const auto* c = f.in<float>(op.r[3]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto take = [&](const std::uint32_t* from) {
      const auto x = bits_to<float>(from[i]);
      return op.flush ? flush_subnormal(x) : x;
    };
    const float x = take(a);
    const float y = take(b);
    float r = 0;
    if constexpr (kOperation == FloatOperation::add) r = add32(x, y, op.rounding);
    if constexpr (kOperation == FloatOperation::sub) r = add32(x, -y, op.rounding);
    if constexpr (kOperation == FloatOperation::mul) r = mul32(x, y, op.rounding);
    if constexpr (kOperation == FloatOperation::fma) r = fma32(x, y, take(c), op.rounding);
    if (op.flush) r = flush_subnormal(r);
    if (op.saturate) r = saturated(r);
    t[i] = bits_to<std::uint32_t>(canonical(r));
  }
  f.write(op.r[0], t);
}

template <FloatOperation kOperation>
void run_f64(const Op& op, Frame& f) {
  const auto* a = f.in<double>(op.r[1]);
  const auto* b = f.in<double>(op.r[2]);
  const auto* c = f.in<double>(op.r[3]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const double r = rounded64(op.rounding, bits_to<double>(a[i]), bits_to<double>(b[i]),
                               bits_to<double>(c[i]), [](double x, double y, [[maybe_unused]] double z) {
                                 if constexpr (kOperation == FloatOperation::add) return x + y;
                                 if constexpr (kOperation == FloatOperation::sub) return x - y;
                                 if constexpr (kOperation == FloatOperation::mul) return x * y;
                                 if constexpr (kOperation == FloatOperation::fma) return std::fma(x, y, z);
                                 return x;
                               });
    t[i] = bits_to<std::uint64_t>(canonical(r));
  }
  f.write(op.r[0], t);
}

/// Bit 0 of mode: a NaN operand makes the result NaN; bit 1: .xorsign.abs. -0 is below +0.
template <class T, bool kMax>
void run_extreme(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  const auto* b = f.in<T>(op.r[2]);
  Storage<T> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    T x = bits_to<T>(a[i]);
    T y = bits_to<T>(b[i]);
    const bool negative = std::signbit(x) != std::signbit(y);
    if constexpr (sizeof(T) == 4) {
      if (op.flush) x = flush_subnormal(x), y = flush_subnormal(y);
    }
    if ((op.mode & 2U) != 0) x = std::fabs(x), y = std::fabs(y);
    T r = x;
    if (x != x || y != y)
      r = (op.mode & 1U) != 0 || (x != x && y != y) ? std::numeric_limits<T>::quiet_NaN() : (x != x ? y : x);
    else if (x == y)
      r = std::signbit(x) == kMax ? y : x;
    else
      r = (x < y) == kMax ? y : x;
    if ((op.mode & 2U) != 0 && negative) r = -r;
    t[i] = bits_to<Storage<T>>(canonical(r));
  }
  f.write(op.r[0], t);
}

template <class T, bool kNegate>
void run_sign(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  constexpr Storage<T> kSign = Storage<T>{1} << (8 * sizeof(T) - 1);
  Storage<T> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    Storage<T> x = a[i];
    if constexpr (sizeof(T) == 4) {
      if (op.flush) x = bits_to<Storage<T>>(flush_subnormal(bits_to<T>(x)));
    }
    t[i] = kNegate ? x ^ kSign : x & ~kSign;
  }
  f.write(op.r[0], t);
}

void decode_signs(Decoder& d, FloatOperation operation, DataType type) {
  const bool flush = type == DataType::f32 && d.take(".ftz");
  Op op = plain_operands(d, type, 1);
  op.flush = flush;
  const bool negate = operation == FloatOperation::neg;
  if (type == DataType::f64)
    op.run = negate ? &run_sign<double, true> : &run_sign<double, false>;
  else
    op.run = negate ? &run_sign<float, true> : &run_sign<float, false>;
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
  const bool high = operation == FloatOperation::max;
  op.run = type == DataType::f64 ? (high ? &run_extreme<double, true> : &run_extreme<double, false>)
                                 : (high ? &run_extreme<float, true> : &run_extreme<float, false>);
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  if (d.operand_count() == 4) {
    const Register middle = d.hidden_register(type);
    op.r[0] = middle.ref;
    d.writes(middle);
    d.emit(op, latency::kSimple);
    d.reads(middle);
    op.r[1] = middle.ref;
    op.r[2] = d.source(3, type);
  }
  op.r[0] = d.destination(std::size_t{0}, type);
  d.emit(op, type == DataType::f64 ? latency::kDouble : latency::kSimple);
}

template <FloatOperation kOperation>
Handler arithmetic_handler(DataType type, bool plain, Handler fast) {
  if (type == DataType::f64) return &run_f64<kOperation>;
  return plain ? fast : &run_f32<kOperation>;
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
  const Rounding rounding = d.take_rounding();
  const bool flush = type == DataType::f32 && d.take(".ftz");
  const bool saturate = type == DataType::f32 && d.take(".sat");
  Op op = plain_operands(d, type, fused ? 3 : 2);
  if (!fused) op.r[3] = op.r[2];
  op.rounding = rounding;
  op.flush = flush;
  op.saturate = saturate;
  const bool plain = rounding == Rounding::nearest && !flush && !saturate;
  switch (operation) {
    case FloatOperation::add:
      op.run = arithmetic_handler<FloatOperation::add>(type, plain, &run2<Add32>);
      break;
    case FloatOperation::sub:
      op.run = arithmetic_handler<FloatOperation::sub>(type, plain, &run2<Sub32>);
      break;
    case FloatOperation::mul:
      op.run = arithmetic_handler<FloatOperation::mul>(type, plain, &run2<Mul32>);
      break;
    default: op.run = arithmetic_handler<FloatOperation::fma>(type, plain, fused32()); break;
  }
  d.emit(op, type == DataType::f64 ? latency::kDouble : latency::kSimple);
}

}  // namespace warpline::ptx
