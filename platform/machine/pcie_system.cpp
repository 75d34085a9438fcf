#include "platform/machine/pcie_system.h"

#include "platform/machine/namespace_stores.h"
#include "platform/machine/netlist_backend.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/text.h"
#include "rtl_models/nvme/nvme_device.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/memory_image.h"

namespace warpline {
namespace {

constexpr char kPeerLog[] = "pcie_system.peer.log_entries";

std::string what_of(const RefusedAccess& access) {
  if (!access.known) return "an access";
  const std::string bytes = " of " + std::to_string(access.bytes) + " bytes";
  switch (access.kind) {
    case TlpKind::memory_read: return "a read" + bytes;
    case TlpKind::memory_write: return "a write" + bytes;
    default: return "an atomic" + bytes;
  }
}

std::string why_of(const RefusedAccess& access, const std::string& completer) {
  switch (access.why) {
    case RefusedAccess::Why::nobody: return "nobody there takes it";
    case RefusedAccess::Why::forbidden: return "the IOMMU forbids it";
    case RefusedAccess::Why::device: return completer + " does not take it";
    case RefusedAccess::Why::outside: return "its machine refuses it, or does not answer";
    case RefusedAccess::Why::aborted: break;
  }
  return completer + " aborts it";
}

}  // namespace

PcieSystem::PcieSystem(Engine& engine, ClockDomain domain, unsigned mhz,
                       const PcieSystemParameters& parameters, MemoryImage& sysmem, LinkJoiner join)
    : engine_(engine),
      sysmem_(sysmem),
      mhz_(mhz),
      join_(std::move(join)),
      pool_(std::make_unique<TlpPool>()) {
  add_root_of_peers(domain, parameters);
}

PcieSystem::PcieSystem(const PcieSystemParameters& parameters, unsigned mhz, std::uint64_t memory_bytes)
    : own_engine_(std::make_unique<Engine>()),
      own_memory_(std::make_unique<MemoryImage>(memory_bytes)),
      engine_(*own_engine_),
      sysmem_(*own_memory_),
      mhz_(mhz),
      pool_(std::make_unique<TlpPool>()) {
  add_root_of_peers({}, parameters);
}

PcieSystem::PcieSystem(const std::vector<PcieLink*>& gpus, unsigned mhz,
                       const PcieSystemParameters& parameters, MemoryImage& sysmem, LinkJoiner join)
    : engine_(gpus.front()->engine()),
      sysmem_(sysmem),
      mhz_(mhz),
      join_(std::move(join)),
      pool_(std::make_unique<TlpPool>()) {
  gpus_ = gpus;
  const unsigned first = parameters.functions();
  std::vector<LinkParameters> links(first, parameters.device);
  links.resize(first + gpus.size(), parameters.gpu);
  root_ = std::make_unique<RootComplex>(*gpus.front(), "root", gpus.front()->writers(), *pool_,
                                        parameters.root, sysmem, parameters.host, links);
  for (unsigned i = 0; i < gpus.size(); ++i) {
    const unsigned port = first + i;
    GpuFunction& gpu = gpus[i]->reach_devices(*pool_, RootComplexCore::id_of(port), parameters.gpu,
                                              parameters.peer.log_entries);
    join_ends(root_->to_device(port), gpu.to_root());
    gpu.perform_by(*root_);
    root_->perform_by(port, gpu);
  }
  engine_.begin_cluster();
  add_host(gpus.front()->domain(), parameters);
}

PcieSystem::~PcieSystem() = default;

/// The root complex where there are no GPUs, and all that is behind it.
NvmeDevice* PcieSystem::nvme_at(unsigned port) {
  const auto is_it = [&](NvmeDevice* device) { return device == &function(port); };
  const auto at = std::find_if(nvmes_.begin(), nvmes_.end(), is_it);
  return at == nvmes_.end() ? nullptr : *at;
}

void PcieSystem::add_root_of_peers(ClockDomain domain, const PcieSystemParameters& parameters) {
  engine_.begin_cluster();
  root_ = std::make_unique<RootComplex>(
      engine_, "root", domain, *pool_, parameters.root, sysmem_, parameters.host,
      std::vector<LinkParameters>(parameters.functions(), parameters.device));
  add_host(domain, parameters);
}

/// And what is there without GPUs, too.
void PcieSystem::add_host(ClockDomain domain, const PcieSystemParameters& parameters) {
  bridge_ = std::make_unique<HostBridge>(engine_, "host", domain, *pool_, parameters.host, parameters.bridge);
  join_ends(root_->to_host(), bridge_->to_root());
  bridge_->perform_by(*root_);
  root_->interrupt_by(*bridge_);
  const auto next = [this] { return RootComplexCore::id_of(functions()); };
  for (unsigned i = 0; i < parameters.peers; ++i) {
    auto peer = std::make_unique<QueueDevice>(engine_, "peer[" + std::to_string(i) + "]", domain, *pool_,
                                              next(), parameters.peer, parameters.device, mhz_);
    peers_.push_back(peer.get());
    add(std::move(peer));
  }
  for (unsigned i = 0; i < parameters.nvme.count; ++i) {
    auto nvme = std::make_unique<NvmeDevice>(engine_, "nvme[" + std::to_string(i) + "]", domain, *pool_,
                                             next(), parameters.nvme, i, open_stores(parameters.nvme, i),
                                             parameters.device, mhz_);
    nvmes_.push_back(nvme.get());
    add(std::move(nvme));
  }
}

/// Behind the next root port.
void PcieSystem::add(std::unique_ptr<EndpointDevice> function) {
  const unsigned port = functions();
  join_ends(root_->to_device(port), function->to_root());
  function->perform_by(*root_);
  root_->perform_by(port, *function);
  functions_.push_back(std::move(function));
}

void PcieSystem::join_ends(TlpPort& root, TlpPort& other) {
  join_ ? join_(root, other) : connect(root, other);
}

RunOutcome PcieSystem::run_until(Cycle limit) {
  return backend_ != nullptr ? backend_->run_until(limit) : engine_.run_until(limit);
}

Cycle PcieSystem::next_activity() {
  return backend_ != nullptr ? backend_->next_activity() : engine_.next_tick();
}

const AccessLog& PcieSystem::access_log(unsigned i) const {
  return functions_[i]->function().log();
}

void PcieSystem::inject(std::function<Injection(unsigned port, const Tlp& tlp)> decide) {
  root_->inject(std::move(decide));
}

GpuFunction& PcieSystem::gpu_at(unsigned port) const {
  return *gpus_[port - functions()]->function();
}

unsigned PcieSystem::ports() const {
  const bool registers = !gpus_.empty() && gpus_.front()->function()->registers() != nullptr;
  return functions() + (registers ? static_cast<unsigned>(gpus_.size()) : 0);
}

PcieSystem::AtPort PcieSystem::at_port(unsigned port) const {
  if (port < functions()) {
    EndpointDevice& device = *functions_[port];
    return {device.name(), device.endpoint(), device.function(), device,
            port < peers() ? kPeerLog : "pcie_system.nvme.log_entries"};
  }
  GpuFunction& gpu = gpu_at(port);
  return {"gpu[" + std::to_string(port - functions()) + "]", gpu.endpoint(), *gpu.registers(), gpu, kPeerLog};
}

void PcieSystem::set_present(unsigned i, bool present) {
  root_->set_link(i, present);
  if (i < functions()) return functions_[i]->set_present(present);
  gpus_[i - functions()]->hot_reset();
}

void PcieSystem::hot_reset(unsigned i) {
  root_->reset_link(i);
  if (i < functions()) return functions_[i]->hot_reset();
  gpus_[i - functions()]->hot_reset();
}

void PcieSystem::set_loose(bool loose) {
  loose_ = loose;
  bridge_->set_loose(loose);
  for (const auto& function : functions_) function->set_loose(loose);
}

/// "peer[0]", "gpu[1]"; "GPU 1" of one without registers.
std::string PcieSystem::name_of(FunctionId id) const {
  const unsigned bus = id.value >> 8U;
  if (bus == 0) return "the host";
  return bus <= ports() ? at_port(bus - 1).name : "GPU " + std::to_string(bus - 1 - functions());
}

std::vector<std::string> PcieSystem::refused_accesses() const {
  std::vector<std::string> out;
  for (const RefusedAccess& a : root_->core().refused()) {
    out.push_back(name_of(a.requester) + ": " + what_of(a) + " at bus address " + hexadecimal(a.address) +
                  ": " + why_of(a, name_of(a.completer)) + ", cycle " + std::to_string(a.cycle));
  }
  return out;
}

std::vector<std::pair<std::string, MemoryImage*>> PcieSystem::namespace_memories() {
  std::vector<std::pair<std::string, MemoryImage*>> out;
  for (NvmeDevice* const nvme : nvmes_)
    for (unsigned nsid = 1; nsid <= nvme->core().namespaces(); ++nsid)
      if (MemoryImage* const memory = nvme->core().space(nsid).store().memory(); memory != nullptr)
        out.emplace_back(nvme->name() + " namespace " + std::to_string(nsid), memory);
  return out;
}

std::uint64_t PcieSystem::refusals() const {
  return root_->core().refusals();
}

void PcieSystem::visit(CounterVisitor& visitor) const {
  visit_counters("root", root_->core().counters(), visitor);
  visit_counters("host", bridge_->counters(), visitor);
  for (const auto& function : functions_) function->visit(visitor);
  for (unsigned port = functions(); port < ports(); ++port) {
    const AtPort gpu = at_port(port);
    gpu.function.visit(gpu.name, visitor);
    visit_counters(gpu.name + ".endpoint", gpu.endpoint.counters(), visitor);
  }
}

}  // namespace warpline
