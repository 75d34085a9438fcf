// Fetches and lines fetched ahead across an invalidation (R1): every order of what warps ask for, of what is
// sent, of the answers, and of the invalidation.
#include "rtl_models/sm/instruction_fetch.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace warpline::test {
namespace instruction_fetch_test {

constexpr std::uint64_t kLines = 2;
constexpr unsigned kWarps = 3;

/// Two ends of a channel that a test works by hand.
class Ends final : public Component {
 public:
  explicit Ends(Engine& engine) : Component(engine, "sm[0]") { connect(out, in, {128, 1, 64, 1}); }
  Out<RequestMessage> out{*this, "to_instruction"};
  In<RequestMessage> in{*this, "in"};
  Cycle tick(Cycle) override { return kNever; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}
};

SmParameters parameters() {
  SmParameters p;
  p.warp_slots = kWarps;
  p.instruction_buffer_lines = 4;
  return p;
}

/// One order, event by event, and what must hold after each. Code is written right before the invalidation:
/// what the instruction cache reads before it gets that is old.
///
/// Warp 0 comes to line 0, which has line 1 fetched ahead; warps 1 and 2 come to line 1.
class Play {
 public:
  enum Event : unsigned { kWarp0, kWarp1, kWarp2, kInvalidate, kSend, kAnswer };  // and further answers

  Play() { fetch_.start(physical(Aperture::vidmem, 0x4000), kLines * kLineBytes); }
  ~Play() {
    for (const Sent& s : sent_) engine_.pool().release(s.request);
  }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;

  /// Events that can happen now.
  [[nodiscard]] std::vector<unsigned> possible() const {
    std::vector<unsigned> out;
    for (unsigned w = 0; w < kWarps; ++w)
      if (!came_[w]) out.push_back(w);
    if (!invalidated_) out.push_back(kInvalidate);
    if (fetch_.has_queued()) out.push_back(kSend);
    for (unsigned i = 0; i < sent_.size(); ++i) out.push_back(kAnswer + i);
    return out;
  }

  void step(unsigned event) {
    if (event < kWarps) {
      come(event);
    } else if (event == kInvalidate) {
      fetch_.invalidate();
      invalidated_ = true;
      held_ = {};
    } else if (event == kSend) {
      send();
    } else {
      answer(event - kAnswer);
    }
    for (unsigned line = 0; line < kLines; ++line)
      ASSERT_EQ(fetch_.has(line), held_[line]) << "line " << line;
  }
  void finish() {
    EXPECT_TRUE(fetch_.idle());
    for (const bool s : served_) EXPECT_TRUE(s);
    EXPECT_EQ(engine_.pool().in_use(), 0U);
  }
  /// Fetches that were on their way, or to be sent, when the invalidation came.
  unsigned dead = 0;

 private:
  struct Sent {
    Request* request;
    bool fresh;  ///< the cache gets it behind the invalidation
  };
  void come(unsigned warp) {
    came_[warp] = true;
    const std::uint64_t line = warp == 0 ? 0 : 1;
    needs_fresh_[warp] = invalidated_;
    served_[warp] = fetch_.come_to(warp, line);
    ASSERT_EQ(served_[warp], held_[line]) << "warp " << warp;
  }
  void send() {
    ++now_;
    fetch_.advance(now_);
    Request* r = ends_.in.pop(now_ + 1).request;
    if (r->command == Command::maintain) reached_ = true;
    sent_.push_back({r, reached_});
  }
  void answer(unsigned which) {
    const Sent s = sent_[which];
    sent_.erase(sent_.begin() + which);
    const bool read = s.request->command == Command::read;
    const InstructionFetch::Arrival arrival = fetch_.respond(*s.request);
    if (!read) {
      ASSERT_EQ(arrival.slots, 0U);
      return;
    }
    const bool kept = !invalidated_ || s.fresh;
    if (kept) held_[arrival.line] = true;
    dead += !kept;
    for (unsigned w = 0; w < kWarps; ++w) {
      if ((arrival.slots >> w & 1U) == 0) continue;
      ASSERT_FALSE(served_[w]);
      ASSERT_EQ(arrival.line, w == 0 ? 0U : 1U);
      ASSERT_TRUE(s.fresh || !needs_fresh_[w]) << "warp " << w << " runs old code";
      served_[w] = true;
    }
  }

