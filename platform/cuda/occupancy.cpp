#include "platform/cuda/occupancy.h"

#include <algorithm>

#include "platform/cuda/device_properties.h"

namespace warpline::cuda {

unsigned blocks_per_sm(const GpuConfig& config, const BlockNeeds& needs) {
  constexpr unsigned kMostThreads = 1024;
  if (needs.threads == 0 || needs.threads > kMostThreads || needs.shared_bytes > config.sm.shared_bytes)
    return 0;
  const unsigned warps = (needs.threads + kWarpLanes - 1) / kWarpLanes;
  std::uint64_t blocks = std::min(config.sm.cta_slots, config.sm.warp_slots / warps);
  if (needs.shared_bytes != 0) blocks = std::min(blocks, config.sm.shared_bytes / needs.shared_bytes);
  if (needs.registers != 0)
    blocks = std::min<std::uint64_t>(blocks, config.sm.registers / (needs.registers * warps * kWarpLanes));
  return static_cast<unsigned>(blocks);
}

std::uint64_t shared_per_block(const GpuConfig& config, unsigned blocks) {
  constexpr std::uint64_t kStep = 128;
  if (blocks == 0) return 0;
  const auto most = static_cast<std::uint64_t>(device_attribute(config, 97).value_or(0));
  return std::min(most, config.sm.shared_bytes / blocks / kStep * kStep);
}

unsigned unlimiting_registers(const GpuConfig& config) {
  return std::max(1U, config.sm.registers / std::max(1U, config.sm.warp_slots * kWarpLanes));
}

}  // namespace warpline::cuda
