// What a host bridge joins, and reads ahead, of accesses to prefetchable memory; and that it does not
// otherwise.
#include <gtest/gtest.h>

#include "tests/rtl_models/pcie/root_complex/bench_of_root.h"

namespace warpline {
namespace host_memory_test {

using test::BenchOfRoot;
using Outcome = TlpOutcome;

constexpr std::uint64_t kPrefetchable = BenchOfRoot::kWindow, kPlain = kPrefetchable + 0x8000;

/// Pages of device 0: prefetchable ones mapped write-combining, then others.
struct Bench : BenchOfRoot {
  explicit Bench(const HostBridgeParameters& p = {}, TickMode mode = TickMode::lazy)
      : BenchOfRoot(std::vector<LinkParameters>(2), {}, mode, 1, p) {
    host.add_prefetchable({kPrefetchable, 0x8000});
    EXPECT_TRUE(host.set_combining({kPrefetchable, 0x4000}, true));
  }
  void store(std::uint64_t address, unsigned bytes = 4) {
    const std::vector<std::uint8_t> data(bytes, 7);
    host.store(address, data.data(), bytes, engine.now() + 1);
  }
  /// Packets for device 0 so far: the size of each, of reads negative.
  std::vector<int> seen() {
    std::vector<int> sizes;
    for (const auto& [cycle, tlp] : device(0).came)
      if (tlp.kind != TlpKind::completion)
        sizes.push_back(tlp.kind == TlpKind::memory_read ? -static_cast<int>(tlp.bytes)
                                                         : static_cast<int>(tlp.bytes));
    return sizes;
  }
  std::vector<std::uint8_t> load(std::uint64_t address, unsigned bytes) {
    const auto ticket = host.load(address, bytes, engine.now() + 1);
    HostBridge::Answer answer;
    run();
    EXPECT_TRUE(host.take(ticket, answer));
    outcome = answer.outcome;
    return answer.data;
  }
  Outcome outcome = Outcome::done;
};

TEST(WriteCombining, StoresLeaveTogetherWhenALineIsFull) {
  Bench bench;
  for (unsigned i = 0; i < 8; ++i) bench.store(kPrefetchable + 8 * i, 8);
  bench.run(500);
  EXPECT_EQ(bench.seen(), std::vector<int>{64});
  EXPECT_EQ(bench.host.counters().combined, 8U);
  EXPECT_EQ(bench.host.counters().writes, 1U);
}

TEST(WriteCombining, WhatIsNotMappedSoIsNeverJoined) {
  Bench bench;
  for (const std::uint64_t base : {kPrefetchable + 0x4000, kPlain})
    for (unsigned i = 0; i < 4; ++i) bench.store(base + 4 * i);
  bench.run();
  EXPECT_EQ(bench.seen(), (std::vector<int>(8, 4)));
  EXPECT_EQ(bench.host.counters().combined, 0U);
}

TEST(WriteCombining, GatheredStoresLeaveBeforeAnythingElse) {
  const std::vector<std::pair<const char*, std::function<void(Bench&)>>> rows = {
      {"a load", [](Bench& b) { static_cast<void>(b.host.load(kPlain, 4, b.engine.now() + 1)); }},
      {"a load of it",
       [](Bench& b) { static_cast<void>(b.host.load(kPrefetchable, 4, b.engine.now() + 1)); }},
      {"an uncached store", [](Bench& b) { b.store(kPlain, 2); }},
      {"a configuration access",
       [](Bench& b) {
         static_cast<void>(b.host.load_config(RootComplexCore::id_of(0), 0, b.engine.now() + 1));
       }},
      {"a barrier", [](Bench& b) { b.host.barrier(b.engine.now() + 1); }},
      {"an interrupt", [](Bench& b) {
         b.device(1).send(b.engine.now() + 1, TlpKind::memory_write, RootComplexCore::kInterruptWindow, 4);
       }}};
  for (const auto& [what, act] : rows) {
    HostBridgeParameters p;
    p.combining_cycles = 1'000'000;
    Bench bench(p);
    bench.store(kPrefetchable);
    bench.store(kPrefetchable + 64);
    bench.store(kPrefetchable + 4);
    bench.run(1000);
    EXPECT_TRUE(bench.seen().empty()) << what;
    act(bench);
    bench.run(2000);
    const std::vector<int> seen = bench.seen();
    ASSERT_GE(seen.size(), 2U) << what;
    EXPECT_EQ(seen[0], 8) << what;
    EXPECT_EQ(seen[1], 4) << what;
  }
}

TEST(WriteCombining, ALineLeavesInTimeInEveryTickMode) {
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    HostBridgeParameters p;
    p.combining_cycles = 700;
    Bench bench(p, mode);
    bench.store(kPrefetchable);
    EXPECT_TRUE(bench.host.busy());
    bench.run(600);
    bench.store(kPrefetchable + 4);
    EXPECT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(bench.seen(), std::vector<int>{8});
    const LinkParameters host = BenchOfRoot::host_link(), link;
    EXPECT_EQ(bench.device(0).came[0].first,
              701 + host.cycles_of(8) + RootComplexParameters{}.forward_latency + link.cycles_of(8));
    EXPECT_FALSE(bench.host.busy());
  }
}

TEST(WriteCombining, OnlyWholePagesOfPrefetchableMemoryCanBeMappedSo) {
  Bench bench;
  EXPECT_FALSE(bench.host.set_combining({kPlain, 0x1000}, true)) << "not prefetchable";
  EXPECT_FALSE(bench.host.set_combining({kPrefetchable + 0x7000, 0x2000}, true)) << "beyond the end";
  EXPECT_FALSE(bench.host.set_combining({kPrefetchable + 0x800, 0x1000}, true));
  EXPECT_FALSE(bench.host.set_combining({kPrefetchable, 0x800}, true));
  EXPECT_FALSE(bench.host.set_combining({kPrefetchable, 0}, true));
  // A page in the middle is mapped back.
  EXPECT_TRUE(bench.host.set_combining({kPrefetchable + 0x1000, 0x1000}, false));
  for (const std::uint64_t page : {0x0000ULL, 0x1000ULL, 0x2000ULL})
    for (unsigned i = 0; i < 2; ++i) bench.store(kPrefetchable + page + 4 * i);
  bench.run();
  EXPECT_EQ(bench.seen(), (std::vector<int>{8, 4, 4, 8}));
}

HostBridgeParameters ahead(unsigned bytes) {
  HostBridgeParameters p;
  p.read_ahead = bytes;
  return p;
}

TEST(ReadAhead, LoadsInARowAreOnePacket) {
  Bench bench(ahead(64));
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(bench.load(kPrefetchable + 0x100 + 4 * i, 4)[0], static_cast<std::uint8_t>(4 * i));
  EXPECT_EQ(bench.seen(), std::vector<int>{-64});
  EXPECT_EQ(bench.host.counters().read_ahead, 15U);
  static_cast<void>(bench.load(kPrefetchable + 0x110, 8));
  EXPECT_EQ(bench.seen().back(), -48) << "to the end of its block";
}

TEST(ReadAhead, NothingElseIsEverReadThanAskedFor) {
  Bench bench(ahead(64));
  for (const std::uint64_t uncached : {kPlain, kPrefetchable + 0x4000}) {
    static_cast<void>(bench.load(uncached, 4));
    static_cast<void>(bench.load(uncached + 4, 4));
  }
  EXPECT_EQ(bench.seen(), (std::vector<int>(4, -4)));
  Bench off;
  static_cast<void>(off.load(kPrefetchable, 4));
  EXPECT_EQ(off.seen(), std::vector<int>{-4});
  Bench edge(ahead(4096));
  static_cast<void>(edge.load(kPrefetchable + 0x3FF8, 4));
  EXPECT_EQ(edge.seen(), std::vector<int>{-8}) << "no farther than the mapping";
}

TEST(ReadAhead, WhatWasReadAheadIsGivenOutOnceAndNotWhenItMayBeOld) {
  const std::vector<std::pair<const char*, std::function<void(Bench&)>>> rows = {
      {"the same bytes again", [](Bench& b) { static_cast<void>(b.load(kPrefetchable, 8)); }},
      {"a store", [](Bench& b) { b.store(kPlain); }},
      {"a store that gathers", [](Bench& b) { b.store(kPrefetchable + 0x1000); }},
      {"a barrier", [](Bench& b) { b.host.barrier(b.engine.now() + 1); }},
      {"a configuration access",
       [](Bench& b) {
         static_cast<void>(b.host.load_config(RootComplexCore::id_of(1), 0, b.engine.now() + 1));
       }},
      {"its page mapped back",
       [](Bench& b) {
         EXPECT_TRUE(b.host.set_combining({kPrefetchable, 0x1000}, false));
       }},
      {"BARs that may have moved", [](Bench& b) { b.host.forget_prefetchable(); }},
      {"another load", [](Bench& b) { static_cast<void>(b.load(kPlain, 4)); }},
      {"an interrupt",
       [](Bench& b) {
         b.device(1).send(b.engine.now() + 1, TlpKind::memory_write, RootComplexCore::kInterruptWindow, 4);
         b.run(b.engine.now() + 900);
       }},
      {"time", [](Bench& b) {
         b.device(1).send(b.engine.now() + 1100, TlpKind::memory_write, 0, 4);
         b.run(b.engine.now() + 1200);
       }}};
  for (const auto& [what, act] : rows) {
    Bench bench(ahead(64));
    EXPECT_EQ(bench.load(kPrefetchable, 8)[0], 0);
    bench.run();
    bench.device(0).shift = 100;
    act(bench);
    EXPECT_EQ(bench.load(kPrefetchable + 4, 4)[0], 104) << what;
  }
}

TEST(ReadAhead, WhatComesAfterAStoreIsNotKept) {
  Bench bench(ahead(64));
  const auto ticket = bench.host.load(kPrefetchable, 8, 1);
  bench.store(kPlain);
  bench.run();
  HostBridge::Answer answer;
  ASSERT_TRUE(bench.host.take(ticket, answer));
  bench.device(0).shift = 100;
  EXPECT_EQ(bench.load(kPrefetchable + 8, 4)[0], 108);
}

TEST(ReadAhead, WhereTheMemoryBehindABarEndsOnlyWhatWasAskedForIsReadAgain) {
  Bench bench(ahead(64));
  bench.root.inject([](unsigned port, const Tlp& tlp) {
    const bool beyond = port == RootComplexCore::kHost && tlp.address + tlp.bytes > kPrefetchable + 0x110;
    return beyond ? Injection::refuse : Injection::none;
  });
  EXPECT_EQ(bench.load(kPrefetchable + 0x108, 8)[0], 8);
  EXPECT_EQ(bench.outcome, Outcome::done);
  EXPECT_EQ(bench.seen(), (std::vector<int>{-56, -8}));
  EXPECT_EQ(bench.host.counters().reads, 2U);
  EXPECT_EQ(bench.host.counters().refused, 0U);
  static_cast<void>(bench.load(kPrefetchable + 0x110, 8));
  EXPECT_EQ(bench.outcome, Outcome::unsupported_request);
  EXPECT_EQ(bench.host.counters().refused, 1U);
  EXPECT_FALSE(bench.host.busy());
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(ReadAhead, DamageBeyondWhatWasAskedForIsNobodysFault) {
  // The device answers in one packet: a damaged one is damaged for the asker, too, but what is read after it
  // is read anew.
  Bench bench(ahead(64));
  bool damaged = false;
  bench.root.inject([&](unsigned port, const Tlp& tlp) {
    const bool hit = port == RootComplexCore::kHost && tlp.kind == TlpKind::completion && !damaged;
    damaged = damaged || hit;
    return hit ? Injection::damage : Injection::none;
  });
  static_cast<void>(bench.load(kPrefetchable, 8));
  EXPECT_EQ(bench.outcome, Outcome::poisoned);
  EXPECT_EQ(bench.load(kPrefetchable + 8, 4)[0], 8);
  EXPECT_EQ(bench.outcome, Outcome::done);
  EXPECT_EQ(bench.host.counters().read_ahead, 0U);
}

}  // namespace host_memory_test
}  // namespace warpline
