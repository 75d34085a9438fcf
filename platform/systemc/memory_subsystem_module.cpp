#include "platform/systemc/memory_subsystem_module.h"

#include <algorithm>
#include <deque>
#include <ostream>
#include <stdexcept>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "platform/config/parameter_broker.h"
#include "platform/machine/checkpoint.h"
#include "platform/machine/checkpoint_file.h"
#include "platform/machine/netlist.h"
#include "platform/report/run_statistics.h"
#include "platform/report/subsystem_report.h"
#include "platform/systemc/hop_opener.h"
#include "platform/systemc/parameter_report.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/crossbar/crossbar_module.h"
#include "rtl_models/document/document.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l1_lg/l1_lg_module.h"
#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace {

/// The caches are those of SMs 0, 1 and on; devices are outside of the network.
std::vector<NetworkPlace> network_places(const GpuConfig& config, unsigned devices) {
  const GpcShape shape{config.gpcs, config.sms_per_tpc};
  std::vector<NetworkPlace> places(config.sms + devices);
  for (unsigned sm = 0; sm < config.sms; ++sm) places[sm] = {sm, shape.tpc_of(sm), shape.gpc_of(sm)};
  return places;
}

GpuConfig load(const std::string& module, const MemorySubsystemOptions& options) {
  Result<GpuConfig> config = ParameterBroker::global().load_gpu(module, options.gpu, options.settings);
  if (!config.ok()) {
    std::string all;
    for (const Diagnostic& d : config.faults()) all += (all.empty() ? "" : "\n") + d.text();
    throw std::invalid_argument(all);
  }
  const GpuConfig& c = config.value();
  if (c.gpus != 1)
    throw std::invalid_argument("gpu.gpus: a memory subsystem is that of one GPU, not of " +
                                std::to_string(c.gpus));
  if (c.has_root_complex())
    throw std::invalid_argument(
        std::string("gpu: a memory subsystem has no root complex; PcieSystemModule is one: leave gpu.") +
        c.without_root_complex());
  return std::move(config.value());
}

/// Of a socket.
struct SocketCounters {
  std::uint64_t address_errors = 0;

  template <class F>
  void visit(F&& f) const {
    f("address_errors", address_errors, "accesses", "answered with TLM_ADDRESS_ERROR_RESPONSE");
  }
};

}  // namespace

/// Tells an L1 that L2 has performed a write of its: from then on others may write what is newer.
struct PerformedWrites final : CoherenceObserver {
  explicit PerformedWrites(std::deque<L1LgModule>& its_caches) : caches(its_caches) {}
  void taken(const Request& /*r*/) override {}
  void performed(const Request& r) override {
    for (L1LgModule& l1 : caches)
      if (r.maker == &l1.cache()) l1.cache().posted().performed(r);
  }
  std::deque<L1LgModule>& caches;
};

/// The blocks, made and bound while the module around them is being made.
struct MemorySubsystemModule::State {
  State(const std::string& module, const MemorySubsystemOptions& options);
  void make_caches(unsigned devices);
  void make_memory();
  /// Joins the ends of a hop between these clocks; the paths are those of its ports.
  void join(InitiatorSocket& from, TargetSocket& to, const HopParameters& hop, const ClockDomain& requester,
            const ClockDomain& responder, const HopSite& site);
  Socket& face(std::deque<Socket>& sockets, const char* name, TargetSocket& inner);
  void visit(CounterVisitor& visitor);
  /// What has to be the same for a checkpoint to fit, and the memories.
  [[nodiscard]] CheckpointKeys keys() const;
  [[nodiscard]] std::vector<CheckpointMemory> memories() {
    return {{"video memory", vidmem}, {"system memory", sysmem}};
  }
  void archive(StateArchive& a) {
    a(registers);
    engine.engine().archive(a);
  }
  [[nodiscard]] CheckpointContents contents() {
    return {keys(), memories(), [this](StateArchive& a) { archive(a); }};
  }
  [[nodiscard]] Diagnostics unfit_for_checkpoints();
  bool idle() { return engine.engine().quiescent() && engine.transactions_in_use() == 0; }

