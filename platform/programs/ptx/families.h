#pragma once

#include <cstdint>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/decoder.h"
#include "platform/programs/ptx/frame.h"

namespace warpline::ptx {

/// The handler among F<T> for the integer type `t`, 16 to 64 bits, signed or not; bits count as
/// unsigned.
template <template <class> class F, template <class> class Run>
Handler for_integer(DataType t) {
  switch (t) {
    case DataType::b16:
    case DataType::u16: return &Run<F<std::uint16_t>>::run;
    case DataType::b32:
    case DataType::u32: return &Run<F<std::uint32_t>>::run;
    case DataType::b64:
    case DataType::u64: return &Run<F<std::uint64_t>>::run;
    case DataType::s16: return &Run<F<std::int16_t>>::run;
    case DataType::s32: return &Run<F<std::int32_t>>::run;
    case DataType::s64: return &Run<F<std::int64_t>>::run;
    default: return nullptr;
  }
}

/// The runners of frame.h as types, so that they can be template arguments.
template <class F>
struct Unary {
  static void run(const Op& op, Frame& f) { run1<F>(op, f); }
};
template <class F>
struct Binary {
  static void run(const Op& op, Frame& f) { run2<F>(op, f); }
};
template <class F>
struct Ternary {
  static void run(const Op& op, Frame& f) { run3<F>(op, f); }
};

/// Base of an operation F whose destination and sources all are a T.
template <class T>
struct Same {
  using D = T;
  using A = T;
  using B = T;
  using C = T;
};

/// T without its sign, wide enough that its arithmetic does not promote to a signed type.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

inline unsigned integer_latency(DataType t) {
  return size_of(t) == 8 ? latency::kWide : latency::kSimple;
}

/// Operands 0, 1, 2 ... of the statement as a destination and sources of `type`.
inline Op plain_operands(Decoder& d, DataType type, unsigned sources) {
  d.need_operands(sources + 1);
  Op op;
  for (unsigned i = 1; i <= sources; ++i) op.r.at(i) = d.source(i, type);
  op.r[0] = d.destination(std::size_t{0}, type);
  return op;
}

// The floating-point forms of opcodes that integers have too; the type is already taken.
enum class FloatOperation : std::uint8_t { add, sub, mul, fma, min, max, abs, neg };
void decode_float(Decoder& d, FloatOperation operation, DataType type);
void decode_half(Decoder& d, FloatOperation operation, DataType type);
/// The comparison of lanes that `set`, `setp` (relation `.ge`) make on `type`: for slct.
[[nodiscard]] Comparison at_least(DataType type, bool flush);
void decode_float_divide(Decoder& d, DataType type);

}  // namespace warpline::ptx
