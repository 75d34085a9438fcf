// The sockets of HostCpu and PcieSystemModule with a checker of the base protocol on each.
#include <gtest/gtest.h>

#include "rtl_models/pcie/root_complex/root_complex_core.h"
#include "rtl_models/tlm/width_adapter.h"
#include "tests/platform/host/systemc/cpu_bench.h"
#include "tests/rtl_models/tlm/foreign_modules.h"
#include "tests/support/checked_binding.h"

namespace warpline {
namespace checked_sockets_test {

using test::Access;
using test::ForeignInitiator;
using test::ProtocolChecker;

/// Binds sockets of a width that the checker does not have, the checker between.
template <unsigned kWidth, class Initiator, class Target>
ProtocolChecker& bind_narrow(Initiator& initiator, Target& target) {
  using In = WidthAdapter<kWidth, 256>;
  using Out = WidthAdapter<256, kWidth>;
  // They last as long as the checker.
  auto& in = *new In(sc_core::sc_gen_unique_name("in"));     // NOLINT
  auto& out = *new Out(sc_core::sc_gen_unique_name("out"));  // NOLINT
  initiator.bind(in.from_initiator);
  ProtocolChecker& checker = test::bind_checked(in.to_target, out.from_initiator);
  out.to_target.bind(target);
  return checker;
}

/// Accesses of every kind to memory, configuration space and nobody; what they must find is in `memory`.
std::vector<Access> foreign_accesses(Random& random) {
  std::vector<Access> all;
  for (unsigned i = 0; i < 200; ++i) {
    Access a;
    a.command = random.below(2) == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    a.data.resize(1 + random.below(64));
    for (std::uint8_t& b : a.data) b = static_cast<std::uint8_t>(random.next());
    switch (random.below(8)) {
      case 0:
        a.command = tlm::TLM_READ_COMMAND;
        a.address = PcieSystemModule::config_address(RootComplexCore::id_of(0), 0);
        a.data.resize(4);
        break;
      case 1: a.address = std::uint64_t{1} << 60U; break;
      case 2:
        a.streaming = 1;
        a.data.push_back(0);
        break;
      default: a.address = 0x80'0000 + random.below(2000); break;
    }
    all.push_back(std::move(a));
  }
  return all;
}

class CheckedSockets : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Timing, CheckedSockets, ::testing::Values(false, true),
                         [](const auto& which) { return which.param ? "LooselyTimed" : "Timed"; });

TEST_P(CheckedSockets, KeepTheBaseProtocol) {
  PcieSystemOptions options;
  options.memory_bytes = 1U << 24U;
  options.processors = 2;
  PcieSystemModule system("system", options);
  HostCpu cpu("cpu", system);
  Random random(7);
  ForeignInitiator foreign("foreign", foreign_accesses(random), {});
  WidthAdapter<256, PcieSystemModule::kBusBits> narrow("narrow");
  const ProtocolChecker& to_memory =
      bind_narrow<PcieSystemModule::kBusBits>(cpu.to_memory(), system.from_cpu(0));
  const ProtocolChecker& interrupts = bind_narrow<32>(system.to_interrupts(), cpu.from_interrupts());
  const ProtocolChecker& beside = test::bind_checked(foreign.socket, narrow.from_initiator);
  narrow.to_target.bind(system.from_cpu(1));
  system.set_loose(GetParam());
  cpu.add_thread([&](HostCpu& c) {
    test::DriverBench driver(c, system.system());
    driver.start(4, true);
    wl_peer_command command{};
    wl_peer_completion completion{};
    for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(driver.run(command, completion), WL_OK);
    wl_peer_teardown(&driver.peer);
    c.delay_ns(1'000'000);
    sc_core::sc_stop();
  });
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
  EXPECT_GT(to_memory.unchecked().b_transport, 100U);
  EXPECT_GE(interrupts.unchecked().b_transport, 20U);
  EXPECT_EQ(foreign.freed, foreign.accesses.size());
  std::map<std::uint64_t, std::uint8_t> memory;
  for (const Access& a : foreign.accesses) {
    ASSERT_TRUE(a.answered);
    if (a.streaming == 1) {
      EXPECT_EQ(a.status, tlm::TLM_BURST_ERROR_RESPONSE);
    } else if (a.address >> 60U != 0) {
      const bool reads = a.command == tlm::TLM_READ_COMMAND;
      EXPECT_EQ(a.status, reads ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    } else {
      EXPECT_EQ(a.status, tlm::TLM_OK_RESPONSE);
      if (a.address < 0x80'0000 || a.address >= 0x81'0000) continue;
      for (std::size_t i = 0; i < a.data.size(); ++i) {
        std::uint8_t& byte = memory[a.address + i];
        if (a.command == tlm::TLM_WRITE_COMMAND) byte = a.data[i];
        EXPECT_EQ(byte, a.data[i]);
      }
    }
  }
  EXPECT_TRUE(beside.violations().empty()) << beside.violations().front();
}

}  // namespace checked_sockets_test
}  // namespace warpline
