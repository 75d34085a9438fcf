// Two numbers side by side in one register: binary32 in 64 bits, integers of 16 bits in 32.
#include <algorithm>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/single_arithmetic.h"

namespace warpline::ptx {
namespace {

template <FloatOperation kOperation>
std::uint64_t each_single(const Op& op, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const auto part = [](std::uint64_t x, unsigned k) {
    return bits_as<float>(static_cast<std::uint32_t>(x >> (32 * k)));
  };
  std::uint64_t r = 0;
  for (unsigned k = 0; k < 2; ++k)
    r |= std::uint64_t{bits_as<std::uint32_t>(modified<kOperation>(op, part(a, k), part(b, k), part(c, k)))}
         << (32 * k);
  return r;
}

enum class PairOperation : std::uint8_t { add, min, max };

/// Op::mode: bit 0: of signed elements; bit 1: .relu.
template <PairOperation kOperation>
std::uint32_t each_short(const Op& op, std::uint32_t a, std::uint32_t b) {
  std::uint32_t r = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    const auto part = [&op, k](std::uint32_t x) {
      const std::uint32_t bits = (x >> k) & 0xFFFFU;
      return (op.mode & 1U) != 0 ? static_cast<std::int32_t>(sign_extended(bits, 16))
                                 : static_cast<std::int32_t>(bits);
    };
    const std::int32_t x = part(a);
    const std::int32_t y = part(b);
    std::int32_t t = kOperation == PairOperation::add   ? x + y
                     : kOperation == PairOperation::min ? std::min(x, y)
                                                        : std::max(x, y);
    if ((op.mode & 2U) != 0) t = std::max(t, 0);
    r |= (static_cast<std::uint32_t>(t) & 0xFFFFU) << k;
  }
  return r;
}

template <PairOperation kOperation>
void decode_shorts(Decoder& d) {
  Op op;
  const bool is_unsigned = d.take(".u16x2");
  if (!is_unsigned) {
    d.take(".s16x2");
    op.mode = 1;
    if (kOperation != PairOperation::add && d.take(".relu")) op.mode |= 2U;
  }
  op.r = d.operands(DataType::b32, 2).r;
  op.run = &run_lanes<&each_short<kOperation>>;
  d.emit(op, latency::kSimple);
}

Handler singles_handler(FloatOperation operation) {
  using O = FloatOperation;
  switch (operation) {
    case O::add: return &run_lanes<&each_single<O::add>>;
    case O::sub: return &run_lanes<&each_single<O::sub>>;
    case O::mul: return &run_lanes<&each_single<O::mul>>;
    default: return &run_lanes<&each_single<O::fma>>;
  }
}

}  // namespace

bool decode_packed(Decoder& d, FloatOperation operation) {
  const bool shorts = d.has(".u16x2") || d.has(".s16x2");
  if (shorts && operation == FloatOperation::add) return decode_shorts<PairOperation::add>(d), true;
  if (shorts && operation == FloatOperation::min) return decode_shorts<PairOperation::min>(d), true;
  if (shorts && operation == FloatOperation::max) return decode_shorts<PairOperation::max>(d), true;
  if (!d.has(".f32x2") || operation == FloatOperation::min || operation == FloatOperation::max) return false;
  d.take(".f32x2");
  Op op;
  op.rounding = d.take_rounding();
  op.flush = d.take(".ftz");
  const bool fused = operation == FloatOperation::fma;
  op.r = d.operands(DataType::b64, fused ? 3 : 2).r;
  if (!fused) op.r[3] = op.r[2];
  op.run = singles_handler(operation);
  d.emit(op, 2 * latency::kSimple);
  return true;
}

}  // namespace warpline::ptx
