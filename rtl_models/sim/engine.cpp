#include "rtl_models/sim/engine.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/channel.h"

namespace warpline {

Component::Component(Engine& engine, std::string name, ClockDomain domain)
    : engine_(engine), name_(std::move(name)), domain_(domain) {
  engine.add(this, engine.clusters_.size() - 1);
}

Component::Component(const Component& beside, std::string name)
    : engine_(beside.engine_), name_(std::move(name)), domain_(beside.domain_) {
  engine_.add(this, beside.cluster_);
}

Engine::Engine(TickMode mode, std::uint64_t seed) : mode_(mode), random_(seed) {
  begin_cluster();
}

void Engine::begin_cluster() {
  clusters_.emplace_back(next_.emplace_back(kNever));
  note_binding();
}

void Engine::add(Component* component, std::size_t number) {
  Cluster& cluster = clusters_[number];
  component->cluster_ = number;
  component->calendar_ = &cluster.calendar;
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
  for (Cluster& c : clusters_)
    if (&c.calendar == original.calendar_) c.members[original.member_] = &stand_in;
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

void Engine::tick(Component& component) {
  ++ticks_;
  const Cycle next = component.tick(now_);
  WARPLINE_EXPECT(next > now_, "a component asks for a later tick");
  if (next != kNever) component.wake(next);
}

/// Ticks one cluster up to and without cycle `end`.
void Engine::run_cluster(Cluster& cluster, Cycle end) {
  while (cluster.calendar.next() < end) {
    now_ = cluster.calendar.next();
    cluster.calendar.take([this, &cluster](std::uint32_t member) { tick(*cluster.members[member]); });
  }
}

void Engine::run_window(Cycle start, Cycle end) {
  Cycle last = start;
  auto next = next_.begin();
  for (Cluster& c : clusters_) {
    if (*next++ >= end) continue;
    run_cluster(c, end);
    last = std::max(last, now_);
  }
  now_ = last;
}

void Engine::tick_all() {
  std::vector<std::uint32_t> order(components_.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool shuffled = mode_ == TickMode::spurious_and_shuffled;
  for (std::size_t i = order.size(); shuffled && i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const std::uint32_t index : order) {
    if (components_[index]->domain().align(now_) == now_) tick(*ticked_[index]);
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
  std::vector<bool> faces_outside(clusters_.size(), false);
  for (const PortBase* p : ports_) {
    window_ = std::min(window_, p->lookahead());
    if (p->leads_outside()) {
      faces_outside[p->owner().cluster_] = true;
    } else {
      inner_window_ = std::min(inner_window_, p->lookahead());
    }
  }
  inner_.clear();
  outer_.clear();
  for (std::size_t i = 0; i < clusters_.size(); ++i)
    (faces_outside[i] ? outer_ : inner_).push_back(&clusters_[i]);
}

/// Whether the progress callback wants no more.
bool Engine::told_to_stop() {
  if (now_ < progress_at_) return false;
  progress_at_ = now_ + progress_every_;
  return !progress_(now_);
}

/// Nobody is to be ticked any more.
RunOutcome Engine::run_dry() {
  if (!quiescent()) return RunOutcome::deadlock;
  // The calendars are empty, so time may go back to where the last thing happened: which idle
  // ticks came after it is no part of the result.
  now_ = resting_ = std::max(last_move_, resting_);
  inner_end_ = 0;
  for (Cluster& c : clusters_) c.calendar.restart();
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
    const bool all_due = scheduled >= inner_end_;
    // Whoever is told of the progress finds all in one cycle.
    if (all_due)
      inner_end_ = std::min({scheduled + inner_window_, limit + 1, std::max(scheduled + 1, progress_at_)});
    // What outer clusters have passed is due in an inner one that was woken from outside.
    if (all_due || scheduled < outer_end)
      for (Cluster* c : inner_) run_cluster(*c, std::min(inner_end_, limit + 1));
    for (Cluster* c : outer_) run_cluster(*c, scheduled + 1);
    now_ = scheduled;
    if (told_to_stop()) return RunOutcome::stopped;
  }
}

RunOutcome Engine::run_until(Cycle limit) {
  find_windows();
  outside_from_ = kNever;
  for (;;) {
    const Cycle scheduled = next_tick();
    if (scheduled == kNever) return run_dry();
    if (scheduled > limit) return RunOutcome::cycle_limit;
    if (mode_ == TickMode::lazy) {
      const Cycle last = std::min({scheduled + window_ - 1, limit, std::max(scheduled, progress_at_)});
      run_window(scheduled, last + 1);
    } else {
      step_other_modes(scheduled);
    }
    if (told_to_stop()) return RunOutcome::stopped;
  }
}

bool Engine::quiescent() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const PortBase* p) { return p->occupancy() == 0; }) &&
         std::none_of(components_.begin(), components_.end(), [](const Component* c) { return c->busy(); });
}

void Engine::archive(StateArchive& a) {
  WARPLINE_EXPECT(quiescent() && next_tick() == kNever, "an engine is saved and restored at rest");
  a.section("the engine");
  a(now_, last_move_, resting_, random_);
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

Standstill Engine::standstill() const {
  Standstill s;
  s.dead = next_tick() == kNever;
  std::unordered_set<const Component*> asked;
  for (const PortBase* p : ports_) {
    if (!p->receives() || p->occupancy() == 0) continue;
    asked.insert(&p->owner());
    const std::size_t before = s.in_flight.size();
    p->in_flight(s.in_flight);
    if (s.in_flight.size() != before) continue;  // each says for itself what it waits for
    const std::string& owner = p->owner().name();
    s.waits.push_back({p->path(), owner + " to take " + std::to_string(p->occupancy()) + " queued", {owner}});
  }
  for (const Component* c : components_) {
    c->in_flight(s.in_flight);
    if (c->busy() || asked.count(c) != 0) c->explain(s.waits);
  }
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
