#include "platform/machine/carveout.h"

#include <algorithm>

namespace warpline {

Carveout carveout_for(const GpuConfig& config, const KernelInfo& info, unsigned ctas) {
  const std::vector<std::uint64_t>& choices = config.l1_lg.carveouts;
  if (choices.empty() || ctas == 0) return {0, ctas};
  constexpr unsigned kWithReserve = 80;
  constexpr std::uint64_t kReserved = 1024;
  const std::uint64_t each =
      info.shared_bytes + (config.compute_capability >= kWithReserve ? kReserved : std::uint64_t{0});
  const std::uint64_t most = choices.back() << 10U;
  const std::uint64_t wanted =
      info.carveout ? std::max(each, most * std::min(*info.carveout, 100U) / 100) : each * ctas;
  const auto enough = std::find_if(choices.begin(), choices.end(),
                                   [wanted](std::uint64_t kib) { return kib << 10U >= wanted; });
  const std::uint64_t shared = enough != choices.end() ? *enough << 10U : most;
  // The reserve is no part of what a kernel may ask for: one CTA always runs.
  const std::uint64_t fit = each == 0 ? ctas : std::max<std::uint64_t>(1, shared / each);
  return {shared, static_cast<unsigned>(std::min<std::uint64_t>(ctas, fit))};
}

}  // namespace warpline
