#include "platform/study/model_device.h"

#include "platform/config/host_copy.h"
#include "platform/launch/module_memory.h"
#include "platform/programs/ptx/module.h"
#include "platform/study/microbench_texts.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/sm/image_table.h"

namespace warpline::study {

ModelDevice::ModelDevice(const GpuConfig& config) : config_(config) {
  shape_.sms = config.sms;
  shape_.sm_mhz = config.clocks.sm;
  shape_.l2_bytes =
      std::uint64_t{config.l2.slices} * config.l2.geometry.sets * config.l2.geometry.ways * kLineBytes;
  shape_.shared_bytes = config.sm.shared_bytes;
  shape_.memory_bytes = config.vidmem_bytes;
  shape_.bus_bits = config.dram.channels * config.dram.bus_bits;
  shape_.persist_bytes = shape_.l2_bytes * config.l2.geometry.evict_last_percent / 100;
  for (const MicrobenchText& text : microbench_texts()) {
    auto module = ptx::parse(text.ptx, std::string(text.name) + ".ptx (built in)");
    WARPLINE_EXPECT(module.ok(), "built-in kernels are read");
    for (const programs::Entry& e : module.value()->entries()) by_kernel_[e.name] = module.value().get();
    modules_.push_back(std::move(module.value()));
  }
  begin();
}

ModelDevice::~ModelDevice() = default;

void ModelDevice::begin() {
  platform_ = std::make_unique<GpuPlatform>(config_, RunOptions{});
  std::uint64_t constant_used = 0;
  for (const auto& module : modules_)
    for (const programs::Variable& v : module->variables()) {
      const bool constant = v.space == Space::constant;
      const std::uint64_t at = constant ? place_constant(v, constant_used) : place_global(v, *platform_, 0);
      module->place(v.name, at);
      if (constant) constants_[v.name] = at;
    }
}

void ModelDevice::clear() {
  platform_.reset();
  begin();
}

std::uint64_t ModelDevice::allocate(std::uint64_t bytes) {
  const std::uint64_t at = platform_->allocate("", bytes);
  if (at == 0) throw BenchError{"the GPU has no room for " + std::to_string(bytes) + " bytes"};
  return at;
}

void ModelDevice::write(std::uint64_t address, const void* bytes, std::uint64_t count) {
  platform_->write(address, bytes, count);
}

void ModelDevice::read(std::uint64_t address, void* bytes, std::uint64_t count) {
  platform_->read(address, bytes, count);
}

void ModelDevice::write_constant(const std::string& variable, const void* bytes, std::uint64_t count) {
  platform_->write_constant(constants_.at(variable), bytes, count);
}

std::uint64_t ModelDevice::texture(std::uint64_t address, std::uint64_t words) {
  Image image;
  image.address = address;
  image.width = static_cast<std::uint32_t>(words);
  image.format = {DataType::u32, 1};
  return platform_->add_image(image);
}

double ModelDevice::run(const KernelCall& call) {
  const auto module = by_kernel_.find(call.kernel);
  WARPLINE_EXPECT(module != by_kernel_.end(), "there is a kernel of that name");
  const auto kernel = module->second->make_kernel(call.kernel, {call.ctas, 1, 1}, {call.threads, 1, 1},
                                                  call.shared_bytes, call.parameters);
  LaunchAttributes attributes;
  attributes.carveout = call.carveout;
  kernel->set_attributes(attributes);
  if (const std::vector<std::string> refusals = platform_->refusals(kernel->info()); !refusals.empty())
    throw BenchError{refusals.front()};
  const LaunchResult result = platform_->launch(*kernel);
  if (const std::vector<FaultRecord> faults = platform_->faults(); !faults.empty())
    throw BenchError{"the kernel " + call.kernel + " faulted: " + faults.front().kind + " at " +
                     faults.front().where};
  if (result.outcome != RunOutcome::quiescent) throw BenchError{"the kernel " + call.kernel + " did not end"};
  return platform_->time_ns(result.cycles) * 1e-9;
}

double ModelDevice::host_copy(std::uint64_t bytes, bool to_device, bool page_locked, bool by_host) {
  return (host_copy_ns(config_, bytes, to_device, page_locked) +
          (by_host && config_.host_copy.is_given() ? config_.host_copy.call_ns : 0)) *
         1e-9;
}

}  // namespace warpline::study
