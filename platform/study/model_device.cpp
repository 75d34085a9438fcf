#include "platform/study/model_device.h"

#include <algorithm>
#include <string_view>

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
  modules_.resize(microbench_texts().size());
  begin();
}

ModelDevice::~ModelDevice() = default;

void ModelDevice::begin() {
  platform_ = std::make_unique<GpuPlatform>(config_, RunOptions{});
  constant_used_ = 0;
  for (const auto& module : modules_)
    if (module) place(*module);
}

void ModelDevice::place(programs::Module& module) {
  for (const programs::Variable& v : module.variables()) {
    const bool constant = v.space == Space::constant;
    const std::uint64_t at =
        constant ? place_constant(v, constant_used_) : place_global(v, *platform_, 0).address;
    module.place(v.name, at);
    if (constant) constants_[v.name] = at;
  }
}

programs::Module& ModelDevice::read_module(std::size_t text) {
  const MicrobenchText& t = microbench_texts()[text];
  auto module = ptx::parse(t.ptx, std::string(t.name) + ".ptx (built in)");
  WARPLINE_EXPECT(module.ok(), "built-in kernels are read");
  modules_[text] = std::move(module.value());
  for (const programs::Entry& e : modules_[text]->entries()) by_kernel_[e.name] = modules_[text].get();
  place(*modules_[text]);
  return *modules_[text];
}

programs::Module& ModelDevice::module_of(const std::string& kernel) {
  if (const auto read = by_kernel_.find(kernel); read != by_kernel_.end()) return *read->second;
  const auto& texts = microbench_texts();
  const auto text = std::find_if(texts.begin(), texts.end(), [&](const MicrobenchText& t) {
    return std::string_view(t.ptx).find(".entry " + kernel + "(") != std::string_view::npos;
  });
  WARPLINE_EXPECT(text != texts.end(), "there is a kernel of that name");
  return read_module(static_cast<std::size_t>(text - texts.begin()));
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
  for (std::size_t n = 0; n < modules_.size() && constants_.count(variable) == 0; ++n)
    if (!modules_[n] &&
        std::string_view(microbench_texts()[n].ptx).find(" " + variable + "[") != std::string_view::npos)
      read_module(n);
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
  const auto kernel = module_of(call.kernel)
                          .make_kernel(call.kernel, {call.ctas, 1, 1}, {call.threads, 1, 1},
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
