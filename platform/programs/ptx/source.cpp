#include "platform/programs/ptx/source.h"

#include <algorithm>

#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/random.h"

namespace warpline::ptx {

PtxSource::PtxSource(const LaunchedProgram& launch, const SmSite& site)
    : launch_(launch), program_(*launch.program), site_(site), slots_(site.slots) {}

void PtxSource::begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) {
  Slot& s = slots_[slot];
  if (s.warp == nullptr) s.warp = std::make_unique<Warp>(program_);
  s.cta = cta.number_in(launch_.info.grid);
  s.pending = 0;
  *s.ahead = {};
  s.warp->begin(threads);
  WarpIdentity who;
  who.kernel = &launch_.info;
  who.launch = &launch_.attributes;
  who.dynamic_shared_bytes = launch_.dynamic_shared_bytes;
  who.shared_bytes = launch_.shared_bytes;
  who.cta = cta;
  who.warp = warp_in_cta;
  who.sm = site_.number;
  who.mhz = site_.mhz;
  who.sms = launch_.sms;
  for (const SpecialSlot& special : program_.specials) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint64_t value = special.source->value(who, lane);
      std::memcpy(s.warp->file() + special.ref + std::size_t{lane} * special.bytes, &value, special.bytes);
    }
  }
}

WarpState PtxSource::state(unsigned slot) const {
  const Slot& s = slots_[slot];
  return s.warp == nullptr ? WarpState::exited : s.warp->state();
}

const Instruction& PtxSource::next(unsigned slot) {
  const Slot& s = slots_[slot];
  return s.ahead->any() ? s.ahead->instruction() : program_.instructions[s.warp->pc()];
}

const Instruction* PtxSource::peek(unsigned slot) {
  const Slot& s = slots_[slot];
  if (s.ahead->any()) return &s.ahead->instruction();
  const Warp* const warp = s.warp.get();
  return warp != nullptr && warp->runnable() ? &program_.instructions[warp->pc()] : nullptr;
}

/// Carries out what the warp computes next, as long as nobody can see that it is early: operations that touch
/// nothing but its registers, can neither fault nor end lanes, and wait for no other lanes, and none while a
/// memory operation has yet to write a register. So neither its state nor its lanes change but by what
/// follows.
void PtxSource::go_ahead(Slot& s) {
  if (in_step_ || s.pending != 0) return;
  const unsigned computed = s.warp->compute(s.done.data(), kAhead, launch_.pool.data());
  *s.ahead = {program_.instructions.data(), s.done.data(), s.done.data() + computed};
}

void PtxSource::execute(unsigned slot, Issue& issue) {
  Slot& s = slots_[slot];
  if (!s.ahead->any()) go_ahead(s);
  if (s.ahead->any()) {
    issue.active = s.ahead->next++->active;
    return;
  }
  Warp& warp = *s.warp;
  const Op& op = program_.ops[warp.pc()];
  s.pending += op.finish != nullptr;
  if (op.flow == Flow::barrier && op.count != 0) {
    // The votes are read before the lanes move on.
    const LaneMask votes = frame(slot, 0).condition(op);
    warp.execute(issue, launch_.pool.data());
    if (issue.active == 0 || issue.barrier.id > 15) return;
    Tally& tally = tallies_[slots_[slot].cta].at(issue.barrier.id);
    const auto arrived = static_cast<std::uint32_t>(__builtin_popcount(issue.active));
    tally.arrived += arrived;
    tally.waiting += arrived;
    tally.yes += static_cast<std::uint32_t>(__builtin_popcount(issue.active & votes));
    return;
  }
  const std::uint32_t back = (warp.pc() + 1) << kPcShift;
  warp.execute(issue, launch_.pool.data());
  if (op.flow == Flow::call || op.flow == Flow::back) {
    issue.stack_depth = warp.deepest_call();
    issue.token = std::uint64_t{issue.active} << 32U | back;
  }
}

void PtxSource::keep_ahead_in(unsigned slot, ComputedAhead* ahead) {
  Slot& s = slots_[slot];
  if (ahead == nullptr) ahead = &s.own;
  *ahead = *s.ahead;
  s.ahead = ahead;
}

