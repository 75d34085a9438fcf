#include "rtl_models/sim/engine.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sim/ranks.h"
#include "rtl_models/sim/worker_threads.h"

namespace warpline {
namespace {

/// The cluster that this thread runs while clusters are run side by side.
thread_local Cluster* running = nullptr;

std::uint64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}
std::uint64_t wall_time() {
  return nanoseconds(CLOCK_MONOTONIC);
}
/// What this thread has had of a processor: what takes it away is no work of a cluster's.
std::uint64_t own_time() {
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

Component::Component(Engine& engine, std::string name, ClockDomain domain)
    : domain_(domain), engine_(engine), name_(std::move(name)) {
  engine.add(this, *engine.made_in_);
}

Component::Component(const Component& beside, std::string name)
    : domain_(beside.domain_), engine_(beside.engine_), name_(std::move(name)) {
  engine_.add(this, *beside.cluster_);
}

Engine::Engine(TickMode mode, std::uint64_t seed) : mode_(mode), random_(seed) {
  begin_cluster();
}

Engine::~Engine() {
  // In a child of the process whose threads they are, there are none to wait for.
  if (workers_ != nullptr && process_ != getpid()) static_cast<void>(workers_.release());
}

void Engine::begin_cluster(unsigned rank) {
  const bool elsewhere = ranks_ != nullptr && rank != this->rank();
  Cluster& c = elsewhere ? elsewhere_.emplace_back(elsewhere_next_.emplace_back(kNever))
                         : clusters_.emplace_back(next_.emplace_back(kNever));
  made_in_ = &c;
  c.rank = rank;
  c.elsewhere = elsewhere;
  if (elsewhere) c.home = threads_ + rank;
  c.pool = threads_ > 1 ? &pools_.emplace_back(&depot_) : &pool_;
  note_binding();
}

void Engine::set_threads(unsigned threads) {
  WARPLINE_EXPECT(threads > 0 && components_.empty(), "threads are set before components are made");
  threads_ = threads;
  pools_.clear();
  if (threads > 1) pool_.share(&depot_);
  for (Cluster& c : clusters_) c.pool = threads > 1 ? &pools_.emplace_back(&depot_) : &pool_;
}

void Engine::add(Component* component, Cluster& cluster) {
  component->cluster_ = &cluster;
  component->member_ = cluster.calendar.add_member();
  component->place_ = Calendar::Place(component->member_);
  cluster.members.push_back(component);
  components_.push_back(component);
  ticked_.push_back(component);
}

void Engine::tick_in_place(const Component& original, Component& stand_in) {
  const auto at = std::find(components_.begin(), components_.end(), &original);
  WARPLINE_EXPECT(at != components_.end(), "a component of this engine is stood in for");
  ticked_[static_cast<std::size_t>(at - components_.begin())] = &stand_in;
  original.cluster_->members[original.member_] = &stand_in;
  note_binding();
}

void Engine::on_progress(Cycle cycles, std::function<bool(Cycle)> callback) {
  progress_ = std::move(callback);
  progress_every_ = cycles;
  progress_at_ = now_ + cycles;
}

Cycle Engine::next_tick() const {
  return *std::min_element(next_.begin(), next_.end());
}

Cycle Engine::settled() const {
  return std::min({next_tick(), now_, outside_from_});
}

Cycle Engine::last_move() const {
  Cycle last = last_move_;
  for (const Cluster& c : clusters_) last = std::max(last, c.last_move);
  return last;
}

std::uint64_t Engine::ticks() const {
  std::uint64_t sum = 0;
  for (const Cluster& c : clusters_) sum += c.ticks;
  return sum;
}

std::size_t Engine::requests_in_use() const {
  // One pool may have handed out what another was given back.
  std::size_t sum = pool_.in_use();
  for (const RequestPool& p : pools_) sum += p.in_use();
  return sum;
}

const Cluster& Engine::running_cluster() {
  WARPLINE_EXPECT(running != nullptr, "in a window, whoever asks is a cluster that is run");
  return *running;
}

/// Ticks it. Returns the cycle that is then to be marked as its next.
Cycle Engine::tick(Component& component, Cycle now) {
  const Cycle next = component.tick(now);
  WARPLINE_EXPECT(next > now, "a component asks for a later tick");
  return component.domain().align(next);
}

/// Ticks one cluster up to and without cycle `end`, keeping the cycle being ticked in `now`.
void Engine::run_cluster(Cluster& cluster, Cycle end, Cycle& now) {
  Calendar& calendar = cluster.calendar;
  while (calendar.next() < end) {
    Cycle cycle = now = calendar.next();
    const std::uint32_t last = calendar.take_but_last([&](std::uint32_t member) {
      ++cluster.ticks;
      Component& one = *cluster.members[member];
      if (const Cycle next = tick(one, cycle); next != kNever) calendar.mark(one.place_, next);
    });
    Component& one = *cluster.members[last];
    // As long as nobody else is due before it, there is nothing to be looked up.
    do {
      now = cycle;
      ++cluster.ticks;
      cycle = tick(one, cycle);
    } while (cycle < calendar.next() && cycle < end);
    if (cycle != kNever) calendar.mark(one.place_, cycle);
  }
}

void Engine::run_window(Cycle start, Cycle end) {
  if (side_by_side_ && find_due(end)) {
    now_ = run_due(start, end);
    return;
  }
  Cycle last = start;
  auto next = next_.begin();
  for (Cluster& c : clusters_) {
    if (*next++ >= end) continue;
    run_cluster(c, end, now_);
    last = std::max(last, now_);
  }
  now_ = last;
}

/// Whether enough clusters are due before cycle `end` to run them side by side; they are in due_ then.
bool Engine::find_due(Cycle end) {
  due_.clear();
  auto next = next_.begin();
  for (Cluster& c : clusters_)
    if (*next++ < end) due_.push_back(&c);
  if (shuffled_) return cluster_order_.below(4) == 0;
  return due_.size() >= std::size_t{kLeastPerThread} * threads_;
}

/// One cluster of the window, on one of the threads.
void Engine::run_alone(Cluster& cluster) {
  running = &cluster;
  const std::uint64_t begin = measures_ ? own_time() : 0;
  try {
    run_cluster(cluster, window_end_, cluster.now);
  } catch (...) {
    cluster.failure = std::current_exception();
  }
  if (measures_) cluster.cost = (cluster.cost + own_time() - begin) / 2;
  running = nullptr;
}

/// Orders due_ by homes, and those of each so that what takes long is last, that is, begun first: nobody is
/// to begin it when the others are through.
void Engine::order_due() {
  if (shuffled_) {
    for (Cluster* c : due_) c->home = static_cast<unsigned>(cluster_order_.below(threads_));
    for (std::size_t i = due_.size(); i > 1; --i) std::swap(due_[i - 1], due_[cluster_order_.below(i)]);
  }
  std::stable_sort(due_.begin(), due_.end(), [this](const Cluster* a, const Cluster* b) {
    return a->home != b->home ? a->home < b->home : !shuffled_ && a->cost < b->cost;
  });
  ends_.assign(threads_, 0);
  for (const Cluster* c : due_) ++ends_[c->home];
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
}

/// What a thread does at a time: one cluster's window, or all that waits for the clusters of one home.
void Engine::do_task(std::size_t number) {
  if (!hands_over_) return run_alone(*due_[number]);
  for (Cluster* c : due_) {
    for (PortBase* p : c->begun[number]) p->hand_over_begun();
    c->begun[number].clear();
    for (PortBase* p : c->popped[number]) p->hand_over_popped();
    c->popped[number].clear();
  }
}

/// Runs the clusters of due_ side by side up to and without cycle `end`. Returns the last cycle that was
/// ticked.
Cycle Engine::run_due(Cycle start, Cycle end) {
  measures_ = windows_++ % kMeasuredOne == 0;
  order_due();
  const std::uint64_t begin = measures_ ? wall_time() : 0;
  window_end_ = end;
  in_window_ = true;
  hands_over_ = false;
  workers_->do_all(ends_);
  in_window_ = false;
  const std::uint64_t done = measures_ ? wall_time() : 0;
  hands_over_ = true;
  workers_->do_all(one_each_);
  Cycle last = start;
  for (const Cluster* c : due_) last = std::max(last, c->now);
  if (measures_) end_measurement({0, 0, 0, done - begin, wall_time() - done});
  // On one thread the first of them, in the order in which they were made, would have ended the run.
  for (Cluster& c : clusters_) {
    if (c.failure == nullptr) continue;
    const std::exception_ptr first = std::exchange(c.failure, nullptr);
    for (Cluster& other : clusters_) other.failure = nullptr;
    std::rethrow_exception(first);
  }
  return last;
}

/// Every thread gets as much to do, unless it has that already: those clusters that take longest first, each
/// to who has least so far.
void Engine::settle_homes() {
  std::vector<std::uint64_t> loads(threads_, 0);
  std::uint64_t all = 0;
  for (const Cluster* c : due_) {
    loads[c->home] += c->cost;
    all += c->cost;
  }
  if (*std::max_element(loads.begin(), loads.end()) * threads_ * 8 <= all * 9) return;
  std::vector<Cluster*> longest_first = due_;
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const Cluster* a, const Cluster* b) { return a->cost > b->cost; });
  std::fill(loads.begin(), loads.end(), 0);
  for (Cluster* c : longest_first) {
    const auto least = std::min_element(loads.begin(), loads.end());
    c->home = static_cast<unsigned>(least - loads.begin());
    *least += c->cost;
  }
}

