// What comes for video memory, against a naive memory that performs it in any order that L2 might.
#include "rtl_models/pcie/gpu_link/inbound_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/tlp_rules.h"
#include "rtl_models/sim/atomics.h"
#include "rtl_models/sim/request_pool.h"
#include "tests/support/environment.h"

namespace warpline {
namespace inbound_core_test {

constexpr std::uint64_t kMemory = 8192;

/// A packet as it was accepted, and what has become of it.
struct Story {
  Tlp packet;
  std::uint64_t offset = 0;
  unsigned lines = 0, performed = 0;
  bool finished = false;
  std::vector<std::uint8_t> answer;  ///< as memory was when each byte was read
};

/// The core, and an L2 that performs requests of different lines in random order, those of one line in the
/// order in which they came, and answers as late as it likes.
class Bench {
 public:
  explicit Bench(std::uint64_t seed) : random_(seed), memory_(kMemory) {
    for (std::uint8_t& b : memory_) b = static_cast<std::uint8_t>(random_.next());
  }
  InboundCore core{requests_, 3};

  std::size_t accept(TlpKind kind, std::uint64_t offset, std::uint32_t bytes, unsigned requester = 1,
                     bool relaxed = false) {
    Tlp* const tlp = pool_.allocate();
    tlp->kind = kind;
    tlp->requester = FunctionId{static_cast<std::uint16_t>(requester)};
    tlp->address = offset;
    tlp->bytes = bytes;
    tlp->relaxed_ordering = relaxed;
    tlp->tag = static_cast<std::uint16_t>(stories.size());
    if (kind != TlpKind::memory_read)
      for (unsigned i = 0; i < (kind == TlpKind::compare_and_swap ? 2 * bytes : bytes); ++i)
        tlp->data.push_back(static_cast<std::uint8_t>(random_.next()));
    // Half of all comparisons find what they look for.
    if (kind == TlpKind::compare_and_swap && random_.below(2) == 0)
      std::memcpy(tlp->data.data(), &memory_[offset], bytes);
    Story s;
    s.packet = *tlp;
    s.offset = offset;
    s.lines = bytes == 0 ? 0 : static_cast<unsigned>((offset + bytes - 1) / 128 - offset / 128 + 1);
    s.answer.resize(bytes);
    number_of_[tlp] = stories.size();
    stories.push_back(s);
    core.accept(tlp, offset);
    collect();
    return stories.size() - 1;
  }
  std::size_t accept_random() {
    const std::uint64_t draw = random_.below(10);
    const auto requester = static_cast<unsigned>(1 + random_.below(3));
    const bool relaxed = random_.below(4) == 0;
    if (draw == 0) {
      constexpr std::array kKinds = {TlpKind::fetch_add, TlpKind::swap, TlpKind::compare_and_swap};
      const TlpKind kind = kKinds[random_.below(3)];
      const auto bytes = 4U << random_.below(kind == TlpKind::compare_and_swap ? 3 : 2);
      return accept(kind, bytes * random_.below(kMemory / bytes), bytes, requester, relaxed);
    }
    const auto bytes = static_cast<std::uint32_t>(random_.below(random_.below(3) == 0 ? 1500 : 130));
    const std::uint64_t offset = random_.below(2) == 0 ? random_.below(300) : random_.below(kMemory - bytes);
    return accept(draw < 7 && bytes != 0 ? TlpKind::memory_write : TlpKind::memory_read, offset, bytes,
                  requester, relaxed);
  }
  /// Takes the next request of the core, if there is one, to L2.
  bool send() {
    Request* const r = core.next();
    if (r == nullptr) return false;
    EXPECT_EQ(r->scope, Scope::sys);
    EXPECT_EQ(r->gpu, 3);
    at_l2_[r->line.value].push_back({r, owner_of(*r)});
    return true;
  }
  /// Performs a random request that is there and answers it. Returns false if none is.
  bool perform() {
    if (at_l2_.empty()) return false;
    auto line = at_l2_.begin();
    std::advance(line, static_cast<std::ptrdiff_t>(random_.below(at_l2_.size())));
    const auto [r, owner] = line->second.front();
    line->second.pop_front();
    if (line->second.empty()) at_l2_.erase(line);
    perform_one(*r, owner);
    core.answered(r);
    collect();
    return true;
  }
  void drain() {
    while (send() || perform()) {
    }
  }
  Random& random() { return random_; }
  [[nodiscard]] bool all_returned() const { return pool_.in_use() == 0 && requests_.in_use() == 0; }

  std::vector<Story> stories;
  unsigned violations = 0;

