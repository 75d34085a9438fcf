#include "platform/systemc/systemc_backend.h"

#include <algorithm>
#include <stdexcept>

#include "platform/machine/hop_names.h"
#include "platform/systemc/tlm_pin_wave.h"

namespace warpline {
namespace {

/// A launch from outside the simulation runs to its end, so nobody sees how far ahead of SystemC it is.
constexpr Cycle kAhead = 1023;

/// Throws std::invalid_argument where patterns cannot be followed.
void require_openable(const std::vector<std::string>& pins, Netlist& netlist) {
  if (pins.empty()) return;
  std::string all;
  for (const Diagnostic& d : unopenable_hops("pins", pins, netlist)) all += d.text();
  if (!all.empty()) throw std::invalid_argument(all);
}

}  // namespace

SystemCBackend::SystemCBackend(const ClockParameters& clocks, HopTransport transport, TickMode mode,
                               std::uint64_t seed, std::vector<std::string> pins)
    : module_("engine", std::max({clocks.sm, clocks.l2, clocks.dram, clocks.link}), transport, mode, seed),
      pins_(std::move(pins)) {
  module_.keep_exceptions();
  module_.on_idle([this](RunOutcome outcome) { went_idle(outcome); });
}

SystemCBackend::~SystemCBackend() = default;

void SystemCBackend::record_wires(const Selection& selection, Recorder& recorder) {
  pin_wave_ = std::make_unique<PinWave>(module_, selection, recorder);
}

void SystemCBackend::connect(Netlist& netlist) {
  require_openable(pins_, netlist);
  const GpuPlace& place = netlist.place();
  if (netlist.lacks_slices() && netlist.config().gpus > 1)
    throw std::invalid_argument("gpu.gpus: slices of somebody else's are for a platform of one GPU");
  const std::string name = place.prefix.empty() ? "gpu" : "gpu_" + std::to_string(place.number);
  gpus_.push_back(
      std::make_unique<GpuModule>(name.c_str(), module_, netlist, make_slice_, pins_, interpose_));
}

void SystemCBackend::went_idle(RunOutcome outcome) {
  // Foreign modules may yet answer what our blocks wait for.
  if (outcome == RunOutcome::deadlock && module_.keeps_step()) return;
  ended_ = true;
  switch (waiter_) {
    case Waiter::nobody: return module_.rethrow();
    case Waiter::thread: return idle_.notify();
    case Waiter::caller: return sc_core::sc_pause();
  }
}

void SystemCBackend::set_loose(Netlist& netlist, bool loose) {
  if (sc_core::sc_get_status() < sc_core::SC_START_OF_SIMULATION)
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // binds the hops
  tlm::tlm_global_quantum& quantum = tlm::tlm_global_quantum::instance();
  if (quantum.get() == sc_core::SC_ZERO_TIME) quantum.set(sc_core::sc_time(1, sc_core::SC_US));
  module_.set_loose(loose);
  netlist.set_loose(loose);
}

RunOutcome SystemCBackend::run_until(Cycle limit) {
  module_.set_limit(limit);
  // Where nothing is left to do, SystemC would complain about being started.
  const bool idle = !module_.active() && module_.at_rest();
  if (idle || module_.engine().next_tick() > limit) return module_.engine().run_until(limit);
  const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
  const bool in_thread = caller.valid() && caller.proc_kind() == sc_core::SC_THREAD_PROC_;
  waiter_ = in_thread ? Waiter::thread : Waiter::caller;
  module_.run_ahead(in_thread ? 0 : kAhead);
  ended_ = false;
  module_.wake();
  const sc_core::sc_time left = time_until(limit);
  if (in_thread) {
    sc_core::wait(left, idle_);
  } else {
    sc_core::sc_start(left, sc_core::SC_EXIT_ON_STARVATION);
  }
  if (ended_) catch_up();
  waiter_ = Waiter::nobody;
  if (in_thread) module_.set_limit(kNever);  // the world around it goes on
  module_.rethrow();
  // Whatever foreign modules still did, the limit ended it; or nobody did anything any more.
  if (!ended_ && (in_thread || sc_core::sc_pending_activity())) return RunOutcome::cycle_limit;
  return module_.outcome();
}

/// The engine may be ahead of SystemC's time by then: lets that time pass for all other modules.
void SystemCBackend::catch_up() {
  const sc_core::sc_time end = module_.tick_of(module_.engine().now());
  if (end <= sc_core::sc_time_stamp()) return;
  const sc_core::sc_time left = end - sc_core::sc_time_stamp();
  if (waiter_ == Waiter::thread) {
    sc_core::wait(left);
  } else {
    sc_core::sc_start(left);
  }
}

/// From now to the end of cycle `limit`, or as long as SystemC's time allows.
sc_core::sc_time SystemCBackend::time_until(Cycle limit) {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const sc_core::sc_time most = sc_core::sc_max_time() - now;
  const sc_core::sc_time cycle =
      module_.start_of(module_.engine().now() + 1) - module_.start_of(module_.engine().now());
  const Cycle cycles = limit - std::min(limit, module_.engine().now());
  if (cycles >= static_cast<Cycle>(most / cycle) - 2) return most;
  return std::max(module_.start_of(limit + 1), now) - now;
}

}  // namespace warpline
