#include "platform/systemc/systemc_backend.h"

#include <algorithm>
#include <stdexcept>

#include "platform/machine/hop_names.h"
#include "platform/systemc/gpu_module.h"
#include "platform/systemc/link_hops.h"
#include "platform/systemc/pin_wave.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace {

/// A launch from outside the simulation runs to its end, so nobody sees how far ahead of SystemC it is.
constexpr Cycle kAhead = 1023;

/// Throws std::invalid_argument where patterns cannot be followed.
void require_openable(const GpuParts& parts, Netlist& netlist) {
  std::string all;
  const auto check = [&](const char* who, const std::vector<std::string>& patterns) {
    if (patterns.empty()) return;
    for (const Diagnostic& d : unopenable_hops(who, patterns, netlist)) all += d.text();
  };
  check("pins", parts.pins);
  std::vector<std::string> opened;
  for (const HopOpening& opening : parts.openings) opened.push_back(opening.pattern);
  check("open_hops", opened);
  if (!all.empty()) throw std::invalid_argument(all);
}

/// `wanted`, or where an object or event of that name exists in the present scope, with a number behind.
std::string free_name(const std::string& wanted) {
  const sc_core::sc_object* const scope = sc_core::sc_get_current_object();
  const std::string prefix = scope == nullptr ? std::string{} : std::string(scope->name()) + ".";
  const auto taken = [&prefix](const std::string& name) {
    const std::string path = prefix + name;
    return sc_core::sc_find_object(path.c_str()) != nullptr ||
           sc_core::sc_find_event(path.c_str()) != nullptr;
  };
  std::string name = wanted;
  while (taken(name)) name = sc_core::sc_gen_unique_name(wanted.c_str());
  return name;
}

}  // namespace

struct SystemCBackend::State {
  State(const ClockParameters& clocks, HopTransport transport, TickMode mode, std::uint64_t seed,
        std::vector<std::string> its_pins, const std::string& its_name);
  void went_idle(RunOutcome outcome);
  void catch_up();
  [[nodiscard]] sc_core::sc_time time_until(Cycle limit);

  std::string name;  ///< of the GPUs' modules; empty: none was given
  EngineProcess module;
  GpuParts parts;
  LinkHops links{module};
  sc_core::sc_event idle;
  /// Who waits for the engine to have nothing left to do: nobody outside of run_until().
  enum class Waiter : std::uint8_t { nobody, thread, caller } waiter = Waiter::nobody;
  bool ended = false;                    ///< the engine has nothing left to do, or may do no more
  bool keeps_pace = false;               ///< see keep_pace()
  std::deque<GpuSwitchModule> switches;  ///< between them, made with the first
  std::vector<std::unique_ptr<GpuModule>> gpus;
  std::unique_ptr<PinWave> pin_wave;
};

SystemCBackend::State::State(const ClockParameters& clocks, HopTransport transport, TickMode mode,
                             std::uint64_t seed, std::vector<std::string> its_pins,
                             const std::string& its_name)
    : name(its_name),
      module((its_name.empty() ? free_name("engine") : its_name + "_engine").c_str(), clocks.fastest(),
             transport, mode, seed) {
  parts.pins = std::move(its_pins);
  module.keep_exceptions();
  module.on_idle([this](RunOutcome outcome) { went_idle(outcome); });
}

void SystemCBackend::State::went_idle(RunOutcome outcome) {
  // Foreign modules may yet answer what our blocks wait for.
  if (outcome == RunOutcome::deadlock && module.keeps_step()) return;
  ended = true;
  switch (waiter) {
    case Waiter::nobody: return module.rethrow();
    case Waiter::thread: return idle.notify();
    case Waiter::caller: return sc_core::sc_pause();
  }
}

/// The engine may be ahead of SystemC's time by then: lets that time pass for all other modules.
void SystemCBackend::State::catch_up() {
  const sc_core::sc_time end = module.tick_of(module.engine().now());
  if (end <= sc_core::sc_time_stamp()) return;
  const sc_core::sc_time left = end - sc_core::sc_time_stamp();
  if (waiter == Waiter::thread) {
    sc_core::wait(left);
  } else {
    sc_core::sc_start(left);
  }
}

/// From now to the end of cycle `limit`, or as long as SystemC's time allows.
sc_core::sc_time SystemCBackend::State::time_until(Cycle limit) {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const sc_core::sc_time most = sc_core::sc_max_time() - now;
  const sc_core::sc_time cycle =
      module.start_of(module.engine().now() + 1) - module.start_of(module.engine().now());
  const Cycle cycles = limit - std::min(limit, module.engine().now());
  if (cycles >= static_cast<Cycle>(most / cycle) - 2) return most;
  return std::max(module.start_of(limit + 1), now) - now;
}

SystemCBackend::SystemCBackend(const ClockParameters& clocks, HopTransport transport, TickMode mode,
                               std::uint64_t seed, std::vector<std::string> pins, const std::string& name)
    : state_(std::make_unique<State>(clocks, transport, mode, seed, std::move(pins), name)) {}

SystemCBackend::~SystemCBackend() = default;

Engine& SystemCBackend::engine() {
  return state_->module.engine();
}

EngineModule& SystemCBackend::module() {
  return state_->module;
}

bool SystemCBackend::is_direct() const {
  return state_->module.is_direct();
}

Standstill SystemCBackend::standstill() const {
  return state_->module.standstill();
}

void SystemCBackend::replace_slices(SliceMaker make_slice) {
  state_->parts.make_slice = std::move(make_slice);
}

bool SystemCBackend::brings_slices() const {
  return state_->parts.make_slice != nullptr;
}

void SystemCBackend::replace_dram(DramMaker make_dram) {
  state_->parts.make_dram = std::move(make_dram);
}