 private:
  void perform_one(Request& r, std::size_t n) {
    Story& s = stories[n];
    const std::uint64_t line = offset_in_aperture(r.line);
    check_order(n);
    const std::uint64_t first = std::max(line, s.offset),
                        end = std::min(line + 128, s.offset + s.packet.bytes);
    for (std::uint64_t at = first; at < end; ++at) s.answer[at - s.offset] = memory_[at];
    const ByteMask mask = mask_in(s, line);
    EXPECT_EQ(r.sectors, mask.sectors());
    switch (r.command) {
      case Command::read: std::memcpy(r.data.data(), &memory_[line], kLineBytes); break;
      case Command::write:
        EXPECT_EQ(r.bytes, mask);
        for (std::uint64_t at = first; at < end; ++at) {
          EXPECT_EQ(r.data[at - line], s.packet.data[at - s.offset]);
          memory_[at] = s.packet.data[at - s.offset];
        }
        break;
      default: {
        std::vector<std::uint8_t> naive(memory_.begin() + static_cast<std::ptrdiff_t>(s.offset),
                                        memory_.begin() + static_cast<std::ptrdiff_t>(end));
        perform_atomics(*r.atomics, &memory_[line]);
        Tlp packet = s.packet;
        perform_atomic(packet, naive.data());
        EXPECT_EQ(std::memcmp(naive.data(), &memory_[s.offset], s.packet.bytes), 0) << "packet " << n;
      }
    }
    ++s.performed;
  }
  /// The packet whose request it is, by what it does, as tokens are the core's own: the first that has this
  /// line and has not been sent for it.
  std::size_t owner_of(const Request& r) {
    const std::uint64_t line = offset_in_aperture(r.line);
    for (std::size_t n = 0; n < stories.size(); ++n) {
      const Story& s = stories[n];
      if (s.finished || sent_.count({n, line}) != 0 || s.packet.bytes == 0) continue;
      const Command c = s.packet.posted()                       ? Command::write
                        : s.packet.kind == TlpKind::memory_read ? Command::read
                                                                : Command::atomic;
      if (c != r.command || line + 128 <= s.offset || line >= s.offset + s.packet.bytes) continue;
      const std::uint64_t first = std::max(line, s.offset);
      if (c == Command::write &&
          (!(r.bytes == mask_in(s, line)) ||
           std::memcmp(&r.data[first - line], &s.packet.data[first - s.offset], r.bytes.count()) != 0))
        continue;
      sent_.insert({n, line});
      return n;
    }
    ADD_FAILURE() << "a request of no packet";
    return 0;
  }
  static ByteMask mask_in(const Story& s, std::uint64_t line) {
    ByteMask mask;
    for (unsigned i = 0; i < kLineBytes; ++i)
      if (line + i >= s.offset && line + i < s.offset + s.packet.bytes) mask.set(i, 1);
    return mask;
  }
  void check_order(std::size_t n) {
    const Story& s = stories[n];
    const bool posted = s.packet.posted();
    if (posted && s.packet.relaxed_ordering) return;
    for (std::size_t e = 0; e < n; ++e) {
      const Story& earlier = stories[e];
      if (!earlier.packet.posted() || earlier.performed == earlier.lines) continue;
      ++violations;
    }
  }
  void collect() {
    for (auto& done = core.finished(); !done.empty(); done.pop_front()) {
      Tlp* const tlp = done.front();
      Story& s = stories[number_of_[tlp]];
      EXPECT_FALSE(s.finished);
      EXPECT_EQ(s.performed, s.lines);
      s.finished = true;
      if (s.packet.bytes == 0) check_order(number_of_[tlp]);
      if (!s.packet.posted()) {
        EXPECT_EQ(tlp->data, s.answer) << "packet " << number_of_[tlp];
      }
      pool_.release(tlp);
    }
  }

