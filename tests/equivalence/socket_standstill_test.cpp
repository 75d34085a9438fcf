// A listing is the same whatever carries the hops: a simulation paused at random times shows what the plain
// netlist shows in that cycle.
#include <gtest/gtest.h>

#include "tests/equivalence/netlist.h"
#include "tests/equivalence/socket_hops.h"

namespace warpline::test {
namespace socket_standstill_test {

struct Carried {
  Carried(const Shape& shape, unsigned foreign_percent, unsigned pins_percent, HopTransport transport)
      : module(sc_core::sc_gen_unique_name("engine"), 1000, transport),
        hops(module, foreign_percent, pins_percent, 3),
        netlist(shape, module.engine(), hops) {}
  EngineProcess module;
  SocketHops hops;
  Netlist netlist;
};

/// What is listed, but for who is on the other side: that may be foreign.
std::vector<std::string> listed(const std::vector<InFlight>& rows) {
  std::vector<std::string> all;
  for (const InFlight& r : rows)
    all.push_back(std::to_string(r.id) + " " + r.what + " at " + r.at + " waits for " + r.wait.what);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(SocketStandstill, APausedSimulationListsWhatThePlainNetlistDoes) {
  constexpr std::uint64_t kSeeds = 12;
  std::vector<std::unique_ptr<Netlist>> plain;
  std::vector<std::vector<std::unique_ptr<Carried>>> carried(kSeeds);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Shape shape(seed);
    plain.push_back(std::make_unique<Netlist>(shape, TickMode::lazy, 1));
    carried[seed - 1].push_back(std::make_unique<Carried>(shape, 0, 0, HopTransport::direct));
    carried[seed - 1].push_back(std::make_unique<Carried>(shape, 50, 0, HopTransport::direct));
    carried[seed - 1].push_back(std::make_unique<Carried>(shape, 30, 0, HopTransport::socket));
    carried[seed - 1].push_back(std::make_unique<Carried>(shape, 20, 50, HopTransport::direct));
  }
  Random random(11);
  std::size_t most = 0;
  for (Cycle at = 0; at < 6000; at += 1 + random.below(100)) {
    const sc_core::sc_time end = carried[0][0]->module.start_of(at + 1);
    sc_core::sc_start(end - sc_core::sc_time_stamp());
    for (std::uint64_t n = 0; n < kSeeds; ++n) {
      if (plain[n]->engine.run_until(at) != RunOutcome::cycle_limit) continue;
      const std::vector<std::string> expected = listed(plain[n]->engine.in_flight());
      most = std::max(most, expected.size());
      for (const auto& c : carried[n]) {
        SCOPED_TRACE("seed " + std::to_string(n + 1) + ", cycle " + std::to_string(at) + ", " +
                     std::to_string(c->hops.direct()) + " direct hops");
        const std::vector<InFlight> rows = c->module.in_flight();
        ASSERT_EQ(rows.size(), expected.size());
        ASSERT_EQ(rows.size(), c->module.engine().pool().in_use());
        // Where there are wires, a message may still be on them.
        if (c->hops.pins() == 0) {
          ASSERT_EQ(listed(rows), expected);
        }
      }
    }
  }
  EXPECT_GT(most, 20U);
  for (const auto& variants : carried)
    for (const auto& c : variants)
      for (const auto& checker : c->hops.checkers())
        for (const std::string& violation : checker->violations()) ADD_FAILURE() << violation;
}

}  // namespace socket_standstill_test
}  // namespace warpline::test
