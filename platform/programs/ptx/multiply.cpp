#include <algorithm>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
struct DoubleWidth;
template <>
struct DoubleWidth<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct DoubleWidth<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct DoubleWidth<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct DoubleWidth<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct DoubleWidth<std::uint64_t> {
  using type = Uint128;
};
template <>
struct DoubleWidth<std::int64_t> {
  using type = Int128;
};
template <class T>
using Twice = typename DoubleWidth<T>::type;

template <class T>
T low_product(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T>
T high_product(T a, T b) {
  return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
T wrapping_sum(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T>
struct MulLow : Same<T> {
  static T apply(T a, T b) { return low_product(a, b); }
};
template <class T>
struct MulHigh : Same<T> {
  static T apply(T a, T b) { return high_product(a, b); }
};
template <class T>
struct MadLow : Same<T> {
  static T apply(T a, T b, T c) { return wrapping_sum(low_product(a, b), c); }
};
template <class T>
struct MadHigh : Same<T> {
  static T apply(T a, T b, T c) { return wrapping_sum(high_product(a, b), c); }
};
struct MadHighSaturated : Same<std::int32_t> {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    const std::int64_t sum = std::int64_t{high_product(a, b)} + c;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  }
};
template <class T>
struct MulWide : Same<T> {
  using D = Twice<T>;
  static D apply(T a, T b) { return static_cast<D>(static_cast<D>(a) * static_cast<D>(b)); }
};
template <class T>
struct MadWide : Same<T> {
  using D = Twice<T>;
  using C = D;
  static D apply(T a, T b, D c) { return wrapping_sum(MulWide<T>::apply(a, b), c); }
};

/// mad.{lo,hi}.cc and madc: bit 0 of mode takes the carry in, bit 1 leaves it, bit 2: high half.
template <class T>
void run_mad_carry(const Op& op, Frame& f) {
  using U = std::make_unsigned_t<T>;
  const auto* a = f.in<T>(op.r[1]);
  const auto* b = f.in<T>(op.r[2]);
  const auto* c = f.in<T>(op.r[3]);
  const LaneMask carry_in = (op.mode & 1U) != 0 ? f.predicate(op.r[4]) : 0;
  LaneMask carry_out = 0;
  U t[kWarpLanes];
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const T x = static_cast<T>(a[i]);
    const T y = static_cast<T>(b[i]);
    const U p = static_cast<U>((op.mode & 4U) != 0 ? high_product(x, y) : low_product(x, y));
    const U first = p + c[i];
    t[i] = first + ((carry_in >> i) & 1U);
    carry_out |= first < p || t[i] < first ? kLaneBit[i] : 0U;
  }
  f.write(op.r[0], t);
  if ((op.mode & 2U) != 0) f.set_predicate(op.r[4], carry_out);
}

void decode_mad_carry(Decoder& d, bool takes) {
  const bool leaves = d.take(".cc");
  const auto half = d.take_one_of({".lo", ".hi"});
  if (!half) d.fail("'mad' with carry needs '.lo' or '.hi'");
  const DataType type = d.take_type({DataType::u32, DataType::s32, DataType::u64, DataType::s64});
  Op op = plain_operands(d, type, 3);
  const Register carry = d.carry_register();
  op.r[4] = carry.ref;
  op.mode = static_cast<std::uint8_t>((takes ? 1U : 0U) | (leaves ? 2U : 0U) | (*half == 1 ? 4U : 0U));
  if (takes) d.reads(carry);
  if (leaves) d.writes(carry);
  op.run = type == DataType::u32   ? &run_mad_carry<std::uint32_t>
           : type == DataType::s32 ? &run_mad_carry<std::int32_t>
           : type == DataType::u64 ? &run_mad_carry<std::uint64_t>
                                   : &run_mad_carry<std::int64_t>;
  d.emit(op, latency::kMultiply);
}

DataType twice(DataType t) {
  switch (t) {
    case DataType::u16: return DataType::u32;
    case DataType::s16: return DataType::s32;
    case DataType::u32: return DataType::u64;
    default: return DataType::s64;
  }
}

template <template <class> class F, template <class> class Run>
Handler wide_handler(DataType t) {
  switch (t) {
    case DataType::u16: return &Run<F<std::uint16_t>>::run;
    case DataType::s16: return &Run<F<std::int16_t>>::run;
    case DataType::u32: return &Run<F<std::uint32_t>>::run;
    default: return &Run<F<std::int32_t>>::run;
  }
}

void decode_wide(Decoder& d, bool adds) {
  const DataType type = d.take_type({DataType::u16, DataType::s16, DataType::u32, DataType::s32});
  d.need_operands(adds ? 4 : 3);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[2] = d.source(2, type);
  if (adds) op.r[3] = d.source(3, twice(type));
  op.r[0] = d.destination(std::size_t{0}, twice(type));
  op.run = adds ? wide_handler<MadWide, Ternary>(type) : wide_handler<MulWide, Binary>(type);
  d.emit(op, latency::kMultiply);
}

template <bool kAdds>
void decode_product(Decoder& d) {
  for (const Token& q : d.statement().qualifiers)
    if (kAdds && q.is(".cc")) return decode_mad_carry(d, false);
  if (d.take(".wide")) return decode_wide(d, kAdds);
  const auto half = d.take_one_of({".lo", ".hi"});
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kAdds ? FloatOperation::fma : FloatOperation::mul, type);
  if (!half) d.fail("an integer product needs '.lo', '.hi' or '.wide'");
  const bool high = *half == 1;
  const bool saturate = kAdds && high && type == DataType::s32 && d.take(".sat");
  Op op = plain_operands(d, type, kAdds ? 3 : 2);
  if (kAdds)
    op.run = high ? for_integer<MadHigh, Ternary>(type) : for_integer<MadLow, Ternary>(type);
  else
    op.run = high ? for_integer<MulHigh, Binary>(type) : for_integer<MulLow, Binary>(type);
  if (saturate) op.run = &Ternary<MadHighSaturated>::run;
  if (op.run == nullptr) d.fail("type ." + std::string(name_of(type)) + " is not supported here");
  d.emit(op, size_of(type) == 8 ? 2 * latency::kMultiply : latency::kMultiply);
}

void decode_madc(Decoder& d) {
  decode_mad_carry(d, true);
}

}  // namespace

const std::vector<Opcode>& multiply_opcodes() {
  static const std::vector<Opcode> kOpcodes = {{"mul", &decode_product<false>},
                                               {"mad", &decode_product<true>},
                                               {"madc", &decode_madc},
                                               {"fma", &decode_product<true>}};
  return kOpcodes;
}

}  // namespace warpline::ptx
