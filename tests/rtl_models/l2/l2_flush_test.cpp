// R11: a release of system scope waits until what was written over the link has arrived, wherever that is.
#include "tests/rtl_models/l2/slice_bench.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace l2_flush_test {

/// Lines that the slice has sent reads of no byte to, in the order in which it did.
std::vector<std::uint64_t> flushed(const Bench& bench) {
  std::vector<std::uint64_t> lines;
  for (const FlatMemory::Seen& s : bench.pcie.seen)
    if (s.command == Command::read && s.sectors == 0) lines.push_back(s.line.value);
  return lines;
}

TEST(L2Flush, AReleaseFlushesEachMemoryThatWasWrittenSinceTheLastOne) {
  const std::uint8_t release = maintenance::kDrain | maintenance::kWriteBackSysmem;
  const PhysicalAddress peer = physical(Aperture::peer, 256), sysmem = line_at(3, true);
  ByteMask some;
  some.set(0, 4);
  Item through = write_item(0, sysmem, some, 9);
  through.request.cache_operator = CacheOperator::wt;
  const std::vector<Item> items = {maintain_item(0, release),
                                   write_item(0, peer, some, 9),
                                   maintain_item(100, maintenance::kDiscardSysmem),
                                   maintain_item(200, release),
                                   through,
                                   write_item(300, peer, some, 9),
                                   maintain_item(400, release),
                                   maintain_item(400, release),
                                   write_item(600, line_at(0, false), some, 9),
                                   read_item(600, peer, 1),
                                   maintain_item(700, release)};
  Shape s;
  s.delay = FlatMemory::fixed(50);
  Bench bench(s, items);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(flushed(bench), (std::vector<std::uint64_t>{peer.value, sysmem.value, peer.value}));
  const auto& answers = bench.crossbar.answers;
  EXPECT_LT(answers[0].answered, 10U) << "nothing was written";
  EXPECT_LT(answers[2].answered, 110U) << "an acquire waits for no write";
  EXPECT_GT(answers[3].answered, 250U);
  EXPECT_GT(answers[6].answered, 450U);
  EXPECT_GE(answers[7].answered, answers[6].answered) << "the flush under way is another's, too";
  EXPECT_LT(answers[10].answered, 710U);
}

AtomicBlock add_to_a_word() {
  AtomicBlock add;
  add.operation = AtomicOperation::add;
  add.type = DataType::u32;
  add.count = 1;
  add.lanes[0] = {};
  return add;
}

TEST(L2Flush, AtomicsAreFlushedOnlyWhereTheyEndInPostedWrites) {
  for (const bool posted : {false, true}) {
    Bench bench({}, {atomic_item(0, line_at(1, true), add_to_a_word()),
                     maintain_item(100, maintenance::kDrain | maintenance::kWriteBackSysmem)});
    bench.slice.set_posted_atomics(posted);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    EXPECT_EQ(flushed(bench).size(), posted ? 1U : 0U);
  }
}

constexpr std::uint8_t kRelease = maintenance::kDrain | maintenance::kWriteBackSysmem;
constexpr std::uint64_t kBlock = WrittenDestinations::kBlockBytes;

ByteMask first_word() {
  ByteMask mask;
  mask.set(0, 4);
  return mask;
}

TEST(L2Flush, AReleaseReadsFromEachBlockOfPeersThatWasWritten) {
  const PhysicalAddress a = physical(Aperture::peer, 5 * kBlock + 256),
                        b = physical(Aperture::peer, 9 * kBlock);
  const PhysicalAddress again = physical(Aperture::peer, 5 * kBlock + 1024);
  Shape s;
  s.delay = FlatMemory::fixed(50);
  Bench bench(s, {write_item(0, a, first_word(), 1), write_item(1, b, first_word(), 2),
                  write_item(2, again, first_word(), 3), maintain_item(100, kRelease)});
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(flushed(bench), (std::vector<std::uint64_t>{a.value, b.value}));
}

TEST(L2Flush, ABlockThatIsForgottenIsFlushedAtOnce) {
  std::vector<Item> items;
  const auto line = [](std::uint64_t n) { return physical(Aperture::peer, n * kBlock); };
  for (unsigned n = 0; n <= WrittenDestinations::kBlocks; ++n)
    items.push_back(write_item(10 * n, line(n), first_word(), 1));
  Shape s;
  s.delay = FlatMemory::fixed(50);
  Bench bench(s, items);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(flushed(bench), (std::vector<std::uint64_t>{line(0).value}));
}

/// The posted write that an atomic ends in leaves when what it read is here. Its maker releases after that,
/// others whenever they do.
TEST(L2Flush, AnothersReleaseDuringAnAtomicDoesNotStandForTheOneBehindIt) {
  const PhysicalAddress peer = physical(Aperture::peer, 256);
  for (const PhysicalAddress line : {peer, line_at(3, true)}) {
    Shape s;
    s.delay = FlatMemory::fixed(50);
    Bench bench(s, {atomic_item(0, line, add_to_a_word()), maintain_item(10, kRelease),
                    maintain_item(200, kRelease)});
    bench.slice.set_posted_atomics(true);
    ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
    ASSERT_EQ(flushed(bench), std::vector<std::uint64_t>{line.value});
    EXPECT_GT(bench.pcie.seen.back().at, bench.crossbar.answers[0].answered);
    EXPECT_GT(bench.crossbar.answers[2].answered, bench.pcie.seen.back().answered);
  }
}

