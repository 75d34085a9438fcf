#include <algorithm>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
struct Add {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
template <class T>
struct Sub {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
template <class T>
struct Min {
  static T apply(T a, T b) { return std::min(a, b); }
};
template <class T>
struct Max {
  static T apply(T a, T b) { return std::max(a, b); }
};
template <class T>
struct Neg {
  static T apply(T a) { return Sub<T>::apply(0, a); }
};
template <class T>
struct Abs {
  static T apply(T a) { return a < T{0} ? Neg<T>::apply(a) : a; }
};
template <class T>
struct Sad {
  static T apply(T a, T b, T c) {
    return Add<T>::apply(c, a > b ? Sub<T>::apply(a, b) : Sub<T>::apply(b, a));
  }
};

/// Division by zero gives all ones, as the code that the assembler emits for it does.
template <class T>
struct Div {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Neg<T>::apply(a);
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

/// `.sat` and `.relu`, which 32-bit signed integers have.
template <template <class> class F>
std::int32_t saturating(std::int32_t a, std::int32_t b) {
  using Range = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(F<std::int64_t>::apply(a, b), Range::min(), Range::max()));
}
template <template <class> class F>
std::int32_t not_negative(std::int32_t a, std::int32_t b) {
  return std::max(F<std::int32_t>::apply(a, b), 0);
}

/// Addition or subtraction with carry; bit 0 of mode: take the carry in, bit 1: leave it behind. A
/// subtraction is the sum of a, what b is not, and 1, so that its carry is set where nothing was borrowed:
/// nvcc's division of 128-bit integers reads that of `subc.cc` by `addc`, and skips its correction where it
/// is 1.
template <class T, bool kSubtract>
void run_carry(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  const auto* b = f.in<T>(op.r[2]);
  const LaneMask carry_in = (op.mode & 1U) != 0 ? f.predicate(op.r[3]) : kSubtract ? kAllLanes : 0;
  LaneMask carry_out = 0;
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const T c = (carry_in >> i) & 1U;
    const T first = static_cast<T>(a[i] + (kSubtract ? ~b[i] : b[i]));
    t[i] = static_cast<T>(first + c);
    carry_out |= first < a[i] || t[i] < first ? kLaneBit[i] : 0U;
  }
  f.write(op.r[0], t);
  if ((op.mode & 2U) != 0) f.set_predicate(op.r[3], carry_out);
}

template <bool kSubtract>
void decode_with_carry(Decoder& d, bool takes) {
  const bool leaves = d.take(".cc");
  const DataType type =
      d.take_type({DataType::u32, DataType::s32, DataType::b32, DataType::u64, DataType::s64, DataType::b64});
  Op op = d.operands(type, 2);
  d.take_carry(op, 3, takes, leaves);
  op.run = size_of(type) == 8 ? &run_carry<std::uint64_t, kSubtract> : &run_carry<std::uint32_t, kSubtract>;
  d.emit(op, integer_latency(type));
}

template <FloatOperation kFloat, template <class> class F>
void decode_sum(Decoder& d) {
  if (d.has(".cc")) return decode_with_carry<kFloat == FloatOperation::sub>(d, false);
  if (decode_packed(d, kFloat)) return;
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  const bool saturate = type == DataType::s32 && d.take(".sat");
  Op op = d.operands(type, 2);
  op.run = saturate ? &run_lanes<&saturating<F>> : for_integer<F>(type);
  if (!saturate) op.effect = kFloat == FloatOperation::add ? Effect::sum : Effect::difference;
  d.need_handler(op, type);
  d.emit(op, integer_latency(type));
}

template <FloatOperation kFloat, template <class> class F>
void decode_extreme(Decoder& d) {
  if (decode_packed(d, kFloat)) return;
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  const bool relu = type == DataType::s32 && d.take(".relu");
  Op op = d.operands(type, 2);
  op.run = relu ? &run_lanes<&not_negative<F>> : for_integer<F>(type);
  d.need_handler(op, type);
  d.emit(op, integer_latency(type));
}

template <FloatOperation kFloat, template <class> class F>
void decode_sign(Decoder& d) {
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  if (!is_signed(type)) d.fail(d.opcode() + " takes a signed type");
  Op op = d.operands(type, 1);
  op.run = for_integer<F>(type);
  d.need_handler(op, type);
  d.emit(op, integer_latency(type));
}

template <template <class> class F, bool kDivide>
void decode_divide(Decoder& d) {
  const DataType type = d.take_type({DataType::u16, DataType::u32, DataType::u64, DataType::s16,
                                     DataType::s32, DataType::s64, DataType::f32, DataType::f64});
  if (kDivide && is_float(type)) return decode_float_divide(d, type);
  if (is_float(type)) d.fail("'rem' takes an integer type");
  d.compute(for_integer<F>(type), size_of(type) == 8 ? latency::kDivide64 : latency::kDivide32, type,
            {type, type});
}

void decode_sad(Decoder& d) {
  const DataType type =
      d.take_type({DataType::u16, DataType::u32, DataType::u64, DataType::s16, DataType::s32, DataType::s64});
  d.compute(for_integer<Sad>(type), integer_latency(type), type, {type, type, type});
}

}  // namespace

std::vector<Opcode> integer_opcodes() {
  return {
      {"add", &decode_sum<FloatOperation::add, Add>},
      {"sub", &decode_sum<FloatOperation::sub, Sub>},
      {"addc", [](Decoder& d) { decode_with_carry<false>(d, true); }},
      {"subc", [](Decoder& d) { decode_with_carry<true>(d, true); }},
      {"min", &decode_extreme<FloatOperation::min, Min>},
      {"max", &decode_extreme<FloatOperation::max, Max>},
      {"neg", &decode_sign<FloatOperation::neg, Neg>},
      {"abs", &decode_sign<FloatOperation::abs, Abs>},
      {"div", &decode_divide<Div, true>},
      {"rem", &decode_divide<Rem, false>},
      {"sad", &decode_sad},
  };
}

}  // namespace warpline::ptx
