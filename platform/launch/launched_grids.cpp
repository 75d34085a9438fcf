#include "platform/launch/launched_grids.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/machine/gpu_memories.h"
#include "platform/programs/ptx/device_library/launch_slot.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/input_error.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {

void LaunchedGrids::run(unsigned gpu, programs::Module& module, std::uint32_t depth, LaunchResult& result) {
  std::vector<DeviceLaunch> launched = memory_.take_launched(platform_, gpu);
  std::stable_partition(launched.begin(), launched.end(), [](const DeviceLaunch& l) { return !l.tail; });
  for (const DeviceLaunch& l : launched) {
    std::string why;
    if (l.kernel == device::kCopy) {
      why = copy(l, gpu);
      told_(why, !why.empty());
      if (!why.empty()) return;
      continue;
    }
    std::unique_ptr<Kernel> kernel = kernel_of(module, l, gpu, why);
    if (kernel == nullptr) {
      told_(why, false);
      continue;
    }
    platform_.load(kernel->info(), gpu);
    memory_.set_depth(platform_, gpu, depth);
    LaunchResult own = platform_.launch({GridLaunch{kernel.get(), gpu, true, false}});
    last_ = std::move(kernel);
    result.cycles += own.cycles;
    result.outcome = own.outcome;
    result.standstill = std::move(own.standstill);
    told_({}, false);
    // What faults ends all that was launched with it.
    const auto goes_on = [&] {
      return result.outcome == RunOutcome::quiescent && platform_.faults().empty();
    };
    if (goes_on()) run(gpu, module, depth + 1, result);
    if (!goes_on()) return;
  }
  if (!launched.empty()) memory_.set_depth(platform_, gpu, depth - 1);
}

std::string LaunchedGrids::copy(const DeviceLaunch& l, unsigned gpu) {
  device::LaunchedCopy c;
  std::memcpy(&c, l.parameters.data(), sizeof c);
  // Whether all of a row is memory of this GPU's programs.
  const auto is_mapped = [&](std::uint64_t address) {
    std::uint64_t left = c.width;
    while (left != 0 && platform_.physical_of(address, gpu)) {
      const std::uint64_t part = platform_.memory().contiguous(address, left);
      address += part;
      left -= part;
    }
    return left == 0;
  };
  constexpr std::uint64_t kMostRows = std::uint64_t{1} << 32U, kAtOnce = std::uint64_t{1} << 20U;
  if (c.height > kMostRows || c.depth > kMostRows / c.height)
    return "a kernel asks for a copy of too many rows";
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(c.width, kAtOnce),
                                  static_cast<std::uint8_t>(c.value));
  for (std::uint64_t n = 0; n < c.height * c.depth; ++n) {
    const std::uint64_t to = c.to + n / c.height * c.to_slice + n % c.height * c.to_pitch;
    const std::uint64_t from = c.from + n / c.height * c.from_slice + n % c.height * c.from_pitch;
    for (const std::uint64_t address : {c.fills != 0 ? to : from, to})
      if (!is_mapped(address))
        return hexadecimal(address) + " is copied by a kernel, and " + counted(c.width, "byte") +
               " from there on are no memory of the GPU";
    for (std::uint64_t at = 0; at < c.width; at += kAtOnce) {
      const std::uint64_t part = std::min<std::uint64_t>(kAtOnce, c.width - at);
      if (c.fills == 0) platform_.read(from + at, bytes.data(), part);
      platform_.write(to + at, bytes.data(), part);
    }
  }
  return {};
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
    LaunchAttributes attributes = attributes_;
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
