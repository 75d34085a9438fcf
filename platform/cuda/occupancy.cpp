#include "platform/cuda/occupancy.h"

#include <algorithm>

#include "platform/cuda/device_properties.h"
#include "rtl_models/base/bits.h"

namespace warpline::cuda {

namespace {

/// Shared memory that the system has of every block (CUDA C++ Programming Guide, compute capability 8.0 and
/// on).
std::uint64_t reserved_shared(const GpuConfig& config) {
  return static_cast<std::uint64_t>(std::max(0, device_attribute(config, 111).value_or(0)));
}

}  // namespace

std::uint32_t shared_unit(const GpuConfig& config) {
  return config.compute_capability >= 80 ? 128 : 256;
}

unsigned blocks_per_sm(const GpuConfig& config, const BlockNeeds& needs) {
  constexpr unsigned kMostThreads = 1024;
  const auto most_shared = static_cast<std::uint64_t>(device_attribute(config, 97).value_or(0));
  if (needs.threads == 0 || needs.threads > kMostThreads || needs.shared_bytes > most_shared) return 0;
  const unsigned warps = (needs.threads + kWarpLanes - 1) / kWarpLanes;
  std::uint64_t blocks = std::min(config.sm.cta_slots, config.sm.warp_slots / warps);
  const std::uint64_t shared = align_up(needs.shared_bytes + reserved_shared(config), shared_unit(config));
  if (shared != 0) blocks = std::min(blocks, config.sm.shared_bytes / shared);
  // Numbers of registers are estimates: one block fits, as its launch does.
  if (needs.registers != 0 && blocks != 0)
    blocks = std::max<std::uint64_t>(
        1, std::min<std::uint64_t>(blocks, config.sm.ctas_by_registers(needs.registers, warps)));
  return static_cast<unsigned>(blocks);
}

std::uint64_t shared_per_block(const GpuConfig& config, unsigned blocks) {
  constexpr std::uint64_t kStep = 128;
  if (blocks == 0) return 0;
  const auto most = static_cast<std::uint64_t>(device_attribute(config, 97).value_or(0));
  const std::uint64_t each = config.sm.shared_bytes / blocks, reserved = reserved_shared(config);
  return std::min(most, (each - std::min(each, reserved)) / kStep * kStep);
}

unsigned unlimiting_registers(const GpuConfig& config) {
  return std::max(1U, config.sm.registers / std::max(1U, config.sm.warp_slots * kWarpLanes));
}

}  // namespace warpline::cuda
