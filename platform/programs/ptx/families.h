#pragma once

#include <cstdint>
#include <type_traits>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/decoder.h"
#include "platform/programs/ptx/frame.h"

namespace warpline::ptx {

/// The handler of F<T>::apply for the integer type `t`, 16 to 64 bits, signed or not; bits count as
/// unsigned. Null for other types.
template <template <class> class F>
Handler for_integer(DataType t) {
  switch (t) {
    case DataType::b16:
    case DataType::u16: return &run_lanes<&F<std::uint16_t>::apply>;
    case DataType::b32:
    case DataType::u32: return &run_lanes<&F<std::uint32_t>::apply>;
    case DataType::b64:
    case DataType::u64: return &run_lanes<&F<std::uint64_t>::apply>;
    case DataType::s16: return &run_lanes<&F<std::int16_t>::apply>;
    case DataType::s32: return &run_lanes<&F<std::int32_t>::apply>;
    case DataType::s64: return &run_lanes<&F<std::int64_t>::apply>;
    default: return nullptr;
  }
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
/// The comparison of lanes that `set`, `setp` (relation `.ge`) make on `type`: for slct.
[[nodiscard]] Comparison at_least(DataType type, bool flush);
void decode_float_divide(Decoder& d, DataType type);

}  // namespace warpline::ptx
