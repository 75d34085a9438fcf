#pragma once

#include <memory>

#include "warpline/fabric/tlm_engine.h"
#include "warpline/gpu/gpu_module.h"
#include "warpline/gpu/netlist_driver.h"

namespace warpline {

/// Runs a GPU in SystemC. One per process: SystemC elaborates once.
class SystemCDriver final : public NetlistDriver {
 public:
  /// `transport`: of hops both ends of which are ours.
  SystemCDriver(const ClockParameters& clocks, HopTransport transport, TickMode mode = TickMode::lazy,
                std::uint64_t seed = 1);
  [[nodiscard]] Engine& engine() override { return module_.engine(); }
  /// Whether every hop is direct. Pre: it has run.
  [[nodiscard]] bool is_direct() const { return !module_.keeps_step(); }
  void connect(Netlist& netlist) override;
  RunOutcome run_until(Cycle limit) override;
  [[nodiscard]] std::vector<Wait> explain() const override { return module_.explain(); }

 private:
  EngineModule module_;
  std::unique_ptr<GpuModule> gpu_;
};

}  // namespace warpline
