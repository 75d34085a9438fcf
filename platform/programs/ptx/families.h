#pragma once

#include <cstdint>
#include <type_traits>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/decoder.h"
#include "platform/programs/ptx/frame.h"

namespace warpline::ptx {

/// What `make` makes of a T{} for the integer type `t`, 16 to 64 bits, signed or not; bits count as unsigned.
/// Null for other types.
template <class F>
auto with_integer(DataType t, F&& make) -> decltype(make(std::uint16_t{})) {
  switch (t) {
    case DataType::b16:
    case DataType::u16: return make(std::uint16_t{});
    case DataType::b32:
    case DataType::u32: return make(std::uint32_t{});
    case DataType::b64:
    case DataType::u64: return make(std::uint64_t{});
    case DataType::s16: return make(std::int16_t{});
    case DataType::s32: return make(std::int32_t{});
    case DataType::s64: return make(std::int64_t{});
    default: return nullptr;
  }
}

/// The handler of F<T>::apply for such a type.
template <template <class> class F>
Handler for_integer(DataType t) {
  return with_integer(t, [](auto zero) -> Handler { return &run_lanes<&F<decltype(zero)>::apply>; });
}

/// T without its sign, wide enough that its arithmetic does not promote to a signed type.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

inline unsigned integer_latency(DataType t) {
  return size_of(t) == 8 ? latency::kWide : latency::kSimple;
}

// The floating-point forms of opcodes that integers have too; the type is already taken.
enum class FloatOperation : std::uint8_t { add, sub, mul, fma, min, max, abs, neg };
void decode_float(Decoder& d, FloatOperation operation, DataType type);
void decode_half(Decoder& d, FloatOperation operation, DataType type);
/// Decodes the operation on a pair of binary32 or of 16-bit integers, if the statement names such a type.
[[nodiscard]] bool decode_packed(Decoder& d, FloatOperation operation);
/// Decodes a `cvt` of narrow floats, tf32 or packed integers, or one that rounds by chance, if it is one.
[[nodiscard]] bool decode_narrow_conversion(Decoder& d);
/// The comparison of lanes that `set`, `setp` (relation `.ge`) make on `type`: for slct.
[[nodiscard]] Comparison at_least(DataType type, bool flush);
void decode_float_divide(Decoder& d, DataType type);

}  // namespace warpline::ptx
