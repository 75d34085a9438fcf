#include <algorithm>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T, class Signed, class Unsigned>
using LikeSign = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
/// T's sign in twice its width.
template <class T>
using Twice = std::conditional_t<sizeof(T) == 2, LikeSign<T, std::int32_t, std::uint32_t>,
                                 std::conditional_t<sizeof(T) == 4, LikeSign<T, std::int64_t, std::uint64_t>,
                                                    LikeSign<T, Int128, Uint128>>>;

template <class T>
T wrapping_sum(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T>
struct MulLow {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
template <class T>
struct MulHigh {
  static T apply(T a, T b) {
    return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
  }
};
template <class T>
struct MadLow {
  static T apply(T a, T b, T c) { return wrapping_sum(MulLow<T>::apply(a, b), c); }
};
template <class T>
struct MadHigh {
  static T apply(T a, T b, T c) { return wrapping_sum(MulHigh<T>::apply(a, b), c); }
};
std::int32_t mad_high_saturated(std::int32_t a, std::int32_t b, std::int32_t c) {
  const std::int64_t sum = std::int64_t{MulHigh<std::int32_t>::apply(a, b)} + c;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}
template <class T>
struct MulWide {
  static Twice<T> apply(T a, T b) { return static_cast<Twice<T>>(Twice<T>{a} * Twice<T>{b}); }
};
template <class T>
struct MadWide {
  static Twice<T> apply(T a, T b, Twice<T> c) { return wrapping_sum(MulWide<T>::apply(a, b), c); }
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
    const U p = static_cast<U>((op.mode & 4U) != 0 ? MulHigh<T>::apply(x, y) : MulLow<T>::apply(x, y));
    const U first = p + c[i];
    t[i] = first + ((carry_in >> i) & 1U);
    carry_out |= first < p || t[i] < first ? kLaneBit[i] : 0U;
  }
  f.write(op.r[0], t);
  if ((op.mode & 2U) != 0) f.set_predicate(op.r[4], carry_out);
}

void decode_mad_carry(Decoder& d, bool takes) {
  const bool leaves = d.take(".cc");
  const bool high = d.need_one_of({".lo", ".hi"}, "'mad' with carry needs '.lo' or '.hi'") == 1;
  const DataType type = d.take_type({DataType::u32, DataType::s32, DataType::u64, DataType::s64});
  Op op = d.operands(type, 3);
  d.take_carry(op, 4, takes, leaves);
  if (high) op.mode |= 4U;
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

template <template <class> class F>
Handler wide_handler(DataType t) {
  switch (t) {
    case DataType::u16: return &run_lanes<&F<std::uint16_t>::apply>;
    case DataType::s16: return &run_lanes<&F<std::int16_t>::apply>;
    case DataType::u32: return &run_lanes<&F<std::uint32_t>::apply>;
    default: return &run_lanes<&F<std::int32_t>::apply>;
  }
}

void decode_wide(Decoder& d, bool adds) {
  const DataType type = d.take_type({DataType::u16, DataType::s16, DataType::u32, DataType::s32});
  if (adds)
    d.compute(wide_handler<MadWide>(type), latency::kMultiply, twice(type), {type, type, twice(type)});
  else
    d.compute(wide_handler<MulWide>(type), latency::kMultiply, twice(type), {type, type});
}

template <bool kAdds>
void decode_product(Decoder& d) {
  if (kAdds && d.has(".cc")) return decode_mad_carry(d, false);
  if (d.take(".wide")) return decode_wide(d, kAdds);
  if (decode_packed(d, kAdds ? FloatOperation::fma : FloatOperation::mul)) return;
  const auto half = d.take_one_of({".lo", ".hi"});
  const DataType type = d.take_type();
  if (is_float(type)) return decode_float(d, kAdds ? FloatOperation::fma : FloatOperation::mul, type);
  if (!half) d.fail("an integer product needs '.lo', '.hi' or '.wide'");
  const bool high = *half == 1;
  const bool saturate = kAdds && high && type == DataType::s32 && d.take(".sat");
  Op op = d.operands(type, kAdds ? 3 : 2);
  if (saturate)
    op.run = &run_lanes<&mad_high_saturated>;
  else if (kAdds)
    op.run = high ? for_integer<MadHigh>(type) : for_integer<MadLow>(type);
  else
    op.run = high ? for_integer<MulHigh>(type) : for_integer<MulLow>(type);
  d.need_handler(op, type);
  d.emit(op, size_of(type) == 8 ? 2 * latency::kMultiply : latency::kMultiply);
}

}  // namespace

std::vector<Opcode> multiply_opcodes() {
  return {{"mul", &decode_product<false>},
          {"mad", &decode_product<true>},
          {"madc", [](Decoder& d) { decode_mad_carry(d, true); }},
          {"fma", &decode_product<true>}};
}

}  // namespace warpline::ptx
