#include "rtl_models/tlm/engine_process.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// Of the process in which blocks run while time is loose: a program's interpreter and a foreign model below
/// share it.
constexpr int kStackBytes = 1 << 20;

unsigned fit_clock(unsigned mhz) {
  if (const std::string problem = CycleTime::problem(mhz); !problem.empty())
    SC_REPORT_FATAL("/warpline/time", problem.c_str());
  return mhz;
}

}  // namespace

EngineProcess::EngineProcess(const sc_core::sc_module_name& name, unsigned mhz, HopTransport transport,
                             TickMode mode, std::uint64_t seed)
    : EngineModule(name), time_(fit_clock(mhz)), transport_(transport), engine_(mode, seed) {
  SC_HAS_PROCESS(EngineProcess);
  SC_METHOD(run);
  dont_initialize();
  sensitive << tick_;
  SC_THREAD(run_loosely);
  set_stack_size(kStackBytes);
  SC_METHOD(make_calls);
  dont_initialize();
  sensitive << call_;
  engine_.on_wait_below(
      [this] {
        wait(settled_);
        return cycle_of(stamp_);
      },
      [this] { settled_.notify(); });
}

void EngineProcess::set_loose(bool loose) {
  if (loose == loose_) return;
  if (!at_rest()) {
    SC_REPORT_ERROR("/warpline/time",
                    (std::string(name()) + ": set_loose(" + (loose ? "true" : "false") +
                     ") while requests are under way: the two kinds of time change over at rest only")
                        .c_str());
    return;
  }
  if (loose && !pins_.hardware().empty()) {
    SC_REPORT_ERROR("/warpline/time",
                    (std::string(name()) + ": set_loose(true), and hardware is on the wires of " +
                     pins_.hardware().front() + ", which takes timed requests only")
                        .c_str());
    return;
  }
  loose_ = loose;
  if (loose) return;
  for (const std::function<void()>& callback : std::exchange(on_timed_, {})) callback();
}

void EngineProcess::wake_at_rest() {
  const Cycle next = engine_.next_tick();
  if (next == kNever || next > last_) {
    if (pins_.in_flight() && pins_.next_edge() <= last_) pins_.start_clocks();
    return;
  }
  const sc_core::sc_time& now = stamp_;
  const bool resting = !under_way_ && accesses_ == 0 && outcome_ == RunOutcome::quiescent;
  if (tick_of(next) < now && loose_ && !resting) {
    tick_.notify(sc_core::SC_ZERO_TIME);  // a foreign model has waited; what is due is late
    return;
  }
  if (tick_of(next) < now) {
    WARPLINE_EXPECT(outcome_ == RunOutcome::quiescent, "time goes back over idle ticks only");
    lead_ = time_.first_tick_from(now) - next;
    pins_.rephase();
  }
  pins_.start_clocks();
  tick_.notify(tick_of(next) - now);
}

void EngineProcess::rebase() {
  // The lead may be negative: it counts modulo 2^64, as do the cycles that it is added to.
  lead_ = time_.first_tick_from(stamp_) - engine_.now();
  pins_.rephase();
  shown_.ripen();
  hidden_.ripen();
  outcome_ = RunOutcome::quiescent;
  for (SocketEnd* end : sockets_) end->restored();
}

/// Ends a reset if nothing is in flight any more.
void EngineProcess::settle_reset() {
  if (!at_rest() || engine_.next_tick() != kNever) return;
  engine_.restart();
  resetting_ = false;
}

/// The last cycle that anybody may be ticked in now.
Cycle EngineProcess::limit(Cycle now) const {
  if (in_step_ || ahead_ == 0) return engine_.mode() == TickMode::lazy ? now + ahead_ : now;
  const sc_core::sc_time pending = sc_core::sc_time_to_pending_activity(sc_core::sc_get_curr_simcontext());
  const sc_core::sc_time& stamp = stamp_;
  if (pending >= start_of(now + ahead_ + 1) - stamp) return now + ahead_;
  return std::max(now + 1, cycle_of(stamp + pending)) - 1;
}

RunOutcome EngineProcess::run_engine(Cycle step, Cycle limit) {
  RunOutcome outcome = RunOutcome::stopped;
  running_ = true;
  try {
    outcome = engine_.run_in_step(step, limit);
  } catch (...) {
    running_ = false;
    if (!keeps_exceptions_) throw;
    exception_ = std::current_exception();
  }
  running_ = false;
  return outcome;
}

