#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/random.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/calendar.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/sim/cluster.h"
#include "rtl_models/sim/in_flight.h"
#include "rtl_models/sim/request.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

class Engine;
class Exchange;
class GaugeVisitor;
class PortBase;
class StateArchive;
class WorkerThreads;
struct Ranks;
struct SteppedStandstill;

/// A hardware block in time. The engine ticks it in cycles that fall on an edge of its domain:
/// when it asked for it, when a port woke it, and possibly in any other cycle. A tick that moves
/// no message and reaches no announced deadline must change nothing.
class Component {
 public:
  Component(Engine& engine, std::string name, ClockDomain domain = {});
  /// One of the cluster of `beside`, with its engine and clock.
  Component(const Component& beside, std::string name);
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  /// Does the work of cycle `now`. Returns the cycle in which it next has work of its own
  /// (later than `now`), or kNever to sleep until a port wakes it.
  virtual Cycle tick(Cycle now) = 0;
  /// Brings what it remembers between requests (lines, open rows, whose turn it is) to the state in which it
  /// was made, so that what comes next does not depend on what came before. Counters go on. What was dirty is
  /// lost. Pre: quiescent.
  virtual void restart() {}
  /// Saves or restores, beside its counters, what it remembers between requests; its ports save themselves.
  /// Restored, it goes on in every cycle as the one that was saved would have. Pre: quiescent.
  virtual void archive(StateArchive& /*a*/) {}
  /// Whether it holds unfinished work (messages on channels excluded).
  [[nodiscard]] virtual bool busy() const = 0;
  /// Says what its unfinished work waits for. Called where it is busy, or a message waits at one of its
  /// ports.
  virtual void explain(std::vector<Wait>& waits) const = 0;
  /// Shows how much of what it holds: each gauge once, always in the same order. A gauge is state that
  /// the law holds equal in all tick modes.
  virtual void visit_gauges(GaugeVisitor& /*visitor*/) const {}
  /// Draws anew whose turn it is wherever several may be next. Pre: not busy.
  virtual void draw_turns(Random& /*random*/) {}
  /// Lists the requests that it holds; those at its ports excluded. The default: it holds none.
  virtual void in_flight(std::vector<InFlight>& /*rows*/) const {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ClockDomain& domain() const { return domain_; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  /// The cluster it belongs to (Engine::begin_cluster).
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  /// Where requests that it makes come from, and to which those that it is done with go.
  [[nodiscard]] RequestPool& pool() const { return *cluster_->pool; }
  /// See Engine::note_move. For whoever acts for this component.
  void note_move(Cycle now) { cluster_->last_move = std::max(cluster_->last_move, now); }
  /// Has the engine call hand_over_begun() or hand_over_popped() of a port after this window, for `receiver`
  /// or `sender`. Pre: Engine::side_by_side(), and this component is of the cluster that is ticked.
  void hand_begun_over(PortBase& port, const Component& receiver) {
    cluster_->begun[receiver.cluster_->home].push_back(&port);
  }
  void hand_popped_over(PortBase& port, const Component& sender) {
    cluster_->popped[sender.cluster_->home].push_back(&port);
  }
  /// Asks for a tick on the first own edge at or after `cycle`. Pre: cycle is in the future, or
  /// the engine is not ticking.
  void wake(Cycle cycle);
  /// The same. Pre: its clock is the fastest.
  [[gnu::always_inline]] void wake_in_fastest(Cycle cycle) { cluster_->calendar.mark(place_, cycle); }

 protected:
  /// Makes a component that Engine::tick_in_place() may have ticked instead of `original`. It shares the
  /// name, the clock and the place in the calendar of `original`, and is not a component of the engine
  /// itself.
  struct StandIn {};
  Component(const Component& original, StandIn /*tag*/)
      : cluster_(original.cluster_),
        place_(original.place_),
        member_(original.member_),
        domain_(original.domain_),
        engine_(original.engine_),
        name_(original.name_) {}

 private:
  friend class Engine;
  /// Apart, so that who has the fastest clock keeps no registers for it.
  [[gnu::noinline]] void wake_on_edge(Cycle cycle) { cluster_->calendar.mark(place_, domain_.align(cycle)); }
  // What every tick and wake reads comes first, in one cache line.
  Cluster* cluster_ = nullptr;
  Calendar::Place place_;     ///< in the calendar of the cluster
  std::uint32_t member_ = 0;  ///< of the cluster
  ClockDomain domain_;
  Engine& engine_;
  std::string name_;
};

/// Hears where spans of cycles end, such as every thousandth cycle, to look at what was done in them.
class SpanListener {
 public:
  virtual ~SpanListener() = default;
  /// Everybody has done their work up to cycle `last`, and nobody what comes later. Returns the end of the
  /// next span, a later cycle; kNever: nothing more is to be told.
  virtual Cycle span_ended(Cycle last) = 0;
  /// Nothing is left to do, and time goes on from cycle `now`, which lies before the end of spans that were
  /// told if only idle ticks came after it. Returns the end of the next span.
  virtual Cycle came_to_rest(Cycle now) = 0;
};

/// Runs the components of one netlist by a calendar of ticks. Order within a cycle has no effect,
/// because every channel takes at least one cycle.
///
/// Components that work close together form a cluster. No cluster can feel another sooner than the
/// shortest channel between them allows, its latency forward and its credit latency back: the
/// lookahead. So the engine runs one cluster through a window of that many cycles before it turns
/// to the next, which finds the cluster's state in the host's caches; results are the same.
///
/// They are also the same where several threads run clusters side by side through a window. What one cluster
/// does to another waits until all have come to its end: in it they could not have felt it.
class Engine {
 public:
  explicit Engine(TickMode mode = TickMode::lazy, std::uint64_t seed = 1);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Has run_until() run clusters side by side on so many threads, the caller's among them, where
  /// runs_side_by_side(). Pre: no component was made yet; threads > 0.
  void set_threads(unsigned threads);
  [[nodiscard]] unsigned threads() const { return threads_; }
  /// A lookahead() of fewer cycles is not worth them.
  static constexpr Cycle kShortestWindow = 4;
  /// Of clusters that are due in a window, for each thread: with fewer it is not worth the exchange.
  static constexpr unsigned kLeastPerThread = 2;
  [[nodiscard]] std::size_t clusters() const { return clusters_.size(); }
  /// From now on run_until() keeps to the caller's thread: clusters share something that the engine does not
  /// know of, such as who observes them.
  void keep_to_one_thread() {
    one_thread_ = true;
    side_by_side_ = false;  // at once, even in a run
  }
  /// Whether run_until() uses its threads now: there are several, ticks are lazy, every component is the one
  /// that was made, every channel joins two ports directly, lookahead() is long enough, and there are enough
  /// clusters(). Pre: all channels are bound.
  [[nodiscard]] bool runs_side_by_side() {
    find_windows();
    return side_by_side_;
  }
  /// For tests: whether clusters are run side by side, and in what order they are begun, is drawn anew for
  /// each window, however short it is and however few are due.
  void shuffle_clusters(std::uint64_t seed) {
    shuffled_ = true;
    cluster_order_ = Random(seed);
    note_binding();
  }
  /// Whether clusters are being run side by side: what one does to another has to wait (see
  /// Component::hand_begun_over).
  [[nodiscard]] bool side_by_side() const { return in_window_; }

  /// Has run_until() run a part of the netlist, and other ranks the rest. Each of them makes the whole
  /// netlist, alike, and ticks the components of its own clusters; requests and credits go over at the ends
  /// of windows. Ranks call run_until(), quiescent() and standstill() together, and get the same from them.
  /// Those components that others run are to be left as they were made. Pre: no component was made yet;
  /// threads are set; ticks are lazy; every channel will join two ports directly, and requests alone cross
  /// from rank to rank. The exchange outlives the engine.
  void share_with(Exchange& exchange);
  [[nodiscard]] unsigned rank() const;   ///< this one's number
  [[nodiscard]] unsigned ranks() const;  ///< 1: there are no others
  /// Whether it is so on every rank. All of them ask.
  [[nodiscard]] bool all_ranks(bool here) const;

  /// Components made from now on form a new cluster, which rank `rank` runs, if there are several. They must
  /// share no state with components of other clusters but through channels.
  void begin_cluster(unsigned rank = 0);

  /// From now on ticks `stand_in` whenever `original` would be; `original` itself undoes it. All else is
  /// still asked of `original`. Pre: not ticking.
  void tick_in_place(const Component& original, Component& stand_in);

  [[nodiscard]] TickMode mode() const { return mode_; }
  /// Ticks until the calendar is empty or the next tick would lie beyond cycle `limit`.
  RunOutcome run_until(Cycle limit);
  /// Runs up to cycle `now`, for callers that feed messages in from outside as time passes. Clusters that
  /// such a message cannot reach within their lookahead may run ahead, up to cycle `limit` at most. Pre:
  /// TickMode::lazy, or now == limit.
  RunOutcome run_in_step(Cycle now, Cycle limit);
  /// The cycle being ticked; after a run that ended quiescent, the one in which the last message
  /// was taken off a channel, however many idle ticks followed.
  [[nodiscard]] Cycle now() const { return in_window_ ? running_cluster().now : now_; }
  /// Time passes to cycle `c`, in which nobody is due: for who starts something beside others that have
  /// something scheduled. Pre: next_tick() is later.
  void pass_to(Cycle c) {
    WARPLINE_EXPECT(next_tick() > c, "no tick is passed over");
    now_ = resting_ = std::max(now_, c);
  }
  /// Cycles for which clusters run ahead of each other at most; 1: in lock step. Pre: all channels are bound.
  [[nodiscard]] Cycle lookahead() {
    find_windows();
    return window_;
  }
  /// The first cycle in which a component is to be ticked; kNever if none is.
  [[nodiscard]] Cycle next_tick() const;
  /// No component will be ticked in a cycle before this one any more, whatever comes from outside meanwhile.
  [[nodiscard]] Cycle settled() const;
  /// Every request in flight, where it is and what it waits for, and all other waits. Callable wherever the
  /// engine stands: after run_until(), and in the progress callback.
  [[nodiscard]] Standstill standstill() const;
  [[nodiscard]] std::vector<InFlight> in_flight() const { return standstill().in_flight; }
  /// Who waits for what; meaningful after `deadlock` and `cycle_limit`.
  [[nodiscard]] std::vector<Wait> explain() const { return standstill().waits; }
  /// Quiescent means no message on any channel and no component busy.
  [[nodiscard]] bool quiescent() const;
  /// Restarts every component; time goes on. Pre: quiescent.
  void restart() {
    for (Component* c : components_) c->restart();
  }
  /// Saves or restores the time, all components and all ports. Who sends by a carrier is to be told when the
  /// channel is free (In::free_from). Pre: quiescent, and nobody is due; all channels are bound.
  void archive(StateArchive& a);
  /// Every fault in the channels as they are bound.
  [[nodiscard]] std::vector<std::string> channel_problems() const;
  /// Everybody, in the order in which they were made.
  [[nodiscard]] const std::vector<Component*>& components() const { return components_; }
  [[nodiscard]] const std::vector<PortBase*>& ports() const { return ports_; }
  /// The latest cycle that was passed to note_move(), by any cluster. When a run ends quiescent, now() is not
  /// before it.
  [[nodiscard]] Cycle last_move() const;
  /// Called about every `cycles` cycles; returning false stops the run.
  void on_progress(Cycle cycles, std::function<bool(Cycle)> callback);
  /// Has that callback called no later than when cycle `cycle` has been ticked, or the first after it in
  /// which anybody is due. Asked for by the callback, or between runs.
  void report_progress_at(Cycle cycle) { progress_at_ = std::min(progress_at_, cycle); }
  /// Tells `listener` of the ends of spans, the first of which is cycle `first`, from now on; null: nobody
  /// any more. Where time passes over several ends at once, each is told. Pre: not ticking; there are no
  /// other ranks; the listener outlives the runs that tell it.
  void tell_spans(SpanListener* listener, Cycle first) {
    WARPLINE_EXPECT(listener == nullptr || ranks_ == nullptr,
                    "spans are told where all of the netlist is run");
    spans_ = listener;
    span_end_ = listener == nullptr ? kNever : first;
  }

  /// Something happened in cycle `now`, before which a run must not end: called by a host, which is no block,
  /// for the time at which it acted last. Ports that take a message off a channel tell their component.
  void note_move(Cycle now) { last_move_ = std::max(last_move_, now); }
  /// A channel was bound: called by ports.
  void note_binding() { window_ = inner_window_ = 0; }
  /// Of whoever is no component (else see Component::pool).
  [[nodiscard]] RequestPool& pool() {
    WARPLINE_EXPECT(!in_window_, "who makes requests in a window is a component");
    return pool_;
  }
  /// Requests handed out by any pool and not yet released. Pre: not ticking.
  [[nodiscard]] std::size_t requests_in_use() const;
  /// Called by a loosely timed access that cannot go on before another one, which is blocked in the wait() of
  /// a foreign model below: waits until wake_waiters() is called, and returns the cycle in which it was. If
  /// no model below calls wait(), no access needs this.
  Cycle wait_below() {
    WARPLINE_EXPECT(wait_ != nullptr, "a loosely timed access waits for another only if that can block");
    ++waiting_below_;
    const Cycle woken = wait_();
    --waiting_below_;
    return woken;
  }
  /// An answer has come from below: what accesses may be waiting for has happened.
  void wake_waiters() {
    if (waiting_below_ != 0) wake_waiters_();
  }
  /// How to wait, and to end the waits: set by the backend that runs the engine, where accesses may block.
  void on_wait_below(std::function<Cycle()> wait, std::function<void()> wake) {
    wait_ = std::move(wait);
    wake_waiters_ = std::move(wake);
  }
  /// Ticks executed so far: the cost of the run in component visits.
  [[nodiscard]] std::uint64_t ticks() const;
  /// A window in which clusters were run side by side, in nanoseconds.
  struct Window {
    unsigned clusters = 0;       ///< that were run
    std::uint64_t work = 0;      ///< of processors, for all of them
    std::uint64_t longest = 0;   ///< likewise, for the one that took longest
    std::uint64_t run = 0;       ///< that passed until all were through
    std::uint64_t handover = 0;  ///< and after that, until what waited was handed over
  };
  /// Has `hear` told of one such window in kMeasuredOne: for benches.
  void on_window(std::function<void(const Window&)> hear) { hear_window_ = std::move(hear); }
  static constexpr std::uint64_t kMeasuredOne = 32;

 private:
  friend class Component;
  friend class PortBase;
  /// The longest window: calls back to the host stay frequent.
  static constexpr Cycle kLongestWindow = 64;

  void add(Component* component, Cluster& cluster);
  void add(PortBase* port) { ports_.push_back(port); }
  [[gnu::always_inline]] static inline Cycle tick(Component& component, Cycle now);
  static void run_cluster(Cluster& cluster, Cycle end, Cycle& now);
  void run_window(Cycle start, Cycle end);
  [[nodiscard]] bool find_due(Cycle end);
  Cycle run_due(Cycle start, Cycle end);
  void run_alone(Cluster& cluster);
  void do_task(std::size_t number);
  void order_due();
  void settle_homes();
  void end_measurement(Window window);
  void start_threads();
  [[nodiscard]] static const Cluster& running_cluster();
  void find_windows();
  bool told_to_stop();
  void end_spans(Cycle scheduled);
  RunOutcome run_dry();
  [[nodiscard]] bool quiescent_here() const;
  [[nodiscard]] SteppedStandstill standstill_here() const;
  void find_rank_window();
  Cycle hand_over_to_ranks(bool& exact);
  void run_rank_window(Cycle last);
  RunOutcome run_with_ranks(Cycle limit);
  void tick_all();
  void step_other_modes(Cycle scheduled);

  TickMode mode_;
  Random random_;
  std::vector<Component*> components_;
  std::vector<Component*> ticked_;  ///< the same, or who stands in for them
  std::vector<PortBase*> ports_;
  std::deque<Cluster> clusters_;         ///< that are run here
  std::deque<Cycle> next_;               ///< the first marked cycle of each cluster, side by side
  Cluster* made_in_ = nullptr;           ///< the cluster that was begun last
  Cycle window_ = 0;                     ///< lookahead(), once it is known
  Cycle inner_window_ = 0;               ///< the same, of ports that lead to other components only
  Cycle inner_end_ = 0;                  ///< until when `inner_` have run
  Cycle outside_from_ = kNever;          ///< in run_in_step: from when on something may come from outside
  std::vector<Cluster*> inner_, outer_;  ///< clusters none of whose ports leads outside, and the others
  Cycle now_ = 0;
  Cycle last_move_ = 0;
  Cycle resting_ = 0;  ///< now() when it was quiescent last
  Cycle progress_every_ = kNever;
  Cycle progress_at_ = kNever;
  std::function<bool(Cycle)> progress_;
  SpanListener* spans_ = nullptr;
  Cycle span_end_ = kNever;  ///< the next that spans_ is told
  std::function<Cycle()> wait_;
  std::function<void()> wake_waiters_;
  unsigned waiting_below_ = 0;  ///< accesses in wait_below()
  RequestPool pool_;

  unsigned threads_ = 1;
  bool one_thread_ = false;
  bool side_by_side_ = false;  ///< runs_side_by_side(), once it is known
  bool in_window_ = false;
  bool measures_ = false;  ///< this window
  bool shuffled_ = false;
  Random cluster_order_{1};
  Cycle window_end_ = 0;
  std::vector<Cluster*> due_;      ///< in this window, by their homes; each begins the last of its own first
  std::vector<std::size_t> ends_;  ///< of each home's in due_
  std::vector<std::size_t> one_each_;  ///< a task for every thread
  bool hands_over_ = false;            ///< tasks are to hand over what waits, each for one home
  RequestDepot depot_;
  std::deque<RequestPool> pools_;  ///< of the clusters, where there are several threads
  std::unique_ptr<Ranks> ranks_;   ///< null: there are no others
  std::deque<Cluster> elsewhere_;  ///< clusters that other ranks run
  std::deque<Cycle> elsewhere_next_;
  std::unique_ptr<WorkerThreads> workers_;
  std::int64_t process_ = 0;   ///< whose threads they are
  std::uint64_t windows_ = 0;  ///< in which clusters were run side by side
  std::function<void(const Window&)> hear_window_;
};

inline void Component::wake(Cycle cycle) {
  if (!domain_.is_fastest()) return wake_on_edge(cycle);
  wake_in_fastest(cycle);
}

}  // namespace warpline
