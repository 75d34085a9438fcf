#pragma once

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/rounding.h"

namespace warpline::ptx {

/// Sums and products of binary32, with every combination of modifiers.
template <FloatOperation kOperation>
float modified(const Op& op, float a, float b, float c) {
  const float x = flushed(op, a);
  const float y = flushed(op, b);
  float r = 0;
  if constexpr (kOperation == FloatOperation::add) r = add32(x, y, op.rounding);
  if constexpr (kOperation == FloatOperation::sub) r = add32(x, -y, op.rounding);
  if constexpr (kOperation == FloatOperation::mul)
    r = narrow(op, static_cast<double>(x) * static_cast<double>(y));
  if constexpr (kOperation == FloatOperation::fma) r = fma32(op, x, y, flushed(op, c));
  r = flushed(op, r);
  if (op.saturate) r = saturated(r);
  return canonical(r);
}

}  // namespace warpline::ptx
