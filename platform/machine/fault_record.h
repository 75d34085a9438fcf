#pragma once

#include "platform/machine/gpu_platform.h"

namespace warpline {

struct FaultReport;
class GpuMemories;
class ImageTable;

/// What SM `sm` of a GPU has found, with the memory that the address lies in or is nearest to.
[[nodiscard]] FaultRecord fault_record(const FaultReport& report, unsigned gpu, unsigned sm,
                                       const GpuMemories& memory, const ImageTable& images);

}  // namespace warpline
