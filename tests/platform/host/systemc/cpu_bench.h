#pragma once

#include <functional>

#include "platform/host/host_cpu_module.h"
#include "rtl_models/queue_device/queue_device.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline::test {

/// A processor bound to a system with peers.
struct CpuBench {
  explicit CpuBench(const PcieSystemOptions& options = {}, bool loose = false) : system("system", options) {
    cpu.to_memory().bind(system.from_cpu(0));
    system.to_interrupts().bind(cpu.from_interrupts());
    system.set_loose(loose);
  }
  /// Runs software in a thread for each function, to its end or for a simulated second.
  void run(const std::vector<std::function<void(HostCpu&)>>& functions) {
    unsigned ended = 0;
    for (const auto& function : functions)
      cpu.add_thread([&ended, &function, &functions](HostCpu& c) {
        function(c);
        if (++ended == functions.size()) sc_core::sc_stop();
      });
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
    EXPECT_EQ(ended, functions.size());
  }

  PcieSystemModule system;
  HostCpu cpu{"cpu", system};
};

/// The lines of a device's access log, without the cycles if they are not to be compared.
inline std::string log_of(PcieSystem& system, unsigned peer) {
  std::string text;
  for (const BusAccess& access : system.peer(peer).core().log().entries())
    text += to_text(access, &regs::peer::kMap) + "\n";
  return text;
}

}  // namespace warpline::test
