#include <list>
#include <map>

#include "rtl_models/l2/atomics_time.h"
#include "tests/rtl_models/l2/slice_bench.h"

namespace warpline::test {
namespace l2_partitions_test {

constexpr unsigned kNearSm = 0, kFarSm = 1;  // TPC by TPC, in turn
constexpr unsigned kWay = 50;

L2Parameters halves(unsigned sets, unsigned ways) {
  L2Parameters p;
  p.slices = 2;
  p.geometry = {sets, ways};
  p.partitions = {2, kWay, 0};
  return p;
}
PhysicalAddress line_of_slice(unsigned line) {
  return line_at(line, false, 2);
}
Item by(unsigned sm, Item item) {
  item.request.sm = static_cast<std::uint16_t>(sm);
  return item;
}
Item read_by(unsigned sm, Cycle at, unsigned line, SectorMask sectors = 1) {
  return by(sm, read_item(at, line_of_slice(line), sectors));
}
Item write_by(unsigned sm, Cycle at, unsigned line) {
  ByteMask bytes;
  bytes.set(0, 32);
  return by(sm, write_item(at, line_of_slice(line), bytes, 7));
}
Shape shape_of(const L2Parameters& parameters) {
  Shape s;
  s.parameters = parameters;
  s.by_sm = true;
  s.delay = FlatMemory::fixed(100);
  return s;
}
/// How long each item waited for its answer.
std::vector<Cycle> times(Bench& bench) {
  EXPECT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  std::vector<Cycle> out;
  for (const Answer& a : bench.crossbar.answers) out.push_back(a.answered - a.sent);
  return out;
}

TEST(L2Partitions, AFarReadTakesTheWayOnceAndItsCopyIsNear) {
  Bench bench(shape_of(halves(4, 4)),
              {read_by(kNearSm, 0, 0), read_by(kNearSm, 200, 0), read_by(kFarSm, 400, 0),
               read_by(kFarSm, 600, 0), read_by(kFarSm, 800, 0, 3)});
  const std::vector<Cycle> t = times(bench);
  EXPECT_EQ(t[2], t[1] + kWay);
  EXPECT_EQ(t[3], t[1]) << "the copy";
  EXPECT_EQ(t[4], t[0] + kWay) << "a sector of it that is in neither partition";
  const L2Counters& c = bench.slice.counters();
  EXPECT_EQ(c.near_copy_sectors, 1U);
  EXPECT_EQ(c.far_read_sectors, 3U);
}

TEST(L2Partitions, OfAHostNoAccessIsFar) {
  Shape s = shape_of(halves(4, 4));
  s.by_sm = false;
  Bench bench(s, {read_by(kNearSm, 0, 0), read_by(kNearSm, 200, 0), read_by(kFarSm, 400, 0)});
  const std::vector<Cycle> t = times(bench);
  EXPECT_EQ(t[2], t[1]);
}

TEST(L2Partitions, AWriteTakesTheCopyAwayUnlessItIsMadeNearIt) {
  Bench bench(
      shape_of(halves(4, 4)),
      {read_by(kFarSm, 0, 0), read_by(kFarSm, 300, 0), write_by(kFarSm, 400, 0), read_by(kFarSm, 600, 0),
       write_by(kNearSm, 700, 0), read_by(kFarSm, 800, 0), read_by(kFarSm, 1000, 0)});
  const std::vector<Cycle> t = times(bench);
  EXPECT_EQ(t[2], t[4] + kWay) << "the home is where a write is performed";
  EXPECT_EQ(t[3], t[1]);
  EXPECT_EQ(t[5], t[1] + kWay);
  EXPECT_EQ(t[6], t[1]);
  EXPECT_EQ(bench.crossbar.answers[3].data[0], 7);
  EXPECT_EQ(bench.slice.counters().copies_dropped, 1U);
  EXPECT_EQ(bench.slice.counters().far_write_sectors, 1U);
}

TEST(L2Partitions, AReadOfACopyOnItsWayJoinsItAndAWriteMeanwhileKeepsItFromStaying) {
  Bench bench(
      shape_of(halves(4, 4)),
      {read_by(kNearSm, 0, 0), read_by(kFarSm, 200, 0), read_by(kFarSm, 220, 0), read_by(kNearSm, 400, 1),
       read_by(kFarSm, 600, 1), write_by(kNearSm, 610, 1), read_by(kFarSm, 620, 1), read_by(kFarSm, 800, 1)});
  const std::vector<Cycle> t = times(bench);
  EXPECT_EQ(t[2], t[1] - 20 + 1) << "one answer a cycle";
  EXPECT_EQ(bench.slice.counters().far_merged_sectors, 1U);
  EXPECT_EQ(t[6], t[4]) << "it does not join what left before the write";
  EXPECT_EQ(t[7], t[4] - kWay) << "the second copy stays";
  EXPECT_EQ(bench.crossbar.answers[6].data[0], 7);
}

TEST(L2Partitions, ReadsTakeTurnsOnTheWayByTheirBytes) {
  L2Parameters p = halves(4, 8);
  p.partitions.link_bytes_per_cycle = 16;
  std::vector<Item> items;
  for (unsigned n = 0; n < 8; ++n) items.push_back(read_by(kNearSm, 0, n, kAllSectors));
  for (unsigned n = 0; n < 8; ++n) items.push_back(read_by(kFarSm, 500, n, kAllSectors));
  Bench bench(shape_of(p), items);
  ASSERT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  for (unsigned n = 9; n < 16; ++n)
    EXPECT_EQ(bench.crossbar.answers[n].answered - bench.crossbar.answers[n - 1].answered, 128U / 16);
}

TEST(L2Partitions, BelongToGpcsInTurn) {
  const auto far_from_0 = [](unsigned sms, GpcShape shape) {
    L2Parameters p = halves(4, 4);
    L2Core core(p, p.slices, nullptr);
    core.set_place({0, 0, shape}, p);
    unsigned far = 0;
    for (unsigned sm = 0; sm < sms; ++sm) far += core.is_far(sm);
    core.set_place({0, 1, shape}, p);
    for (unsigned sm = 0; sm < sms; ++sm) far -= !core.is_far(sm);
    EXPECT_EQ(far, 0U) << "what is far from one half is near to the other";
    core.set_place({0, 0, shape}, p);
    for (unsigned sm = 0; sm < sms; ++sm) far += core.is_far(sm);
    return far;
  };
  EXPECT_EQ(far_from_0(108, {7, 2}), 46U) << "A100: 62 and 46 SMs (A100.gtc.groups)";
  EXPECT_EQ(far_from_0(132, {8, 2}), 66U) << "H100 SXM: 66 and 66 SMs, measured";
  EXPECT_EQ(far_from_0(4, {1, 1}), 2U) << "of one GPC, TPCs in turn";
}

/// What may be in one slice and its partner, told line by line, by the rules of NearCopies.
class NaiveHalves {
 public:
  NaiveHalves(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}
  /// Whether an access finds its line near.
  bool access(unsigned line, bool far, bool reads) {
    const bool copied = far && reads && here(partner_, {line, false});
    bool twin_was_there = true;
    if (copied) {
      touch(partner_, {line, false});
    } else if (!reads || here(slice_, {line, false})) {
      touch(slice_, {line, false});
    }
    const bool fetches = !copied && reads && !here(slice_, {line, false});
    if (!reads && !far) remove({line, false});
    if (!far && reads) {
      twin_was_there = here(slice_, {line, true});
      touch(slice_, {line, true});
    }
    if (far || !reads || !twin_was_there) touch(partner_, {line, true});
    if (fetches) touch(slice_, {line, false});
    if (far && reads && !copied) touch(partner_, {line, false});
    return copied;
  }
  bool at_home(unsigned line) { return here(slice_, {line, false}); }

