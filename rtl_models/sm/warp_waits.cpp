#include "rtl_models/sm/warp_waits.h"

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "rtl_models/sm/address_windows.h"

namespace warpline {
namespace {

std::string part(const Component& sm, unsigned slot) {
  return sm.name() + " warp " + std::to_string(slot);
}

std::string of_cta(const SmCore::Cta& cta) {
  return " (CTA " + std::to_string(cta.id.x) + "," + std::to_string(cta.id.y) + "," +
         std::to_string(cta.id.z) + ")";
}

/// A barrier waits for every other warp of the CTA that is not at it, and for the warp itself where its lanes
/// stand at several.
void explain_barriers(const Component& sm, const SmCore& core, unsigned slot, std::vector<Wait>& waits) {
  const SmCore::Cta& cta = core.ctas()[core.warps()[slot].cta];
  const BarrierUnit& barriers = cta.barriers;
  if (core.warps()[slot].cluster_arrived != 0) {
    std::string ranks;
    for (std::uint32_t awaited = cta.cluster_barrier.awaited(); awaited != 0; awaited &= awaited - 1)
      ranks += (ranks.empty() ? " " : ", ") + std::to_string(__builtin_ctz(awaited));
    waits.push_back({part(sm, slot), "the barrier of its cluster, at which not all threads of CTA" + ranks +
                                         " of the cluster have arrived" + of_cta(cta)});
  }
  for (unsigned id = 0; id < BarrierUnit::kBarriers; ++id) {
    if (!barriers.waits_at(id, slot)) continue;
    Wait w{part(sm, slot), barriers.describe(id, core.live_threads(cta)) + of_cta(cta)};
    for (const unsigned other : cta.slots)
      if (other != slot && core.is_of(cta, other) && !barriers.waits_at(id, other))
        w.on.push_back(part(sm, other));
    for (unsigned elsewhere = 0; elsewhere < BarrierUnit::kBarriers; ++elsewhere)
      if (elsewhere != id && barriers.waits_at(elsewhere, slot)) {
        w.on.push_back(part(sm, slot));
        break;
      }
    if (w.on.empty()) w.what += "; no other warp is left that could";
    waits.push_back(std::move(w));
  }
}

/// A warp that stands at no barrier.
Wait explain_warp(const Component& sm, const SmCore& core, const LoadStoreUnit& lsu,
                  const InstructionFetch& fetch, Cycle pace, unsigned slot) {
  const ResidentWarp& w = core.warps()[slot];
  const std::string cta = of_cta(core.ctas()[w.cta]);
  const auto wait = [&](const std::string& what) {
    Wait out{part(sm, slot), what + cta, {}, Awaited{&sm, Awaited::kAny, slot}};
    if (lsu.entries().has_queued(slot)) out.on = {sm.name() + ".lsu"};
    return out;
  };
  // Any other warp of the CTA may be the one that has to arrive.
  const auto wait_for_phase = [&](const std::string& phase) {
    Wait out{part(sm, slot), phase + cta};
    const SmCore::Cta& own = core.ctas()[w.cta];
    for (const unsigned other : own.slots)
      if (other != slot && core.is_of(own, other)) out.on.push_back(part(sm, other));
    return out;
  };
  switch (w.hold) {
    case Hold::drain:
    case Hold::proxy_drain: return wait("the drain of its writes");
    case Hold::maintenance: return wait("the drain or invalidation of its fence");
    case Hold::acquire:
      if (const std::string phase = lsu.describe_wait(slot); !phase.empty()) return wait_for_phase(phase);
      return wait("the value of its acquire");
    case Hold::refill: return wait("tokens of its call-return stack, being read");
    case Hold::flush: return wait("the write-back of its call-return stack");
    case Hold::none: break;
  }
  const std::string copies =
      w.copies == 0 ? std::string{} : ", and " + std::to_string(w.copies) + " asynchronous copies";
  const std::string flying =
      std::to_string(w.loads) + " loads and " + std::to_string(w.stores) + " stores in flight" + copies;
  const InstructionSource& source = core.source();
  if (source.state(slot) == WarpState::exited) return wait(flying + ", to end");
  if (fetch.waits(slot)) {
    const std::string where = w.next == nullptr ? std::string{} : ", " + source.where(*w.next);
    Wait out{part(sm, slot), "its next instruction, being fetched" + where + cta, {}, fetch.awaited(slot)};
    if (fetch.has_queued()) out.on = {sm.name() + ".fetch"};
    return out;
  }
  if (const std::string phase = lsu.describe_wait(slot); !phase.empty()) return wait_for_phase(phase);
  const std::string next = w.next == nullptr ? "its first instruction" : source.where(*w.next);
  if (w.next != nullptr && w.next->kind == InstructionKind::wait_copies &&
      !core.copies(slot).may_pass(w.next->groups_left))
    return wait(std::to_string(w.copies) + " asynchronous copies under way, before " + next);
  if (w.next != nullptr && w.next->kind == InstructionKind::wait_products && w.copies != 0)
    return wait(std::to_string(w.copies) + " asynchronous products under way, before " + next);
  if (w.next != nullptr && w.next->waits_for_grid && !core.released())
    return wait("the end of the grid that its own depends on, before " + next);
  if (w.next != nullptr && w.next->kind == InstructionKind::reallocate_registers)
    if (const std::uint64_t missing = core.registers_missing(slot, w.next->groups_left); missing != 0)
      return wait(std::to_string(missing) +
                  " registers that other warps of its block are to give up, before " + next);
  if (w.quiet() && pace > sm.engine().now())
    return wait("cycle " + std::to_string(pace) +
                ", until which it sleeps, or its schedule or its pipe holds it, before " + next);
  if (w.quiet()) return wait("nothing but its turn to issue " + next);
  return wait(flying + ", before " + next);
}

/// A warp that repeats itself, and what it looked at last.
Wait explain_loop(const Component& sm, const SmCore& core, const LoadStoreUnit& lsu,
                  const LoopWatch::Look& look, unsigned slot) {
  const SmCore::Cta& cta = core.ctas()[core.warps()[slot].cta];
  const auto wait = [&](const std::string& what, const Instruction* at) {
    return Wait{
        part(sm, slot),
        what + (at == nullptr ? "" : ", again and again in " + core.source().where(*at)) + of_cta(cta)};
  };
  if (look.instruction == nullptr)
    return wait("nothing: it repeats what it does for ever", core.warps()[slot].next);
  const MemOp& op = look.instruction->mem;
  Wait out;
  if (op.kind == MemKind::mbarrier) {
    out = wait(lsu.describe_mbarrier(core.shared_base(slot), AddressWindows::own_offset(look.address)),
               look.instruction);
    // Who could still arrive.
    for (const unsigned other : cta.slots)
      if (other != slot && core.is_of(cta, other)) out.on.push_back(part(sm, other));
  } else {
    char place[32];
    std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(look.address));
    out = wait("another value of the " + std::to_string(op.bytes_per_lane()) + " bytes at " + place,
               look.instruction);
  }
  return out;
}

}  // namespace

void explain_warps(const Component& sm, const SmCore& core, const LoadStoreUnit& lsu,
                   const InstructionFetch& fetch, const std::function<Cycle(unsigned slot)>& pace,
                   const LoopWatch* watch, std::vector<Wait>& waits) {
  for (unsigned s = 0; s < core.warps().size(); ++s) {
    const ResidentWarp& w = core.warps()[s];
    if (!w.active) continue;
    if (w.hold == Hold::none && core.source().state(s) == WarpState::at_barrier) {
      explain_barriers(sm, core, s, waits);
    } else if (watch != nullptr && watch->repeats(s)) {
      waits.push_back(explain_loop(sm, core, lsu, watch->look(s), s));
    } else {
      waits.push_back(explain_warp(sm, core, lsu, fetch, pace(s), s));
    }
  }
}

}  // namespace warpline
