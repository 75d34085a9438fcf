#include "platform/launch/launched_grids.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rtl_models/base/text.h"
#include "rtl_models/sm/input_error.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {

void LaunchedGrids::run(unsigned gpu, programs::Module& module, std::uint32_t depth, LaunchResult& result) {
  std::vector<DeviceLaunch> launched = memory_.take_launched(platform_, gpu);
  std::stable_partition(launched.begin(), launched.end(), [](const DeviceLaunch& l) { return !l.tail; });
  for (const DeviceLaunch& l : launched) {
    std::string why;
    std::unique_ptr<Kernel> kernel = kernel_of(module, l, gpu, why);
    if (kernel == nullptr) {
      told_(why);
      continue;
    }
    platform_.load(kernel->info(), gpu);
    memory_.set_depth(platform_, gpu, depth);
    LaunchResult own = platform_.launch({GridLaunch{kernel.get(), gpu, true, false}});
    last_ = std::move(kernel);
    result.cycles += own.cycles;
    result.outcome = own.outcome;
    result.standstill = std::move(own.standstill);
    told_({});
    if (result.outcome == RunOutcome::quiescent) run(gpu, module, depth + 1, result);
    if (result.outcome != RunOutcome::quiescent) return;
  }
  if (!launched.empty()) memory_.set_depth(platform_, gpu, depth - 1);
}

std::unique_ptr<Kernel> LaunchedGrids::kernel_of(programs::Module& module, const DeviceLaunch& l,
                                                 unsigned gpu, std::string& why) {
  const programs::Entry* const entry = module.entry_at(l.kernel);
  if (entry == nullptr) {
    why = hexadecimal(l.kernel) + " is no pointer to a kernel";
  } else if (!entry->refused.empty()) {
    why = "kernel \"" + entry->name + "\" cannot be run: " + entry->refused.front().message;
  } else if (entry->parameter_bytes > l.parameters.size()) {
    why = "kernel \"" + entry->name + "\" takes more than " + counted(l.parameters.size(), "byte") +
          " of parameters";
  }
  if (!why.empty()) return nullptr;
  std::vector<std::uint8_t> parameters(
      l.parameters.begin(), l.parameters.begin() + static_cast<std::ptrdiff_t>(entry->parameter_bytes));
  try {
    std::unique_ptr<Kernel> kernel =
        module.make_kernel(entry->name, l.grid, l.block, l.shared_bytes, std::move(parameters));
    LaunchAttributes attributes;
    attributes.grid_number = ++grids_made_;
    kernel->set_attributes(attributes);
    for (const std::string& refusal : platform_.refusals(kernel->info(), gpu))
      why += (why.empty() ? "\"" + entry->name + "\" cannot run on this GPU: " : "; ") + refusal;
    return why.empty() ? std::move(kernel) : nullptr;
  } catch (const InputError& error) {
    why = error.diagnostic.message;
    return nullptr;
  }
}

}  // namespace warpline
