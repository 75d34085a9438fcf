#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"

namespace warpline {

class GpuPlatform;
class PcieSystem;
class ServedGpu;

/// What is behind the sockets of a server: devices of a PCIe system, and GPUs beside them where the
/// configuration has some that are functions with registers (PcieParameters::registers).
class ServedSystem {
 public:
  /// What is wrong with such a configuration, or with the files behind its namespaces, key first; empty:
  /// nothing.
  [[nodiscard]] static std::string problem_of(const GpuConfig& config);
  /// Pre: there is no problem, and a function.
  explicit ServedSystem(const GpuConfig& config);
  ~ServedSystem();
  ServedSystem(const ServedSystem&) = delete;
  ServedSystem& operator=(const ServedSystem&) = delete;

  [[nodiscard]] PcieSystem& system() { return devices_ != nullptr ? *devices_ : *system_; }
  /// Who runs kernels, in order of their GPUs.
  [[nodiscard]] std::vector<ServedGpu*> gpus() const;

 private:
  std::unique_ptr<PcieSystem> devices_;    ///< null: they are the platform's
  std::unique_ptr<GpuPlatform> platform_;  ///< null: there is no GPU
  PcieSystem* system_ = nullptr;           ///< the platform's
  std::vector<std::unique_ptr<ServedGpu>> gpus_;
};

}  // namespace warpline
