// The law of the transports: whatever carries the hops of a netlist, every message moves in the same cycle,
// and every datum and counter is equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/law_slice.h"
#include "tests/equivalence/netlist.h"
#include "tests/equivalence/socket_hops.h"

namespace warpline::test {
namespace socket_law_test {

struct Variant {
  const char* name;
  HopTransport transport;
  unsigned foreign_percent;  ///< of the hops of sockets
  unsigned pins_percent;     ///< of all hops
  TickMode mode;
  Cycle ahead = 0;  ///< how far blocks that no foreign module can reach may be ahead of SystemC
};

constexpr Cycle kAhead = 100;
constexpr Variant kVariants[] = {
    {"negotiated", HopTransport::direct, 0, 0, TickMode::lazy},
    {"some foreign", HopTransport::direct, 40, 0, TickMode::lazy},
    {"all sockets", HopTransport::socket, 0, 0, TickMode::lazy},
    {"sockets, some foreign, every cycle", HopTransport::socket, 50, 0, TickMode::every_cycle},
    {"few foreign, others ahead", HopTransport::direct, 10, 0, TickMode::lazy, kAhead},
    {"sockets, few foreign, others ahead", HopTransport::socket, 10, 0, TickMode::lazy, kAhead},
    {"some foreign, shuffled", HopTransport::direct, 50, 0, TickMode::spurious_and_shuffled},
    {"all pins", HopTransport::direct, 0, 100, TickMode::lazy},
    {"pins, sockets and direct", HopTransport::direct, 50, 33, TickMode::lazy},
    {"pins and sockets, every cycle", HopTransport::socket, 20, 50, TickMode::every_cycle},
    {"pins, sockets and direct, shuffled", HopTransport::direct, 50, 50, TickMode::spurious_and_shuffled},
};

/// Wires cost many times what calls do: every third netlist has them.
bool applies(const Variant& v, std::uint64_t seed) {
  return v.pins_percent == 0 || seed % 3 == 0;
}

/// One netlist in SystemC.
struct Carried {
  Carried(const Shape& shape, const Variant& v, std::uint64_t seed)
      : module(sc_core::sc_gen_unique_name("engine"), 700 + static_cast<unsigned>(seed * 37 % 1000),
               v.transport, v.mode, seed),
        hops(module, v.foreign_percent, v.pins_percent, seed),
        netlist(shape, module.engine(), hops) {
    module.run_ahead(v.ahead);
  }
  EngineProcess module;
  SocketHops hops;
  Netlist netlist;
};

class SocketLaw : public ::testing::TestWithParam<unsigned> {};

TEST_P(SocketLaw, EveryMessageMovesInTheSameCycleWhateverCarriesIt) {
  const LawSlice slice(GetParam());
  std::vector<std::vector<std::unique_ptr<Carried>>> runs;
  std::size_t transactions = 0;
  for (std::uint64_t seed = slice.first; seed < slice.end(); ++seed) {
    const Shape shape(seed);
    for (const auto& list : shape.items) transactions += list.size();
    runs.emplace_back();
    for (const Variant& v : kVariants)
      runs.back().push_back(applies(v, seed) ? std::make_unique<Carried>(shape, v, seed) : nullptr);
  }
  sc_core::sc_start();
  std::uint64_t checked = 0, pins = 0;
  for (std::uint64_t seed = slice.first; seed < slice.end(); ++seed) {
    Netlist reference(Shape(seed), TickMode::lazy, 1, Clusters::one);
    ASSERT_EQ(reference.run(), RunOutcome::quiescent);
    const std::vector<std::string> expected = reference.trace();
    for (std::size_t v = 0; v < std::size(kVariants); ++v) {
      if (!applies(kVariants[v], seed)) continue;
      Carried& run = *runs[seed - slice.first][v];
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + kVariants[v].name);
      if (run.module.outcome() != RunOutcome::quiescent || !run.netlist.engine.quiescent()) {
        for (const Wait& w : run.module.explain()) ADD_FAILURE() << w.who << " waits for " << w.what;
        continue;
      }
      ASSERT_EQ(differences(expected, run.netlist.trace()), std::vector<std::string>{});
      const bool sockets = kVariants[v].transport == HopTransport::socket;
      EXPECT_EQ(run.hops.direct(), sockets ? 0 : run.hops.hops() - run.hops.checkers().size());
      pins += run.hops.pins();
      EXPECT_EQ(run.module.engine().pool().in_use(), 0U);
      EXPECT_EQ(run.module.transactions_in_use(), 0U);
      for (const auto& checker : run.hops.checkers()) {
        checker->finish();
        checked += checker->counts().begin_req;
        for (const std::string& violation : checker->violations()) ADD_FAILURE() << violation;
      }
    }
  }
  EXPECT_GT(checked, 1000U) << "requests passed the protocol checkers";
  EXPECT_GT(pins, 10U) << "hops were pins";
  std::cout << "law: " << transactions << " random transactions, each in "
            << std::count_if(std::begin(kVariants), std::end(kVariants),
                             [](const Variant& v) { return v.pins_percent == 0; })
            << " ways, every third in " << std::size(kVariants) << "\n";
}

INSTANTIATE_TEST_SUITE_P(Slices, SocketLaw, ::testing::Range(0U, kLawSlices));

}  // namespace socket_law_test
}  // namespace warpline::test
