// CCTL of lines and of all lines of a kind: the state of L1 before and after.
#include "rtl_models/l1_lg/l1_lg.h"
#include "tests/rtl_models/l1_lg/core_bench.h"
#include "tests/support/flat_check.h"

namespace warpline::test {
namespace l1_lg_cctl_test {

constexpr std::uint64_t kLocal = std::uint64_t{1} << 63U;
constexpr unsigned kNeighbours = 4;  // lines beside the one that is controlled

/// How the line is before the operation.
enum class Before : std::uint8_t { absent, clean, dirty, fetched };

/// A core with lines of both kinds, one of which is controlled.
class State {
 public:
  State() : core_(parameters(), true) {}

  void put(unsigned line, bool local, Before before) {
    Request r = request(line, local);
    if (before == Before::absent) return;
    if (before == Before::dirty) {
      r.command = Command::write;
      r.bytes = ByteMask::of_sectors(1);
      static_cast<void>(core_.store_local(r));
      return;
    }
    fetches_.emplace_back(r);
    Request& waiter = fetches_.back();
    const ReadOutcome out = core_.read(waiter);
    Request fetch = waiter;
    fetch.token = out.entry;
    if (before == Before::clean) {
      fill(fetch);
    } else {
      under_way_.push_back(fetch);
    }
  }
  void land() {
    for (const Request& f : under_way_) fill(f);
    under_way_.clear();
  }
  [[nodiscard]] Evicted control(unsigned line, bool local, LineControl what) {
    Request r = request(line, local);
    r.command = Command::control;
    r.control = what;
    return core_.control_line(r);
  }
  /// Whether a load of its first sector hits.
  [[nodiscard]] bool hits(unsigned line, bool local) {
    fetches_.emplace_back(request(line, local));
    const ReadOutcome out = core_.read(fetches_.back());
    if (out.fetch != 0) {
      Request fetch = fetches_.back();
      fetch.token = out.entry;
      fill(fetch);
    }
    return out.kind == ReadOutcome::Kind::hit;
  }
  /// Lines that a write-back of everything local would write.
  [[nodiscard]] unsigned dirty_lines() {
    unsigned n = 0;
    std::uint32_t from = 0;
    while (core_.clean_next_local(from).happened) ++n;
    return n;
  }
  L1LgCore& core() { return core_; }

