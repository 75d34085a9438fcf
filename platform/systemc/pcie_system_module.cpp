// The convenience socket answers nb_transport by processes of its own.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include "platform/systemc/pcie_system_module.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "platform/config/config_binder.h"
#include "platform/config/config_fields.h"
#include "platform/config/parameter_list.h"
#include "platform/systemc/host_access_module.h"
#include "platform/systemc/link_hops.h"
#include "platform/systemc/parameter_report.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/report.h"

namespace warpline {
namespace {

/// The options that are parameters.
struct PcieSystemKeys {
  PcieSystemOptions& options;
  template <class F>
  void visit(F&& f) {
    f("mhz", options.mhz, "the only clock, MHz");
    f("memory_bytes", options.memory_bytes, "system memory, bytes");
    options.parameters.visit(f);
  }
  [[nodiscard]] std::vector<ConfigEntry> entries() {
    std::vector<ConfigEntry> all;
    list_fields(*this, "", all);
    return all;
  }
};

/// The options of a module of that name, with the preset values for it. Throws std::invalid_argument.
PcieSystemOptions with_presets(const std::string& module, PcieSystemOptions options) {
  PcieSystemKeys keys{options};
  const std::vector<ConfigEntry> defaults = keys.entries();
  KeyOrigins origins;
  Diagnostics faults;
  std::map<std::string, SetBy> set_by;
  for (const ParameterSetting& preset : ParameterBroker::global().consume(module)) {
    const Result<Document> document = Document::parse(preset.source, preset.text);
    if (!document.ok()) {
      faults.insert(faults.end(), document.faults().begin(), document.faults().end());
      continue;
    }
    origins.clear();
    ConfigBinder(document.value(), "", origins, faults).bind(document.value().root(), keys, "");
    for (const auto& [key, origin] : origins) set_by[key] = {preset.origin, preset.source};
  }
  std::string all;
  for (const Diagnostic& d : faults) all += (all.empty() ? "" : "\n") + d.text();
  if (!all.empty()) throw std::invalid_argument(all);
  ParameterBroker::global().publish(module,
                                    parameters_of(module, defaults, keys.entries(), set_by, "pcie_system."));
  return options;
}

const PcieSystemOptions& fit(const PcieSystemOptions& options) {
  Problems problems = options.parameters.problems("parameters");
  if (options.processors == 0) problems.push_back({"processors", "must be at least 1"});
  if (options.memory_bytes < 8192 || options.memory_bytes > RootComplexCore::kInterruptWindow)
    problems.push_back({"memory_bytes", "must be between 8 KiB and 1 TiB"});
  if (const std::string p = CycleTime::problem(options.mhz); !p.empty()) problems.push_back({"mhz", p});
  std::string all;
  for (const Problem& p : problems) all += (all.empty() ? "" : "\n") + p.path + ": " + p.message;
  if (!all.empty()) throw std::invalid_argument(all);
  return options;
}

}  // namespace

/// A system without GPUs.
struct PcieSystemModule::Own {
  Own(const std::string& module, const PcieSystemOptions& options)
      : Own{std::make_unique<PublishedParameters>(module), fit(with_presets(module, options))} {}
  Own(std::unique_ptr<PublishedParameters> its_parameters, const PcieSystemOptions& o)
      : published(std::move(its_parameters)),
        engine("engine", o.mhz),
        memory(o.memory_bytes),
        system(engine.engine(), {}, o.mhz, o.parameters, memory, [&](TlpPort& root, TlpPort& other) {
          links.join(root, other, {o.transport, o.pins, o.interpose});
        }) {
    for (const std::string& pattern : o.pins)
      if (!links.matched(pattern))
        throw std::invalid_argument("pins: \"" + pattern + "\" matches no hop, which are " +
                                    joined(links.names()));
  }
  std::unique_ptr<PublishedParameters> published;
  EngineProcess engine;
  LinkHops links{engine};
  MemoryImage memory;
  PcieSystem system;
};

/// The system, and the ends of its sockets.
struct PcieSystemModule::State {
  using SimpleSocket = tlm_utils::simple_target_socket_tagged<State, kBusBits>;

  State(PcieSystem& its_system, EngineProcess& its_engine, unsigned processors,
        std::function<void(bool)> its_set_time, std::unique_ptr<Own> its_own = nullptr)
      : own(std::move(its_own)),
        engine(its_engine),
        system(its_system),
        memory(system.sysmem()),
        set_time(std::move(its_set_time)) {
    for (unsigned i = 0; i < processors; ++i) {
      SimpleSocket& socket = from_cpu.emplace_back(("from_cpu_" + std::to_string(i)).c_str());
      const int number = static_cast<int>(i);
      socket.register_b_transport(this, &State::transport, number);
      socket.register_get_direct_mem_ptr(this, &State::direct, number);
      socket.register_transport_dbg(this, &State::debug, number);
    }
    to_interrupts.bind(ignored);
    system.bridge().on_event([this](Cycle at) { note(at); });
  }

