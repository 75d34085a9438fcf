#include "platform/consistency/holds.h"

#include <algorithm>

namespace warpline::litmus {
namespace {

/// Where what a cache of the SM has asked for arrives: of the cache that serves the location's proxy.
In<ResponseMessage>& fills_of(Netlist::SmCluster& sm, Proxy proxy) {
  switch (proxy) {
    case Proxy::texture:
    case Proxy::noncoherent:
      return sm.texture != nullptr ? sm.texture->from_crossbar : sm.l1_lg->from_crossbar;
    case Proxy::constant: return sm.constant->from_crossbar;
    default: return sm.l1_lg->from_crossbar;
  }
}

}  // namespace

bool Holds::Active::holds(const Request& r) const {
  if (open || r.line != line || r.gpu != gpu || r.sm != sm) return false;
  const bool fits =
      of->what == Hold::What::fill
          ? r.command == Command::read
          : r.command == Command::write || r.command == Command::atomic || r.command == Command::reduce;
  held = held || fits;
  return fits;
}

template <class G, class Q>
void Holds::close(std::deque<G>& gates, Q& queue, const Active& active) {
  auto at = std::find_if(gates.begin(), gates.end(), [&](const G& gate) { return gate.queue == &queue; });
  if (at == gates.end()) {
    gates.emplace_back();
    at = std::prev(gates.end());
    at->queue = &queue;
    queue.set_gate(&*at);
  }
  at->active.push_back(&active);
}

void Holds::begin(const Test& test, const RunState& run, System& system, Engine& engine) {
  for (const auto& gate : fills_) gate.queue->set_gate(nullptr);
  for (const auto& gate : writes_) gate.queue->set_gate(nullptr);
  fills_.clear();
  writes_.clear();
  active_.clear();
  engine_ = &engine;
  const Places& places = run.program->places;
  for (const Hold& hold : test.holds) {
    const Location& location = test.locations[hold.location];
    Active& a = active_.emplace_back();
    a.of = &hold;
    a.line = line_of(
        PhysicalAddress{Arena::base(places.home[location.memory]).value + run.offset[location.memory]});
    a.gpu = places.of_thread[hold.thread];
    a.sm = run.sm_of(hold.thread);
    Netlist& gpu = system.gpu(a.gpu);
    if (hold.what == Hold::What::fill) {
      close(fills_, fills_of(gpu.clusters()[a.sm], location.proxy), a);
    } else {
      close(writes_, gpu.crossbar(), a);
    }
  }
}

/// Other clusters may have run ahead by as much as the engine's lookahead.
void Holds::open(Active& active) {
  active.open = true;
  const Cycle at = engine_->now() + engine_->lookahead();
  const auto let_go = [&](auto& gates) {
    for (auto& gate : gates)
      if (std::find(gate.active.begin(), gate.active.end(), &active) != gate.active.end())
        gate.queue->let_go(at);
  };
  let_go(fills_);
  let_go(writes_);
}

void Holds::done(unsigned thread, unsigned instruction) {
  for (Active& a : active_)
    if (!a.open && a.of->until_thread == thread && a.of->until_instruction == instruction) open(a);
}

bool Holds::let_go() {
  bool any = false;
  for (Active& a : active_) {
    any = any || !a.open;
    if (!a.open) open(a);
  }
  return any;
}

bool Holds::held() const {
  return std::any_of(active_.begin(), active_.end(), [](const Active& a) { return a.held; });
}

}  // namespace warpline::litmus
