#include "warpline/fabric/engine.h"

#include <algorithm>
#include <numeric>

#include "warpline/base/contract.h"
#include "warpline/fabric/channel.h"

namespace warpline {

Component::Component(Engine& engine, std::string name, ClockDomain domain)
    : engine_(engine), name_(std::move(name)), domain_(domain), index_(engine.add(this)) {}

Engine::Engine(TickMode mode, std::uint64_t seed) : mode_(mode), random_(seed) {}

std::uint32_t Engine::add(Component* component) {
  const auto index = static_cast<std::uint32_t>(components_.size());
  components_.push_back(component);
  const std::size_t words = components_.size() / 64 + 1;
  if (words != words_) {
    // Components may have asked for their first tick already: the slots are moved, not cleared.
    std::vector<std::uint64_t> wheel(kWheel * words, 0);
    for (std::size_t slot = 0; slot < kWheel; ++slot)
      std::copy_n(wheel_.begin() + static_cast<std::ptrdiff_t>(slot * words_), words_,
                  wheel.begin() + static_cast<std::ptrdiff_t>(slot * words));
    words_ = words;
    wheel_ = std::move(wheel);
  }
  return index;
}

void Engine::on_progress(Cycle cycles, std::function<bool(Cycle)> callback) {
  progress_ = std::move(callback);
  progress_every_ = cycles;
  progress_at_ = now_ + cycles;
}

Cycle Engine::next_scheduled() {
  Cycle near = kNever;
  // The slots of the wheel stand for the cycles now_ to now_ + kWheel - 1.
  const std::size_t start = now_ % kWheel;
  for (std::size_t i = 0; i <= kWheel / 64; ++i) {
    const std::size_t word = (start / 64 + i) % (kWheel / 64);
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= ~std::uint64_t{0} << (start % 64);
    if (i == kWheel / 64) bits &= (std::uint64_t{1} << (start % 64)) - 1;
    if (bits == 0) continue;
    const std::size_t slot = word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
    near = now_ + (slot + kWheel - start) % kWheel;
    break;
  }
  return far_.empty() ? near : std::min(near, far_.top().first);
}

void Engine::tick_component(std::uint32_t index) {
  Component& c = *components_[index];
  ++ticks_;
  const Cycle next = c.tick(now_);
  if (next != kNever) {
    WARPLINE_EXPECT(next > now_, "a component asks for a later tick");
    schedule(index, c.domain().align(next));
  }
}

void Engine::tick_cycle() {
  while (!far_.empty() && far_.top().first == now_) {
    schedule(far_.top().second, now_);
    far_.pop();
  }
  const std::size_t slot = now_ % kWheel;
  occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  std::uint64_t* words = &wheel_[slot * words_];
  if (mode_ != TickMode::lazy) {
    std::fill(words, words + words_, 0);
    return;
  }
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t bits = words[w];
    words[w] = 0;
    for (; bits != 0; bits &= bits - 1)
      tick_component(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
  }
}

void Engine::tick_all() {
  std::vector<std::uint32_t> order(components_.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool shuffled = mode_ == TickMode::spurious_and_shuffled;
  for (std::size_t i = order.size(); shuffled && i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  for (const std::uint32_t index : order) {
    if (components_[index]->domain().align(now_) == now_) tick_component(index);
  }
}

RunOutcome Engine::run_until(Cycle limit) {
  const Cycle start = now_;
  for (;;) {
    const Cycle scheduled = next_scheduled();
    if (scheduled == kNever) {
      if (!quiescent()) return RunOutcome::deadlock;
      // The calendar is empty, so time may go back to where the last thing happened: which idle
      // ticks came after it is no part of the result.
      now_ = std::max(last_move_, start);
      return RunOutcome::quiescent;
    }
    if (scheduled > limit) return RunOutcome::cycle_limit;
    if (mode_ == TickMode::lazy) {
      now_ = scheduled;
      tick_cycle();
    } else {
      // Everybody is ticked in every cycle from the last to the scheduled one, or in some of them.
      // Which ticks a component needs in the scheduled cycle itself is not asked: all get one.
      for (Cycle c = now_ + 1; c < scheduled; ++c) {
        if (mode_ == TickMode::spurious_and_shuffled && random_.below(4) != 0) continue;
        now_ = c;
        tick_all();
        if (next_scheduled() < scheduled) break;
      }
      if (const Cycle next = next_scheduled(); next == scheduled) {
        now_ = scheduled;
        tick_cycle();
        tick_all();
      }
    }
    if (now_ >= progress_at_) {
      progress_at_ = now_ + progress_every_;
      if (!progress_(now_)) return RunOutcome::stopped;
    }
  }
}

bool Engine::quiescent() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const PortBase* p) { return p->occupancy() == 0; }) &&
         std::none_of(components_.begin(), components_.end(), [](const Component* c) { return c->busy(); });
}

std::vector<Wait> Engine::explain() const {
  std::vector<Wait> waits;
  for (const PortBase* p : ports_)
    if (p->occupancy() != 0)
      waits.push_back({p->path(), std::to_string(p->occupancy()) + " messages queued"});
  for (const Component* c : components_)
    if (c->busy()) c->explain(waits);
  return waits;
}

std::vector<std::string> Engine::channel_problems() const {
  std::vector<std::string> problems;
  for (const PortBase* p : ports_)
    if (std::string s = p->problem(); !s.empty()) problems.push_back(std::move(s));
  return problems;
}

}  // namespace warpline