void Engine::end_measurement(Window window) {
  for (RequestPool& p : pools_) p.share_surplus();
  settle_homes();
  if (hear_window_ == nullptr) return;
  for (const Cluster* c : due_) {
    ++window.clusters;
    window.work += c->cost;
    window.longest = std::max(window.longest, c->cost);
  }
  hear_window_(window);
}

void Engine::start_threads() {
  for (Cluster& c : clusters_) {
    c.begun.resize(std::max<std::size_t>(c.begun.size(), threads_));
    c.popped.resize(c.begun.size());
  }
  one_each_.resize(threads_);
  std::iota(one_each_.begin(), one_each_.end(), std::size_t{1});
  if (workers_ != nullptr && process_ == getpid()) return;
  // What this process was forked from has kept its threads.
  static_cast<void>(workers_.release());
  process_ = getpid();
  workers_ = std::make_unique<WorkerThreads>(threads_, [this](std::size_t number) { do_task(number); });
}

void Engine::tick_all() {
  std::vector<std::uint32_t> order(components_.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool shuffled = mode_ == TickMode::spurious_and_shuffled;
  for (std::size_t i = order.size(); shuffled && i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const std::uint32_t index : order) {
    if (components_[index]->domain().align(now_) != now_) continue;
    ++components_[index]->cluster_->ticks;
    Component& ticked = *ticked_[index];
    const Cycle next = tick(ticked, now_);
    ticked.cluster_->calendar.mark(ticked.place_, next);
  }
}

/// Everybody is ticked in every cycle from the last to the scheduled one, or in some of them. Which
/// ticks a component needs in the scheduled cycle itself is not asked: all get one.
void Engine::step_other_modes(Cycle scheduled) {
  for (Cycle c = now_ + 1; c < scheduled; ++c) {
    if (mode_ == TickMode::spurious_and_shuffled && random_.below(4) != 0) continue;
    now_ = c;
    tick_all();
    if (next_tick() < scheduled) break;
  }
  if (next_tick() != scheduled) return;
  now_ = scheduled;
  for (Cluster& c : clusters_)
    if (c.calendar.next() == scheduled) c.calendar.take([](std::uint32_t) {});
  tick_all();
}

void Engine::find_windows() {
  if (window_ != 0) return;
  window_ = inner_window_ = kLongestWindow;
  side_by_side_ = threads_ > 1 && !one_thread_ && mode_ == TickMode::lazy && ticked_ == components_;
  std::unordered_set<const Cluster*> face_outside;
  for (const PortBase* p : ports_) {
    window_ = std::min(window_, p->lookahead());
    if (!p->is_direct()) side_by_side_ = false;
    if (p->leads_outside()) {
      face_outside.insert(&p->owner().cluster());
    } else {
      inner_window_ = std::min(inner_window_, p->lookahead());
    }
  }
  const bool worth_it = window_ >= kShortestWindow && clusters() >= std::size_t{kLeastPerThread} * threads_;
  if (!worth_it && !shuffled_) side_by_side_ = false;
  for (PortBase* p : ports_) p->part(side_by_side_);
  if (ranks_ != nullptr) find_rank_window();
  inner_.clear();
  outer_.clear();
  for (Cluster& c : clusters_) (face_outside.count(&c) != 0 ? outer_ : inner_).push_back(&c);
}

/// Whether the progress callback wants no more.
bool Engine::told_to_stop() {
  if (now_ < progress_at_) return false;
  progress_at_ = now_ + progress_every_;
  return !all_ranks(progress_(now_));
}

/// Tells what ends before the next tick.
void Engine::end_spans(Cycle scheduled) {
  while (scheduled > span_end_) {
    const Cycle next = spans_->span_ended(span_end_);
    WARPLINE_EXPECT(next > span_end_, "a span ends after the one before it");
    span_end_ = next;
  }
}

/// Nobody is to be ticked any more.
RunOutcome Engine::run_dry() {
  if (!quiescent()) return RunOutcome::deadlock;
  // The calendars are empty, so time may go back to where the last thing happened: which idle
  // ticks came after it is no part of the result.
  now_ = resting_ = std::max(last_move(), resting_);
  inner_end_ = 0;
  for (Cluster& c : clusters_) c.calendar.restart();
  if (spans_ != nullptr) span_end_ = spans_->came_to_rest(now_);
  return RunOutcome::quiescent;
}

RunOutcome Engine::run_in_step(Cycle now, Cycle limit) {
  if (now == limit) return run_until(now);
  WARPLINE_EXPECT(mode_ == TickMode::lazy, "only necessary ticks can be done ahead");
  find_windows();
  outside_from_ = now;
  for (Cycle outer_end = 0;; outer_end = now_ + 1) {
    const Cycle scheduled = next_tick();
    if (scheduled == kNever) return run_dry();
    if (scheduled > now) return RunOutcome::cycle_limit;
    end_spans(scheduled);
    const bool all_due = scheduled >= inner_end_;
    // Whoever is told of the progress, or of spans, finds all in one cycle.
    if (all_due)
      inner_end_ = std::min({scheduled + inner_window_, limit + 1, std::max(scheduled + 1, progress_at_),
                             std::max(span_end_, span_end_ + 1)});
    // What outer clusters have passed is due in an inner one that was woken from outside.
    if (all_due || scheduled < outer_end)
      for (Cluster* c : inner_) run_cluster(*c, std::min(inner_end_, limit + 1), now_);
    for (Cluster* c : outer_) run_cluster(*c, scheduled + 1, now_);
    now_ = scheduled;
    if (told_to_stop()) return RunOutcome::stopped;
  }
}

RunOutcome Engine::run_until(Cycle limit) {
  find_windows();
  if (side_by_side_) start_threads();
  outside_from_ = kNever;
  if (ranks_ != nullptr) return run_with_ranks(limit);
  for (;;) {
    const Cycle scheduled = next_tick();
    if (scheduled == kNever) return run_dry();
    if (scheduled > limit) return RunOutcome::cycle_limit;
    end_spans(scheduled);
    if (mode_ == TickMode::lazy) {
      const Cycle last =
          std::min({scheduled + window_ - 1, limit, std::max(scheduled, progress_at_), span_end_});
      run_window(scheduled, last + 1);
    } else {
      step_other_modes(scheduled);
    }
    if (told_to_stop()) return RunOutcome::stopped;
  }
}

bool Engine::quiescent() const {
  return all_ranks(quiescent_here());
}

bool Engine::quiescent_here() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const PortBase* p) { return p->occupancy() == 0; }) &&
         std::none_of(components_.begin(), components_.end(),
                      [](const Component* c) { return !c->cluster().elsewhere && c->busy(); });
}

