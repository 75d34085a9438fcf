#include "rtl_models/l1_lg/l1_lg.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/support/flat_check.h"

namespace warpline::test {
namespace l1_lg_test {

constexpr std::uint64_t kLocal = std::uint64_t{1} << 63U;
constexpr std::uint64_t kSurfaces = 6U * kLineBytes;

struct Shape {
  L1LgParameters parameters;
  ChannelParameters channel{128, 1, 4, 1};
  FlatMemory::Delay delay = FlatMemory::fixed(30);
  Cycle memory_gap = 1;
  Cycle answer_gap = 1;
};

/// One SM's requests, an L1, and a memory that answers in any order.
struct Bench {
  Bench(const Shape& s, const std::vector<Item>& items, TickMode mode = TickMode::lazy, bool with_data = true)
      : engine(mode, 7),
        sm(engine, "sm", ClockDomain{}, items, s.answer_gap),
        l1(engine, "l1_lg", ClockDomain{}, s.parameters, with_data),
        memory(engine, "l2", s.delay, s.memory_gap) {
    connect(sm.out, l1.from_sm, s.channel);
    connect(l1.to_sm, sm.in, s.channel);
    connect(l1.to_crossbar, memory.in, s.channel);
    connect(memory.out, l1.from_crossbar, s.channel);
  }
  Engine engine;
  Requester sm;
  L1Lg l1;
  FlatMemory memory;
};

Item at_line(Item item, unsigned line, bool local) {
  item.request.virtual_line = VirtualAddress{(local ? kLocal : 0) + line * kLineBytes};
  item.request.line = PhysicalAddress{(local ? 1U << 20U : 0U) + line * kLineBytes};
  item.request.local = local;
  return item;
}
Item load(Cycle at, unsigned line, SectorMask sectors = 1, bool local = false) {
  return at_line(read_item(at, {}, sectors), line, local);
}
Item store(Cycle at, unsigned line, unsigned offset, unsigned bytes, std::uint8_t value, bool local = false) {
  ByteMask mask;
  mask.set(offset, bytes);
  return at_line(write_item(at, {}, mask, value), line, local);
}

/// By the surface proxy, if asked to be: of a line that the generic one does not store to, so that it is
/// exact.
Item by_surface(bool surface, Item item) {
  item.request.surface = surface;
  if (!surface) return item;
  item.request.virtual_line.value += kSurfaces;
  item.request.line.value += kSurfaces;
  return item;
}

std::vector<Item> random_items(Random& random) {
  std::vector<Item> items;
  Cycle at = 0;
  for (unsigned i = 0; i < 400; ++i) {
    at += random.below(3) == 0 ? random.below(20) : 0;
    auto line = static_cast<unsigned>(random.below(6));
    const bool local = random.below(3) == 0;
    const bool surface = !local && random.below(4) == 0;
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        Item item = load(at, line, static_cast<SectorMask>(1 + random.below(15)), local);
        if (!local && random.below(4) == 0) item.request.scope = Scope::gpu;
        if (!local && random.below(4) == 0) item.request.no_l1 = true;
        if (!local && random.below(6) == 0) item.request.cache_operator = CacheOperator::cv;
        if (!local && random.below(4) == 0)
          item.request.prefetch = static_cast<SectorMask>(random.below(256));
        item.request.last_use = local && random.below(2) != 0;
        item.request.l1_priority = static_cast<EvictionPriority>(random.below(6));
        items.push_back(by_surface(surface, item));
        break;
      }
      case 4:
      case 5:
      case 6:
        items.push_back(by_surface(surface, at_line(random_write_item(random, at, {}), line, local)));
        break;
      case 8: {
        // All but a reset, which loses bytes.
        constexpr std::array<LineControl, 6> kControls = {
            LineControl::prefetch_l1, LineControl::prefetch_l2,    LineControl::write_back,
            LineControl::invalidate,  LineControl::apply_priority, LineControl::discard};
        const LineControl control = kControls[random.below(local ? 4 : 6)];
        items.push_back(at_line(control_item(at, {}, control), line, local));
        items.back().request.sectors = static_cast<SectorMask>(1 + random.below(15));
        items.back().request.l1_priority = static_cast<EvictionPriority>(random.below(6));
        break;
      }
      case 7: {
        Item item = at_line(random_atomic_item(random, at, {}), line, false);
        if (random.below(2) != 0) item.request.command = Command::reduce;
        items.push_back(item);
        break;
      }
      default: {
        constexpr std::array<std::uint8_t, 7> kWhat = {
            maintenance::kDrain | maintenance::kDrainSurfaces | maintenance::kInvalidateSurfaces,
            maintenance::kDrain,
            maintenance::kInvalidate,
            maintenance::kDrain | maintenance::kInvalidate,
            maintenance::kDrain | maintenance::kDiscardSysmem,
            maintenance::kInvalidateLocal,
            maintenance::kDrain | maintenance::kInvalidate | maintenance::kInvalidateLocal};
        items.push_back(maintain_item(at, kWhat[random.below(kWhat.size())]));
      }
    }
  }
  for (unsigned line = 0; line < 6; ++line) {
    items.push_back(load(at, line, kAllSectors, true));
    items.push_back(load(at, line, kAllSectors, false));
  }
  return items;
}

