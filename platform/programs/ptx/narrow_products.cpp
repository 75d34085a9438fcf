// Products of parts of a register: 24 bits, or bytes and halves summed up.
#include <algorithm>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

std::uint32_t part(std::uint32_t word, unsigned bit, unsigned width, bool is_signed) {
  const std::uint32_t field = (word >> bit) & ((1U << width) - 1);
  return is_signed ? static_cast<std::uint32_t>(sign_extended(field, width)) : field;
}

/// 24-bit multiplication: the middle (hi) or low 32 bits of a 48-bit product.
template <bool kSigned, bool kHigh>
std::uint32_t mul24(std::uint32_t a, std::uint32_t b) {
  const auto narrow = [](std::uint32_t x) {
    return kSigned ? sign_extended(x, 24) : std::int64_t{x & 0xFFFFFFU};
  };
  const std::int64_t p = narrow(a) * narrow(b);
  return static_cast<std::uint32_t>(kHigh ? p >> 16 : p);
}
template <bool kSigned, bool kHigh>
std::uint32_t mad24(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return mul24<kSigned, kHigh>(a, b) + c;
}

/// mad24.hi.sat.s32
std::int32_t mad24_saturated(std::uint32_t a, std::uint32_t b, std::int32_t c) {
  const auto product = static_cast<std::int32_t>(mul24<true, true>(a, b));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{product} + c,
                                                            std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

template <bool kAdds, bool kSigned>
Handler handler_24(bool high) {
  if constexpr (kAdds)
    return high ? &run_lanes<&mad24<kSigned, true>> : &run_lanes<&mad24<kSigned, false>>;
  else
    return high ? &run_lanes<&mul24<kSigned, true>> : &run_lanes<&mul24<kSigned, false>>;
}

template <bool kAdds>
void decode_24(Decoder& d) {
  const bool high = d.need_one_of({".lo", ".hi"}, "a 24-bit product needs '.lo' or '.hi'") == 1;
  const DataType type = d.take_type({DataType::u32, DataType::s32});
  const bool saturate = kAdds && high && type == DataType::s32 && d.take(".sat");
  Op op = d.operands(type, kAdds ? 3 : 2);
  op.run = saturate                ? static_cast<Handler>(&run_lanes<&mad24_saturated>)
           : type == DataType::s32 ? handler_24<kAdds, true>(high)
                                   : handler_24<kAdds, false>(high);
  d.emit(op, latency::kMultiply);
}

/// dp4a and dp2a: bit 0 of mode: a is signed, bit 1: b is; kFirst: the first byte of b that dp2a uses.
template <bool kPairs, unsigned kFirst>
std::uint32_t dot(const Op& op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr unsigned kWidth = kPairs ? 16 : 8;
  for (unsigned k = 0; k < 32 / kWidth; ++k)
    c += part(a, k * kWidth, kWidth, (op.mode & 1U) != 0) * part(b, 8 * (kFirst + k), 8, (op.mode & 2U) != 0);
  return c;
}

template <bool kPairs>
void decode_dot(Decoder& d) {
  const bool high = kPairs && d.need_one_of({".lo", ".hi"}, "'dp2a' needs '.lo' or '.hi'") == 1;
  const DataType a = d.take_type({DataType::u32, DataType::s32});
  const DataType b = d.take_type({DataType::u32, DataType::s32});
  Op op = d.operands(DataType::b32, 3);
  op.mode = static_cast<std::uint8_t>((is_signed(a) ? 1U : 0U) | (is_signed(b) ? 2U : 0U));
  op.run = !kPairs ? &run_lanes<&dot<false, 0>>
           : high  ? &run_lanes<&dot<true, 2>>
                   : &run_lanes<&dot<true, 0>>;
  d.emit(op, latency::kMultiply);
}

}  // namespace

std::vector<Opcode> narrow_product_opcodes() {
  return {{"mul24", &decode_24<false>},
          {"mad24", &decode_24<true>},
          {"dp4a", &decode_dot<false>},
          {"dp2a", &decode_dot<true>}};
}

}  // namespace warpline::ptx
