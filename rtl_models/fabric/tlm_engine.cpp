#include "warpline/fabric/tlm_engine.h"

#include <algorithm>

#include "warpline/base/contract.h"

namespace warpline {
namespace {

unsigned fit_clock(unsigned mhz) {
  if (const std::string problem = CycleTime::problem(mhz); !problem.empty())
    SC_REPORT_FATAL("/warpline/time", problem.c_str());
  return mhz;
}

}  // namespace

EngineModule::EngineModule(const sc_core::sc_module_name& name, unsigned mhz, HopTransport transport,
                           TickMode mode, std::uint64_t seed)
    : sc_module(name), time_(fit_clock(mhz)), transport_(transport), engine_(mode, seed) {
  SC_HAS_PROCESS(EngineModule);
  SC_METHOD(run);
  dont_initialize();
  sensitive << tick_;
  SC_METHOD(make_calls);
  dont_initialize();
  sensitive << call_;
}

void EngineModule::wake() {
  if (running_) return;  // run() looks for more work before it ends
  const Cycle next = engine_.next_tick();
  if (next == kNever || next > last_) return;
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  if (tick_of(next) < now) {
    WARPLINE_EXPECT(outcome_ == RunOutcome::quiescent, "time goes back over idle ticks only");
    lead_ = time_.first_tick_from(now) - next;
    pins_.rephase();
  }
  pins_.start_clocks();
  tick_.notify(tick_of(next) - now);
}

/// The last cycle that may be ticked now.
Cycle EngineModule::limit(Cycle now) const {
  if (in_step_ || ahead_ == 0) return now;
  const sc_core::sc_time pending = sc_core::sc_time_to_pending_activity(sc_core::sc_get_curr_simcontext());
  const sc_core::sc_time& stamp = sc_core::sc_time_stamp();
  if (pending >= start_of(now + ahead_ + 1) - stamp) return now + ahead_;
  return std::max(now + 1, cycle_of(stamp + pending)) - 1;
}

RunOutcome EngineModule::run_engine(Cycle limit) {
  RunOutcome outcome = RunOutcome::stopped;
  running_ = true;
  try {
    outcome = engine_.run_until(limit);
  } catch (...) {
    running_ = false;
    if (!keeps_exceptions_) throw;
    exception_ = std::current_exception();
  }
  running_ = false;
  return outcome;
}

void EngineModule::run() {
  const Cycle now = cycle_of(sc_core::sc_time_stamp());
  const RunOutcome outcome = run_engine(std::min(limit(now), last_));
  if (outcome == RunOutcome::cycle_limit && engine_.next_tick() <= last_) {
    wake();
    return;
  }
  waits_for_pins_ = outcome == RunOutcome::deadlock && pins_.in_flight();
  if (!waits_for_pins_) come_to_rest(outcome);
}

void EngineModule::come_to_rest(RunOutcome outcome) {
  outcome_ = outcome;
  if (on_idle_) on_idle_(outcome);
}

bool EngineModule::active() const {
  if (engine_.next_tick() <= last_ && engine_.next_tick() != kNever) return true;
  return (waits_for_pins_ || pins_.in_flight()) && cycle_of(sc_core::sc_time_stamp()) <= last_;
}

void EngineModule::note_clock() {
  if (!waits_for_pins_ || engine_.next_tick() != kNever) return;
  const bool beyond = cycle_of(sc_core::sc_time_stamp()) > last_;
  if (pins_.in_flight() && !beyond) return;
  waits_for_pins_ = false;
  come_to_rest(beyond ? RunOutcome::cycle_limit : RunOutcome::deadlock);
}

std::vector<Wait> EngineModule::explain() const {
  std::vector<Wait> waits = engine_.explain();
  for (const SocketEnd* s : sockets_) s->explain(waits);
  return waits;
}

void EngineModule::at_start_of(Cycle c, std::function<void()> callback) {
  calls_.push({c, call_order_++, std::move(callback)});
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  call_.notify(std::max(start_of(calls_.top().cycle), now) - now);
}

void EngineModule::make_calls() {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  while (!calls_.empty() && start_of(calls_.top().cycle) <= now) {
    const std::function<void()> callback = calls_.top().callback;
    calls_.pop();
    callback();
  }
  if (!calls_.empty()) call_.notify(start_of(calls_.top().cycle) - now);
}

}  // namespace warpline