unsigned PtxSource::run_ahead(unsigned slot, Issue& issue, unsigned most, std::uint64_t& threads) {
  Slot& s = slots_[slot];
  Warp& warp = *s.warp;
  unsigned count = 0;
  for (; s.ahead->any() && count < most; ++count) threads += lane_count(s.ahead->next++->active);
  while (count < most) {
    const unsigned computed =
        warp.compute(s.done.data(), std::min(kAhead, most - count), launch_.pool.data());
    for (unsigned n = 0; n < computed; ++n) threads += lane_count(s.done[n].active);
    count += computed;
    if (count == most || !warp.runnable()) break;
    const std::uint32_t pc = warp.pc();
    if (!program_.ops[pc].runs_ahead) break;
    warp.execute(issue, launch_.pool.data());
    threads += lane_count(issue.active);
    ++count;
    if (issue.fault == nullptr) continue;
    issue.at_fault = &program_.instructions[pc];
    break;
  }
  return count;
}

Frame PtxSource::frame(unsigned slot, LaneMask active) const {
  Frame f;
  f.file = slots_[slot].warp->file();
  f.pool = launch_.pool.data();
  f.active = active;
  return f;
}

void PtxSource::complete(unsigned slot, const Instruction& instruction, const MemoryAccess& access,
                         bool with_data) {
  const Op& op = program_.ops[instruction.pc >> kPcShift];
  if (op.finish != nullptr) {
    WARPLINE_EXPECT(slots_[slot].pending != 0, "what completes has been executed");
    --slots_[slot].pending;
  }
  if (!with_data || op.finish == nullptr || access.active == 0) return;
  Frame f = frame(slot, access.active);
  f.loaded = &access;
  op.finish(op, f);
}

void PtxSource::finish_reduction(unsigned slot, const Op& op, LaneMask lanes, Tally& tally) {
  Frame f = frame(slot, lanes);
  if (op.count == 1) {
    fill_lanes(op, f, [&tally] { return tally.yes; });
  } else {
    const bool holds = op.count == 2 ? tally.yes == tally.arrived : tally.yes != 0;
    f.set_predicate(op.r[0], holds ? ~LaneMask{0} : 0);
  }
  tally.waiting -= std::min(tally.waiting, static_cast<std::uint32_t>(__builtin_popcount(lanes)));
  if (tally.waiting == 0) tally = Tally{};
}

void PtxSource::release_barrier(unsigned slot, std::uint32_t id) {
  Slot& s = slots_[slot];
  if (s.warp == nullptr || id > kClusterBarrier) return;
  const auto tallies = tallies_.find(s.cta);
  s.warp->release(id, [&](const Op& op, LaneMask lanes) {
    if (tallies != tallies_.end()) finish_reduction(slot, op, lanes, tallies->second.at(id));
  });
  if (tallies != tallies_.end() && std::all_of(tallies->second.begin(), tallies->second.end(),
                                               [](const Tally& t) { return t.waiting == 0; }))
    tallies_.erase(tallies);
}

LaneMask PtxSource::live_lanes(unsigned slot) const {
  const Slot& s = slots_[slot];
  return s.warp == nullptr ? 0 : s.warp->alive();
}

void PtxSource::kill(unsigned slot) {
  Slot& s = slots_[slot];
  *s.ahead = {};
  if (s.warp != nullptr) s.warp->kill();
}

std::optional<std::uint64_t> PtxSource::digest(unsigned slot) const {
  const Slot& s = slots_[slot];
  std::uint64_t d = s.warp->digest();
  // What is yet to be issued leads to the same registers whichever of it comes first.
  for (const ComputedAhead::Step* step = s.ahead->next; step != s.ahead->end; ++step)
    d = splitmix64(d ^ (std::uint64_t{step->number} << 32U | step->active));
  return d;
}

std::string PtxSource::where(const Instruction& instruction) const {
  const std::uint32_t at = instruction.pc >> kPcShift;
  if (at >= program_.lines.size()) return program_.files.front().name;
  return text::place_text(program_.files, program_.lines[at]);
}

}  // namespace warpline::ptx
