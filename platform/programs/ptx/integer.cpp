#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
struct Add : Same<T> {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
template <class T>
struct Sub : Same<T> {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
template <class T>
struct Min : Same<T> {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max : Same<T> {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T>
struct MinRelu : Same<T> {
  static T apply(T a, T b) { return std::max(std::min(a, b), T{0}); }
};
template <class T>
struct MaxRelu : Same<T> {
  static T apply(T a, T b) { return std::max(std::max(a, b), T{0}); }
};
template <class T>
struct Neg : Same<T> {
  static T apply(T a) { return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)); }
};
template <class T>
struct Abs : Same<T> {
  static T apply(T a) { return a < T{0} ? Neg<T>::apply(a) : a; }
};
template <class T>
struct Sad : Same<T> {
  static T apply(T a, T b, T c) {
    return Add<T>::apply(c, a > b ? Sub<T>::apply(a, b) : Sub<T>::apply(b, a));
  }
};

/// Division by zero gives all ones, as the code that the assembler emits for it does.
template <class T>
struct Div : Same<T> {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Neg<T>::apply(a);
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem : Same<T> {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

std::int32_t clamp32(std::int64_t x) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(x < kLow ? kLow : x > kHigh ? kHigh : x);
}
struct AddSaturated : Same<std::int32_t> {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} + b); }
};
struct SubSaturated : Same<std::int32_t> {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} - b); }
};

/// Addition or subtraction with carry; bit 0 of mode: take the carry in, bit 1: leave it behind.
template <class T, bool kSubtract>
void run_carry(const Op& op, Frame& f) {
  const auto* a = f.in<T>(op.r[1]);
  const auto* b = f.in<T>(op.r[2]);
  const LaneMask carry_in = (op.mode & 1U) != 0 ? f.predicate(op.r[3]) : 0;
  LaneMask carry_out = 0;
  T t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const T c = (carry_in >> i) & 1U;
    const T first = kSubtract ? a[i] - b[i] : a[i] + b[i];
    t[i] = kSubtract ? first - c : first + c;
    const bool out = kSubtract ? (a[i] < b[i] || first < c) : (first < a[i] || t[i] < first);
    carry_out |= out ? kLaneBit[i] : 0U;
  }
  f.write(op.r[0], t);
  if ((op.mode & 2U) != 0) f.set_predicate(op.r[3], carry_out);
}

template <bool kSubtract>
void decode_with_carry(Decoder& d, bool takes) {
  const bool leaves = d.take(".cc");
  const DataType type =
      d.take_type({DataType::u32, DataType::s32, DataType::b32, DataType::u64, DataType::s64, DataType::b64});
  Op op = plain_operands(d, type, 2);
  const Register carry = d.carry_register();
  op.r[3] = carry.ref;
  op.mode = static_cast<std::uint8_t>((takes ? 1U : 0U) | (leaves ? 2U : 0U));
  if (takes) d.reads(carry);
  if (leaves) d.writes(carry);
  op.run = size_of(type) == 8 ? &run_carry<std::uint64_t, kSubtract> : &run_carry<std::uint32_t, kSubtract>;
  d.emit(op, integer_latency(type));
}

bool asks_carry(const Decoder& d) {
  for (const Token& q : d.statement().qualifiers)
    if (q.is(".cc")) return true;
  return false;
}

template <FloatOperation kFloat, template <class> class F, bool kSubtract>
void decode_sum(Decoder& d) {
  if (asks_carry(d)) return decode_with_carry<kSubtract>(d, false);
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  const bool saturate = type == DataType::s32 && d.take(".sat");
  Op op = plain_operands(d, type, 2);
  op.run = for_integer<F, Binary>(type);
  if (saturate) op.run = kSubtract ? &Binary<SubSaturated>::run : &Binary<AddSaturated>::run;
  if (op.run == nullptr || size_of(type) < 2)
    d.fail("type ." + std::string(name_of(type)) + " is not supported here");
  d.emit(op, integer_latency(type));
}

template <bool kSubtract>
void decode_carry(Decoder& d) {
  decode_with_carry<kSubtract>(d, true);
}

template <FloatOperation kFloat, template <class> class F, template <class> class Relu>
void decode_extreme(Decoder& d) {
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  const bool relu = type == DataType::s32 && d.take(".relu");
  Op op = plain_operands(d, type, 2);
  op.run = relu ? &Binary<Relu<std::int32_t>>::run : for_integer<F, Binary>(type);
  if (op.run == nullptr) d.fail("type ." + std::string(name_of(type)) + " is not supported here");
  d.emit(op, integer_latency(type));
}

template <FloatOperation kFloat, template <class> class F>
void decode_sign(Decoder& d) {
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kFloat, type);
  if (!is_signed(type)) d.fail(quoted(d.statement().opcode.text) + " takes a signed type");
  Op op = plain_operands(d, type, 1);
  op.run = for_integer<F, Unary>(type);
  if (op.run == nullptr) d.fail("type ." + std::string(name_of(type)) + " is not supported here");
  d.emit(op, integer_latency(type));
}

template <template <class> class F, bool kDivide>
void decode_divide(Decoder& d) {
  const DataType type = d.take_type({DataType::u16, DataType::u32, DataType::u64, DataType::s16,
                                     DataType::s32, DataType::s64, DataType::f32, DataType::f64});
  if (kDivide && is_float(type)) return decode_float_divide(d, type);
  if (is_float(type)) d.fail("'rem' takes an integer type");
  Op op = plain_operands(d, type, 2);
  op.run = for_integer<F, Binary>(type);
  d.emit(op, size_of(type) == 8 ? latency::kDivide64 : latency::kDivide32);
}

void decode_sad(Decoder& d) {
  const DataType type =
      d.take_type({DataType::u16, DataType::u32, DataType::u64, DataType::s16, DataType::s32, DataType::s64});
  Op op = plain_operands(d, type, 3);
  op.run = for_integer<Sad, Ternary>(type);
  d.emit(op, integer_latency(type));
}

}  // namespace

const std::vector<Opcode>& integer_opcodes() {
  static const std::vector<Opcode> kOpcodes = {
      {"add", &decode_sum<FloatOperation::add, Add, false>},
      {"sub", &decode_sum<FloatOperation::sub, Sub, true>},
      {"addc", &decode_carry<false>},
      {"subc", &decode_carry<true>},
      {"min", &decode_extreme<FloatOperation::min, Min, MinRelu>},
      {"max", &decode_extreme<FloatOperation::max, Max, MaxRelu>},
      {"neg", &decode_sign<FloatOperation::neg, Neg>},
      {"abs", &decode_sign<FloatOperation::abs, Abs>},
      {"div", &decode_divide<Div, true>},
      {"rem", &decode_divide<Rem, false>},
      {"sad", &decode_sad},
  };
  return kOpcodes;
}

}  // namespace warpline::ptx
