#include <gtest/gtest.h>

#include <memory>

#include "rtl_models/pcie/packets/tlp_rules.h"
#include "tests/rtl_models/pcie/packets/traffic_end.h"

namespace warpline {
namespace tlp_traffic_test {

using test::TrafficEnd;
constexpr std::array kModes = {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled};

struct Pair {
  explicit Pair(const LinkParameters& p, TickMode mode = TickMode::lazy)
      : parameters(p), engine(mode), a(engine, "a", "b", p), b(engine, "b", "a", p) {
    connect(a.port, b.port);
    a.other = &b;
    b.other = &a;
  }
  RunOutcome run() {
    a.wake(0);
    b.wake(0);
    return engine.run_until(4'000'000);
  }
  LinkParameters parameters;
  Engine engine;
  TrafficEnd a, b;
};

LinkParameters random_link(Random& random) {
  LinkParameters p;
  p.latency = 1 + static_cast<unsigned>(random.below(60));
  p.bytes_per_cycle = 4U << random.below(6);
  p.posted_credits = 1 + static_cast<unsigned>(random.below(8));
  p.non_posted_credits = 1 + static_cast<unsigned>(random.below(8));
  p.completion_credits = 1 + static_cast<unsigned>(random.below(8));
  return p;
}

void expect_legal(const TrafficEnd& from) {
  const auto& s = from.script;
  for (std::size_t i = 0; i < s.size(); ++i) {
    ASSERT_LT(s[i].taken, kNever - 1) << "packet " << i << " arrives once";
    for (std::size_t j = i + 1; j < s.size(); ++j)
      ASSERT_TRUE(s[j].turn > s[i].turn || may_pass(s[j].tlp, s[i].tlp)) << j << " passed " << i;
  }
}

/// Whether credits, wire and latency were kept, as seen from outside.
void expect_paced(const TrafficEnd& from, const LinkParameters& p) {
  const std::array<unsigned, kTlpClasses> credits = {p.posted_credits, p.non_posted_credits,
                                                     p.completion_credits};
  for (const auto& x : from.script) {
    std::array<unsigned, kTlpClasses> out{};
    const Cycle beats = TlpMessage{const_cast<Tlp*>(&x.tlp)}.beats(p.bytes_per_cycle);
    ASSERT_GE(x.sent, x.due);
    ASSERT_GE(x.taken, x.sent + beats - 1 + p.latency);
    for (const auto& y : from.script) {
      const bool next = y.tlp.sequence == x.tlp.sequence + 1;
      ASSERT_TRUE(!next || y.sent >= x.sent + beats) << "one packet at a time";
      const bool holds_credit = y.sent <= x.sent && y.taken + p.latency > x.sent;
      if (holds_credit) ++out[static_cast<unsigned>(class_of(y.tlp.kind))];
    }
    for (unsigned c = 0; c < kTlpClasses; ++c) ASSERT_LE(out[c], credits[c]) << "class " << c;
  }
}

TEST(TlpTraffic, EveryPacketArrivesOnceInALegalOrderWhateverTheTicks) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::vector<Cycle>> results;
    for (const TickMode mode : kModes) {
      Random random(seed);
      Pair pair(random_link(random), mode);
      pair.a.draw_script(seed * 2, 150);
      pair.b.draw_script(seed * 2 + 1, 150);
      pair.a.stall = static_cast<unsigned>(random.below(5));
      pair.b.stall = static_cast<unsigned>(random.below(5));
      pair.a.one_a_tick = random.below(2) == 0;
      ASSERT_EQ(pair.run(), RunOutcome::quiescent);
      std::vector<Cycle>& log = results.emplace_back();
      for (const TrafficEnd* end : {&pair.a, &pair.b}) {
        expect_legal(*end);
        expect_paced(*end, pair.parameters);
        for (const auto& s : end->script) log.insert(log.end(), {s.sent, s.taken, s.turn});
      }
      log.push_back(pair.engine.now());
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(TlpTraffic, WithEnoughCreditsTheWireNeverRests) {
  LinkParameters
      p;  // 18 beats for 256 bytes; 218 + 100 cycles from a packet's begin until its credit is back
  p.posted_credits = 18;
  Pair pair(p);
  for (int i = 0; i < 300; ++i) pair.a.add(test::packet(TlpKind::memory_write, 0, 256), 0);
  ASSERT_EQ(pair.run(), RunOutcome::quiescent);
  for (unsigned i = 0; i < 300; ++i) {
    ASSERT_EQ(pair.a.script[i].sent, 18U * i);
    ASSERT_EQ(pair.a.script[i].taken, 18U * i + 17 + 100);
  }
}

TEST(TlpTraffic, WithHalfTheCreditsItRunsAtHalfTheRate) {
  LinkParameters p;  // a credit is back 217 cycles after its packet began: 12.06 packets cover that
  p.posted_credits = 6;
  Pair pair(p);
  for (int i = 0; i < 600; ++i) pair.a.add(test::packet(TlpKind::memory_write, 0, 256), 0);
  ASSERT_EQ(pair.run(), RunOutcome::quiescent);
  EXPECT_EQ(pair.a.script[594].sent, 99U * 217U);
}

TEST(TlpTraffic, AClassThatIsNeverTakenKeepsNoOtherFromMoving) {
  // Writes that are never taken do hold back what must not pass them, so they are no case.
  for (const TlpClass stuck : {TlpClass::non_posted, TlpClass::completion}) {
    Random random(7);
    Pair pair(random_link(random));
    for (TrafficEnd* end : {&pair.a, &pair.b}) {
      end->draw_script(end == &pair.a ? 5 : 6, 300);
      end->never = stuck;
    }
    EXPECT_EQ(pair.run(), RunOutcome::deadlock) << "packets of one class are left";
    for (const TrafficEnd* end : {&pair.a, &pair.b}) {
      unsigned moved = 0;
      for (const auto& s : end->script) {
        if (class_of(s.tlp.kind) == stuck) continue;
        EXPECT_NE(s.taken, kNever);
        ++moved;
      }
      EXPECT_GT(moved, 100U);
    }
  }
}

/// Answers each read by a completion, and takes the next only when the last answer has left.
class Answerer final : public Component {
 public:
  Answerer(Engine& engine, const std::string& name, const std::string& other, const LinkParameters& p)
      : Component(engine, name), port(*this, other, p) {}
  Cycle tick(Cycle now) override {
    for (; to_ask != 0 && port.waiting() < 8; --to_ask) port.send(make(TlpKind::memory_read));
    const auto wants = [this](const Tlp& t) { return t.kind == TlpKind::completion || !answering; };
    while (Tlp* tlp = port.next(now, wants)) {
      port.take(now, tlp);
      if (tlp->kind == TlpKind::completion) {
        ++answered;
      } else {
        answering = true;
        port.send(make(TlpKind::completion));
      }
    }
    const std::uint64_t before = port.counters().payload_sent;
    const Cycle next = port.transmit(now);
    // Only completions have a payload here.
    if (port.counters().payload_sent != before) answering = false;
    return next == kNever && port.counters().payload_sent != before ? now + 1 : next;
  }
  [[nodiscard]] bool busy() const override { return to_ask != 0 || answering || port.busy(); }
  void explain(std::vector<Wait>& waits) const override { port.explain(waits); }
  Tlp* make(TlpKind kind) {
    made.push_back(std::make_unique<Tlp>(test::packet(kind, 0, 4)));
    made.back()->tag = static_cast<std::uint16_t>(made.size());
    return made.back().get();
  }
  TlpPort port;
  unsigned to_ask = 500, answered = 0;
  bool answering = false;
  std::vector<std::unique_ptr<Tlp>> made;
};

TEST(TlpTraffic, TwoEndsThatAnswerBeforeTheyTakeMoreDoNotLockEachOther) {
  for (const TickMode mode : kModes) {
    LinkParameters p;
    p.non_posted_credits = 1;
    p.completion_credits = 1;
    Engine engine(mode);
    Answerer a(engine, "a", "b", p), b(engine, "b", "a", p);
    connect(a.port, b.port);
    a.wake(0);
    b.wake(0);
    ASSERT_EQ(engine.run_until(10'000'000), RunOutcome::quiescent);
    EXPECT_EQ(a.answered, 500U);
    EXPECT_EQ(b.answered, 500U);
  }
}

}  // namespace tlp_traffic_test
}  // namespace warpline
