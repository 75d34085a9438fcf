#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <queue>
#include <systemc>
#include <utility>
#include <vector>

#include "rtl_models/sim/engine.h"
#include "rtl_models/tlm/cycle_time.h"
#include "rtl_models/tlm/engine_module.h"
#include "rtl_models/tlm/pin_clock.h"
#include "rtl_models/tlm/transaction.h"

namespace warpline {

/// An end of a hop that is not direct, for the explanation of what waits.
class SocketEnd {
 public:
  virtual ~SocketEnd() = default;
  /// Says what the other side of the socket owes it.
  virtual void explain(std::vector<Wait>& waits) const = 0;
  /// What its receiving port knows of credits has been restored.
  virtual void restored() {}
  /// Lists the requests that no component holds: those in this end itself, or beyond it in foreign modules.
  virtual void in_flight(std::vector<InFlight>& /*rows*/) const {}
};

/// An EngineModule with all that sockets and pins need of it. There is no other kind: see process_of().
class EngineProcess final : public EngineModule {
 public:
  /// See make_engine().
  EngineProcess(const sc_core::sc_module_name& name, unsigned mhz,
                HopTransport transport = HopTransport::direct, TickMode mode = TickMode::lazy,
                std::uint64_t seed = 1);

  [[nodiscard]] Engine& engine() { return engine_; }
  void reset() override {
    resetting_ = true;
    settle_reset();
  }
  [[nodiscard]] bool resetting() const override { return resetting_; }
  /// The engine's time was set by somebody else: it is now. Pre: it rests.
  void rebase();
  /// SystemC time, as sc_time_stamp() has it.
  [[nodiscard]] const sc_core::sc_time& time() const { return stamp_; }
  /// SystemC time of the start and of the tick of cycle `c`, and back (see CycleTime). Between two runs the
  /// engine's time may go back over idle ticks; SystemC's does not, and so comes to lead by whole cycles.
  [[nodiscard]] sc_core::sc_time start_of(Cycle c) const { return time_.start_of(c + lead_); }
  [[nodiscard]] sc_core::sc_time tick_of(Cycle c) const { return time_.tick_of(c + lead_); }
  [[nodiscard]] Cycle cycle_of(const sc_core::sc_time& t) const { return time_.cycle_of(t) - lead_; }
  /// The cycle from which an END that takes effect at `t` frees its channel. One exactly at a tick counts for
  /// the next cycle: the tick may be over, and no component ticks twice in a cycle.
  [[nodiscard]] Cycle freed_by_end_at(const sc_core::sc_time& t) const {
    return time_.first_tick_after(t) - lead_;
  }
  void run_ahead(Cycle cycles) override { ahead_ = cycles; }
  [[nodiscard]] HopTransport transport() const { return transport_; }
  /// Payloads that foreign modules may see, or those that only sockets of this engine do.
  [[nodiscard]] TransactionPool& transactions(bool shown) { return shown ? shown_ : hidden_; }
  /// Payloads that are under way.
  [[nodiscard]] std::size_t transactions_in_use() const { return shown_.in_use() + hidden_.in_use(); }
  [[nodiscard]] Pins& pins() override { return pins_; }
  /// Whether it has work within the limit: ticks, or messages on the wires between two Warpline ends.
  [[nodiscard]] bool active() const;
  /// The first cycle in which a component is ticked, or in which foreign modules or pins do what may have one
  /// ticked; kNever: nothing moves any more.
  [[nodiscard]] Cycle next_activity() const;
  /// Ends a run in which nobody does anything any more. Pre: no tick is due.
  RunOutcome run_dry();
  /// A clock of its pins rises: if what it waited for there has come to nothing, it comes to rest.
  void note_clock();
  /// How the engine stood when it last ran out of ticks: `quiescent`; or `deadlock`: it waits for
  /// the world outside, or for ever; or what on_idle() says.
  [[nodiscard]] RunOutcome outcome() const { return outcome_; }
  /// Ticks nothing beyond cycle `last`; having more to do then is an outcome, too: `cycle_limit`.
  void set_limit(Cycle last) { last_ = last; }
  /// Called whenever the engine has run out of ticks, has reached the limit, or was stopped by its
  /// progress callback.
  void on_idle(std::function<void(RunOutcome)> callback) { on_idle_ = std::move(callback); }

