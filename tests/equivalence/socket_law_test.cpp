// The law of the transports: whatever carries the hops of a netlist, every message moves in the same cycle,
// and every datum and counter is equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/equivalence/differences.h"
#include "tests/equivalence/law_slice.h"
#include "tests/equivalence/netlist.h"
#include "tests/equivalence/outside_client.h"
#include "tests/equivalence/socket_hops.h"

namespace warpline::test {
namespace socket_law_test {

struct Variant {
  const char* name;
  HopTransport transport;
  unsigned foreign_percent;  ///< of the hops of sockets
  unsigned pins_percent;     ///< of all hops
  TickMode mode;
  Cycle ahead = 0;      ///< how far blocks that no foreign module can reach may be ahead of SystemC
  bool opened = false;  ///< hops of pins have hardware in them that lets everything through
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
    {"pins with hardware, sockets and direct", HopTransport::direct, 30, 40, TickMode::lazy, 0, true},
};

/// Wires cost many times what calls do: every third netlist has them, every thirtieth with hardware.
bool applies(std::size_t variant, std::uint64_t seed, const LawSlice& slice) {
  const Variant& v = kVariants[variant];
  if (!slice.every_way && (seed / 3 + seed / 30 + variant) % 2 != 0) return false;
  return v.pins_percent == 0 || seed % (v.opened ? 30 : 3) == 0;
}

/// In what form responses end in this netlist: drawn by lot.
EndResponse form_of(std::uint64_t seed, std::size_t variant) {
  return splitmix64(seed * 977 + variant) % 2 == 0 ? EndResponse::by_call : EndResponse::by_return;
}

/// One netlist in SystemC.
struct Carried {
  Carried(const Shape& shape, const Variant& v, std::uint64_t seed, EndResponse form)
      : module(sc_core::sc_gen_unique_name("engine"), 700 + static_cast<unsigned>(seed * 37 % 1000),
               v.transport, v.mode, seed),
        hops(module, v.foreign_percent, v.pins_percent, seed, v.opened),
        netlist(shape, module.engine(), hops) {
    module.run_ahead(v.ahead);
    module.set_end_response(form);
  }
  EngineProcess module;
  SocketHops hops;
  Netlist netlist;
};

/// How the clients from outside of a netlist call: all by nb_transport, all by b_transport, or as drawn.
enum class Callers : std::uint8_t { timed, loose, drawn };

struct HostedVariant {
  const char* name;
  Callers callers;
  Variant carriers;
};

/// The first is what the others are compared with.
constexpr HostedVariant kHosted[] = {
    {"timed clients", Callers::timed, kVariants[0]},
    {"loosely timed clients", Callers::loose, kVariants[0]},
    {"mixed clients, some hops foreign", Callers::drawn, kVariants[1]},
    {"mixed clients, sockets, some foreign, every cycle", Callers::drawn, kVariants[3]},
    {"loosely timed clients, pins, sockets and direct, shuffled", Callers::loose, kVariants[10]},
};

/// One netlist, some of whose clients are from outside.
struct Hosted {
  Hosted(const Shape& shape, const HostedVariant& v, std::uint64_t seed, EndResponse form)
      : module(sc_core::sc_gen_unique_name("engine"), 700 + static_cast<unsigned>(seed * 37 % 1000),
               v.carriers.transport, v.carriers.mode, seed),
        hops(module, v.carriers.foreign_percent, v.carriers.pins_percent, seed),
        netlist(shape, module.engine(), hops, outside_of(shape)) {
    module.set_end_response(form);
    for (unsigned i = 0; i < outside_of(shape); ++i) {
      const bool loose =
          v.callers == Callers::loose || (v.callers == Callers::drawn && splitmix64(seed * 13 + i) % 2 == 0);
      Crossbar& crossbar = *netlist.crossbar;
      sites.push_back(std::make_unique<OutsideHop>(sc_core::sc_gen_unique_name("site"), module, untimed,
                                                   crossbar.from_client(i), crossbar.to_client(i),
                                                   shape.client_request, shape.sm));
      clients.push_back(std::make_unique<OutsideClient>(
          sc_core::sc_gen_unique_name("outside"), module, shape.items[i], seed % 4,
          loose ? OutsideClient::Kind::loose : OutsideClient::Kind::timed, seed + i));
      clients.back()->socket.bind(sites.back()->checker.from_initiator);
    }
  }
  /// Half of the clients, and at least one.
  static unsigned outside_of(const Shape& shape) {
    return (static_cast<unsigned>(shape.items.size()) + 1) / 2;
  }
  [[nodiscard]] std::vector<std::string> trace() const {
    std::vector<std::string> lines;
    for (const auto& client : clients) describe_answers(client->answers, lines);
    for (const std::string& line : netlist.trace()) lines.push_back(line);
    return lines;
  }
  EngineProcess module;
  SocketHops hops;
  NoUntimedAccess untimed;
  Netlist netlist;
  std::vector<std::unique_ptr<OutsideHop>> sites;
  std::vector<std::unique_ptr<OutsideClient>> clients;
};

/// Every fifth netlist is tried with clients from outside, too, or every tenth.
bool is_hosted(std::uint64_t seed, const LawSlice& slice) {
  return seed % (slice.every_way ? 5 : 10) == 0;
}

/// What was seen by the checkers of a netlist. Returns how many requests passed.
std::uint64_t expect_clean(const std::vector<std::unique_ptr<ProtocolChecker>>& checkers) {
  std::uint64_t checked = 0;
  for (const auto& checker : checkers) {
    checker->finish();
    checked += checker->counts().begin_req;
    for (const std::string& violation : checker->violations()) ADD_FAILURE() << violation;
  }
  return checked;
}

/// The netlists of a seed with clients from outside: all give the same. Returns how many calls of b_transport
/// took their turn.
std::uint64_t expect_same(const std::vector<std::unique_ptr<Hosted>>& runs) {
  const std::vector<std::string> expected = runs[0]->trace();
  std::uint64_t calls = 0;
  for (std::size_t v = 0; v < runs.size(); ++v) {
    Hosted& run = *runs[v];
    SCOPED_TRACE(kHosted[v].name);
    for (const Wait& w : run.module.explain()) ADD_FAILURE() << w.who << " waits for " << w.what;
    EXPECT_EQ(differences(expected, run.trace()), std::vector<std::string>{});
    EXPECT_TRUE(run.module.at_rest());
    EXPECT_EQ(run.module.engine().pool().in_use(), 0U);
    EXPECT_EQ(run.module.transactions_in_use(), 0U);
    expect_clean(run.hops.checkers());
    for (const auto& client : run.clients) EXPECT_TRUE(client->done() && !client->delayed);
    for (const auto& site : run.sites) {
      site->checker.finish();
      calls += site->checker.unchecked().b_transport;
      for (const std::string& violation : site->checker.violations()) ADD_FAILURE() << violation;
    }
  }
  return calls;
}

class SocketLaw : public ::testing::TestWithParam<unsigned> {};

TEST_P(SocketLaw, EveryMessageMovesInTheSameCycleWhateverCarriesIt) {
  const LawSlice slice(GetParam());
  std::vector<std::vector<std::unique_ptr<Carried>>> runs;
  std::vector<std::vector<std::unique_ptr<Hosted>>> hosted;
  std::size_t transactions = 0;
  for (std::uint64_t seed = slice.first; seed < slice.end(); ++seed) {
    const Shape shape(seed);
    for (const auto& list : shape.items) transactions += list.size();
    runs.emplace_back();
    for (std::size_t v = 0; v < std::size(kVariants); ++v)
      runs.back().push_back(applies(v, seed, slice)
                                ? std::make_unique<Carried>(shape, kVariants[v], seed, form_of(seed, v))
                                : nullptr);
    hosted.emplace_back();
    if (!is_hosted(seed, slice)) continue;
    for (const HostedVariant& v : kHosted)
      hosted.back().push_back(
          std::make_unique<Hosted>(shape, v, seed, form_of(seed + 1, hosted.back().size())));
  }
  // Clocks of hardware run on, so a simulation that has any does not end by itself.
  const auto rests = [&runs, &hosted] {
    for (const auto& netlists : runs)
      for (const auto& run : netlists)
        if (run != nullptr && !run->module.engine().quiescent()) return false;
    for (const auto& netlists : hosted)
      for (const auto& run : netlists)
        for (const auto& client : run->clients)
          if (!client->done() || !run->module.at_rest()) return false;
    return true;
  };
  const sc_core::sc_time step(20, sc_core::SC_US);
  do {
    sc_core::sc_start(step, sc_core::SC_EXIT_ON_STARVATION);
  } while (!rests() && sc_core::sc_time_stamp() < 500 * step);
  std::uint64_t checked = 0, pins = 0, calls = 0;
  for (std::uint64_t seed = slice.first; seed < slice.end(); ++seed) {
    Netlist reference(Shape(seed), TickMode::lazy, 1, Clusters::one);
    ASSERT_EQ(reference.run(), RunOutcome::quiescent);
    const std::vector<std::string> expected = reference.trace();
    for (std::size_t v = 0; v < std::size(kVariants); ++v) {
      if (!applies(v, seed, slice)) continue;
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
      checked += expect_clean(run.hops.checkers());
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", clients from outside");
    if (is_hosted(seed, slice)) calls += expect_same(hosted[seed - slice.first]);
  }
  EXPECT_GT(checked, 1000U) << "requests passed the protocol checkers";
  EXPECT_GT(pins, 10U) << "hops were pins";
  EXPECT_GT(calls, 100U) << "calls of b_transport took their turn";
  std::cout << "law: " << transactions << " random transactions, each in "
            << std::count_if(std::begin(kVariants), std::end(kVariants),
                             [](const Variant& v) { return v.pins_percent == 0; })
            << " ways, every third in " << std::size(kVariants)
            << (slice.every_way ? ", every fifth with clients from outside, too\n"
                                : ", of which every second, every tenth with clients from outside, too\n");
}

INSTANTIATE_TEST_SUITE_P(Slices, SocketLaw, ::testing::Range(0U, kLawSlices));

}  // namespace socket_law_test
}  // namespace warpline::test
