// Our sockets among foreign modules: what the base protocol allows works, what it forbids is a report that
// names the socket. SystemC elaborates once, so one simulation runs all scenarios, each with its own engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "rtl_models/sim/wait_graph.h"
#include "tests/rtl_models/tlm/foreign_netlists.h"

namespace warpline::test {
namespace socket_foreign_test {

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
void note(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  reports().emplace_back(report.get_msg());
}
/// How often something with `text` was reported of `who`.
std::ptrdiff_t reported(const std::string& who, const std::string& what = {}) {
  return std::count_if(reports().begin(), reports().end(), [&](const std::string& r) {
    return r.find(who + ":") == 0 && r.find(what) != std::string::npos;
  });
}

struct Simulation {
  std::deque<FromForeign> from;
  std::deque<ToForeign> to;
  std::deque<Bridged> bridged;
  std::vector<std::string> wrong;
  Simulation() {
    const auto ns = [](unsigned n) { return sc_core::sc_time(n, sc_core::SC_NS); };
    unsigned n = 0;
    for (const bool l1 : {false, true})
      for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled})
        for (const ChannelParameters& c : {ChannelParameters{32, 1, 1, 1}, {32, 2, 4, 2}, {16, 1, 2, 50}}) {
          const ForeignInitiator::Habits habits{ns(n % 3 * 4), n % 2 == 0};
          from.emplace_back(text("from", std::to_string(n)), legal_accesses(), habits, l1, mode, c,
                            n / 2 % 2 == 0);
          ++n;
        }
    std::vector<Access> refused;
    for (const Refused& r : refused_accesses()) refused.push_back(r.access);
    for (const bool l1 : {false, true})
      from.emplace_back(text("refused", l1 ? "1" : "0"), refused, ForeignInitiator::Habits{}, l1,
                        TickMode::lazy, ChannelParameters{});
    for (int way = 0; way <= static_cast<int>(Way::nothing_there); ++way)
      for (const ChannelParameters& c :
           {ChannelParameters{32, 1, 1, 1}, {32, 2, 4, 1}, {32, 1, 1, 50}, {8, 3, 2, 20}})
        to.emplace_back(text("way", std::to_string(way), "_", std::to_string(c.depth), "_",
                             std::to_string(c.credit_latency)),
                        static_cast<Way>(way), c, c.depth == 4 && way < static_cast<int>(Way::silent));
    bridged.emplace_back("bridged");
    sc_core::sc_report_handler::set_handler(note);
    sc_core::sc_start(sc_core::sc_time(300, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(SocketForeign, InitiatorsReadAndWriteAnyBytesOfALine) {
  for (FromForeign& f : simulation().from) {
    if (f.initiator.name()[0] != 'f') continue;
    SCOPED_TRACE(f.initiator.name());
    std::map<std::uint64_t, std::uint8_t> memory;
    for (const Access& a : f.initiator.accesses) {
      ASSERT_TRUE(a.answered);
      ASSERT_EQ(a.status, tlm::TLM_OK_RESPONSE);
      for (std::size_t i = 0; i < a.data.size(); ++i) {
        const bool enabled = a.enables.empty() || a.enables[i % a.enables.size()] == TLM_BYTE_ENABLED;
        const auto untouched = static_cast<std::uint8_t>(0xA5 + i);
        if (a.command == tlm::TLM_READ_COMMAND) {
          ASSERT_EQ(a.data[i], enabled ? memory[a.address + i] : untouched) << a.address << "+" << i;
        } else if (enabled) {
          memory[a.address + i] = a.data[i];
        }
      }
    }
    EXPECT_EQ(f.initiator.freed, f.initiator.accesses.size());
    EXPECT_EQ(f.engine.engine().pool().in_use(), 0U);
  }
}

TEST(SocketForeign, WhatCannotBeServedIsAnsweredWithItsResponseStatus) {
  const std::vector<Refused> expected = refused_accesses();
  for (FromForeign& f : simulation().from) {
    if (f.initiator.name()[0] != 'r') continue;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(text(f.initiator.name(), " access ", std::to_string(i)));
      EXPECT_TRUE(f.initiator.accesses[i].answered);
      EXPECT_EQ(f.initiator.accesses[i].status, expected[i].status);
      if (expected[i].status != tlm::TLM_OK_RESPONSE) continue;
      EXPECT_EQ(f.initiator.accesses[i].data, expected[i].access.data);
    }
  }
}

TEST(SocketForeign, TargetsMayAnswerInEveryLegalWay) {
  for (ToForeign& t : simulation().to) {
    const std::vector<Item> items = ToForeign::items(Way::completed);
    if (t.requester.answers.size() != items.size()) continue;
    SCOPED_TRACE(t.requester.name());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Answer& a = t.requester.answers[i];
      ASSERT_NE(a.answered, kNever) << i;
      ASSERT_EQ(a.status, Status::ok);
      if (i % 2 == 0) continue;
      for (unsigned b = 0; b < kLineBytes; ++b) {
        if ((items[i].request.sectors >> (b / kSectorBytes) & 1U) == 0) continue;
        ASSERT_EQ(a.data[b], b >= i / 2 && b < i / 2 + 40 ? i / 2 + 1 : 0) << "item " << i << " byte " << b;
      }
    }
    EXPECT_EQ(t.engine.transactions_in_use(), 0U);
    EXPECT_EQ(t.engine.engine().pool().in_use(), 0U);
  }
}

TEST(SocketForeign, TargetsThatAreSilentOrWrongAreNamed) {
  for (ToForeign& t : simulation().to) {
    const std::string name = t.requester.name();
    SCOPED_TRACE(name);
    const int way = std::stoi(name.substr(3));
    if (way < static_cast<int>(Way::silent)) {
      EXPECT_EQ(reported(t.initiator.name()), 0);
    } else if (way == static_cast<int>(Way::silent)) {
      EXPECT_EQ(t.engine.outcome(), RunOutcome::deadlock);
      const std::vector<Wait> waits = t.engine.explain();
      EXPECT_TRUE(std::any_of(waits.begin(), waits.end(),
                              [&](const Wait& w) { return w.who == t.initiator.name(); }));
      // What is in flight is with the module behind the socket, and there the waits end.
      const Standstill s = t.engine.standstill();
      ASSERT_EQ(s.in_flight.size(), t.engine.engine().pool().in_use());
      ASSERT_EQ(s.in_flight.size(), 1U);
      EXPECT_EQ(s.in_flight[0].holder, t.initiator.name());
      EXPECT_EQ(s.in_flight[0].wait.on, std::vector<std::string>{t.checker.from_initiator.name()});
      EXPECT_TRUE(circle_of(s).empty());
      const std::vector<Wait> ends = ends_of(s);
      EXPECT_TRUE(std::any_of(ends.begin(), ends.end(), [&](const Wait& w) {
        return w.who == t.initiator.name() &&
               w.what.find(t.checker.from_initiator.name()) != std::string::npos;
      }));
    } else {
      EXPECT_GT(reported(t.initiator.name()), 0);
    }
  }
}

TEST(SocketForeign, RefusalsAreAnsweredCountedAndToldOnce) {
  for (ToForeign& t : simulation().to) {
    const std::string name = t.requester.name();
    SCOPED_TRACE(name);
    const int way = std::stoi(name.substr(3));
    if (way != static_cast<int>(Way::narrow) && way != static_cast<int>(Way::nothing_there)) continue;
    for (const Answer& a : t.requester.answers) {
      EXPECT_NE(a.answered, kNever);
      EXPECT_EQ(a.status, Status::address_error);
    }
    EXPECT_EQ(t.initiator.refused_writes(), 2U);
    EXPECT_EQ(reported(t.initiator.name()), 1);
    EXPECT_EQ(reported(t.initiator.name(),
                       way == static_cast<int>(Way::narrow) ? "TLM_BURST_ERROR_RESPONSE" : "posted"),
              1);
  }
}

TEST(SocketForeign, CopiesOfOurRequestsBringTheirAnswersBack) {
  const Requester& r = simulation().bridged.front().requester;
  for (const Answer& a : r.answers) ASSERT_NE(a.answered, kNever);
  EXPECT_EQ(r.answers[1].status, Status::ok);
  EXPECT_EQ(r.answers[1].atomics.lanes[0].old_value, 0x01010101U);
  EXPECT_EQ(r.answers[2].status, Status::address_error);
  EXPECT_EQ(r.answers[3].data[4], 6);
  EXPECT_EQ(r.answers[3].data[0], 1);
}

TEST(SocketForeign, NothingOfOursBreaksTheProtocol) {
  for (FromForeign& f : simulation().from) {
    if (f.initiator.name()[0] == 'r') continue;  // it breaks rules itself
    for (const std::string& v : f.checker.violations()) ADD_FAILURE() << v;
  }
  for (ToForeign& t : simulation().to) {
    if (std::stoi(t.requester.name().substr(3)) >= static_cast<int>(Way::silent)) continue;
    for (const std::string& v : t.checker.violations()) ADD_FAILURE() << v;
  }
}

}  // namespace socket_foreign_test
}  // namespace warpline::test
