#pragma once

#include <string>
#include <vector>

#include "platform/serve/access_watch.h"

namespace warpline {

class PcieSystem;

/// Watches all functions of a system, from when it is made to the end of the system.
class AccessWatches {
 public:
  /// The system is watched by nobody else, and used no more when the watches have gone.
  explicit AccessWatches(PcieSystem& system);
  AccessWatches(const AccessWatches&) = delete;
  AccessWatches& operator=(const AccessWatches&) = delete;

  /// What was found so far, a sentence each, function by function; and what was refused on the bus.
  [[nodiscard]] std::vector<std::string> findings() const;

 private:
  PcieSystem& system_;
  std::vector<AccessWatch> watches_;
};

}  // namespace warpline