void EngineProcess::run() {
  if (loose_) {
    go_.notify();  // the thread waits for it, or is blocked below and will find what there is to do
  } else {
    const Cycle now = cycle_of(stamp_);
    const Cycle last = limit(now);
    run_up_to(in_step_ ? now : last, last);
  }
}

void EngineProcess::run_loosely() {
  for (;;) {
    wait(go_);
    const sc_core::sc_time end = stamp_ + tlm::tlm_global_quantum::instance().compute_local_quantum();
    const Cycle last = std::max(cycle_of(end), cycle_of(stamp_) + 1) - 1;
    run_up_to(last, last);
  }
}

/// Ticks everybody up to cycle `step`, and whom it may up to `limit`.
void EngineProcess::run_up_to(Cycle step, Cycle limit) {
  under_way_ = true;
  const RunOutcome outcome = run_engine(std::min(step, last_), std::min(limit, last_));
  under_way_ = outcome == RunOutcome::cycle_limit && engine_.next_tick() <= last_;
  if (under_way_) {
    wake();
    return;
  }
  waits_for_pins_ = outcome == RunOutcome::deadlock && pins_.in_flight();
  if (!waits_for_pins_) come_to_rest(outcome);
}

void EngineProcess::come_to_rest(RunOutcome outcome) {
  outcome_ = outcome;
  if (outcome == RunOutcome::quiescent)
    while (!calls_.empty()) make_call();
  if (resetting_) settle_reset();
  if (on_idle_) on_idle_(outcome);
}

bool EngineProcess::active() const {
  if (engine_.next_tick() <= last_ && engine_.next_tick() != kNever) return true;
  return (waits_for_pins_ || pins_.in_flight()) && cycle_of(stamp_) <= last_;
}

Cycle EngineProcess::next_activity() const {
  const Cycle next = std::min(engine_.next_tick(), pins_.next_edge());
  // What foreign modules do concerns us while they may have something of ours.
  const bool may_hear = (in_step_ || !calls_.empty()) && !engine_.quiescent();
  if (!may_hear || !sc_core::sc_pending_activity()) return next;
  const sc_core::sc_time pending = sc_core::sc_time_to_pending_activity(sc_core::sc_get_curr_simcontext());
  return std::min(next, cycle_of(stamp_ + pending));
}

RunOutcome EngineProcess::run_dry() {
  outcome_ = engine_.run_until(last_);
  if (resetting_) settle_reset();
  return outcome_;
}

void EngineProcess::note_clock() {
  if (!waits_for_pins_ || engine_.next_tick() != kNever) return;
  const bool beyond = cycle_of(stamp_) > last_;
  if (pins_.in_flight() && !beyond) return;
  waits_for_pins_ = false;
  come_to_rest(beyond ? RunOutcome::cycle_limit : RunOutcome::deadlock);
}

Standstill EngineProcess::standstill() const {
  Standstill s = engine_.standstill();
  for (const SocketEnd* end : sockets_) {
    end->explain(s.waits);
    end->in_flight(s.in_flight);
  }
  settle(s);
  return s;
}

void EngineProcess::at_start_of(Cycle c, std::function<void()> callback) {
  calls_.push({c, call_order_++, std::move(callback)});
  const sc_core::sc_time& now = stamp_;
  call_.notify(std::max(start_of(calls_.top().cycle), now) - now);
}

void EngineProcess::make_calls() {
  const sc_core::sc_time& now = stamp_;
  while (!calls_.empty() && start_of(calls_.top().cycle) <= now) make_call();
  if (!calls_.empty()) call_.notify(start_of(calls_.top().cycle) - now);
}

void EngineProcess::make_call() {
  const std::function<void()> callback = calls_.top().callback;
  calls_.pop();
  callback();
}

bool EngineProcess::caller_may_wait() {
  const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
  return caller.valid() && caller.proc_kind() == sc_core::SC_THREAD_PROC_;
}

std::unique_ptr<EngineModule> make_engine(const char* name, unsigned mhz, HopTransport transport) {
  return std::make_unique<EngineProcess>(name, mhz, transport);
}

}  // namespace warpline
