#include "platform/serve/served_system.h"

#include "platform/config/namespace_files.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/pcie_system.h"
#include "platform/serve/served_gpu.h"

namespace warpline {

std::string ServedSystem::problem_of(const GpuConfig& config) {
  const PcieSystemParameters& parameters = config.pcie_system;
  for (const Problems& problems :
       {parameters.problems("pcie_system"), nvme_file_problems(parameters.nvme, "pcie_system.nvme"),
        config.problems()})
    for (const Problem& p : problems) return p.path + ": " + p.message;
  return config.pcie.registers ? ServedGpu::problem_of(config) : std::string();
}

ServedSystem::ServedSystem(const GpuConfig& config) {
  if (!config.pcie.registers) {
    devices_ = std::make_unique<PcieSystem>(config.pcie_system, config.clocks.fastest(), 1U << 20U);
    return;
  }
  platform_ = std::make_unique<GpuPlatform>(config, RunOptions{});
  for (unsigned i = 0; i < config.gpus; ++i) gpus_.push_back(std::make_unique<ServedGpu>(*platform_, i));
  system_ = platform_->pcie();
}

ServedSystem::~ServedSystem() = default;

std::vector<ServedGpu*> ServedSystem::gpus() const {
  std::vector<ServedGpu*> out;
  for (const auto& gpu : gpus_) out.push_back(gpu.get());
  return out;
}

}  // namespace warpline