  /// What only an initiator without targets of the base protocol would hear.
  struct Ignored final : tlm::tlm_bw_transport_if<> {
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& /*delay*/) override {
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  };

  void transport(int number, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void barrier(const sc_core::sc_time& delay);
  [[nodiscard]] Cycle next_access(const sc_core::sc_time& delay);
  bool direct(int number, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  /// Time is loose no more: takes back the pointer that direct() has granted.
  void withdraw();
  unsigned debug(int number, tlm::tlm_generic_payload& payload);
  void note(Cycle at);
  void deliver_interrupts();
  /// An address in system memory, with so many bytes that are there.
  [[nodiscard]] std::uint64_t memory_from(std::uint64_t address) const {
    return address < memory.size() ? memory.size() - address : 0;
  }

  std::unique_ptr<Own> own;  ///< null: somebody else's
  EngineProcess& engine;
  PcieSystem& system;
  MemoryImage& memory;
  std::function<void(bool)> set_time;
  std::deque<SimpleSocket> from_cpu;
  Ignored ignored;
  Interrupts to_interrupts{"to_interrupts"};
  sc_core::sc_event answered, interrupted;
  bool granted = false;  ///< a pointer, since time is loose
  Cycle latest = 0;      ///< when the access before was made, of loosely timed ones
};

/// An access goes out in the cycle after the one in which it is made. Devices must not see time go back, so a
/// loosely timed one is made when the one before it was, if its initiator is behind; it takes the same time.
void PcieSystemModule::State::transport(int number, tlm::tlm_generic_payload& payload,
                                        sc_core::sc_time& delay) {
  payload.set_dmi_allowed(false);
  if (const auto status = shape_of(payload); status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return;
  }
  const bool ahead = !engine.is_loose() && delay != sc_core::SC_ZERO_TIME;
  if ((ahead || !is_posted(payload)) && !EngineProcess::caller_may_wait()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    protest(
        from_cpu[static_cast<std::size_t>(number)],
        "b_transport from a process that cannot wait: all but posted writes wait for their answer, so they "
        "must come from an SC_THREAD");
    return;
  }
  if (ahead) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  if (engine.resetting()) return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  const bool loose = engine.is_loose();
  const EngineProcess::Access access(engine, !loose);
  const Cycle at = next_access(delay);
  const HostBridge::Ticket ticket = submit(system.bridge(), payload, at);
  engine.wake();
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (ticket == 0) return;
  HostBridge::Answer given;
  while (!system.bridge().take(ticket, given)) sc_core::wait(answered);
  answer(payload, given);
  if (engine.resetting()) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!loose) return;
  delay += engine.start_of(given.cycle) - engine.start_of(at - 1);
  payload.set_dmi_allowed(memory_from(payload.get_address()) != 0);
}

/// The cycle in which an access goes out that is made so far ahead.
Cycle PcieSystemModule::State::next_access(const sc_core::sc_time& delay) {
  const Cycle at = engine.cycle_of(engine.time() + delay) + 1;
  return engine.is_loose() ? latest = std::max({at, latest, engine.engine().now() + 1}) : at;
}

void PcieSystemModule::State::barrier(const sc_core::sc_time& delay) {
  const EngineProcess::Access access(engine);
  system.bridge().barrier(next_access(delay));
  engine.wake();
}

bool PcieSystemModule::State::direct(int /*number*/, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  dmi.allow_none();
  dmi.set_start_address(0);
  dmi.set_end_address(~sc_dt::uint64{0});
  if (!engine.is_loose()) return false;
  if (memory_from(payload.get_address()) == 0) {
    dmi.set_start_address(memory.size());
    return false;
  }
  if (!std::exchange(granted, true)) engine.on_timed([this] { withdraw(); });
  dmi.set_end_address(memory.size() - 1);
  dmi.set_dmi_ptr(memory.at(0));
  dmi.allow_read_write();
  const Cycle latency = system.root().core().parameters().memory_latency;
  dmi.set_read_latency(engine.start_of(latency) - engine.start_of(0));
  dmi.set_write_latency(sc_core::SC_ZERO_TIME);
  return true;
}

void PcieSystemModule::State::withdraw() {
  granted = false;
  for (auto& socket : from_cpu)
    if (socket.size() != 0) socket->invalidate_direct_mem_ptr(0, memory.size() - 1);
}

unsigned PcieSystemModule::State::debug(int /*number*/, tlm::tlm_generic_payload& p) {
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(p.get_data_length(), memory_from(p.get_address())));
  if (bytes == 0 || p.get_byte_enable_ptr() != nullptr) return 0;
  if (p.is_read()) {
    std::memcpy(p.get_data_ptr(), memory.at(p.get_address()), bytes);
  } else if (p.is_write()) {
    std::memcpy(memory.at(p.get_address()), p.get_data_ptr(), bytes);
  } else {
    return 0;
  }
  return bytes;
}

/// An answer or an interrupt has come, possibly ahead of SystemC's time.
void PcieSystemModule::State::note(Cycle at) {
  answered.notify(sc_core::SC_ZERO_TIME);
  if (system.bridge().interrupts().empty()) return;
  const sc_core::sc_time& now = engine.time();
  interrupted.notify(std::max(engine.tick_of(at), now) - now);
}

void PcieSystemModule::State::deliver_interrupts() {
  auto& arrived = system.bridge().interrupts();
  for (;;) {
    const sc_core::sc_time& now = engine.time();
    if (!arrived.empty() && engine.tick_of(arrived.front().cycle) > now)
      interrupted.notify(engine.tick_of(arrived.front().cycle) - now);
    if (arrived.empty() || engine.tick_of(arrived.front().cycle) > now) {
      sc_core::wait(interrupted);
      continue;
    }
    const HostInterrupt interrupt = arrived.front();
    arrived.pop_front();
    if (to_interrupts.size() == 0) continue;
    unsigned char data[4];
    std::memcpy(data, &interrupt.data, sizeof data);
    tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(interrupt.address);
    payload.set_data_ptr(data);
    payload.set_data_length(sizeof data);
    payload.set_streaming_width(sizeof data);
    sc_core::sc_time delay;
    to_interrupts->b_transport(payload, delay);
  }
}

PcieSystemModule::PcieSystemModule(const sc_core::sc_module_name& name, const PcieSystemOptions& options)
    : PcieSystemModule(name, [this, &options] {
        auto own = std::make_unique<Own>(this->name(), options);
        Own& o = *own;
        const auto set_time = [&o](bool loose) {
          o.engine.set_loose(loose);
          if (o.engine.is_loose() == loose) o.system.set_loose(loose);
        };
        return std::make_unique<State>(o.system, o.engine, options.processors, set_time, std::move(own));
      }) {}

PcieSystemModule::PcieSystemModule(const sc_core::sc_module_name& name, PcieSystem& system,
                                   EngineModule& engine, unsigned processors,
                                   std::function<void(bool loose)> set_time)
    : PcieSystemModule(name, [&] {
        return std::make_unique<State>(system, process_of(engine), processors, std::move(set_time));
      }) {}

/// What the state holds is made inside the module.
PcieSystemModule::PcieSystemModule(const sc_core::sc_module_name& name,
                                   const std::function<std::unique_ptr<State>()>& make)
    : sc_module(name), state_(make()) {
  SC_HAS_PROCESS(PcieSystemModule);
  SC_THREAD(deliver_interrupts);
}

PcieSystemModule::~PcieSystemModule() = default;

void PcieSystemModule::start_of_simulation() {
  report_unconsumed_presets();
}

void PcieSystemModule::deliver_interrupts() {
  state_->deliver_interrupts();
}

PcieSystemModule::Socket& PcieSystemModule::from_cpu(unsigned i) {
  if (i < state_->from_cpu.size()) return state_->from_cpu[i];
  throw std::out_of_range(std::string(name()) + ": there is no from_cpu_" + std::to_string(i) +
                          "; there are " + std::to_string(state_->from_cpu.size()));
}

PcieSystemModule::Interrupts& PcieSystemModule::to_interrupts() {
  return state_->to_interrupts;
}

void PcieSystemModule::set_loose(bool loose) {
  // Before the start, what was asked for last counts.
  if (is_loose() == loose && sc_core::sc_get_status() >= sc_core::SC_START_OF_SIMULATION) return;
  state_->set_time(loose);  // where it is refused, that is reported
  tlm::tlm_global_quantum& quantum = tlm::tlm_global_quantum::instance();
  if (is_loose() && quantum.get() == sc_core::SC_ZERO_TIME) quantum.set(sc_core::sc_time(1, sc_core::SC_US));
}

void PcieSystemModule::barrier(const sc_core::sc_time& delay) {
  state_->barrier(delay);
}

bool PcieSystemModule::is_loose() const {
  return state_->engine.is_loose();
}

bool PcieSystemModule::idle() const {
  return state_->engine.at_rest();
}

PcieSystem& PcieSystemModule::system() {
  return state_->system;
}

EngineModule& PcieSystemModule::engine() {
  return state_->engine;
}

}  // namespace warpline
