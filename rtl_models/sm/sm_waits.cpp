// What the warps of an SM wait for, for people.
#include "warpline/sm/sm.h"

namespace warpline {

/// A warp as a part of the SM, in the names of waits.
std::string Sm::part(unsigned slot) const {
  return name() + " warp " + std::to_string(slot);
}

/// A barrier waits for every other warp of the CTA that is not at it, and for the warp itself where its lanes
/// stand at several.
void Sm::explain_barriers(unsigned slot, std::vector<Wait>& waits) const {
  const Cta& cta = ctas_[warps_[slot].cta];
  const BarrierUnit& barriers = cta.barriers;
  for (unsigned id = 0; id < BarrierUnit::kBarriers; ++id) {
    if (!barriers.waits_at(id, slot)) continue;
    Wait w{part(slot), barriers.describe(id, live_threads(cta)) + of_cta(cta)};
    for (const unsigned other : cta.slots)
      if (other != slot && is_of(cta, other) && !barriers.waits_at(id, other)) w.on.push_back(part(other));
    for (unsigned elsewhere = 0; elsewhere < BarrierUnit::kBarriers; ++elsewhere)
      if (elsewhere != id && barriers.waits_at(elsewhere, slot)) {
        w.on.push_back(part(slot));
        break;
      }
    if (w.on.empty()) w.what += "; no other warp is left that could";
    waits.push_back(std::move(w));
  }
}

std::string Sm::of_cta(const Cta& cta) {
  return " (CTA " + std::to_string(cta.id.x) + "," + std::to_string(cta.id.y) + "," +
         std::to_string(cta.id.z) + ")";
}

/// A warp that stands at no barrier.
Wait Sm::explain_warp(unsigned slot) const {
  const Warp& w = warps_[slot];
  const Awaited answers{static_cast<const Component*>(this), Awaited::kAny, slot};
  const auto wait = [&](const std::string& what) {
    Wait out{part(slot), what + of_cta(ctas_[w.cta]), {}, answers};
    if (lsu_.has_queued(slot)) out.on = {name() + ".lsu"};
    return out;
  };
  if (w.hold == Hold::drain || w.hold == Hold::proxy_drain) return wait("the drain of its writes");
  if (w.hold == Hold::maintenance) return wait("the drain or invalidation of its fence");
  if (w.hold == Hold::acquire) return wait("the value of its acquire");
  if (w.hold == Hold::refill) return wait("tokens of its call-return stack, being read");
  if (w.hold == Hold::flush) return wait("the write-back of its call-return stack");
  const std::string copies =
      w.copies == 0 ? std::string{} : ", and " + std::to_string(w.copies) + " asynchronous copies";
  const std::string flying =
      std::to_string(w.loads) + " loads and " + std::to_string(w.stores) + " stores in flight" + copies;
  if (source_->state(slot) == WarpState::exited) return wait(flying + ", to end");
  if (fetch_.waits(slot)) {
    const std::string where = w.next == nullptr ? std::string{} : ", " + source_->where(*w.next);
    Wait out{part(slot),
             "its next instruction, being fetched" + where + of_cta(ctas_[w.cta]),
             {},
             fetch_.awaited(slot)};
    if (fetch_.has_queued()) out.on = {name() + ".fetch"};
    return out;
  }
  const std::string next = w.next == nullptr ? "its first instruction" : source_->where(*w.next);
  if (w.next != nullptr && w.next->kind == InstructionKind::wait_copies &&
      !copies_[slot].may_pass(w.next->groups_left))
    return wait(std::to_string(w.copies) + " asynchronous copies under way, before " + next);
  if (w.loads == 0 && w.stores == 0 && w.copies == 0) return wait("nothing but its turn to issue " + next);
  return wait(flying + ", before " + next);
}

void Sm::explain(std::vector<Wait>& waits) const {
  for (unsigned s = 0; s < warps_.size(); ++s) {
    if (!warps_[s].active) continue;
    const bool stands = warps_[s].hold == Hold::none && source_->state(s) == WarpState::at_barrier;
    if (stands) {
      explain_barriers(s, waits);
    } else {
      waits.push_back(explain_warp(s));
    }
  }
  if (lsu_.has_queued() || active_warps_ == 0) lsu_.explain(name() + ".lsu", waits);
  fetch_.explain(name() + ".fetch", waits);
  if (dones_ != 0) waits.push_back({name(), to_distributor.room(), {to_distributor.other_side()}});
}

}  // namespace warpline
