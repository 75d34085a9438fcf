#include "platform/config/host_copy.h"

namespace warpline {

double host_copy_ns(const GpuConfig& config, std::uint64_t bytes, bool to_gpu, bool page_locked) {
  if (config.host_copy.is_given()) return config.host_copy.duration_ns(bytes, to_gpu, page_locked);
  const PcieParameters& link = config.pcie;
  const auto packets = static_cast<double>((bytes + link.max_payload - 1) / link.max_payload);
  const double cycles =
      link.latency + (static_cast<double>(bytes) + packets * link.tlp_overhead) / link.bytes_per_cycle;
  return cycles * 1000.0 / config.clocks.link;
}

}  // namespace warpline
