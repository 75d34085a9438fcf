// The links inside a PcieSystemModule, opened by its options: the same times on every carrier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <stdexcept>

#include "platform/systemc/pcie_system_module.h"
#include "tests/support/monitor.h"

namespace warpline::test {
namespace link_hops_test {

/// Reads the configuration of the first device, and notes what it finds when.
struct Prober final : sc_core::sc_module {
  Prober(const sc_core::sc_module_name& name, PcieSystemModule& system) : sc_module(name) {
    socket.bind(system.from_cpu());
    SC_HAS_PROCESS(Prober);
    SC_THREAD(run);
  }
  void run() {
    for (unsigned i = 0; i < 60; ++i) {
      std::uint32_t value = 0;
      tlm::tlm_generic_payload p;
      p.set_command(tlm::TLM_READ_COMMAND);
      p.set_address(PcieSystemModule::config_address(function_id(1 + i % 5 / 4, 0, 0), 4 * (i % 16)));
      p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
      p.set_data_length(4);
      p.set_streaming_width(4);
      sc_core::sc_time delay;
      socket->b_transport(p, delay);
      seen.emplace_back(sc_core::sc_time_stamp(), value);
      wait(sc_core::sc_time(i % 7, sc_core::SC_NS));
    }
  }
  tlm_utils::simple_initiator_socket<Prober, 64> socket{"socket"};
  std::vector<std::pair<sc_core::sc_time, std::uint32_t>> seen;
};

TEST(LinkHops, OfAPcieSystemModuleTakeTheSameTimeOnEveryCarrier) {
  std::deque<Monitor> monitors;
  PcieSystemOptions plain, sockets, pins, watched;
  sockets.transport = HopTransport::socket;
  pins.pins = {"root.from_device[0]", "host*", "peer[0].from_root.non_posted"};
  watched.interpose = [&monitors](const HopSite& hop) -> HopSockets {
    Monitor& m = monitors.emplace_back(hop.module_name.c_str());
    return {&m.from_initiator, &m.to_target};
  };
  PcieSystemModule a("plain", plain), b("sockets", sockets), c("pins", pins), d("watched", watched);
  Prober pa("pa", a), pb("pb", b), pc("pc", c), pd("pd", d);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  ASSERT_EQ(pa.seen.size(), 60U);
  EXPECT_NE(pa.seen[0].second, 0xFFFF'FFFFU);
  EXPECT_EQ(pa.seen, pb.seen);
  EXPECT_EQ(pa.seen, pc.seen);
  EXPECT_EQ(pa.seen, pd.seen);
  EXPECT_EQ(monitors.size(), 12U);
  std::uint64_t packets = 0;
  for (const Monitor& m : monitors) packets += m.requests;
  EXPECT_GT(packets, 200U);
}

TEST(LinkHops, ThatAreNotThereAreRefusedWithThoseThatAre) {
  PcieSystemOptions options;
  options.pins = {"root.from_device[0]", "root.from_divice*"};
  try {
    const PcieSystemModule system("system", options);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("\"root.from_divice*\" matches no hop"));
    EXPECT_THAT(e.what(), testing::HasSubstr("root.from_device[0]"));
  }
}

}  // namespace link_hops_test
}  // namespace warpline::test
