#pragma once

#include <cstdint>

#include "platform/config/gpu_config.h"

namespace warpline {

/// Nanoseconds from the beginning of a copy between host and GPU to its end: as the preset says, else what
/// its packets take on the link. `page_locked`: the host's memory.
[[nodiscard]] double host_copy_ns(const GpuConfig& config, std::uint64_t bytes, bool to_gpu,
                                  bool page_locked);

}  // namespace warpline
