#include "rtl_models/pcie/gpu_link/pcie_parameters.h"

#include "rtl_models/base/bits.h"

namespace warpline {

Problems PcieParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(latency >= 1 && latency <= 1000000, "latency", "must be 1 to 1000000 cycles");
  rules.need(peer_latency <= 1000000, "peer_latency", "must be at most 1000000 cycles");
  rules.need(bytes_per_cycle >= 1 && bytes_per_cycle <= 4096, "bytes_per_cycle", "must be 1 to 4096");
  rules.need(tlp_overhead <= 1024, "tlp_overhead", "must be at most 1024 bytes");
  rules.need(max_payload >= 32 && max_payload <= 4096, "max_payload", "must be 32 to 4096 bytes");
  constexpr std::uint64_t kSmallest = std::uint64_t{1} << 12U, kLargest = std::uint64_t{1} << 40U;
  rules.need(
      bar_bytes == 0 || (bar_bytes >= kSmallest && bar_bytes <= kLargest && is_power_of_two(bar_bytes)),
      "bar_bytes", "must be 0, or a power of two from 4096 to 1099511627776 (1 TiB)");
  rules.need(tags >= 1 && tags <= 65535, "tags", "must be 1 to 65535");
  return rules.take();
}

}  // namespace warpline
