#include "rtl_models/sm/barrier_unit.h"

namespace warpline {

std::string BarrierUnit::describe(unsigned id, unsigned live_threads) const {
  const Barrier& b = barriers_[id];
  const unsigned expected = b.expected != 0 ? b.expected : live_threads;
  return "barrier " + std::to_string(id) + ", which " + std::to_string(expected - b.arrived) + " of " +
         std::to_string(expected) + " threads have not reached";
}

}  // namespace warpline
