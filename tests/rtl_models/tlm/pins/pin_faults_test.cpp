// What foreign hardware does against the protocol of the wires is a report that names the hop.
#include <gtest/gtest.h>

#include <deque>

#include "rtl_models/tlm/pins/pins.h"
#include "tests/rtl_models/tlm/pins/pin_senders.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace pin_faults_test {

std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
void note(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  reports().emplace_back(report.get_msg());
}

using Step = RtlScript::Step;
/// A script of requests into our component, and what is reported of it.
struct Fault {
  std::string name;
  std::vector<Step> steps;
  std::string report;
};
std::vector<Fault> request_faults() {
  const unsigned all = 0xFFFFFFFF;
  return {
      {"fits", {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 7, 1, true, all}}, ""},
      {"late_beats", {{true, 1, 0, 3, 7, 0, false, all}, {false}, {true, 1, 32, 3, 7, 1, true, all}}, ""},
      {"last_early",
       {{true, 1, 0, 3, 7, 0, true, all}},
       "beat 0 of 2 with identifier 7 is marked as the last"},
      {"last_late",
       {{true, 1, 0, 3, 7, 0, false, all},
        {true, 1, 32, 3, 7, 1, false, all},
        {true, 1, 32, 3, 7, 2, true, all}},
       "beat 1 of 2 with identifier 7 is not marked as the last"},
      {"wrong_beat",
       {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 7, 2, true, all}},
       "beat 1 of 2 with identifier 7 says that it is beat 2"},
      {"other_identifier",
       {{true, 1, 0, 3, 7, 0, false, all}, {true, 1, 32, 3, 8, 1, true, all}},
       "beat 1 of 2 with identifier 7 says identifier 8"},
      {"no_sector", {{true, 0, 0, 0, 7, 0, true, 0}}, "names sectors 0"},
      {"five_sectors", {{true, 0, 0, 31, 7, 0, true, 0}}, "names sectors 31"},
      {"no_strobe", {{true, 1, 0, 1, 7, 0, true, 0}}, "has a sector without a strobe"},
      {"atomic", {{true, 2, 0, 1, 7, 0, true, 0}}, "a foreign sender can read (0) and write (1)"},
      {"twice",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 7, 0, true, 0}},
       "a request has that is not answered"},
      // One credit: `ready` is low after the first message.
      {"fell",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 8, 0, true, 0}, {false}},
       "valid fell before ready"},
      {"changed",
       {{true, 0, 0, 1, 7, 0, true, 0}, {true, 0, 0, 1, 8, 0, true, 0}, {true, 0, 0, 1, 9, 0, true, 0}},
       "the wires changed while valid waited for ready"},
  };
}
std::vector<Fault> response_faults() {
  return {
      {"answers", {{true, 0, 0, 0, 0, 0, false, 0}, {true, 0, 0, 0, 0, 1, true, 0}}, ""},
      {"unknown", {{true, 0, 0, 0, 3, 0, true, 0}}, "an answer with identifier 3, which no request has"},
      {"answers_twice",
       {{true, 0, 0, 0, 0, 0, false, 0}, {true, 0, 0, 0, 0, 1, true, 0}, {true, 0, 0, 0, 0, 0, true, 0}},
       "an answer with identifier 0, which no request has"},
      {"too_early", {{true, 0, 0, 0, 0, 0, true, 0}}, "an answer with identifier 0, which no request has"},
      {"too_short", {{true, 0, 0, 0, 0, 0, true, 0}}, "beat 0 of 2 with identifier 0 is marked as the last"},
  };
}

struct WrongSender {
  explicit WrongSender(const Fault& f)
      : fault(f),
        engine((f.name + "_engine").c_str(), 1000),
        target(engine.engine(), f.name + "_target", {}, 1, 1),
        wires((f.name + "_wires").c_str(), engine, "sender." + f.name,
              {{32, 1, f.name == "twice" ? 2U : 1U, 20}, {32, 1, 2, 1}}),
        end((f.name + "_end").c_str(), engine, wires, target.in, target.out),
        script((f.name + "_script").c_str(), wires.request, f.steps, 3) {}
  Fault fault;
  EngineProcess engine;
  Target target;
  PinWires wires;
  PinTarget end;
  RtlScript script;
};
struct WrongResponder {
  explicit WrongResponder(const Fault& f)
      : fault(f),
        engine((f.name + "_engine").c_str(), 1000),
        requester(engine.engine(), f.name + "_requester", {}, {read_item(0, PhysicalAddress{0}, 5)}),
        wires((f.name + "_wires").c_str(), engine, "responder." + f.name, {}),
        end((f.name + "_end").c_str(), engine, wires, requester.out, requester.in),
        script((f.name + "_script").c_str(), wires.response, f.steps, 10) {
    wires.request.ready.write(f.name != "too_early");
  }
  Fault fault;
  EngineProcess engine;
  Requester requester;
  PinWires wires;
  PinInitiator end;
  RtlScript script;
};

struct Simulation {
  std::deque<WrongSender> wrong_senders;
  std::deque<WrongResponder> wrong_responders;
  Simulation() {
    for (const Fault& f : request_faults()) wrong_senders.emplace_back(f);
    for (const Fault& f : response_faults()) wrong_responders.emplace_back(f);
    sc_core::sc_report_handler::set_handler(note);
    sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_US));
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(PinFaults, MistakesOnTheWiresAreReportedWithTheHop) {
  static_cast<void>(simulation());
  const auto check = [](const std::string& hop, const Fault& f) {
    std::vector<std::string> mine;
    for (const std::string& r : reports())
      if (r.find(hop + ": ") == 0) mine.push_back(r);
    SCOPED_TRACE(hop);
    if (f.report.empty()) {
      EXPECT_TRUE(mine.empty()) << mine.front();
      return;
    }
    ASSERT_FALSE(mine.empty());
    EXPECT_NE(mine.front().find(f.report), std::string::npos) << mine.front();
  };
  for (const WrongSender& w : simulation().wrong_senders) check(w.wires.hop(), w.fault);
  for (const WrongResponder& w : simulation().wrong_responders) check(w.wires.hop(), w.fault);
  EXPECT_EQ(simulation().wrong_senders[0].target.seen.size(), 1U);
  EXPECT_EQ(simulation().wrong_senders[1].target.seen.size(), 1U);
  EXPECT_NE(simulation().wrong_responders[0].requester.answers[0].answered, kNever);
  for (const std::string& r : reports())
    EXPECT_TRUE(r.find("sender.") == 0 || r.find("responder.") == 0) << r;
}

}  // namespace pin_faults_test
}  // namespace warpline::test
