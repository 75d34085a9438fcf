#include "platform/study/bench_device.h"

#include "rtl_models/base/bits.h"

namespace warpline::study {

KernelCall& KernelCall::with(std::uint64_t value, unsigned bytes) {
  parameters.resize(align_up(parameters.size(), bytes));
  for (unsigned n = 0; n < bytes; ++n) parameters.push_back(static_cast<std::uint8_t>(value >> (8 * n)));
  return *this;
}

}  // namespace warpline::study
