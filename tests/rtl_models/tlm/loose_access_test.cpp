// b_transport of somebody else's initiators through our caches, crossbar and slices to memory: the right
// bytes, the right answers, and the time that idle hardware takes by nb_transport.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/loose_netlists.h"
#include "tests/rtl_models/tlm/loose_traffic.h"

namespace warpline::test {
namespace loose_access_test {

constexpr std::uint64_t kConstant = 0xC000;

std::uint8_t preset(std::uint64_t address) {
  return static_cast<std::uint8_t>(address * 7 + address / 251);
}

/// Isolated accesses by b_transport and, in another netlist, by nb_transport, each from the tick of the same
/// cycle on.
struct Isolated {
  std::vector<Cycle> took;
  bool at_ticks = true;  ///< whether answers came at ticks
  std::vector<Access> accesses;
  /// Reads of a line before anything was written; then everything. With write-backs under way, a timed
  /// fetch may wait for one.
  static std::vector<Access> plan(std::uint64_t seed) {
    std::vector<Access> all;
    Random random(splitmix64(seed));
    for (unsigned n = 0; n < 150; ++n) {
      const std::uint64_t at = (random.below(3) == 0 ? kSysmem : 0) + random.below(24) * kLineBytes +
                               random.below(4) * kSectorBytes;
      all.push_back(access(tlm::TLM_READ_COMMAND, at, 1 + random.below(32)));
    }
    for (unsigned n = 0; n < 12; ++n)
      all.push_back(access(tlm::TLM_WRITE_COMMAND, (n % 2 == 0 ? kSysmem : 0) + n * 200 % 96, 8 + n * 2));
    return all;
  }
  void run(LooseInitiator& i, EngineProcess& engine, bool loose) {
    for (Access& a : accesses) {
      const Cycle c = engine.cycle_of(sc_core::sc_time_stamp()) + 3000;
      wait(engine.tick_of(c) - sc_core::sc_time_stamp());
      const sc_core::sc_time end = engine.tick_of(c) + (loose ? i.loose(a) : i.timed(a));
      took.push_back(engine.cycle_of(end) - c);
      at_ticks = at_ticks && end == engine.tick_of(c + took.back());
    }
  }
};

/// What one process simulates, which elaborates once.
enum class Part : std::uint8_t { runs, legal, pairs, annotated };

struct Simulation {
  struct Run {
    /// `alone`: no others share crossbar and slices. (In whose turn threads go that wait for the same time,
    /// SystemC does not say.)
    Run(const std::string& name, const Build& build, std::uint64_t seed, bool no_others)
        : l1(seed, 20000),
          alone(no_others),
          netlist(
              name, build, [this](LooseInitiator& i) { l1.run(i); },
              no_others ? LooseInitiator::Body{} : [this](LooseInitiator& i) { from_crossbar(i); },
              no_others ? LooseInitiator::Body{} : [this](LooseInitiator& i) { read_only(i); },
              no_others ? LooseInitiator::Body{} : [this](LooseInitiator& i) { read_only(i); }) {
      for (std::uint64_t a = kConstant; a < kMemory; ++a) *netlist.subsystem.vidmem.at(a) = preset(a);
    }
    /// Where no cache above writes: the rest of the constant lines.
    void from_crossbar(LooseInitiator& i) {
      for (unsigned n = 0; n < 2000; ++n) {
        const std::uint64_t at = 0xE000 + n * 37 % 0x1F00 / kLineBytes * kLineBytes + n % 100;
        Access a = access(tlm::TLM_WRITE_COMMAND, at, 20, static_cast<std::uint8_t>(n));
        Access b = access(tlm::TLM_READ_COMMAND, at, 20);
        sc_core::sc_time delay;
        i.call(a, delay);
        i.call(b, delay);
        if (b.data != a.data) wrong.push_back(text("at the crossbar ", std::to_string(at)));
        wait(delay);
      }
    }
    void read_only(LooseInitiator& i) {
      for (unsigned n = 0; n < 2000; ++n) {
        const std::uint64_t at = kConstant + n * 41 % 0x1F80 / kLineBytes * kLineBytes + n % 90;
        Access a = access(tlm::TLM_READ_COMMAND, at, 1 + n % 38);
        sc_core::sc_time delay;
        i.call(a, delay);
        for (std::size_t b = 0; b < a.data.size(); ++b)
          if (a.data[b] != preset(at + b)) wrong.push_back(text("read only ", std::to_string(at)));
        wait(delay);
      }
      for (Access a : {access(tlm::TLM_WRITE_COMMAND, kConstant, 4), access(tlm::TLM_IGNORE_COMMAND, 0, 4)}) {
        sc_core::sc_time delay = ns(5);
        i.call(a, delay);
        if (a.status != tlm::TLM_COMMAND_ERROR_RESPONSE || delay != ns(5))
          wrong.push_back("a write is taken");
      }
      Request drain;
      drain.command = Command::maintain;
      drain.maintenance = maintenance::kDrain;
      Access a = access(tlm::TLM_IGNORE_COMMAND, 0, 4);
      sc_core::sc_time delay;
      i.call(a, delay, &drain);
      if (a.status != tlm::TLM_COMMAND_ERROR_RESPONSE) wrong.push_back("a drain is taken");
    }
    Traffic l1;
    bool alone;
    std::vector<std::string> wrong;
    Driven netlist;
  };
  struct Legal {
    Legal(const std::string& name, HopTransport transport)
        : netlist(name, {transport}, [this](LooseInitiator& i) {
            for (Access& a : accesses) {
              sc_core::sc_time delay;
              i.call(a, delay);
            }
            for (const Refused& r : refused_accesses()) {
              refused.push_back(r.access);
              sc_core::sc_time delay;
              i.call(refused.back(), delay);
            }
          }) {}
    std::vector<Access> accesses = legal_accesses();
    std::vector<Access> refused;
    Driven netlist;
  };
  struct Pair {
    Pair(const std::string& name, std::uint64_t seed, HopTransport transport, unsigned mhz)
        : loose(text(name, "_loose"), {transport, true, 2, true, mhz},
                [this](LooseInitiator& i) { a.run(i, loose.subsystem.engine, true); }),
          timed(text(name, "_timed"), {HopTransport::direct, false, 2, true, mhz},
                [this](LooseInitiator& i) { b.run(i, timed.subsystem.engine, false); }) {
      a.accesses = b.accesses = Isolated::plan(seed);
    }
    Isolated a, b;
    Driven loose, timed;
  };
  /// Delays that are annotated when a call comes.
  struct Annotated {
    explicit Annotated(const std::string& name)
        : netlist(name, {}, [this](LooseInitiator& i) {
            EngineProcess& engine = netlist.subsystem.engine;
            for (unsigned n = 0; n < 50; ++n) {
              Access a = access(tlm::TLM_READ_COMMAND, n % 7 * 128, 32);
              const sc_core::sc_time before = sc_core::sc_time(1017.0 * n, sc_core::SC_PS);
              sc_core::sc_time delay = before;
              i.call(a, delay);
              // A hit takes the cycle of the request's channel. Of the first access to a line we know less.
              const Cycle begun = engine.cycle_of(before);
              if (n < 7 ? delay < before + ns(20)
                        : delay != before + (engine.tick_of(begun + 1) - engine.tick_of(begun)))
                wrong.push_back(text(std::to_string(n), " took ", (delay - before).to_string()));
            }
          }) {}
    std::vector<std::string> wrong;
    Driven netlist;
  };
  std::deque<Run> runs;
  std::deque<Legal> legal;
  std::deque<Pair> pairs;
  std::deque<Annotated> annotated;
  explicit Simulation(Part part) {
    tlm_utils::tlm_quantumkeeper::set_global_quantum(ns(500));
    switch (part) {
      case Part::runs:
        for (std::uint64_t seed = 0; seed < 4; ++seed)
          for (const HopTransport t : {HopTransport::direct, HopTransport::socket})
            runs.emplace_back(text("run", std::to_string(runs.size())), Build{t}, seed, seed % 2 == 0);
        break;
      case Part::legal:
        for (const HopTransport t : {HopTransport::direct, HopTransport::socket})
          legal.emplace_back(text("legal", std::to_string(legal.size())), t);
        break;
      case Part::pairs:
        for (const unsigned mhz : {987U, 1000U})
          for (const HopTransport t : {HopTransport::direct, HopTransport::socket})
            pairs.emplace_back(text("pair", std::to_string(pairs.size())), mhz, t, mhz);
        break;
      case Part::annotated: annotated.emplace_back("annotated"); break;
    }
    sc_core::sc_start();
  }
};
Simulation& simulation(Part part) {
  static Simulation s(part);
  return s;
}

TEST(LooseAccess, RandomTrafficReadsWhatItWrote) {
  for (Simulation::Run& r : simulation(Part::runs).runs) {
    SCOPED_TRACE(r.netlist.l1.name());
    EXPECT_TRUE(r.netlist.l1.done && r.netlist.crossbar.done && r.netlist.texture.done);
    ASSERT_EQ(r.l1.wrong, std::vector<std::string>{});
    ASSERT_EQ(r.wrong, std::vector<std::string>{});
    auto counters = r.netlist.subsystem.counters();
    EXPECT_GT(counters["l1.writebacks"], 100U);
    EXPECT_GT(counters["l20.sysmem_writebacks"], 10U);
    EXPECT_EQ(r.netlist.subsystem.engine.engine().pool().in_use(), 0U);
    EXPECT_EQ(r.netlist.subsystem.engine.transactions_in_use(), 0U);
    EXPECT_TRUE(r.netlist.subsystem.engine.engine().quiescent());
  }
}

TEST(LooseAccess, HopsOverSocketsGiveTheSameTimesAndCounters) {
  std::deque<Simulation::Run>& runs = simulation(Part::runs).runs;
  for (std::size_t n = 0; n < runs.size(); n += 2) {
    if (!runs[n].alone) continue;
    for (std::size_t i = 0; i < runs[n].l1.took.size(); ++i)
      ASSERT_EQ(runs[n].l1.took[i], runs[n + 1].l1.took[i]) << "access " << i;
    EXPECT_EQ(runs[n].netlist.subsystem.counters(), runs[n + 1].netlist.subsystem.counters());
    EXPECT_TRUE(runs[n].netlist.subsystem.l1.to_crossbar.is_direct());
    EXPECT_FALSE(runs[n + 1].netlist.subsystem.l1.to_crossbar.is_direct());
  }
}

TEST(LooseAccess, AnyBytesOfALineAndResponseStatuses) {
  const std::vector<Refused> expected = refused_accesses();
  for (Simulation::Legal& l : simulation(Part::legal).legal) {
    SCOPED_TRACE(l.netlist.l1.name());
    std::map<std::uint64_t, std::uint8_t> memory;
    for (const Access& a : l.accesses) {
      ASSERT_EQ(a.status, tlm::TLM_OK_RESPONSE);
      for (std::size_t i = 0; i < a.data.size(); ++i) {
        const bool enabled = a.enables.empty() || a.enables[i % a.enables.size()] == TLM_BYTE_ENABLED;
        if (a.command == tlm::TLM_READ_COMMAND) {
          ASSERT_EQ(a.data[i], enabled ? memory[a.address + i] : static_cast<std::uint8_t>(0xA5 + i))
              << a.address << "+" << i;
        } else if (enabled) {
          memory[a.address + i] = a.data[i];
        }
      }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(l.refused[i].status, expected[i].status) << i;
  }
}

TEST(LooseAccess, TakesTheTimeOfTheTimedPathWhereNothingElseIsUnderWay) {
  for (Simulation::Pair& p : simulation(Part::pairs).pairs) {
    ASSERT_TRUE(p.loose.l1.done && p.timed.l1.done);
    EXPECT_TRUE(p.a.at_ticks && p.b.at_ticks);
    for (std::size_t n = 0; n < p.a.took.size(); ++n)
      ASSERT_EQ(p.a.took[n], p.b.took[n])
          << p.loose.l1.name() << " access " << n << " of " << std::hex << p.a.accesses[n].address;
    EXPECT_EQ(p.loose.subsystem.counters(), p.timed.subsystem.counters());
  }
}

TEST(LooseAccess, AnnotatedDelayIsKeptAndGrows) {
  EXPECT_EQ(simulation(Part::annotated).annotated.front().wrong, std::vector<std::string>{});
}

}  // namespace loose_access_test
}  // namespace warpline::test
