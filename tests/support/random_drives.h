#pragma once

#include <initializer_list>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/random.h"

namespace warpline::test {

/// Some machines, one of four, have NVMe controllers of random shape behind a root complex, in the place of
/// plain peer memory: for programs that use none of that, on a machine with data.
inline void draw_drives(Random& random, GpuConfig& config) {
  if (random.below(4) != 0) return;
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  config.peer_bytes = 0;
  config.pcie_system.peers = pick({0, 0, 1});
  NvmeParameters& n = config.pcie_system.nvme;
  n.count = pick({1, 2});
  n.namespaces = pick({1, 3});
  n.namespace_bytes = std::uint64_t{4096} * pick({1, 7, 64});
  n.block_bytes = pick({512, 4096});
  n.queues = pick({1, 16, 63});
  n.queue_entries = pick({2, 5, 1024});
  n.buffer_bytes = pick({0, 4096, 65536});
  n.commands = pick({1, 3, 256});
  n.max_transfer = pick({8192, 1U << 20U});
  n.write_cache = random.below(2) == 0;
  n.access_latency = pick({1, 4, 60});
  n.write_queue = pick({1, 8});
  n.channels = pick({1, 8});
}

}  // namespace warpline::test
