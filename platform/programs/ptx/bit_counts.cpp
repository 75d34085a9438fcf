// Bits counted, found and reversed.
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

template <class T>
unsigned leading_zeros(T x) {
  constexpr unsigned kBits = 8 * sizeof(T);
  return x == 0 ? kBits : static_cast<unsigned>(__builtin_clzll(x)) - (64 - kBits);
}
template <class T>
unsigned ones(T x) {
  return static_cast<unsigned>(__builtin_popcountll(x));
}
/// The highest bit that differs from the sign; all ones where there is none.
template <class T, bool kShift>
struct FindBit {
  static std::uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U magnitude = static_cast<U>(a < T{0} ? ~a : a);
    if (magnitude == 0) return ~0U;
    const std::uint32_t bit = 8 * sizeof(T) - 1 - leading_zeros(magnitude);
    return kShift ? 8 * sizeof(T) - 1 - bit : bit;
  }
};
template <class T>
using FindPosition = FindBit<T, false>;
template <class T>
using FindShift = FindBit<T, true>;
template <class T>
T reverse(T a) {
  std::uint64_t x = a;
  x = ((x >> 1U) & 0x5555555555555555U) | ((x & 0x5555555555555555U) << 1U);
  x = ((x >> 2U) & 0x3333333333333333U) | ((x & 0x3333333333333333U) << 2U);
  x = ((x >> 4U) & 0x0F0F0F0F0F0F0F0FU) | ((x & 0x0F0F0F0F0F0F0F0FU) << 4U);
  return static_cast<T>(__builtin_bswap64(x) >> (64 - 8 * sizeof(T)));
}
std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t nth) {
  if (base > 31) return ~0U;
  const std::int32_t step = nth < 0 ? -1 : 1;
  std::int64_t left = nth < 0 ? -static_cast<std::int64_t>(nth) : nth;
  if (left == 0) return ((mask >> base) & 1U) != 0 ? base : ~0U;
  for (std::int32_t at = static_cast<std::int32_t>(base); at >= 0 && at < 32; at += step)
    if (((mask >> at) & 1U) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return ~0U;
}

/// kNarrow counts in 32 bits, kWide in 64.
template <auto kNarrow, auto kWide>
void decode_count(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.compute(size_of(type) == 8 ? &run_lanes<kWide> : &run_lanes<kNarrow>, latency::kBits, DataType::u32,
            {type});
}

void decode_find(Decoder& d) {
  const bool shift = d.take(".shiftamt");
  const DataType type = d.take_type({DataType::u32, DataType::u64, DataType::s32, DataType::s64});
  d.compute(shift ? for_integer<FindShift>(type) : for_integer<FindPosition>(type), latency::kBits,
            DataType::u32, {type});
}

void decode_reverse(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.compute(size_of(type) == 8 ? &run_lanes<&reverse<std::uint64_t>> : &run_lanes<&reverse<std::uint32_t>>,
            latency::kBits, type, {type});
}

void decode_fns(Decoder& d) {
  const DataType type = d.take_type({DataType::b32});
  d.compute(&run_lanes<&find_nth_set>, latency::kDivide32, type, {type, type, type});
}

}  // namespace

std::vector<Opcode> bit_count_opcodes() {
  return {
      {"popc", &decode_count<&ones<std::uint32_t>, &ones<std::uint64_t>>},
      {"clz", &decode_count<&leading_zeros<std::uint32_t>, &leading_zeros<std::uint64_t>>},
      {"bfind", &decode_find},
      {"brev", &decode_reverse},
      {"fns", &decode_fns},
  };
}

}  // namespace warpline::ptx