TEST(L2Flush, AnAtomicWhoseBlockIsForgottenBeforeItsAnswerIsFlushed) {
  const auto line = [](std::uint64_t n) { return physical(Aperture::peer, n * kBlock); };
  std::vector<Item> items = {atomic_item(0, line(100), add_to_a_word())};
  for (unsigned n = 0; n < WrittenDestinations::kBlocks; ++n)
    items.push_back(write_item(1 + n, line(n), first_word(), 1));
  items.push_back(maintain_item(1000, kRelease));
  Shape s;
  s.delay = FlatMemory::fixed(300);
  Bench bench(s, items);
  bench.slice.set_posted_atomics(true);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_LT(bench.crossbar.answers[0].answered, 1000U);
  bool followed = false;
  for (const FlatMemory::Seen& f : bench.pcie.seen)
    followed = followed || (f.command == Command::read && f.line == line(100) &&
                            f.at > bench.crossbar.answers[0].answered &&
                            f.answered < bench.crossbar.answers.back().answered);
  EXPECT_TRUE(followed);
}

TEST(L2Flush, WhereAllPeerMemoryIsOneDevicesOneReadFollowsTheWrites) {
  const auto line = [](std::uint64_t n) { return physical(Aperture::peer, n * kBlock); };
  std::vector<Item> items;
  for (unsigned n = 0; n < 4 * WrittenDestinations::kBlocks; ++n)
    items.push_back(write_item(10 * n, line(n), first_word(), 1));
  items.push_back(write_item(900, line_at(3, true), first_word(), 1));
  items.back().request.cache_operator = CacheOperator::wt;
  items.push_back(maintain_item(1000, kRelease));
  Bench bench({}, items);
  bench.slice.set_peer_block(std::uint64_t{1} << kApertureShift);
  ASSERT_EQ(bench.engine.run_until(100000), RunOutcome::quiescent);
  EXPECT_EQ(flushed(bench), (std::vector<std::uint64_t>{line_at(3, true).value, line(0).value}));
}

/// Whether each release is answered after a flush of every destination written before it, sent after the last
/// write there.
void check_flushes(const std::vector<Item>& items, const Bench& bench) {
  const auto block = [](PhysicalAddress line) {
    return aperture_of(line) == Aperture::peer ? line.value / kBlock : 0;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].request.command != Command::maintain) continue;
    std::map<std::uint64_t, std::size_t> last;  // by destination: the last write before it
    for (std::size_t w = 0; w < i; ++w)
      if (items[w].request.command == Command::write) last[block(items[w].request.line)] = w;
    for (const auto& [destination, write] : last) {
      bool written = false, arrived = false;
      for (const FlatMemory::Seen& s : bench.pcie.seen) {
        if (block(s.line) != destination) continue;
        written = written || (s.command == Command::write && s.id == write);
        arrived = arrived || (written && s.command == Command::read && s.sectors == 0 &&
                              s.answered < bench.crossbar.answers[i].answered);
      }
      ASSERT_TRUE(arrived) << "release " << i << " does not wait for destination " << destination;
    }
  }
}

TEST(L2Flush, RandomWritesToManyDevicesHaveArrivedWhenAReleaseIsDone) {
  for (std::uint64_t seed = 1; seed <= everyday(60) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 977);
    const std::uint64_t blocks = 1 + random.below(24);
    std::vector<Item> items;
    Cycle at = 0;
    for (unsigned i = 0; i < 300; ++i) {
      at += random.below(4) == 0 ? random.below(60) : 0;
      if (random.below(12) == 0) {
        items.push_back(maintain_item(at, kRelease));
        continue;
      }
      const bool sysmem = random.below(8) == 0;
      const std::uint64_t offset = random.below(blocks) * kBlock + random.below(32) * kLineBytes;
      items.push_back(write_item(at, physical(sysmem ? Aperture::sysmem : Aperture::peer, offset),
                                 first_word(), static_cast<std::uint8_t>(i)));
      items.back().request.scope = Scope::sys;
    }
    Shape s;
    s.channel = {32, static_cast<unsigned>(1 + random.below(3)), static_cast<unsigned>(1 + random.below(4)),
                 1};
    s.delay = FlatMemory::random_delay(seed, 1 + random.below(200));
    s.memory_gap = 1 + random.below(4);
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      Bench bench(s, items, mode);
      ASSERT_EQ(bench.engine.run_until(10000000), RunOutcome::quiescent);
      check_flushes(items, bench);
      EXPECT_EQ(bench.engine.pool().in_use(), 0U);
    }
  }
}

}  // namespace l2_flush_test
}  // namespace warpline::test
