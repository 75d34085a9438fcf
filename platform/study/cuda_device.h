#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/study/bench_device.h"

namespace warpline::study {

/// A GPU that NVIDIA's driver has, by its library libcuda.so.1, which is looked for when this is made: the
/// driver compiles the kernels' PTX. Times are those between two events around a kernel.
class CudaDevice final : public BenchDevice {
 public:
  /// Throws BenchError where there is no driver, no such device, or the driver refuses the kernels.
  explicit CudaDevice(unsigned number);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  [[nodiscard]] const DeviceShape& shape() const override { return shape_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  std::uint64_t allocate(std::uint64_t bytes) override;
  void write(std::uint64_t address, const void* bytes, std::uint64_t count) override;
  void read(std::uint64_t address, void* bytes, std::uint64_t count) override;
  void write_constant(const std::string& variable, const void* bytes, std::uint64_t count) override;
  std::uint64_t texture(std::uint64_t address, std::uint64_t words) override;
  void forget() override;
  double run(const KernelCall& call) override;
  double host_copy(std::uint64_t bytes, bool to_device, bool page_locked, bool by_host) override;
  void clear() override;

 private:
  struct Driver;
  template <class Function, class... Arguments>
  void call(const char* name, Function* function, Arguments... arguments);
  void find_functions();
  void launch(const KernelCall& kernel);
  void keep_awake();
  void record(unsigned event);
  /// Seconds from the first event to the second, once that has come.
  double elapsed();
  void free_all();

  std::unique_ptr<Driver> driver_;
  DeviceShape shape_;
  std::string name_;
  std::map<std::string, void*> functions_;  ///< by kernel
  std::vector<void*> modules_;
  std::vector<std::uint64_t> buffers_, textures_;
  std::uint64_t awake_ = 0;  ///< scratch of keep_awake()
  void* events_[2] = {nullptr, nullptr};
};

}  // namespace warpline::study
