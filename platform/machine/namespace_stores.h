#pragma once

#include <memory>
#include <vector>

#include "rtl_models/nvme/block_store.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// What the namespaces of an NVMe controller are kept in: files where the parameters name some, memory
/// elsewhere. Throws std::runtime_error, with every fault, if a file cannot be a namespace.
[[nodiscard]] std::vector<std::unique_ptr<BlockStore>> open_stores(const NvmeParameters& parameters,
                                                                   unsigned controller);

}  // namespace warpline
