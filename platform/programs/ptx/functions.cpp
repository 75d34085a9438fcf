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
  tangent
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
void run_function32(const Op& op, Frame& f) {
  const auto* a = f.in<float>(op.r[1]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto raw = bits_to<float>(a[i]);
    float r = evaluate<kFunction>(op.flush ? flush_subnormal(raw) : raw, op.rounding);
    if (op.flush) r = flush_subnormal(r);
    t[i] = bits_to<std::uint32_t>(canonical(r));
  }
  f.write(op.r[0], t);
}

template <Function kFunction>
void run_function64(const Op& op, Frame& f) {
  const auto* a = f.in<double>(op.r[1]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const double r = rounded64(op.rounding, bits_to<double>(a[i]), 0, 0, [](double x, double, double) {
      if constexpr (kFunction == Function::square_root) return std::sqrt(x);
      if constexpr (kFunction == Function::reciprocal_root) return 1.0 / std::sqrt(x);
      return 1.0 / x;
    });
    t[i] = bits_to<std::uint64_t>(canonical(r));
  }
  f.write(op.r[0], t);
}

/// `.approx.ftz.f64`: subnormals count as zero, and the low 32 bits of operand and result are zero.
template <Function kFunction>
void run_gross64(const Op& op, Frame& f) {
  const auto* a = f.in<double>(op.r[1]);
  const auto flush = [](std::uint64_t x) {
    return (x & 0x7FF0000000000000U) == 0 ? x & 0x8000000000000000U : x;
  };
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto raw = bits_to<double>(a[i]);
    const std::uint64_t high = raw != raw ? a[i] : flush(a[i] & 0xFFFFFFFF00000000U);
    const auto x = bits_to<double>(high);
    const double r = canonical(kFunction == Function::reciprocal ? 1.0 / x : 1.0 / std::sqrt(x));
    t[i] = flush(bits_to<std::uint64_t>(r) & 0xFFFFFFFF00000000U);
  }
  f.write(op.r[0], t);
}

template <Function kFunction, bool kRounds, bool kDouble>
void decode_function(Decoder& d) {
  const bool approximate = d.take(".approx");
  const bool rounded = !approximate && kRounds;
  const Rounding rounding = rounded ? d.take_rounding() : Rounding::nearest;
  const bool flush = d.take(".ftz");
  const DataType type = d.take_type({DataType::f32, DataType::f64});
  if (type == DataType::f64 && !kDouble) d.fail(quoted(d.statement().opcode.text) + " has no .f64 form");
  Op op = plain_operands(d, type, 1);
  op.flush = flush;
  op.rounding = rounding;
  if (type == DataType::f32) {
    op.run = &run_function32<kFunction>;
  } else if constexpr (kDouble) {
    op.run = approximate && flush ? &run_gross64<kFunction> : &run_function64<kFunction>;
  }
  const bool exact32 = rounded && type == DataType::f32;
  const bool exact64 = rounded && type == DataType::f64;
  d.emit(op, exact64 ? latency::kDivide64 : exact32 ? latency::kDivide32 : latency::kFunction);
}

void run_divide32(const Op& op, Frame& f) {
  const auto* a = f.in<float>(op.r[1]);
  const auto* b = f.in<float>(op.r[2]);
  std::uint32_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const auto x = bits_to<float>(a[i]);
    const auto y = bits_to<float>(b[i]);
    float r =
        op.flush ? div32(flush_subnormal(x), flush_subnormal(y), op.rounding) : div32(x, y, op.rounding);
    if (op.flush) r = flush_subnormal(r);
    t[i] = bits_to<std::uint32_t>(canonical(r));
  }
  f.write(op.r[0], t);
}

void run_divide64(const Op& op, Frame& f) {
  const auto* a = f.in<double>(op.r[1]);
  const auto* b = f.in<double>(op.r[2]);
  std::uint64_t t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i)
    t[i] =
        bits_to<std::uint64_t>(canonical(rounded64(op.rounding, bits_to<double>(a[i]), bits_to<double>(b[i]),
                                                   0, [](double x, double y, double) { return x / y; })));
  f.write(op.r[0], t);
}

template <class T>
void run_copysign(const Op& op, Frame& f) {
  const auto* sign = f.in<T>(op.r[1]);
  const auto* value = f.in<T>(op.r[2]);
  constexpr Storage<T> kSign = Storage<T>{1} << (8 * sizeof(T) - 1);
  Storage<T> t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) t[i] = (sign[i] & kSign) | (value[i] & ~kSign);
  f.write(op.r[0], t);
}

void decode_copysign(Decoder& d) {
  const DataType type = d.take_type({DataType::f32, DataType::f64});
  Op op = plain_operands(d, type, 2);
  op.run = type == DataType::f64 ? &run_copysign<double> : &run_copysign<float>;
  d.emit(op, latency::kSimple);
}

enum class Test : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };

template <class T>
void run_test(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  LaneMask mask = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const int kind = std::fpclassify(bits_to<T>(a[i]));
    bool holds = false;
    switch (static_cast<Test>(op.mode)) {
      case Test::finite: holds = kind != FP_INFINITE && kind != FP_NAN; break;
      case Test::infinite: holds = kind == FP_INFINITE; break;
      case Test::number: holds = kind != FP_NAN; break;
      case Test::notanumber: holds = kind == FP_NAN; break;
      case Test::normal: holds = kind == FP_NORMAL; break;
      case Test::subnormal: holds = kind == FP_SUBNORMAL; break;
    }
    mask |= holds ? kLaneBit[i] : 0U;
  }
  f.set_predicate(op.r[0], mask);
}

void decode_test(Decoder& d) {
  const auto test =
      d.take_one_of({".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"});
  if (!test) d.fail("'testp' needs a property such as '.finite'");
  const DataType type = d.take_type({DataType::f32, DataType::f64});
  d.need_operands(2);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[0] = d.predicate_destination(d.operand(0));
  op.mode = static_cast<std::uint8_t>(*test);
  op.run = type == DataType::f64 ? &run_test<double> : &run_test<float>;
  d.emit(op, latency::kSimple);
}

}  // namespace

void decode_float_divide(Decoder& d, DataType type) {
  const bool single = type == DataType::f32;
  const bool approximate = single && (d.take(".approx") || d.take(".full"));
  const Rounding rounding = approximate ? Rounding::nearest : d.take_rounding();
  const bool flush = single && d.take(".ftz");
  Op op = plain_operands(d, type, 2);
  op.rounding = rounding;
  op.flush = flush;
  op.run = single ? &run_divide32 : &run_divide64;
  d.emit(op, !single ? latency::kDivide64 : approximate ? latency::kFunction : latency::kDivide32);
}

const std::vector<Opcode>& float_opcodes() {
  static const std::vector<Opcode> kOpcodes = {
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
  return kOpcodes;
}

}  // namespace warpline::ptx