  /// Exceptions of the components end the run as `stopped` and are kept for rethrow(), instead of becoming
  /// SystemC's: what a program throws keeps its type.
  void keep_exceptions() { keeps_exceptions_ = true; }
  void rethrow() {
    if (exception_ != nullptr) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

  /// Something was put into the netlist from outside a tick: makes sure that it is worked off. Callable
  /// before the simulation starts.
  void wake() {
    if (!running_) wake_at_rest();  // run() looks for more work before it ends
  }
  void set_loose(bool loose) override;
  [[nodiscard]] bool is_loose() const override { return loose_; }
  void set_end_response(EndResponse form) override { end_response_ = form; }
  [[nodiscard]] EndResponse end_response() const { return end_response_; }
  /// Calls `callback` once when time ceases to be loose.
  void on_timed(std::function<void()> callback) { on_timed_.push_back(std::move(callback)); }
  /// Whether who calls may wait: from an SC_THREAD.
  [[nodiscard]] static bool caller_may_wait();
  /// A foreign b_transport is under way, from construction on. `timed`: it waits for requests that are, and
  /// keeps no others from being so.
  class Access {
   public:
    explicit Access(EngineProcess& engine, bool timed = false) : engine_(engine), timed_(timed) { count(1); }
    ~Access() { count(-1); }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    void count(int more) {
      engine_.accesses_ += more;
      if (!timed_) engine_.loose_accesses_ += more;
      if (engine_.resetting_) engine_.settle_reset();
    }
    EngineProcess& engine_;
    bool timed_;
  };
  [[nodiscard]] bool at_rest() const override { return accesses_ == 0 && engine_.quiescent(); }
  /// Whether requests may be timed now.
  [[nodiscard]] bool takes_timed() const { return !loose_ && loose_accesses_ == 0; }
  /// A hop is not direct, and this is an end of it. `outside`: what it leads to is not a socket of this
  /// engine, so that from now on what lies at that end is not ticked before its time.
  void add_end(SocketEnd& end, bool outside) {
    if (outside) in_step_ = true;
    sockets_.push_back(&end);
  }
  [[nodiscard]] bool is_direct() const override { return sockets_.empty(); }
  /// Whether some hop leads to foreign modules or pins. Pre: elaboration has ended.
  [[nodiscard]] bool keeps_step() const { return in_step_; }
  [[nodiscard]] Standstill standstill() const override;
  [[nodiscard]] std::vector<InFlight> in_flight() const { return standstill().in_flight; }
  [[nodiscard]] std::vector<Wait> explain() const { return standstill().waits; }
  /// Calls `callback` at the start of cycle `c`, before anybody ticks in it; earlier if the engine comes to
  /// rest before, as whoever looks at it then shall find nothing under way. Pre: that is not past.
  void at_start_of(Cycle c, std::function<void()> callback);

 private:
  struct Call {
    Cycle cycle = 0;
    std::uint64_t order = 0;
    std::function<void()> callback;
    bool operator>(const Call& other) const {
      return cycle != other.cycle ? cycle > other.cycle : order > other.order;
    }
  };
  void start_of_simulation() override { wake(); }
  void wake_at_rest();
  void run();
  void come_to_rest(RunOutcome outcome);
  void settle_reset();
  void run_loosely();
  void run_up_to(Cycle step, Cycle limit);
  RunOutcome run_engine(Cycle step, Cycle limit);
  void make_calls();
  void make_call();
  [[nodiscard]] Cycle limit(Cycle now) const;

  const sc_core::sc_time& stamp_ = sc_core::sc_time_stamp();
  CycleTime time_;
  Cycle lead_ = 0;
  Cycle last_ = kNever;
  HopTransport transport_;
  Engine engine_;
  TransactionPool shown_, hidden_;
  Cycle ahead_ = 0;
  Pins pins_{*this};
  bool waits_for_pins_ = false;
  bool in_step_ = false;
  bool loose_ = false;
  EndResponse end_response_ = EndResponse::by_call;
  bool resetting_ = false;     ///< a reset waits for what is in flight
  sc_core::sc_event settled_;  ///< an access that was blocked below is done
  sc_core::sc_event go_;       ///< a tick is due while time is loose
  int accesses_ = 0;           ///< calls of b_transport that have not returned
  int loose_accesses_ = 0;     ///< of those, the ones that are not timed
  bool under_way_ = false;     ///< it has ticked, and is not through
  std::vector<std::function<void()>> on_timed_;
  std::vector<SocketEnd*> sockets_;
  RunOutcome outcome_ = RunOutcome::quiescent;
  bool running_ = false;
  bool keeps_exceptions_ = false;
  std::exception_ptr exception_;
  std::function<void(RunOutcome)> on_idle_;
  sc_core::sc_event tick_;
  sc_core::sc_event call_;
  std::priority_queue<Call, std::vector<Call>, std::greater<>> calls_;
  std::uint64_t call_order_ = 0;
};

/// The process that an engine is.
[[nodiscard]] inline EngineProcess& process_of(EngineModule& engine) {
  return static_cast<EngineProcess&>(engine);
}

}  // namespace warpline
