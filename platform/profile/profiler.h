#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/attachment.h"
#include "rtl_models/sm/sm_profile.h"

namespace warpline {

class GpuPlatform;

/// Profiles what all SMs of a platform do, but for what runs functionally, and for what is loosely timed on a
/// platform that was timed at first. No cycle and no counter changes.
///
///     Profiler& profiler = platform.attach(std::make_unique<Profiler>(platform));
///     ... launches ...
///     std::vector<KernelProfile> kernels = profiler.kernels();
class Profiler final : public Attachment {
 public:
  /// Builds the platform, which outlives it. Pre: nothing was launched yet.
  explicit Profiler(GpuPlatform& platform);
  ~Profiler() override;
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  /// Each SM has a profile of its own.
  [[nodiscard]] bool needs_order() const override { return false; }

  void grids_start(const std::vector<GridLaunch>& grids) override;

  /// Every kernel that has run, of all SMs together, in the order of the SMs, and of each in that in which it
  /// met them first; rows by pc. Of what is still under way, what has passed up to now. Pre: not ticking.
  [[nodiscard]] std::vector<KernelProfile> kernels();

 private:
  GpuPlatform& platform_;
  bool loose_;  ///< the platform was at first
  std::vector<std::unique_ptr<SmProfile>> profiles_;
};

/// Each sum of a kernel's profile that does not hold, as a sentence.
[[nodiscard]] std::vector<std::string> unreconciled(const KernelProfile& kernel);

}  // namespace warpline
