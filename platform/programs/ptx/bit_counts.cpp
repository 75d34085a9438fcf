// Bits counted, found and reversed.
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

unsigned ones(std::uint64_t x) {
  return static_cast<unsigned>(__builtin_popcountll(x));
}
template <class T>
unsigned leading_zeros(T x) {
  constexpr unsigned kBits = 8 * sizeof(T);
  return x == 0 ? kBits : static_cast<unsigned>(__builtin_clzll(x)) - (64 - kBits);
}
template <class T>
struct Counting {
  using D = std::uint32_t;
  using A = T;
};
template <class T>
struct Population : Counting<T> {
  static std::uint32_t apply(T a) { return ones(a); }
};
template <class T>
struct LeadingZeros : Counting<T> {
  static std::uint32_t apply(T a) { return leading_zeros(a); }
};
/// The highest bit that differs from the sign; all ones where there is none.
template <class T, bool kShift>
struct FindBit : Counting<T> {
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
struct Reverse : Same<T> {
  static T apply(T a) {
    std::uint64_t x = a;
    x = ((x >> 1U) & 0x5555555555555555U) | ((x & 0x5555555555555555U) << 1U);
    x = ((x >> 2U) & 0x3333333333333333U) | ((x & 0x3333333333333333U) << 2U);
    x = ((x >> 4U) & 0x0F0F0F0F0F0F0F0FU) | ((x & 0x0F0F0F0F0F0F0F0FU) << 4U);
    return static_cast<T>(__builtin_bswap64(x) >> (64 - 8 * sizeof(T)));
  }
};
struct FindNthSet : Same<std::uint32_t> {
  using C = std::int32_t;
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::int32_t nth) {
    if (base > 31) return ~0U;
    const std::int32_t step = nth < 0 ? -1 : 1;
    std::int64_t left = nth < 0 ? -static_cast<std::int64_t>(nth) : nth;
    if (left == 0) return ((mask >> base) & 1U) != 0 ? base : ~0U;
    for (std::int32_t at = static_cast<std::int32_t>(base); at >= 0 && at < 32; at += step)
      if (((mask >> at) & 1U) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
    return ~0U;
  }
};

template <template <class> class F>
void decode_count(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  d.need_operands(2);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[0] = d.destination(std::size_t{0}, DataType::u32);
  op.run = size_of(type) == 8 ? &Unary<F<std::uint64_t>>::run : &Unary<F<std::uint32_t>>::run;
  d.emit(op, latency::kBits);
}

void decode_find(Decoder& d) {
  const bool shift = d.take(".shiftamt");
  const DataType type = d.take_type({DataType::u32, DataType::u64, DataType::s32, DataType::s64});
  d.need_operands(2);
  Op op;
  op.r[1] = d.source(1, type);
  op.r[0] = d.destination(std::size_t{0}, DataType::u32);
  op.run = shift ? for_integer<FindShift, Unary>(type) : for_integer<FindPosition, Unary>(type);
  d.emit(op, latency::kBits);
}

void decode_reverse(Decoder& d) {
  const DataType type = d.take_type({DataType::b32, DataType::b64});
  Op op = plain_operands(d, type, 1);
  op.run = size_of(type) == 8 ? &Unary<Reverse<std::uint64_t>>::run : &Unary<Reverse<std::uint32_t>>::run;
  d.emit(op, latency::kBits);
}

void decode_fns(Decoder& d) {
  d.take_type({DataType::b32});
  Op op = plain_operands(d, DataType::b32, 3);
  op.run = &Ternary<FindNthSet>::run;
  d.emit(op, latency::kDivide32);
}

}  // namespace

const std::vector<Opcode>& bit_count_opcodes() {
  static const std::vector<Opcode> kOpcodes = {
      {"popc", &decode_count<Population>},
      {"clz", &decode_count<LeadingZeros>},
      {"bfind", &decode_find},
      {"brev", &decode_reverse},
      {"fns", &decode_fns},
  };
  return kOpcodes;
}

}  // namespace warpline::ptx