bool SystemCBackend::brings_dram() const {
  return state_->parts.make_dram != nullptr;
}

bool SystemCBackend::is_alone() const {
  const GpuParts& parts = state_->parts;
  return !brings_slices() && !brings_dram() && parts.interpose == nullptr && parts.openings.empty();
}

void SystemCBackend::interpose(Interposer interpose) {
  state_->parts.interpose = std::move(interpose);
}

void SystemCBackend::open_hops(const std::string& pattern, HardwareMaker make) {
  state_->parts.openings.push_back({pattern, std::move(make)});
}

void SystemCBackend::record_wires(const Selection& selection, Recorder& recorder) {
  std::vector<const TlpPinWires*> links;
  for (const TlpPinHopModule& hop : state_->links.pins()) links.push_back(&hop.wires());
  state_->pin_wave = std::make_unique<PinWave>(state_->module, links, selection, recorder);
}

void SystemCBackend::connect(Netlist& netlist) {
  require_openable(state_->parts, netlist);
  const GpuPlace& place = netlist.place();
  if (netlist.lacks_slices() && netlist.config().gpus > 1)
    throw std::invalid_argument("gpu.gpus: slices of somebody else's are for a platform of one GPU");
  if (netlist.lacks_channels() && netlist.config().gpus > 1)
    throw std::invalid_argument("gpu.gpus: DRAM of somebody else's is for a platform of one GPU");
  for (std::size_t k = state_->switches.size(); k < place.switches.size(); ++k) {
    const std::string own =
        (state_->name.empty() ? "" : state_->name + "_") + "gpu_switch_" + std::to_string(k);
    state_->switches.emplace_back((state_->name.empty() ? free_name(own) : own).c_str(), state_->module,
                                  borrowed(*place.switches[k]), netlist.config().gpus,
                                  netlist.sysmem() != nullptr);
  }
  std::string name = state_->name.empty() ? "gpu" : state_->name;
  if (!place.prefix.empty()) name += "_" + std::to_string(place.number);
  if (state_->name.empty()) name = free_name(name);
  state_->gpus.push_back(
      std::make_unique<GpuModule>(name.c_str(), state_->module, netlist, state_->switches, state_->parts));
}

void SystemCBackend::connect_link(TlpPort& root, TlpPort& other) {
  const GpuParts& parts = state_->parts;
  state_->links.join(root, other, {state_->module.transport(), parts.pins, parts.interpose});
}

void SystemCBackend::bind() {
  if (sc_core::sc_get_status() < sc_core::SC_START_OF_SIMULATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void SystemCBackend::time_was_set() {
  state_->module.rebase();
}

void SystemCBackend::set_loose(Netlist& netlist, bool loose) {
  bind();
  tlm::tlm_global_quantum& quantum = tlm::tlm_global_quantum::instance();
  if (quantum.get() == sc_core::SC_ZERO_TIME) quantum.set(sc_core::sc_time(1, sc_core::SC_US));
  state_->module.set_loose(loose);
  if (state_->module.is_loose() == loose) netlist.set_loose(loose);  // else it was refused, and reported
}

void SystemCBackend::host_wrote(unsigned gpu, std::uint64_t first, std::uint64_t count) {
  if (!brings_dram()) return;
  bind();
  state_->gpus[gpu]->host_wrote(first, count);
}

void SystemCBackend::keep_pace() {
  state_->keeps_pace = true;
}

void SystemCBackend::catch_up() {
  if (sc_core::sc_get_status() != sc_core::SC_RUNNING) return;
  EngineProcess& module = state_->module;
  const Cycle next = module.engine().next_tick();
  if (next != kNever) module.engine().pass_to(std::min(next - 1, module.cycle_of(module.time())));
}

void SystemCBackend::wake() {
  if (sc_core::sc_get_status() == sc_core::SC_RUNNING) state_->module.wake();
}

Cycle SystemCBackend::next_activity() {
  return state_->module.next_activity();
}

RunOutcome SystemCBackend::run_until(Cycle limit) {
  const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
  const bool in_thread = caller.valid() && caller.proc_kind() == sc_core::SC_THREAD_PROC_;
  // However this ends, nobody waits afterwards; and around a thread the world goes on.
  struct Waiting {
    ~Waiting() {
      state.waiter = State::Waiter::nobody;
      if (in_thread) state.module.set_limit(kNever);
    }
    State& state;
    bool in_thread;
  };
  const Waiting waiting{*state_, in_thread};
  state_->module.set_limit(limit);
  // Where nothing is left to do, SystemC would complain about being started.
  const bool rests = in_thread ? state_->module.engine().quiescent() : state_->module.at_rest();
  const bool idle = !state_->module.active() && rests;
  if (idle || next_activity() > limit) return state_->module.engine().run_until(limit);
  state_->waiter = in_thread ? State::Waiter::thread : State::Waiter::caller;
  state_->module.run_ahead(in_thread || state_->keeps_pace ? 0 : kAhead);
  state_->ended = false;
  state_->module.wake();
  const sc_core::sc_time left = state_->time_until(limit);
  if (in_thread) {
    sc_core::wait(left, state_->idle);
  } else {
    sc_core::sc_start(left, sc_core::SC_EXIT_ON_STARVATION);
  }
  if (state_->ended) state_->catch_up();
  state_->module.rethrow();
  // Whatever foreign modules still did, the limit ended it; or nobody did anything any more.
  if (!state_->ended && (in_thread || sc_core::sc_pending_activity() || next_activity() != kNever))
    return RunOutcome::cycle_limit;
  // Wires may have come to rest without a tick.
  if (!state_->ended && state_->module.engine().next_tick() == kNever) return state_->module.run_dry();
  return state_->module.outcome();
}

}  // namespace warpline