  Engine engine_;
  Ends ends_{engine_};
  InstructionFetch fetch_{parameters(), ends_, ends_.out, SmNumber{}};
  Cycle now_ = 1;
  std::vector<Sent> sent_;
  std::array<bool, kWarps> came_{}, served_{}, needs_fresh_{};
  std::array<bool, kLines> held_{};
  bool invalidated_ = false;
  bool reached_ = false;  ///< the instruction cache has the invalidation
};

/// Plays every order that begins with `order`, which `play` has played. A play cannot be copied: it goes on
/// with one of the events that may come next, and the others are played from their start.
void play_all(Play& play, std::vector<unsigned>& order, unsigned& orders, unsigned& with_dead) {
  const std::vector<unsigned> next = play.possible();
  if (next.empty()) {
    play.finish();
    ++orders;
    with_dead += play.dead != 0;
    return;
  }
  for (std::size_t n = next.size(); n-- > 0;) {
    order.push_back(next[n]);
    std::optional<Play> other;
    if (n == 0) {
      play.step(next[n]);
    } else {
      other.emplace();
      for (const unsigned event : order) {
        other->step(event);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
    if (::testing::Test::HasFatalFailure()) return;
    play_all(n == 0 ? play : *other, order, orders, with_dead);
    if (::testing::Test::HasFatalFailure()) return;
    order.pop_back();
  }
}

TEST(InstructionFetchInterleavings, WhatIsUnderWayAtAnInvalidationInstallsNothing) {
  std::vector<unsigned> order;
  unsigned orders = 0, with_dead = 0;
  Play play;
  play_all(play, order, orders, with_dead);
  std::string played;
  for (const unsigned event : order) played += std::to_string(event) + " ";
  EXPECT_FALSE(HasFailure()) << "in the order " << played;
  EXPECT_GT(orders, 1000U);
  EXPECT_GT(with_dead, 100U);
  RecordProperty("orders", static_cast<int>(orders));
}

TEST(InstructionFetch, FetchesLinesAheadAsFarAsTheCodeGoes) {
  for (const unsigned ahead : {0U, 1U, 3U, 8U}) {
    Engine engine;
    Ends ends(engine);
    SmParameters p = parameters();
    p.instruction_buffer_lines = 16;
    p.instruction_prefetch_lines = ahead;
    InstructionFetch fetch(p, ends, ends.out, SmNumber{});
    constexpr std::uint64_t kCode = 7;
    fetch.start(physical(Aperture::vidmem, 0x4000), kCode * kLineBytes);
    Cycle now = 1;
    const auto come_and_answer = [&](std::uint64_t line) {
      fetch.come_to(0, line);
      std::vector<std::uint64_t> lines;
      while (fetch.has_queued()) {
        fetch.advance(++now);
        Request* r = ends.in.pop(now + 1).request;
        lines.push_back((r->line.value - 0x4000) / kLineBytes);
        fetch.respond(*r);
      }
      return lines;
    };
    std::vector<std::uint64_t> first, second;
    for (std::uint64_t n = 0; n <= std::min<std::uint64_t>(ahead, kCode - 1); ++n) first.push_back(n);
    if (ahead == 0) second = {1};
    if (ahead + 1 < kCode && ahead != 0) second = {ahead + 1};
    EXPECT_EQ(come_and_answer(0), first) << ahead << ": what a warp waits for goes first";
    EXPECT_EQ(come_and_answer(1), second) << ahead << ": of what was fetched nothing is fetched again";
    EXPECT_EQ(fetch.counters().prefetches, first.size() + second.size() - (ahead == 0 ? 2 : 1));
  }
}

}  // namespace instruction_fetch_test
}  // namespace warpline::test
