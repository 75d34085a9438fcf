#pragma once

#include <cstdint>
#include <vector>

#include "platform/launch/workload.h"

namespace warpline {

/// What the host put into the arrays that a file's expressions name: made again, for those that are named,
/// when results are checked, so that a run holds no second copy of its data.
class InitialArrays {
 public:
  explicit InitialArrays(const LoadedFile& loaded);
  /// As LaunchFile::arrays; empty for arrays that no expression names.
  [[nodiscard]] const std::vector<ArrayView>& views() const { return views_; }

 private:
  std::vector<std::vector<std::uint8_t>> bytes_;
  std::vector<ArrayView> views_;
};

}  // namespace warpline
