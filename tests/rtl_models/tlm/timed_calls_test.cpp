// b_transport while time is timed: accesses of loosely timed initiators take their turn among timed requests.
// The convenience socket answers nb_transport by processes of its own.
#define SC_INCLUDE_DYNAMIC_PROCESSES

#include <gtest/gtest.h>
#include <sysc/kernel/sc_spawn.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "tests/rtl_models/tlm/loose_netlists.h"

namespace warpline::test {
namespace timed_calls_test {

/// What an initiator does: accesses, each some cycles after the answer before it, and what came of them.
struct Plan {
  /// Lines that all fight for, at `base` ones of its own.
  Plan(std::uint64_t seed, std::uint64_t base, bool writes) {
    Random random(splitmix64(seed));
    for (unsigned n = 0; n < 300; ++n) {
      const std::uint64_t space = random.below(3) == 0 ? kSysmem : 0;
      const std::uint64_t line = space + (random.below(2) == 0 ? base : 0) + random.below(30) * kLineBytes;
      const std::uint64_t offset = random.below(100);
      accesses.push_back(
          access(writes && random.below(2) == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                 line + offset, 1 + random.below(28), static_cast<std::uint8_t>(n)));
      pauses.push_back(random.below(4) == 0 ? random.below(200) : random.below(5));
    }
  }
  void run(LooseInitiator& i, EngineProcess& engine, bool loose) {
    Cycle next = 10;
    for (std::size_t n = 0; n < accesses.size(); ++n) {
      next += pauses[n];
      sc_core::sc_time delay = engine.tick_of(next) - sc_core::sc_time_stamp();
      if (!loose || n % 2 == 0) wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
      if (loose) {
        i.call(accesses[n], delay);
        delayed += delay != sc_core::SC_ZERO_TIME;
      } else {
        static_cast<void>(i.timed(accesses[n]));
      }
      next = engine.cycle_of(sc_core::sc_time_stamp());
      answered.push_back(next);
    }
  }
  std::vector<Access> accesses;
  std::vector<Cycle> pauses, answered;
  unsigned delayed = 0;
};

/// An initiator at each socket of a memory subsystem. `loose`: a bit for each that calls b_transport.
struct Twin {
  Twin(const std::string& name, unsigned loose, HopTransport transport)
      : plans{{1, 0x4000, true}, {2, 0x8000, false}, {3, 0xC000, false}, {4, 0xE000, true}},
        netlist(name, {transport, false}, body(0, loose), body(3, loose), body(1, loose), body(2, loose)) {}
  LooseInitiator::Body body(unsigned n, unsigned loose) {
    return [this, n, loose](LooseInitiator& i) {
      plans[n].run(i, netlist.subsystem.engine, (loose >> n & 1U) != 0);
    };
  }
  std::vector<Plan> plans;
  Driven netlist;
};

TEST(TimedCalls, GiveWhatAnInitiatorWithTimedRequestsWouldGet) {
  std::deque<Twin> twins;
  twins.emplace_back("timed", 0, HopTransport::direct);
  for (const unsigned loose : {1U, 6U, 8U, 9U, 15U})
    for (const HopTransport t : {HopTransport::direct, HopTransport::socket})
      twins.emplace_back(text("twin", std::to_string(twins.size())), loose, t);
  sc_core::sc_start();
  const auto expected = twins.front().netlist.subsystem.counters();
  for (Twin& twin : twins) {
    SCOPED_TRACE(twin.netlist.l1.name());
    EXPECT_EQ(twin.netlist.subsystem.counters(), expected);
    for (std::size_t n = 0; n < twin.plans.size(); ++n) {
      EXPECT_EQ(twin.plans[n].delayed, 0U) << "a call that has waited returns without delay";
      ASSERT_EQ(twin.plans[n].answered, twins.front().plans[n].answered) << "initiator " << n;
      for (std::size_t i = 0; i < twin.plans[n].accesses.size(); ++i) {
        ASSERT_EQ(twin.plans[n].accesses[i].status, tlm::TLM_OK_RESPONSE);
        ASSERT_EQ(twin.plans[n].accesses[i].data, twins.front().plans[n].accesses[i].data) << n << " " << i;
      }
    }
    EXPECT_TRUE(twin.netlist.subsystem.engine.at_rest());
    EXPECT_EQ(twin.netlist.subsystem.engine.engine().pool().in_use(), 0U);
  }
}

TEST(TimedCalls, OfManyThreadsAtOneSocketGoOnBesideItsTimedRequests) {
  constexpr unsigned kThreads = 12;
  std::vector<std::string> wrong;
  unsigned done = 0;
  const auto thread = [&](LooseInitiator& i, std::uint64_t base, unsigned number, bool timed) {
    for (unsigned n = 0; n < 60; ++n) {
      const std::uint64_t at = base + number * 0x800 + n % 16 * kLineBytes + n;
      Access w = access(tlm::TLM_WRITE_COMMAND, at, 20, static_cast<std::uint8_t>(n * number));
      Access r = access(tlm::TLM_READ_COMMAND, at, 20);
      for (Access* a : {&w, &r}) {
        sc_core::sc_time delay = ns(n % 7);
        if (timed) {
          static_cast<void>(i.timed(*a));
        } else {
          i.call(*a, delay);
        }
      }
      if (r.data != w.data || r.status != tlm::TLM_OK_RESPONSE) wrong.push_back(text(std::to_string(at)));
    }
    ++done;
  };
  const auto crowd = [&](std::uint64_t base) -> LooseInitiator::Body {
    return [&thread, base](LooseInitiator& i) {
      for (unsigned n = 1; n < kThreads; ++n)
        sc_core::sc_spawn([&thread, &i, base, n] { thread(i, base, n, false); });
      thread(i, base, 0, true);
    };
  };
  Driven netlist("crowd", {HopTransport::direct, false}, crowd(0), crowd(0x8000));
  sc_core::sc_start();
  EXPECT_EQ(done, 2 * kThreads);
  EXPECT_EQ(wrong, std::vector<std::string>{});
  EXPECT_TRUE(netlist.subsystem.engine.at_rest());
}

TEST(TimedCalls, OfAThreadThatIsKilledComeToTheirEndWithoutIt) {
  unsigned right = 0;
  const LooseInitiator::Body body = [&](LooseInitiator& i) {
    for (unsigned n = 0; n < 40; ++n) {
      std::vector<sc_core::sc_process_handle> threads;
      for (unsigned t = 0; t < 12; ++t)
        threads.push_back(sc_core::sc_spawn([&i, n, t] {
          Access a = access(t % 2 == 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND,
                            0x1000 + (n * 12 + t) % 64 * kLineBytes, 32);
          sc_core::sc_time delay;
          i.call(a, delay);
        }));
      wait(ns(n));
      for (sc_core::sc_process_handle& h : threads)
        if (h.valid() && !h.terminated()) h.kill();
      Access w = access(tlm::TLM_WRITE_COMMAND, 0x40, 8, static_cast<std::uint8_t>(n));
      Access r = access(tlm::TLM_READ_COMMAND, 0x40, 8);
      sc_core::sc_time delay;
      i.call(w, delay);
      i.call(r, delay);
      right += r.data == w.data;
    }
  };
  Driven netlist("killed", {HopTransport::direct, false}, body);
  sc_core::sc_start();
  EXPECT_EQ(right, 40U);
  EXPECT_TRUE(netlist.subsystem.engine.at_rest());
  EXPECT_EQ(netlist.subsystem.engine.engine().pool().in_use(), 0U);
}

/// A module of somebody else's in a hop of ours that knows b_transport only: the convenience socket makes
/// calls of our timed requests.
struct Blocking final : sc_core::sc_module {
  explicit Blocking(const sc_core::sc_module_name& name) : sc_module(name) {
    from.register_b_transport(this, &Blocking::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    ++calls;
    to->b_transport(p, delay);
  }
  tlm_utils::simple_target_socket<Blocking, 256> from{"from"};
  tlm_utils::simple_initiator_socket<Blocking, 256> to{"to"};
  unsigned calls = 0;
};

TEST(TimedCalls, MayCarryOurOwnRequests) {
  MemoryImage vidmem{kMemory};
  EngineProcess engine("engine", 1000);
  Requester requester(engine.engine(), "requester", {}, Bridged::items());
  OurSocket ours("ours", engine, requester);
  Blocking blocking("blocking");
  L2SliceModule l2("l2", engine, {}, L2Parameters{1, {16, 4}, 8}, &vidmem, 1);
  DramModule dram("dram", engine, {}, {}, 1);
  PcieModule pcie("pcie", engine, {}, {}, nullptr, 1);
  bind_checked(ours.socket, blocking.from);
  bind_checked(blocking.to, l2.from_crossbar);
  l2.to_dram[0].bind(dram.from_l2[0]);
  l2.to_pcie.bind(pcie.from_l2[0]);
  sc_core::sc_start();
  for (const Answer& a : requester.answers) ASSERT_NE(a.answered, kNever);
  EXPECT_EQ(blocking.calls, 4U);
  EXPECT_EQ(requester.answers[1].status, Status::ok);
  EXPECT_EQ(requester.answers[1].atomics.lanes[0].old_value, 0x01010101U);
  EXPECT_EQ(requester.answers[2].status, Status::address_error);
  EXPECT_EQ(requester.answers[3].data[4], 6);
  EXPECT_TRUE(engine.at_rest());
  EXPECT_EQ(engine.transactions_in_use(), 0U);
  EXPECT_EQ(engine.engine().pool().in_use(), 0U);
}

TEST(TimedCalls, ThatAreNeverAnsweredAreListedWhereverTheyAre) {
  EngineProcess engine("engine", 1000);
  CrossbarModule crossbar("crossbar", engine, {}, {}, 1, 1, {}, true);
  ForeignTarget silent("silent", Way::silent, ns(1));
  LooseInitiator initiator("initiator", [](LooseInitiator& i) {
    std::vector<sc_core::sc_process_handle> threads;
    for (unsigned n = 0; n < 8; ++n)
      threads.push_back(sc_core::sc_spawn([&i, n] {
        Access a = access(tlm::TLM_READ_COMMAND, n * kLineBytes, 4);
        sc_core::sc_time delay;
        i.call(a, delay);
      }));
    sc_core::wait(sc_core::sc_time(2, sc_core::SC_US));
    for (sc_core::sc_process_handle& thread : threads)
      thread.kill();  // what their stacks hold goes with them
  });
  crossbar.from_client[0].set_channel({32, 1, 1, 1}, {});
  bind_checked(initiator.socket, crossbar.from_client[0]);
  crossbar.to_l2[0].bind(silent.socket);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  const std::vector<InFlight> rows = engine.in_flight();
  EXPECT_EQ(rows.size(), 8U);
  EXPECT_EQ(engine.engine().pool().in_use(), 8U);
  const auto waits = std::count_if(rows.begin(), rows.end(), [&](const InFlight& row) {
    return row.holder == crossbar.from_client[0].name() && row.wait.what.find("room at") == 0;
  });
  EXPECT_GT(waits, 3) << "for the only credit of their channel";
  EXPECT_FALSE(engine.at_rest());
  sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_US));
}

/// Calls from a method process, which cannot wait.
struct MethodCaller final : sc_core::sc_module {
  MethodCaller(const sc_core::sc_module_name& name, LooseInitiator& its_initiator)
      : sc_module(name), initiator(its_initiator) {
    SC_HAS_PROCESS(MethodCaller);
    SC_METHOD(call);
    dont_initialize();
    sensitive << go;
  }
  void call() {
    sc_core::sc_time delay;
    initiator.call(access, delay);
    took = delay;
  }
  LooseInitiator& initiator;
  Access access = test::access(tlm::TLM_READ_COMMAND, 0x40, 4);
  sc_core::sc_time took;
  sc_core::sc_event go;
};

TEST(TimedCalls, OfWhoCannotWaitAreServedAtRestOnly) {
  MethodCaller* caller = nullptr;
  std::vector<tlm::tlm_response_status> statuses;
  Driven netlist("refused", {HopTransport::direct, false}, [&](LooseInitiator& i) {
    caller->go.notify();
    wait(ns(1));
    statuses.push_back(caller->access.status);
    sc_core::sc_spawn([&i] {
      Access a = access(tlm::TLM_READ_COMMAND, 0x2000, 4);
      sc_core::sc_time delay;
      i.call(a, delay);
    });
    wait(ns(5));
    caller->go.notify();
    wait(ns(1));
    statuses.push_back(caller->access.status);
  });
  MethodCaller made("caller", netlist.l1);
  caller = &made;
  sc_core::sc_report_handler::set_handler(note_report);
  sc_core::sc_start();
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  const std::vector<tlm::tlm_response_status> expected = {tlm::TLM_OK_RESPONSE,
                                                          tlm::TLM_GENERIC_ERROR_RESPONSE};
  EXPECT_EQ(statuses, expected);
  EXPECT_EQ(reports().size(), 1U);
  EXPECT_EQ(reported(netlist.subsystem.l1.from_sm.name(), "must come from an SC_THREAD"), 1);
  EXPECT_TRUE(netlist.subsystem.engine.at_rest());
}

TEST(TimedCalls, FindTimeAsItIsWhenTheirDelayHasPassed) {
  bool refused = false;
  sc_core::sc_time left, returned;
  Driven netlist("change", {HopTransport::direct, false}, [&](LooseInitiator& i) {
    EngineProcess& engine = netlist.subsystem.engine;
    sc_core::sc_spawn([&] {
      wait(ns(1));
      engine.set_loose(true);  // the call waits for its delay, and nothing is under way
      refused = !engine.is_loose();
    });
    Access a = access(tlm::TLM_READ_COMMAND, 0x40, 4);
    left = ns(100);
    i.call(a, left);
    returned = sc_core::sc_time_stamp();
    engine.set_loose(false);
    sc_core::sc_spawn([&] {
      wait(ns(1));
      engine.set_loose(true);
      refused = refused || engine.is_loose();
    });
    sc_core::sc_time delay;
    Access b = access(tlm::TLM_READ_COMMAND, 0x4000, 4);
    i.call(b, delay);
  });
  sc_core::sc_report_handler::set_handler(note_report);
  sc_core::sc_start();
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  EXPECT_FALSE(refused);
  EXPECT_EQ(returned, ns(100));
  EXPECT_GT(left, sc_core::SC_ZERO_TIME) << "performed loosely";
  EXPECT_EQ(reported(netlist.subsystem.engine.name(), "set_loose(true) while requests are under way"), 1);
}

}  // namespace timed_calls_test
}  // namespace warpline::test
