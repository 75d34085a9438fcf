#include "platform/cuda/kernel_facts.h"

#include <algorithm>
#include <cstring>

#include "platform/cuda/device_properties.h"
#include "platform/cuda/occupancy.h"
#include "platform/programs/ptx/device_library/device_facts.h"
#include "platform/programs/ptx/program.h"

namespace warpline::cuda {
namespace {

using device::DeviceFacts;
using device::KernelFacts;

/// Calls `f` with each kernel of a module and the value of a program's pointer to it.
template <class F>
void each_kernel(const programs::Module& module, F&& f) {
  std::size_t left = module.entries().size();
  // Functions that are no kernels have numbers, too: a bound on how many there are.
  constexpr std::uint64_t kMostFunctions = 1U << 20U;
  for (std::uint64_t n = 0; left != 0 && n < kMostFunctions; ++n) {
    const std::uint64_t pointer = ptx::kFunctionBase + 16 * n;
    const programs::Entry* const entry = module.entry_at(pointer);
    if (entry == nullptr) continue;
    f(*entry, pointer);
    --left;
  }
}

int number(const GpuConfig& config, int attribute) {
  return device_attribute(config, attribute).value_or(0);
}

KernelFacts facts_of(const GpuConfig& config, const programs::Module& module, const programs::Entry& entry,
                     std::uint64_t pointer) {
  KernelFacts k{};
  k.kernel = pointer;
  k.static_shared = entry.static_shared_bytes;
  k.local_bytes = entry.local_bytes;
  k.most_threads = static_cast<int>(std::min<std::uint64_t>(entry.maximum_threads, 1024));
  k.registers = entry.refused.empty() ? static_cast<int>(module.registers(entry.name)) : 0;
  k.version = number(config, 75) * 10 + number(config, 76);
  k.needs_cluster = entry.needs_cluster ? 1 : 0;
  if (entry.required_cluster) {
    k.cluster[0] = static_cast<int>(entry.required_cluster->x);
    k.cluster[1] = static_cast<int>(entry.required_cluster->y);
    k.cluster[2] = static_cast<int>(entry.required_cluster->z);
  }
  for (unsigned warps = 1; warps <= std::size(k.blocks); ++warps)
    k.blocks[warps - 1] = blocks_per_sm(config, {warps * kWarpLanes, 0, static_cast<unsigned>(k.registers)});
  return k;
}

}  // namespace

std::vector<std::uint8_t> facts_of(const GpuConfig& config, const programs::Module& module) {
  DeviceFacts d{};
  for (int n = 0; n < DeviceFacts::kAttributes; ++n)
    d.attributes[n] = device_attribute(config, n).value_or(DeviceFacts::kNone);
  d.shared_of_sm = static_cast<unsigned>(config.sm.shared_bytes);
  d.shared_unit = shared_unit(config);
  d.shared_reserved = static_cast<unsigned>(std::max(0, number(config, 111)));
  d.most_shared = static_cast<unsigned>(number(config, 97));
  std::vector<std::uint8_t> bytes(sizeof d);
  each_kernel(module, [&](const programs::Entry& entry, std::uint64_t pointer) {
    const KernelFacts k = facts_of(config, module, entry, pointer);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(&k);
    bytes.insert(bytes.end(), first, first + sizeof k);
    ++d.kernels;
  });
  std::memcpy(bytes.data(), &d, sizeof d);
  return bytes;
}

void update_facts(std::vector<std::uint8_t>& facts, const programs::Module& module,
                  const std::map<int, std::uint64_t>& limits,
                  const std::function<const Function*(const std::string&)>& function_of) {
  DeviceFacts d;
  std::memcpy(&d, facts.data(), sizeof d);
  for (int n = 0; n < DeviceFacts::kLimits; ++n) {
    const auto known = limits.find(n);
    d.limits[n] = known == limits.end() ? ~0ULL : known->second;
  }
  std::memcpy(facts.data(), &d, sizeof d);
  for (std::uint64_t n = 0; n < d.kernels; ++n) {
    std::uint8_t* const at = facts.data() + sizeof d + n * sizeof(KernelFacts);
    KernelFacts k;
    std::memcpy(&k, at, sizeof k);
    const programs::Entry& entry = *module.entry_at(k.kernel);
    const Function* const function = function_of(entry.name);
    k.most_dynamic_shared =
        static_cast<int>((function == nullptr ? Function() : *function).most_dynamic_shared(entry));
    k.odd_clusters = function != nullptr && function->odd_clusters ? 1 : 0;
    std::memcpy(at, &k, sizeof k);
  }
}

}  // namespace warpline::cuda
