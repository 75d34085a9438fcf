#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "rtl_models/nvme/block_store.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// Files that were to be namespaces cannot be: what() says why, a line for each.
class NamespaceFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the namespaces of an NVMe controller are kept in: files where the parameters name some, memory
/// elsewhere. Throws NamespaceFileError if a file cannot be a namespace.
[[nodiscard]] std::vector<std::unique_ptr<BlockStore>> open_stores(const NvmeParameters& parameters,
                                                                   unsigned controller);

}  // namespace warpline
