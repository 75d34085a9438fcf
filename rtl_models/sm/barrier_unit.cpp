#include "warpline/sm/barrier_unit.h"

namespace warpline {

std::string BarrierUnit::describe(unsigned live_threads) const {
  std::string out;
  for (unsigned i = 0; i < kBarriers; ++i) {
    const Barrier& b = barriers_[i];
    if (!b.in_use) continue;
    if (!out.empty()) out += ", ";
    out += "barrier " + std::to_string(i) + ": " + std::to_string(b.arrived) + " of " +
           std::to_string(b.expected != 0 ? b.expected : live_threads) + " threads have arrived";
  }
  return out;
}

}  // namespace warpline
