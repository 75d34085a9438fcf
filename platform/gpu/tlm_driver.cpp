#include "warpline/gpu/tlm_driver.h"

#include <algorithm>

namespace warpline {
namespace {

/// It runs to the end of what it was asked for, so nobody sees how far ahead of SystemC it is.
constexpr Cycle kAhead = 1023;

}  // namespace

SystemCDriver::SystemCDriver(const ClockParameters& clocks, HopTransport transport, TickMode mode,
                             std::uint64_t seed)
    : module_("engine", std::max({clocks.sm, clocks.l2, clocks.dram, clocks.link}), transport, mode, seed) {
  module_.keep_exceptions();
  module_.run_ahead(kAhead);
  module_.on_idle([](RunOutcome) { sc_core::sc_pause(); });
}

void SystemCDriver::connect(Netlist& netlist) {
  gpu_ = std::make_unique<GpuModule>("gpu", module_, netlist);
}

RunOutcome SystemCDriver::run_until(Cycle limit) {
  module_.set_limit(limit);
  if (module_.engine().next_tick() > limit) return module_.engine().run_until(limit);
  module_.wake();
  sc_core::sc_start();
  module_.rethrow();
  return module_.outcome();
}

}  // namespace warpline