 private:
  static L1LgParameters parameters() {
    L1LgParameters p;
    p.geometry = {4, 4};
    p.miss_registers = 8;
    return p;
  }
  static Request request(unsigned line, bool local) {
    Request r;
    r.local = local;
    r.sectors = 1;
    r.virtual_line = VirtualAddress{(local ? kLocal : 0) + line * kLineBytes};
    r.line = PhysicalAddress{(local ? 1U << 20U : 0U) + line * kLineBytes};
    r.data.fill(static_cast<std::uint8_t>(line + 1));
    return r;
  }
  void fill(const Request& fetch) {
    RequestList served;
    static_cast<void>(core_.fill(fetch, served));
  }
  L1LgCore core_;
  std::deque<Request> fetches_;
  std::vector<Request> under_way_;
};

/// Every operation of a line, on a line of either kind in every state. The other lines, of both kinds, clean
/// and dirty, stay as they were.
TEST(L1LgCctl, TouchesItsLineAndNoOther) {
  for (const bool local : {false, true})
    for (const Before before : {Before::absent, Before::clean, Before::dirty, Before::fetched})
      for (const LineControl what : {LineControl::write_back, LineControl::invalidate, LineControl::reset}) {
        if (before == Before::dirty && !local) continue;  // global stores are written through
        SCOPED_TRACE(std::to_string(local) + std::to_string(static_cast<int>(before)) +
                     std::to_string(static_cast<int>(what)));
        State s;
        for (unsigned n = 1; n <= kNeighbours; ++n) {
          s.put(n, false, Before::clean);
          s.put(n, true, n % 2 == 0 ? Before::clean : Before::dirty);
        }
        s.put(0, !local, Before::clean);
        s.put(0, local, before);
        const Evicted out = s.control(0, local, what);
        const bool writes = before == Before::dirty && what != LineControl::reset;
        EXPECT_EQ(out.happened, writes);
        if (writes) {
          EXPECT_TRUE(out.dirty == ByteMask::of_sectors(1));
          ASSERT_NE(out.data, nullptr);
          EXPECT_EQ(out.data[0], 1);
          EXPECT_EQ(out.home, PhysicalAddress{1U << 20U});
        }
        s.land();
        EXPECT_EQ(s.core().counters().reset_lines,
                  before == Before::dirty && what == LineControl::reset ? 1U : 0U);
        EXPECT_EQ(s.core().counters().dead_fills,
                  before == Before::fetched && what != LineControl::write_back ? 1U : 0U);
        EXPECT_EQ(s.dirty_lines(), 2U) << "the neighbours', and no longer the line's";
        EXPECT_EQ(s.hits(0, local), before != Before::absent && what == LineControl::write_back);
        EXPECT_TRUE(s.hits(0, !local));
        for (unsigned n = 1; n <= kNeighbours; ++n) {
          EXPECT_TRUE(s.hits(n, false)) << n;
          EXPECT_TRUE(s.hits(n, true)) << n;
        }
      }
}

TEST(L1LgCctl, AWriteBackKillsAFillThatWouldHideItsBytes) {
  CoreBench bench(one_line());
  bench.store_local(0, 0, 4, 0x11);
  bench.load(0, 1, true);  // the rest of the sector is under way
  bench.perform_below();
  bench.control(0, LineControl::write_back, true);
  bench.answer_all();
  EXPECT_EQ(bench.core.counters().dead_fills, 1U);
  bench.load(0, 1, true);
  bench.perform_below();
  bench.answer_all();
  bench.check_local();
}

/// Invalidating all of a kind drops all of it, and none of the other.
TEST(L1LgCctl, AllOfAKindLeavesTheOtherKindAlone) {
  for (const bool local : {false, true}) {
    State s;
    for (unsigned n = 0; n < 3; ++n) {
      s.put(n, false, n == 2 ? Before::fetched : Before::clean);
      s.put(n, true, n == 0 ? Before::dirty : n == 1 ? Before::clean : Before::fetched);
    }
    if (local) {
      EXPECT_EQ(s.dirty_lines(), 1U);
      s.core().invalidate_local();
    } else {
      s.core().invalidate_global();
    }
    s.land();
    EXPECT_EQ(s.core().counters().dead_fills, 1U);
    for (unsigned n = 0; n < 3; ++n) {
      EXPECT_EQ(s.hits(n, false), local) << n;
      EXPECT_EQ(s.hits(n, true), !local) << n;
    }
    EXPECT_EQ(s.core().counters().invalidations, local ? 0U : 1U);
    EXPECT_EQ(s.core().counters().local_invalidations, local ? 1U : 0U);
  }
}

/// One SM's requests, an L1, and a memory that takes one request in `gap` cycles.
struct Bench {
  explicit Bench(const std::vector<Item>& items, Cycle gap = 1, unsigned outgoing = 8)
      : sm(engine, "sm", ClockDomain{}, items),
        l1(engine, "l1_lg", ClockDomain{}, small(outgoing), true),
        memory(engine, "l2", FlatMemory::fixed(30), gap) {
    connect(sm.out, l1.from_sm, {128, 1, 4, 1});
    connect(l1.to_sm, sm.in, {128, 1, 4, 1});
    connect(l1.to_crossbar, memory.in, {128, 1, 4, 1});
    connect(memory.out, l1.from_crossbar, {128, 1, 4, 1});
  }
  static L1LgParameters small(unsigned outgoing) {
    L1LgParameters p;
    p.geometry = {16, 4};
    p.outgoing = outgoing;
    return p;
  }
  Engine engine;
  Requester sm;
  L1Lg l1;
  FlatMemory memory;
};

Item local_store(Cycle at, unsigned line, std::uint8_t value) {
  Item item = write_item(at, {}, ByteMask::of_sectors(1), value);
  item.request.virtual_line = VirtualAddress{kLocal + line * kLineBytes};
  item.request.line = PhysicalAddress{(1U << 20U) + line * kLineBytes};
  item.request.local = true;
  return item;
}
Item local_load(Cycle at, unsigned line) {
  Item item = local_store(at, line, 0);
  item.request.command = Command::read;
  return item;
}
Item local_control(Cycle at, unsigned line, LineControl what) {
  Item item = control_item(at, {}, what);
  item.request.virtual_line = VirtualAddress{kLocal + line * kLineBytes};
  item.request.line = PhysicalAddress{(1U << 20U) + line * kLineBytes};
  item.request.local = true;
  return item;
}

/// An invalidation of local lines is answered when every dirty one is on its way, whatever room there is, and
/// what follows it finds the cache empty and memory complete.
TEST(L1LgCctl, AllLocalLinesAreWrittenBackBeforeTheAnswer) {
  for (const unsigned outgoing : {4U, 8U, 32U})
    for (const Cycle gap : {Cycle{1}, Cycle{9}}) {
      SCOPED_TRACE(std::to_string(outgoing) + " " + std::to_string(gap));
      constexpr unsigned kLines = 20;
      std::vector<Item> items;
      for (unsigned n = 0; n < kLines; ++n)
        items.push_back(local_store(0, n, static_cast<std::uint8_t>(n + 1)));
      items.push_back(maintain_item(0, maintenance::kInvalidateLocal));
      for (unsigned n = 0; n < kLines; ++n) items.push_back(local_load(0, n));
      Bench bench(items, gap, outgoing);
      ASSERT_EQ(bench.engine.run_until(10000), RunOutcome::quiescent);
      const L1LgCounters& c = bench.l1.counters();
      EXPECT_EQ(c.writebacks, kLines);
      EXPECT_EQ(c.local_invalidations, 1U);
      EXPECT_EQ(c.load_sector_hits(), 0U);
      std::size_t writes = 0;
      for (const FlatMemory::Seen& seen : bench.memory.seen) {
        if (seen.command != Command::write) break;
        ++writes;
      }
      EXPECT_EQ(writes, kLines) << "every write-back goes before the loads behind the invalidation";
      for (unsigned n = 0; n < kLines; ++n) EXPECT_EQ(bench.sm.answers[kLines + 1 + n].data[0], n + 1);
      EXPECT_LT(bench.sm.answers[kLines].answered, bench.sm.answers[kLines + 1].answered);
    }
}

TEST(L1LgCctl, LineOperationsAreAnsweredAtOnceAndInOrder) {
  Bench bench({local_store(0, 0, 7), local_control(0, 0, LineControl::write_back), local_store(0, 0, 8),
               local_control(0, 0, LineControl::reset), local_load(0, 0), local_store(0, 1, 9),
               local_control(0, 1, LineControl::invalidate), local_load(0, 1),
               maintain_item(0, maintenance::kDrain)});
  ASSERT_EQ(bench.engine.run_until(1000), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.answers[4].data[0], 7) << "the reset lost what came after the write-back, and only that";
  EXPECT_EQ(bench.sm.answers[7].data[0], 9);
  EXPECT_LT(bench.sm.answers[3].answered, 12U);
  EXPECT_EQ(bench.l1.counters().line_operations, 3U);
  for (const FlatMemory::Seen& seen : bench.memory.seen) {
    EXPECT_NE(seen.command, Command::control) << "L2 hears nothing of it";
    if (seen.command == Command::write) {
      EXPECT_LT(seen.answered, bench.sm.answers[8].answered) << "a drain waits for write-backs";
    }
  }
}

}  // namespace l1_lg_cctl_test
}  // namespace warpline::test