  PublishedParameters published;
  GpuConfig config;
  Interposer interpose;
  std::vector<std::string> hops;  ///< names
  MemoryImage vidmem, sysmem;
  EngineProcess engine;
  HopOpener opener;
  CrossbarModule crossbar;
  PcieModule pcie;
  std::deque<L1LgModule> caches;
  PerformedWrites performed{caches};
  std::deque<L2SliceModule> slices;
  std::deque<DramModule> channels;
  std::deque<Socket> from_sm, from_device;
  CacheRegisters registers;
  CacheRegistersTarget from_host;
};

MemorySubsystemModule::State::State(const std::string& module, const MemorySubsystemOptions& options)
    : published(module),
      config(load(module, options)),
      interpose(options.interpose),
      vidmem(config.vidmem_bytes),
      sysmem(config.sysmem_bytes),
      engine("engine", config.clocks.fastest()),
      opener(engine, options.open_hops),
      crossbar("crossbar", engine, domain_of(config.clocks.l2, config.clocks), config.crossbar,
               config.sms + options.devices, config.l2.slices,
               {config.hops.crossbar_l2.request.width, config.hops.l1_lg_crossbar.response.width}, true,
               network_places(config, options.devices)),
      pcie("pcie", engine, domain_of(config.clocks.link, config.clocks), config.pcie, &sysmem,
           config.l2.slices),
      registers({CacheRegisters::kL1Global, [this] { return !idle(); },
                 [this](std::uint32_t /*caches*/) {
                   for (L1LgModule& l1 : caches) l1.cache().invalidate_global();
                 }}),
      from_host("from_host", registers) {
  engine.set_end_response(options.end_response);
  crossbar.crossbar().place_page_tables(config.vidmem_bytes);
  make_caches(options.devices);
  make_memory();
  std::string all;
  for (const std::string& pattern : opener.unused()) {
    const std::string near = did_you_mean(pattern, hops);
    all += Diagnostic::about("open_hops", "\"" + pattern + "\" matches no hop of " + config.name,
                             near.empty() ? "hops are " + joined(hops) : near)
               .text();
  }
  if (!all.empty()) throw std::invalid_argument(all);
}

MemorySubsystemModule::Socket& MemorySubsystemModule::State::face(std::deque<Socket>& sockets,
                                                                  const char* name, TargetSocket& inner) {
  Socket& outer = sockets.emplace_back(socket_name(name, sockets.size()).c_str());
  outer.bind(static_cast<tlm::tlm_base_target_socket_b<256>&>(inner));  // the port behind it, too
  inner.set_memories(vidmem.size(), sysmem.size());
  return outer;
}

void MemorySubsystemModule::State::make_caches(unsigned devices) {
  const ClockDomain sm_clock = domain_of(config.clocks.sm, config.clocks);
  const ClockDomain l2_clock = domain_of(config.clocks.l2, config.clocks);
  for (unsigned i = 0; i < config.sms; ++i) {
    L1LgModule& l1 =
        caches.emplace_back(socket_name("l1_lg", i).c_str(), engine, sm_clock, config.l1_lg, true);
    l1.from_sm.set_channel(config.hops.sm_l1_lg.request, sm_clock);
    join(l1.to_crossbar, crossbar.from_client[i], config.hops.l1_lg_crossbar, sm_clock, l2_clock,
         hop_site(indexed("crossbar.from_client", i), indexed("l1_lg", i) + ".to_crossbar"));
    face(from_sm, "from_sm", l1.from_sm);
  }
  for (unsigned i = 0; i < devices; ++i) {
    TargetSocket& client = crossbar.from_client[config.sms + i];
    client.set_channel(config.hops.l1_lg_crossbar.request, l2_clock);
    face(from_device, "from_device", client);
  }
}

