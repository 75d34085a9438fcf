#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/observe/watcher.h"
#include "rtl_models/base/problem.h"

namespace warpline {

class PcieSystem;

/// Watches a PCIe system, and writes a wave, a timeline, or both. The timeline has what its queue devices and
/// NVMe controllers do. What is watched behaves as if it were not.
class PcieWatcher {
 public:
  virtual ~PcieWatcher() = default;
  /// Begins to watch. What is wrong with patterns and files, and with what they are to show; nothing is
  /// watched then. Pre: the system's engine has not run.
  [[nodiscard]] virtual Diagnostics start() = 0;
  /// Puts the files in their places; without this call there are none. Why that failed, a sentence per file.
  /// Nothing is watched any more.
  [[nodiscard]] virtual std::vector<std::string> finish() = 0;
};

/// Of a system that outlives it. Pre: a wave or a timeline is wanted, and nothing else.
[[nodiscard]] std::unique_ptr<PcieWatcher> make_pcie_watcher(PcieSystem& system, WatchOptions options);

}  // namespace warpline