  Random random_;
  std::vector<std::uint8_t> memory_;
  RequestPool requests_;
  TlpPool pool_;
  std::map<const Tlp*, std::size_t> number_of_;
  /// Requests under way, with the packets that they are of, by line.
  std::map<std::uint64_t, std::deque<std::pair<Request*, std::size_t>>> at_l2_;
  std::set<std::pair<std::size_t, std::uint64_t>> sent_;
};

/// The whole: WARPLINE_INBOUND_SEEDS=5000.
TEST(InboundCore, EveryByteIsRightAndNothingIsOutOfOrder) {
  const std::uint64_t seeds = from_environment("WARPLINE_INBOUND_SEEDS", 60);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bench bench(seed);
    for (unsigned i = 0; i < 150; ++i) {
      if (bench.core.held(TlpClass::posted) + bench.core.held(TlpClass::non_posted) < 40)
        bench.accept_random();
      for (std::uint64_t n = bench.random().below(4); n != 0; --n) bench.send();
      for (std::uint64_t n = bench.random().below(3); n != 0; --n) bench.perform();
    }
    bench.drain();
    EXPECT_TRUE(bench.core.idle());
    EXPECT_EQ(bench.violations, 0U);
    for (const Story& s : bench.stories) EXPECT_TRUE(s.finished);
    EXPECT_TRUE(bench.all_returned());
    if (HasFailure()) return;
  }
}

TEST(InboundCore, AWriteWaitsForTheLastOneWhoeverMadeThat) {
  for (const unsigned requester : {1U, 2U}) {
    Bench bench(1);
    bench.accept(TlpKind::memory_write, 0, 4, 1);
    bench.accept(TlpKind::memory_write, 128, 4, requester);
    ASSERT_TRUE(bench.send());
    EXPECT_FALSE(bench.send());
    ASSERT_TRUE(bench.perform());
    EXPECT_TRUE(bench.send());
    EXPECT_EQ(bench.core.counters().held_writes, 1U);
    bench.drain();
  }
}

TEST(InboundCore, OneInOrderWaitsForOnesWithRelaxedOrdering) {
  Bench bench(1);
  bench.accept(TlpKind::memory_write, 0, 4, 1, true);
  bench.accept(TlpKind::memory_write, 128, 4, 2, true);
  bench.accept(TlpKind::memory_write, 256, 4, 3);
  EXPECT_EQ(bench.core.counters().held_writes, 1U);
  EXPECT_TRUE(bench.send());
  EXPECT_TRUE(bench.send());
  EXPECT_FALSE(bench.send());
  bench.drain();
}

TEST(InboundCore, OneToTheSameLineFollowsAtOnce) {
  Bench bench(1);
  for (unsigned i = 0; i < 4; ++i) bench.accept(TlpKind::memory_write, 4 * i, 4);
  for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(bench.send()) << i;
  bench.drain();
}

TEST(InboundCore, ButNotBehindOneThatHasOtherLinesToo) {
  Bench bench(1);
  bench.accept(TlpKind::memory_write, 100, 100);
  bench.accept(TlpKind::memory_write, 128, 4);
  EXPECT_TRUE(bench.send());
  EXPECT_TRUE(bench.send());
  EXPECT_FALSE(bench.send());
  bench.drain();
}

TEST(InboundCore, RelaxedOrderingGoesAtOnce) {
  Bench bench(1);
  bench.accept(TlpKind::memory_write, 0, 4, 1);
  bench.accept(TlpKind::memory_write, 128, 4, 1);
  bench.accept(TlpKind::memory_write, 256, 4, 1, true);
  bench.accept(TlpKind::memory_write, 384, 4, 2, true);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(bench.send()) << i;
  EXPECT_FALSE(bench.send()) << "the second waits";
  bench.drain();
}

TEST(InboundCore, WhatL2RefusesIsAbortedAndKeepsNothingBack) {
  RequestPool requests;
  InboundCore core(requests, 0);
  for (const TlpKind kind : {TlpKind::memory_write, TlpKind::memory_read, TlpKind::fetch_add}) {
    for (const bool refused : {true, false}) {
      Tlp tlp;
      tlp.kind = kind;
      tlp.bytes = 8;
      if (kind != TlpKind::memory_read) tlp.data.resize(8);
      core.accept(&tlp, kind == TlpKind::fetch_add ? 120 : 124);
      const Request* last = nullptr;
      while (Request* const r = core.next()) {
        // Of those that have two lines, the first only.
        if (refused && last == nullptr) r->status = Status::address_error;
        last = r;
        core.answered(r);
      }
      ASSERT_EQ(core.finished().size(), 1U);
      EXPECT_EQ(tlp.status, refused ? CompletionStatus::completer_abort : CompletionStatus::successful);
      core.finished().clear();
    }
  }
  EXPECT_EQ(requests.in_use(), 0U);
}

TEST(InboundCore, ReadsWaitForAllWritesAndKeepNothingBack) {
  Bench bench(1);
  bench.accept(TlpKind::memory_read, 512, 4, 2);
  bench.accept(TlpKind::memory_write, 0, 4, 1, true);
  const std::size_t flush = bench.accept(TlpKind::memory_read, 0, 0, 2);
  bench.accept(TlpKind::memory_read, 256, 4, 2);
  EXPECT_TRUE(bench.send());
  EXPECT_TRUE(bench.send()) << "the write does not wait for the read";
  EXPECT_FALSE(bench.send());
  EXPECT_FALSE(bench.stories[flush].finished);
  while (bench.perform()) {
  }
  EXPECT_TRUE(bench.stories[flush].finished);
  EXPECT_TRUE(bench.send());
  bench.drain();
}

}  // namespace inbound_core_test
}  // namespace warpline
