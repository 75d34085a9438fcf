#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/attachment.h"
#include "rtl_models/sm/sm_profile.h"

namespace warpline {

class GpuPlatform;

/// Profiles what all SMs of a platform do, but for what runs functionally. No cycle and no counter changes.
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

  /// Every kernel that has run, in the order in which SMs met them first, of all SMs together; rows by pc.
  /// Pre: nothing is under way.
  [[nodiscard]] std::vector<KernelProfile> kernels() const;

 private:
  GpuPlatform& platform_;
  std::vector<std::unique_ptr<SmProfile>> profiles_;
};

/// Each sum of a kernel's profile that does not hold, as a sentence.
[[nodiscard]] std::vector<std::string> unreconciled(const KernelProfile& kernel);

}  // namespace warpline
