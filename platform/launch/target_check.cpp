#include "platform/launch/target_check.h"

#include <fmt/format.h>

#include "platform/config/gpu_config.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/workload.h"
#include "platform/programs/ptx_legality/language.h"

namespace warpline {
namespace {

constexpr unsigned kLatestVersion = 99;  // a module's own was judged when it was read

/// Whether GPUs of this compute capability load code for `target`.
bool fits(const ptx::Language& target, unsigned capability) {
  if (target.feature == 'a') return capability == target.target;
  if (target.feature == 'f' && capability / 10 != target.target / 10) return false;
  return capability >= target.target;
}

}  // namespace

Diagnostics unfit_targets(const Workload& plan, const GpuConfig& config) {
  Diagnostics out;
  const unsigned capability = config.compute_capability;
  const auto unfit = [&](const std::string& file, const std::string& target, const char* remedy) {
    out.push_back(
        Diagnostic::about(file,
                          fmt::format("its {}, is not for {}, whose compute capability is {}.{}", target,
                                      config.name, capability / 10, capability % 10),
                          fmt::format("{} sm_{} or older, or choose another GPU", remedy, capability)));
  };
  for (const LoadedFile& loaded : plan.files)
    for (std::size_t m = 0; m < loaded.modules.size(); ++m) {
      const std::string target = loaded.modules[m]->target();
      if (capability == 0 || target.empty()) continue;
      const auto language = ptx::language_of(kLatestVersion, target).language;
      if (!language || fits(*language, capability)) continue;
      unfit(loaded.file.modules[m].path, "target, " + target, "compile it for");
    }
  for (const Step& step : plan.steps)
    if (capability != 0 && step.made_for > capability)
      unfit(step.trace, fmt::format("code, for sm_{}", step.made_for), "trace it on");
  return out;
}

}  // namespace warpline
