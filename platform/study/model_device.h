#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "platform/programs/module.h"
#include "platform/study/bench_device.h"

namespace warpline::study {

/// A GPU of this model.
class ModelDevice final : public BenchDevice {
 public:
  /// Pre: the configuration has no problems.
  explicit ModelDevice(const GpuConfig& config);
  ~ModelDevice() override;
  [[nodiscard]] const DeviceShape& shape() const override { return shape_; }
  std::uint64_t allocate(std::uint64_t bytes) override;
  void write(std::uint64_t address, const void* bytes, std::uint64_t count) override;
  void read(std::uint64_t address, void* bytes, std::uint64_t count) override;
  void write_constant(const std::string& variable, const void* bytes, std::uint64_t count) override;
  std::uint64_t texture(std::uint64_t address, std::uint64_t words) override;
  /// The host's writes leave nothing in caches here.
  void forget() override {}
  double run(const KernelCall& call) override;
  double host_copy(std::uint64_t bytes, bool to_device, bool page_locked, bool by_host) override;
  void clear() override;
  [[nodiscard]] GpuPlatform& platform() { return *platform_; }

 private:
  void begin();
  /// Places what the module declares.
  void place(programs::Module& module);
  /// The module of a kernel, read when the first one is asked for: most measurements need one of many.
  programs::Module& module_of(const std::string& kernel);
  programs::Module& read_module(std::size_t text);

  GpuConfig config_;
  DeviceShape shape_;
  std::vector<std::unique_ptr<programs::Module>>
      modules_;  ///< of each of microbench_texts(), null if not read
  std::map<std::string, programs::Module*> by_kernel_;
  std::map<std::string, std::uint64_t> constants_;
  std::uint64_t constant_used_ = 0;
  std::unique_ptr<GpuPlatform> platform_;
};

}  // namespace warpline::study