/// R3, R8: a drain is answered after every earlier write has been, surface stores where it says so.
void check_drains(const std::vector<Item>& items, const Bench& bench) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].request.command != Command::maintain ||
        (items[i].request.maintenance & maintenance::kDrain) == 0)
      continue;
    for (const FlatMemory::Seen& s : bench.memory.seen) {
      const bool writes = s.command == Command::write || s.command == Command::atomic ||
                          s.command == Command::reduce ||
                          (s.command == Command::control && s.control == LineControl::discard);
      const bool by_surfaces = (items[i].request.maintenance & maintenance::kDrainSurfaces) != 0;
      if (writes && s.line.value < (by_surfaces ? 1U << 20U : kSurfaces) && s.id < i) {
        ASSERT_LT(s.answered, bench.sm.answers[i].answered) << "drain " << i << " of write " << s.id;
      }
    }
  }
}

/// R5: of one sector, writes, atomics and unserved reads reach L2 in the SM's order.
void check_order(const Bench& bench) {
  std::map<std::pair<std::uint64_t, unsigned>, std::uint64_t> last;
  for (const FlatMemory::Seen& s : bench.memory.seen) {
    if (s.line.value >= (1U << 20U)) continue;  // write-backs carry the number of what caused them
    for (unsigned k = 0; k < kSectorsPerLine; ++k) {
      if (((s.sectors >> k) & 1U) == 0) continue;
      std::uint64_t& before = last[{s.line.value, k}];
      ASSERT_LE(before, s.id) << "line " << s.line.value << " sector " << k;
      before = s.id;
    }
  }
}

TEST(L1Lg, RandomRequestsUnderBackPressureAreExactInEveryTickMode) {
  for (std::uint64_t seed = 1; seed <= everyday(120) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 77);
    Shape s;
    s.parameters.geometry = {static_cast<unsigned>(1 + random.below(3)),
                             static_cast<unsigned>(1 + random.below(3))};
    s.parameters.miss_registers = static_cast<unsigned>(1 + random.below(6));
    s.parameters.outgoing = static_cast<unsigned>(2 + random.below(8));
    s.parameters.update_on_store = random.below(2) != 0;
    s.channel = {32, static_cast<unsigned>(1 + random.below(3)), static_cast<unsigned>(1 + random.below(4)),
                 1};
    s.delay = FlatMemory::random_delay(seed, 1 + random.below(80));
    s.memory_gap = 1 + random.below(6);
    s.answer_gap = 1 + random.below(6);
    const std::vector<Item> items = random_items(random);
    Bench lazy(s, items);
    ASSERT_EQ(lazy.engine.run_until(10000000), RunOutcome::quiescent);
    std::map<std::uint64_t, FlatMemory::Line> memory;
    check_answers(items, lazy.sm.answers, memory);
    check_drains(items, lazy);
    check_order(lazy);
    EXPECT_EQ(lazy.engine.pool().in_use(), 0U) << "no request is lost";
    for (const FlatMemory::Seen& m : lazy.memory.seen)
      ASSERT_FALSE(m.last_use && m.command != Command::read) << "what is written back is owed";
    const L1LgCounters& c = lazy.l1.counters();
    EXPECT_EQ(c.sector_hits + c.sector_misses, c.sector_accesses);
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled, TickMode::lazy}) {
      Bench other(s, items, mode, mode != TickMode::lazy);  // without data: the same cycles
      ASSERT_EQ(other.engine.run_until(10000000), RunOutcome::quiescent);
      ASSERT_EQ(other.memory.seen, lazy.memory.seen);
      for (std::size_t i = 0; i < items.size(); ++i)
        ASSERT_EQ(other.sm.answers[i].answered, lazy.sm.answers[i].answered);
    }
  }
}

