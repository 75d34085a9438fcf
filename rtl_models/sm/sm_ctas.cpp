// CTAs of an SM: how they begin, and how they end, warp by warp.
#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/sm/sm.h"

namespace warpline {

void Sm::start_cta(const CtaLaunch& launch) {
  const auto free_cta = std::find_if(ctas_.begin(), ctas_.end(), [](const Cta& c) { return !c.active; });
  WARPLINE_EXPECT(free_cta != ctas_.end(), "the distributor knows how many CTAs fit");
  Cta& cta = *free_cta;
  const auto index = static_cast<unsigned>(free_cta - ctas_.begin());
  cta.active = true;
  cta.id = launch.cta;
  cta.slots.clear();
  cta.barriers.reset();
  cta.barrier_in_use = false;
  cta.warps_left = info_.warps_per_cta();
  lsu_.shared().clear(std::uint64_t{index} * info_.shared_bytes, info_.shared_bytes);
  unsigned slot = 0;
  for (unsigned w = 0; w < info_.warps_per_cta(); ++w, ++slot) {
    while (warps_[slot].active) ++slot;
    const unsigned threads = std::min(info_.threads_per_cta() - w * kWarpLanes, kWarpLanes);
    const LaneMask lanes = threads == kWarpLanes ? ~LaneMask{0} : (LaneMask{1} << threads) - 1;
    scoreboard_.clear(slot);
    stacks_[slot].clear();
    dependences_[slot].clear();
    warps_[slot] = Warp{};
    warps_[slot].active = true;
    warps_[slot].cta = index;
    warps_[slot].live = lanes;
    warps_[slot].issue_edge = edge_;
    warps_[slot].line = fetch_.no_line();
    fetch_.forget(slot);
    ++active_warps_;
    cta.slots.push_back(slot);
    source_->begin_warp(slot, launch.cta, w, lanes);
  }
  for (const unsigned s : std::vector<unsigned>(cta.slots)) evaluate(s);
}

void Sm::retire(unsigned slot) {
  Warp& w = warps_[slot];
  w.active = false;
  --active_warps_;
  ++counters_.warps;
  Cta& cta = ctas_[w.cta];
  if (--cta.warps_left != 0) return;
  cta.active = false;
  ++counters_.ctas;
  ++dones_;
}

}  // namespace warpline
