#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "platform/cuda/operation.h"
#include "platform/programs/module.h"

namespace warpline::cuda {

/// What kernels of a module can ask of their GPU and of each other, as the device library reads it
/// (device::DeviceFacts, with device::KernelFacts behind). Of what is known of a kernel nothing changes but
/// by update_facts().
[[nodiscard]] std::vector<std::uint8_t> facts_of(const GpuConfig& config, const programs::Module& module);
/// Takes limits, by CUDA's numbers, and what attributes of kernels say. `function_of`: a kernel by its name;
/// null: the program has not asked for it. Pre: facts_of() made them of this module.
void update_facts(std::vector<std::uint8_t>& facts, const programs::Module& module,
                  const std::map<int, std::uint64_t>& limits,
                  const std::function<const Function*(const std::string&)>& function_of);

}  // namespace warpline::cuda