 private:
  using Entry = std::pair<unsigned, bool>;  ///< line, or its twin
  using Half = std::map<unsigned, std::list<Entry>>;
  unsigned set_of(const Entry& e) const { return (e.first + (e.second ? sets_ / 2 : 0)) % sets_; }
  bool here(Half& half, const Entry& e) {
    for (const Entry& other : half[set_of(e)])
      if (other == e) return true;
    return false;
  }
  void touch(Half& half, const Entry& e) {
    std::list<Entry>& set = half[set_of(e)];
    set.remove(e);
    set.push_front(e);
    if (set.size() > ways_) set.pop_back();
  }
  void remove(const Entry& e) { partner_[set_of(e)].remove(e); }
  unsigned sets_, ways_;
  Half slice_, partner_;
};

TEST(L2Partitions, LinesAndCopiesShareTheRoomAsANaiveModelHasThem) {
  struct Sink final : WriteBackSink {
    void write_back(const WriteBack&) override { ++count; }
    unsigned count = 0;
  };
  std::uint64_t near_reads = 0, far_misses = 0;
  for (std::uint64_t seed = 1; seed <= 60 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto sets = static_cast<unsigned>(1 + random.below(4)),
               ways = static_cast<unsigned>(1 + random.below(6));
    const L2Parameters p = halves(sets, ways);
    L2Core core(p, p.slices, nullptr);
    NaiveHalves naive(sets, ways);
    Sink sink;
    for (unsigned step = 0; step < 600 && !HasFatalFailure(); ++step) {
      Request r;
      const auto line = static_cast<unsigned>(random.below(1 + sets * ways * 2));
      const bool far = random.below(2) == 0, reads = random.below(5) != 0;
      r.made_by({far ? kFarSm : kNearSm, 0}, step);
      r.line = line_of_slice(line);
      r.command = reads ? Command::read : Command::write;
      r.bytes.set(0, kLineBytes);
      r.sectors = kAllSectors;
      const bool was_home = naive.at_home(line);
      const std::uint64_t copies = core.counters().near_copy_sectors, hits = core.counters().sector_hits;
      const L2Outcome out = core.access(r, sink);
      const bool near = naive.access(line, far, reads);
      ASSERT_EQ(core.counters().near_copy_sectors - copies, near ? 4U : 0U) << "step " << step;
      ASSERT_EQ(core.counters().sector_hits - hits, near || was_home ? 4U : 0U) << "step " << step;
      ASSERT_EQ(out.fetch != 0, reads && !near && !was_home) << "step " << step;
      near_reads += near;
      far_misses += far && reads && !near;
      RequestList served, again;
      if (out.fetch != 0) {
        Request f;
        f.line = r.line;
        f.sectors = out.fetch;
        f.token = out.entry;
        core.fill(f, served, again, sink);
        ASSERT_FALSE(served.empty());
        ASSERT_EQ(served.pop(), &r);
      }
      if (!r.far || !reads) continue;
      const NearCopies::Transfer t = core.send_far(r);
      ASSERT_EQ(t.sectors, kAllSectors);
      core.arrive(t, served);
      ASSERT_EQ(served.pop(), &r);
    }
  }
  EXPECT_GT(near_reads, 1000U);
  EXPECT_GT(far_misses, 1000U);
}

AtomicBlock block_of(AtomicOperation operation, DataType type, const std::vector<unsigned>& offsets) {
  AtomicBlock b;
  b.operation = operation;
  b.type = type;
  b.count = static_cast<unsigned>(offsets.size());
  for (unsigned i = 0; i < b.count; ++i) b.lanes[i].offset = static_cast<std::uint8_t>(offsets[i]);
  return b;
}

TEST(L2Atomics, TakeTimeByWordsAndSectors) {
  const L2AtomicParameters unit{10, 64, 128, 8, 12, 16};
  const auto cycles = [&](AtomicOperation operation, DataType type, const std::vector<unsigned>& offsets,
                          bool same_line = true) {
    const std::uint64_t parts = atomics_time(block_of(operation, type, offsets), unit, same_line);
    EXPECT_EQ(parts % kAtomicParts, 0U);
    return parts / kAtomicParts;
  };
  const auto add = AtomicOperation::add;
  EXPECT_EQ(cycles(add, DataType::u32, {0}), 2U) << "a sector";
  EXPECT_EQ(cycles(add, DataType::u32, {0, 4, 8, 28}), 2U);
  EXPECT_EQ(cycles(add, DataType::u32, {0, 32, 64, 96}), 8U) << "four sectors";
  EXPECT_EQ(cycles(add, DataType::u32, {0, 0, 0, 4}), 2U + 2 * 2) << "three lanes on one word";
  EXPECT_EQ(cycles(add, DataType::f32, {0, 0, 0, 4}), 2U + 2 * 4);
  EXPECT_EQ(cycles(AtomicOperation::compare_and_swap, DataType::b32, {0, 0}), 4U + 2);
  EXPECT_EQ(cycles(add, DataType::f64, {0, 8}), 4U);
  EXPECT_EQ(cycles(add, DataType::u32, {0, 0, 32, 32, 32}), 2U + 2 + 2 + 4);
  EXPECT_EQ(cycles(add, DataType::u32, {0, 32}, false), 6U) << "of another line";
}

TEST(L2Atomics, OfOneSliceTakeTurnsAndHoldUpNoReads) {
  L2Parameters p;
  p.slices = 1;
  p.atomics = {10, 64, 128, 8, 8, 16};
  Shape s;
  s.parameters = p;
  s.delay = FlatMemory::fixed(100);
  const PhysicalAddress line = line_at(0, false);
  const AtomicBlock all = block_of(AtomicOperation::add, DataType::u32, std::vector<unsigned>(32, 0));
  std::vector<Item> items = {read_item(0, line, 1), read_item(200, line, 1)};
  for (unsigned n = 0; n < 3; ++n) {
    items.push_back(atomic_item(400, line, all));
    items.back().request.sectors = 1;
  }
  items.push_back(read_item(403, line, 1));
  Bench bench(s, items);
  ASSERT_EQ(bench.engine.run_until(1000000), RunOutcome::quiescent);
  const std::vector<Answer>& a = bench.crossbar.answers;
  const Cycle hit = a[1].answered - a[1].sent;
  constexpr Cycle kAll = 2 + 31 * 2;
  EXPECT_EQ(a[2].answered - a[2].sent, hit + kAll + 10);
  EXPECT_EQ(a[3].answered - a[2].answered, kAll);
  EXPECT_EQ(a[4].answered - a[3].answered, kAll);
  EXPECT_EQ(a[5].answered - a[5].sent, hit);
}

}  // namespace l2_partitions_test
}  // namespace warpline::test