void MemorySubsystemModule::State::make_memory() {
  const ClockDomain l2_clock = domain_of(config.clocks.l2, config.clocks);
  const ClockDomain dram_clock = domain_of(config.clocks.dram, config.clocks);
  const ClockDomain link_clock = domain_of(config.clocks.link, config.clocks);
  std::vector<unsigned> inputs(config.dram.channels, 0);
  for (unsigned s = 0; s < config.l2.slices; ++s)
    for (const unsigned c : dram_channels_of(config, s)) ++inputs[c];
  for (unsigned c = 0; c < config.dram.channels; ++c)
    channels.emplace_back(socket_name("dram", c).c_str(), engine, dram_clock, config.dram, inputs[c]);
  std::vector<unsigned> used(config.dram.channels, 0);
  L2Parameters of_slices = config.l2;
  of_slices.hash_masks = config.crossbar.hash_masks;
  of_slices.slice_shift = config.crossbar.slice_shift;
  for (unsigned s = 0; s < config.l2.slices; ++s) {
    const std::vector<unsigned> uses = dram_channels_of(config, s);
    L2SliceModule& slice = slices.emplace_back(socket_name("l2", s).c_str(), engine, l2_clock, of_slices,
                                               &vidmem, static_cast<unsigned>(uses.size()));
    slice.slice().set_posted_atomics(!config.pcie.atomic_ops);
    slice.slice().set_place({0, s, GpcShape{config.gpcs, config.sms_per_tpc}});
    slice.slice().observe(&performed);
    const std::string l2 = indexed("l2", s);
    join(crossbar.to_l2[s], slice.from_crossbar, config.hops.crossbar_l2, l2_clock, l2_clock,
         hop_site(l2 + ".from_crossbar", indexed("crossbar.to_l2", s)));
    join(slice.to_pcie, pcie.from_l2[s], config.hops.l2_pcie, l2_clock, link_clock,
         hop_site(indexed("pcie.from_l2", s), l2 + ".to_pcie"));
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const unsigned port = used[uses[k]]++;
      join(slice.to_dram[k], channels[uses[k]].from_l2[port], config.hops.l2_dram, l2_clock, dram_clock,
           hop_site(indexed(indexed("dram", uses[k]) + ".from_l2", port), indexed(l2 + ".to_dram", k)));
    }
  }
}

void MemorySubsystemModule::State::join(InitiatorSocket& from, TargetSocket& to, const HopParameters& hop,
                                        const ClockDomain& requester, const ClockDomain& responder,
                                        const HopSite& site) {
  from.set_channel(hop.response, responder);
  to.set_channel(hop.request, requester);
  hops.push_back(site.name);
  const HopOpening* opening = opener.find(site);
  if (!bind_interposed(interpose, site, from, to)) {
    from.bind(to);
    if (opening != nullptr) opener.open(site, from, to, hop, opening);
  } else if (opening != nullptr) {
    throw std::invalid_argument(site.name +
                                ": a hop is opened as pins or has a module put into it, not both");
  }
}

void MemorySubsystemModule::State::visit(CounterVisitor& visitor) {
  for (std::size_t i = 0; i < caches.size(); ++i)
    visit_counters(indexed("from_sm", i), SocketCounters{caches[i].from_sm.address_errors()}, visitor);
  for (std::size_t i = 0; i < from_device.size(); ++i)
    visit_counters(indexed("from_device", i),
                   SocketCounters{crossbar.from_client[caches.size() + i].address_errors()}, visitor);
  for (std::size_t i = 0; i < caches.size(); ++i)
    visit_counters(indexed("l1_lg", i), caches[i].cache().counters(), visitor);
  visit_counters("crossbar", crossbar.crossbar().counters(), visitor);
  if (const Translation* const t = crossbar.crossbar().translation(); t != nullptr)
    visit_counters("crossbar.translation", t->counters(), visitor);
  for (std::size_t i = 0; i < slices.size(); ++i)
    visit_counters(indexed("l2", i), slices[i].slice().counters(), visitor);
  for (std::size_t i = 0; i < channels.size(); ++i)
    visit_counters(indexed("dram", i), channels[i].channel().counters(), visitor);
  visit_counters("pcie", pcie.link().counters(), visitor);
}

CheckpointKeys MemorySubsystemModule::State::keys() const {
  CheckpointKeys keys = {{"MemorySubsystemModule", "alone"}, {"devices", std::to_string(from_device.size())}};
  for (const ConfigEntry& e : config_entries(config))
    if (!e.value.empty() && e.path() != "name") keys.emplace_back("gpu." + e.path(), e.value);
  return keys;
}

