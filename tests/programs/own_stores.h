#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/netlist_backend.h"
#include "tests/programs/machine.h"

namespace warpline::test {

/// A program of stores, each followed by a load of what it wrote: every store operator before every load
/// operator in every memory, of random widths and aligned subsets, with what might lose a store in between.
/// Every thread writes places of its own only.
struct OwnStores {
  std::string ptx;                 ///< one entry, "k"
  std::vector<std::string> cases;  ///< what case n does
  unsigned slot = 0;               ///< bytes that a thread owns in each memory
};
[[nodiscard]] OwnStores own_stores(Random& random);

/// Runs it on a machine and fails for every case in which a thread did not see its own store.
void expect_seen(const OwnStores& program, const GpuConfig& config, std::shared_ptr<NetlistBackend> backend,
                 bool loose);

}  // namespace warpline::test