TEST(L1Lg, HitsPassAMissAndALoadOfAFetchUnderWayJoinsIt) {
  Shape s;
  s.delay = [](const Request&, std::size_t n) { return n == 0 ? Cycle{10} : Cycle{500}; };
  Bench bench(s, {load(0, 0), load(100, 1), load(101, 1), load(102, 0)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(bench.memory.seen.size(), 2U);
  EXPECT_EQ(bench.sm.answers[3].answered - bench.sm.answers[3].sent, 2U) << "one cycle in, one cycle out";
  EXPECT_GT(bench.sm.answers[1].answered, 500U);
  EXPECT_EQ(bench.sm.answers[2].answered, bench.sm.answers[1].answered + 1);
}

TEST(L1Lg, HitsWithoutEndDoNotKeepAFillOut) {
  Shape s;
  s.answer_gap = 5;
  std::vector<Item> items = {load(0, 0), load(300, 1)};
  for (Cycle at = 301; at < 601; ++at) items.push_back(load(at, 0));
  Bench bench(s, items);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_GT(bench.sm.answers[40].answered, 330U) << "answers are in the way when the fill comes";
  EXPECT_LT(bench.sm.answers[1].answered, bench.sm.answers[120].answered);
}

TEST(L1Lg, AMissAsksL2ForTheOtherLineOfItsBlockAndInstallsNothingOfIt) {
  for (const bool forwarded : {false, true}) {
    for (const bool invalidated : {false, true}) {
      Shape s;
      s.delay = FlatMemory::fixed(100);
      std::vector<Item> items = {
          load(0, 3), maintain_item(50, invalidated ? maintenance::kInvalidate : maintenance::kDrain),
          load(300, 2)};
      items[0].request.prefetch = 0x6F;
      items[0].request.no_l1 = forwarded;
      Bench bench(s, items);
      ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
      ASSERT_EQ(bench.memory.seen.size(), 3U);
      EXPECT_EQ(bench.memory.seen[0].prefetch, forwarded ? 0xF : 0xE);
      const FlatMemory::Seen& p = bench.memory.seen[1];
      EXPECT_EQ(p.line, PhysicalAddress{2 * kLineBytes});
      EXPECT_EQ(p.sectors, 0);
      EXPECT_EQ(p.prefetch, 0x6);
      EXPECT_EQ(bench.l1.counters().prefetch_requests, 1U);
      EXPECT_EQ(bench.l1.counters().sector_hits, 0U) << "line 2 was for L2 only";
      EXPECT_EQ(bench.engine.pool().in_use(), 0U);
    }
  }
}

/// A surface store changes lines of its own proxy only (PTX ISA, "Proxies"), and a release does not wait for
/// it; a fence of its proxy does (R8).
TEST(L1Lg, SurfaceStoresHaveLinesAndADrainOfTheirOwn) {
  for (const bool surface : {false, true}) {
    for (const bool proxy_fence : {false, true}) {
      const unsigned what = maintenance::kDrain | (proxy_fence ? maintenance::kDrainSurfaces : 0U);
      std::vector<Item> items = {
          load(0, 1, kAllSectors), at_line(write_item(300, {}, ByteMask::of_sectors(1), 0x5A), 1, false),
          maintain_item(301, static_cast<std::uint8_t>(what)), load(600, 1, kAllSectors)};
      items[1].request.surface = surface;
      Shape s;
      s.delay = FlatMemory::fixed(100);
      Bench bench(s, items);
      ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
      const FlatMemory::Seen& store = bench.memory.seen.at(1);
      ASSERT_EQ(store.command, Command::write);
      const bool waited = bench.sm.answers[2].answered > store.answered;
      EXPECT_EQ(waited, !surface || proxy_fence) << surface << proxy_fence;
      const bool changed = bench.sm.answers[3].data != bench.sm.answers[0].data;
      EXPECT_EQ(changed, !surface) << "the generic line is as it was";
      EXPECT_EQ(bench.l1.counters().stored_sectors, sector_count(items[1].request.sectors));
      EXPECT_EQ(bench.engine.pool().in_use(), 0U);
    }
  }
}

/// Each proxy keeps a line of its own of the same bytes, which the other's stores and invalidations spare.
TEST(L1Lg, LinesOfTheTwoProxiesDoNotKnowEachOther) {
  const auto by = [](bool surface, Item item) {
    item.request.surface = surface;
    return item;
  };
  for (const bool stored : {false, true})
    for (const bool dropped : {false, true}) {
      const unsigned what = dropped ? maintenance::kInvalidateSurfaces : maintenance::kInvalidate;
      const Item write = at_line(write_item(400, {}, ByteMask::of_sectors(1), 0x5A), 1, false);
      std::vector<Item> items = {by(false, load(0, 1)), by(true, load(100, 1)), by(stored, write)};
      for (const Cycle at : {Cycle{600}, Cycle{800}}) {
        for (const bool surface : {false, true}) items.push_back(by(surface, load(at, 1)));
        if (at == 600) items.push_back(maintain_item(700, static_cast<std::uint8_t>(what)));
      }
      Bench bench(Shape{}, items);
      ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
      const auto data = [&](std::size_t item) { return bench.sm.answers[item].data[0]; };
      EXPECT_EQ(bench.memory.seen.size(), 4U)
          << "a fetch of each, the store, and a fetch of what was dropped";
      for (const bool surface : {false, true}) {
        EXPECT_EQ(data(3U + surface) == 0x5A, surface == stored) << "the other's line is stale";
        EXPECT_EQ(data(6U + surface) == 0x5A, surface == stored || surface == dropped);
      }
      EXPECT_EQ(bench.l1.counters().load_sector_hits(), 3U);
    }
}

TEST(L1Lg, APrefetchWaitsForAPlaceRatherThanBeingLost) {
  for (const unsigned outgoing : {3U, 4U, 64U}) {
    Shape s;
    s.parameters.outgoing = outgoing;
    s.memory_gap = 10;
    std::vector<Item> items;
    for (unsigned i = 0; i < 8; ++i) {
      items.push_back(load(0, 2 * i));
      items.back().request.prefetch = 0xFF;
    }
    Bench bench(s, items);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_EQ(bench.l1.counters().prefetch_requests, 8U) << outgoing;
    EXPECT_EQ(bench.memory.seen.size(), 16U);
  }
}

TEST(L1Lg, AHitPrefetchesNothing) {
  std::vector<Item> items = {load(0, 0), load(200, 0)};
  items[1].request.prefetch = 0xFF;
  Bench bench({}, items);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(bench.memory.seen.size(), 1U);
}

TEST(L1Lg, ADrainIsNotHeldUpByLaterWrites) {
  Shape s;
  s.delay = [](const Request&, std::size_t n) { return n == 1 ? Cycle{5000} : Cycle{50}; };
  Bench bench(s, {store(0, 0, 0, 4, 1), maintain_item(1, maintenance::kDrain), store(2, 1, 0, 4, 1),
                  maintain_item(3, maintenance::kDrain)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_LT(bench.sm.answers[0].answered, 5U) << "a write is answered when it has passed L1";
  EXPECT_GT(bench.sm.answers[1].answered, 50U);
  EXPECT_LT(bench.sm.answers[1].answered, 100U);
  EXPECT_GT(bench.sm.answers[3].answered, 5000U);
}

TEST(L1Lg, AnInvalidationDropsGlobalLinesAndFillsUnderWayAndSparesLocalOnes) {
  Shape s;
  s.delay = FlatMemory::fixed(100);
  Bench bench(s, {load(0, 0), load(0, 1, 1, true), load(300, 2), maintain_item(310, maintenance::kInvalidate),
                  load(600, 0), load(600, 2), load(600, 1, 1, true)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_LT(bench.sm.answers[3].answered, 320U) << "an invalidation waits for no fill";
  EXPECT_EQ(bench.memory.seen.size(), 5U);
  EXPECT_EQ(bench.sm.answers[6].answered - bench.sm.answers[6].sent, 2U) << "local lines stay";
  EXPECT_EQ(bench.l1.counters().dead_fills, 1U);
}

TEST(L1Lg, SystemMemoryDutiesGoToL2AfterTheDrainAndBeforeTheInvalidation) {
  const std::uint8_t all = maintenance::kDrain | maintenance::kWriteBackSysmem | maintenance::kDiscardSysmem |
                           maintenance::kInvalidate;
  Bench bench(Shape{}, {load(0, 0), store(100, 1, 0, 4, 1), maintain_item(101, all), load(300, 0)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  ASSERT_EQ(bench.memory.seen.size(), 4U);
  EXPECT_EQ(bench.memory.seen[2].command, Command::maintain);
  EXPECT_GT(bench.memory.seen[2].at, bench.memory.seen[1].answered);
  EXPECT_GT(bench.sm.answers[2].answered, bench.memory.seen[2].answered);
  EXPECT_EQ(bench.memory.seen[3].command, Command::read) << "line 0 was dropped";
}

TEST(L1LgParameters, SaysEveryFaultAtOnce) {
  L1LgParameters p;
  EXPECT_TRUE(p.problems("gpu.l1_lg").empty());
  p.geometry = {0, 0};
  p.miss_registers = 0;
  p.outgoing = 1;
  EXPECT_EQ(p.problems("gpu.l1_lg").size(), 4U);
}

}  // namespace l1_lg_test
}  // namespace warpline::test