Diagnostics MemorySubsystemModule::State::unfit_for_checkpoints() {
  if (sc_core::sc_get_status() < sc_core::SC_START_OF_SIMULATION)
    return {
        Diagnostic::about("checkpoint", "the simulation has not started: sc_start(SC_ZERO_TIME) is enough")};
  if (idle() && engine.engine().next_tick() == kNever) return {};
  return {Diagnostic::about("checkpoint", "requests are in flight")};
}

MemorySubsystemModule::MemorySubsystemModule(const sc_core::sc_module_name& name,
                                             const MemorySubsystemOptions& options)
    : sc_module(name), state_(std::make_unique<State>(this->name(), options)) {}

void MemorySubsystemModule::start_of_simulation() {
  report_unconsumed_presets();
}

MemorySubsystemModule::~MemorySubsystemModule() = default;

MemorySubsystemModule::Socket& MemorySubsystemModule::from_sm(unsigned i) {
  if (i < sms()) return state_->from_sm[i];
  throw std::out_of_range(std::string(name()) + ": there is no from_sm_" + std::to_string(i) +
                          "; the GPU has " + std::to_string(sms()) + " SMs (key `sms`)");
}

MemorySubsystemModule::Socket& MemorySubsystemModule::from_device(unsigned i) {
  if (i < devices()) return state_->from_device[i];
  throw std::out_of_range(std::string(name()) + ": there is no from_device_" + std::to_string(i) +
                          "; the options ask for " + std::to_string(devices()) + " devices");
}

CacheRegistersTarget::Socket& MemorySubsystemModule::from_host() {
  return state_->from_host.socket;
}

unsigned MemorySubsystemModule::sms() const {
  return static_cast<unsigned>(state_->from_sm.size());
}

unsigned MemorySubsystemModule::devices() const {
  return static_cast<unsigned>(state_->from_device.size());
}

std::uint64_t MemorySubsystemModule::video_memory_bytes() const {
  return state_->vidmem.size();
}

std::uint64_t MemorySubsystemModule::system_memory_bytes() const {
  return state_->sysmem.size();
}

void MemorySubsystemModule::set_loose(bool loose) {
  state_->engine.set_loose(loose);
}

bool MemorySubsystemModule::idle() const {
  return state_->idle();
}

void MemorySubsystemModule::invalidate_l1() {
  state_->registers.write(CacheRegisters::kInvalidate, CacheRegisters::kL1Global);
}

void MemorySubsystemModule::reset() {
  state_->engine.reset();
}

bool MemorySubsystemModule::resetting() const {
  return state_->engine.resetting();
}

Diagnostics MemorySubsystemModule::save(std::ostream& out, std::string_view note) {
  State& s = *state_;
  if (Diagnostics faults = s.unfit_for_checkpoints(); !faults.empty()) return faults;
  return save_checkpoint(out, note, s.contents());
}

Diagnostics MemorySubsystemModule::restore(const Checkpoint& checkpoint) {
  State& s = *state_;
  if (Diagnostics faults = s.unfit_for_checkpoints(); !faults.empty()) return faults;
  if (Diagnostics faults = restore_checkpoint(checkpoint.file(), s.contents()); !faults.empty())
    return faults;
  s.engine.rebase();
  return {};
}

std::map<std::string, std::uint64_t> MemorySubsystemModule::counters() const {
  CounterTable table;
  const CounterTable::Values values = table.read([this](CounterVisitor& v) { state_->visit(v); });
  std::map<std::string, std::uint64_t> out;
  for (std::size_t i = 0; i < values.size(); ++i) out[table.entries()[i].path] = values[i];
  return out;
}

void MemorySubsystemModule::report(std::ostream& out) const {
  out << subsystem_report(name(), counters());
}

std::vector<std::string> MemorySubsystemModule::waits() const {
  std::vector<std::string> out;
  for (const Wait& w : state_->engine.explain()) out.push_back(w.who + " waits for " + w.what);
  return out;
}

}  // namespace warpline
