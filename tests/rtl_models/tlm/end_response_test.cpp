// How our initiators end the responses of foreign targets: by calls, or by what they return; in the same
// cycles.
#include <gtest/gtest.h>

#include "tests/rtl_models/tlm/foreign_netlists.h"

namespace warpline::test {
namespace end_response_test {

/// Hands everything on, and notes how responses end.
class EndWatcher final : public sc_core::sc_module,
                         private tlm::tlm_fw_transport_if<>,
                         private tlm::tlm_bw_transport_if<> {
 public:
  explicit EndWatcher(const sc_core::sc_module_name& name) : sc_module(name) {
    from.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    to.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  tlm::tlm_target_socket<256> from{"from"};
  tlm::tlm_initiator_socket<256> to{"to"};
  unsigned begun = 0, accepted = 0, updated = 0;  ///< BEGIN_RESPs by call, and what they were answered with
  unsigned calls = 0, annotated = 0,
           within = 0;  ///< END_RESPs by call; ahead of time; from within another call

 private:
  using Payload = tlm::tlm_generic_payload;
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      ++calls;
      annotated += delay != sc_core::SC_ZERO_TIME;
      within += inside_;
    }
    return to->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_RESP) return from->nb_transport_bw(p, phase, delay);
    ++begun;
    inside_ = true;
    const tlm::tlm_sync_enum status = from->nb_transport_bw(p, phase, delay);
    inside_ = false;
    accepted += status == tlm::TLM_ACCEPTED;
    updated += status == tlm::TLM_UPDATED && phase == tlm::END_RESP;
    return status;
  }
  void b_transport(Payload& p, sc_core::sc_time& delay) override { to->b_transport(p, delay); }
  unsigned transport_dbg(Payload& p) override { return to->transport_dbg(p); }
  bool get_direct_mem_ptr(Payload& p, tlm::tlm_dmi& dmi) override { return to->get_direct_mem_ptr(p, dmi); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 a, sc_dt::uint64 b) override {
    from->invalidate_direct_mem_ptr(a, b);
  }
  bool inside_ = false;
};

/// Requests of ours to a foreign target.
struct Ended {
  Ended(const std::string& name, Way way, const ChannelParameters& response)
      : engine(text(name, "_engine").c_str(), 1234),
        requester(engine.engine(), name, {}, ToForeign::items(way)),
        ours(name.c_str(), engine, requester),
        watcher(text(name, "_watcher").c_str()),
        target(text(name, "_target").c_str(), way, sc_core::sc_time(3300, sc_core::SC_PS)) {
    ours.socket.set_channel(response, {});
    ours.socket.bind(watcher.from);
    bind_checked(watcher.to, target.socket);
  }
  EngineProcess engine;
  Requester requester;
  OurSocket ours;
  EndWatcher watcher;
  ForeignTarget target;
};

constexpr Way kWays[] = {Way::updated_end, Way::updated_answer, Way::called, Way::answer_only, Way::nested};
constexpr ChannelParameters kChannels[] = {{32, 1, 1, 1}, {32, 2, 4, 1}, {32, 1, 1, 50}, {8, 3, 2, 20}};

struct Simulation {
  std::deque<Ended> by_call, by_return, told_to_call, told_to_return;
  Simulation() {
    unsigned n = 0;
    for (const Way way : kWays)
      for (const ChannelParameters& c : kChannels) {
        const std::string number = std::to_string(n++);
        by_call.emplace_back("by_call" + number, way, c);
        by_return.emplace_back("by_return" + number, way, c);
        by_return.back().engine.set_end_response(EndResponse::by_return);
        told_to_call.emplace_back("told_to_call" + number, way, c);
        told_to_call.back().engine.set_end_response(EndResponse::by_return);
        told_to_call.back().ours.socket.set_end_response(EndResponse::by_call);
        told_to_return.emplace_back("told_to_return" + number, way, c);
        told_to_return.back().ours.socket.set_end_response(EndResponse::by_return);
      }
    sc_core::sc_start();
  }
};
Simulation& simulation() {
  static Simulation s;
  return s;
}

TEST(EndResponse, ComesByACallWhenItTakesEffect) {
  for (const auto* all : {&simulation().by_call, &simulation().told_to_call})
    for (const Ended& e : *all) {
      SCOPED_TRACE(e.requester.name());
      EXPECT_EQ(e.watcher.updated, 0U);
      EXPECT_EQ(e.watcher.accepted, e.watcher.begun);
      EXPECT_GE(e.watcher.calls, e.watcher.begun);
      EXPECT_GE(e.watcher.calls, 30U);
      EXPECT_EQ(e.watcher.within, 0U);
      EXPECT_LE(e.watcher.annotated, 1U) << "only where nothing else is under way any more";
    }
}

TEST(EndResponse, IsReturnedWhereThatIsWanted) {
  for (const auto* all : {&simulation().by_return, &simulation().told_to_return}) {
    unsigned updated = 0;
    for (const Ended& e : *all) updated += e.watcher.updated;
    EXPECT_GT(updated, 200U);
  }
}

TEST(EndResponse, MakesNoDifferenceToAnyCycle) {
  const Simulation& s = simulation();
  for (std::size_t n = 0; n < s.by_call.size(); ++n) {
    SCOPED_TRACE(s.by_call[n].requester.name());
    for (const auto* other : {&s.by_return, &s.told_to_call, &s.told_to_return})
      for (std::size_t i = 0; i < s.by_call[n].requester.answers.size(); ++i) {
        const Answer& expected = s.by_call[n].requester.answers[i];
        const Answer& got = (*other)[n].requester.answers[i];
        ASSERT_NE(expected.answered, kNever);
        ASSERT_EQ(got.sent, expected.sent) << i;
        ASSERT_EQ(got.answered, expected.answered) << i;
        ASSERT_EQ(got.data, expected.data) << i;
      }
  }
}

TEST(EndResponse, LeavesNothingUnderWay) {
  const Simulation& s = simulation();
  for (const auto* all : {&s.by_call, &s.by_return, &s.told_to_call, &s.told_to_return})
    for (const Ended& e : *all) {
      EXPECT_TRUE(e.engine.at_rest()) << e.requester.name();
      EXPECT_EQ(e.engine.transactions_in_use(), 0U) << e.requester.name();
    }
}

}  // namespace end_response_test
}  // namespace warpline::test