void Engine::archive(StateArchive& a) {
  WARPLINE_EXPECT(quiescent() && next_tick() == kNever, "an engine is saved and restored at rest");
  a.section("the engine");
  last_move_ = last_move();
  a(now_, last_move_, resting_, random_);
  for (Cluster& c : clusters_) c.last_move = 0;
  for (Component* c : components_) {
    // Observers and what makes requests loosely timed remember nothing, and need not be there again.
    std::string own;
    StateArchive looks(own);
    bool has_state = true;
    try {
      c->archive(looks);
      has_state = !own.empty();
    } catch (const StateMisfit&) {
      // What a damaged checkpoint has left of it, and is undone now.
    }
    if (!has_state) continue;
    a.section(c->name());
    c->archive(a);
  }
  for (PortBase* p : ports_)
    if (!p->receives()) p->archive(a);
  for (PortBase* p : ports_) {
    // Nothing ever comes by a port that no channel leads to.
    if (!p->receives() || p->other_side().empty()) continue;
    a.section(p->path());
    p->archive(a);
  }
  inner_end_ = 0;
  for (Cluster& c : clusters_) c.calendar.restart();
}

SteppedStandstill Engine::standstill_here() const {
  SteppedStandstill stepped;
  Standstill& s = stepped.all;
  std::unordered_set<const Component*> asked;
  for (const PortBase* p : ports_) {
    if (p->receives() && p->occupancy() != 0) {
      asked.insert(&p->owner());
      const std::size_t before = s.in_flight.size();
      p->in_flight(s.in_flight);
      // Each says for itself what it waits for.
      const std::string& owner = p->owner().name();
      if (s.in_flight.size() == before)
        s.waits.push_back(
            {p->path(), owner + " to take " + std::to_string(p->occupancy()) + " queued", {owner}});
    }
    stepped.end_step();
  }
  for (const Component* c : components_) {
    if (!c->cluster().elsewhere) {
      c->in_flight(s.in_flight);
      if (c->busy() || asked.count(c) != 0) c->explain(s.waits);
    }
    stepped.end_step();
  }
  return stepped;
}

Standstill Engine::standstill() const {
  SteppedStandstill here = standstill_here();
  Standstill s = ranks_ == nullptr ? std::move(here.all) : merged(std::move(here), *ranks_);
  s.dead = all_ranks(next_tick() == kNever);
  settle(s);
  return s;
}

std::vector<std::string> Engine::channel_problems() const {
  std::vector<std::string> problems;
  for (const PortBase* p : ports_)
    if (std::string s = p->problem(); !s.empty()) problems.push_back(std::move(s));
  return problems;
}

}  // namespace warpline
