#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "rtl_models/base/random.h"
#include "rtl_models/base/state_archive.h"
#include "rtl_models/sim/run_outcome.h"
#include "tests/platform/nvme/nvme_bench.h"

namespace warpline {
namespace nvme_accidents_test {

using namespace regs::nvme;
using test::Cqe;
using test::nvme_parameters;
using test::NvmeBench;
using test::Sqe;

/// Works as if it were new.
void expect_sound(NvmeBench& bench) {
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(8192);
  put_number(m.bytes, 8, 0x1234'5678'9ABC'DEF0);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWrite, 7, 1, m)).code, 0U);
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 7, 1, m, 4096)).code, 0U);
  EXPECT_EQ(number_at(m.bytes + 4096, 8), 0x1234'5678'9ABC'DEF0U);
}

/// Commands of all sizes are under way.
void flood(NvmeBench& bench, Random& random, const NvmeBench::Memory& m) {
  for (unsigned i = 0; i < 12; ++i) {
    const unsigned opcode = random.below(2) == 0 ? kNvmOpcodeRead : kNvmOpcodeWrite;
    const auto count = 1 + static_cast<unsigned>(random.below(64));
    bench.submit(1, bench.blocks(opcode, random.below(1024), count, m), false);
  }
  bench.ring(1);
  for (int i = 0; i < 2; ++i) bench.submit(0, {kAdminOpcodeAsyncEventRequest});
}

TEST(NvmeAccidents, ResetsAtAnyMomentLeaveItSound) {
  for (const bool loose : {false, true}) {
    NvmeBench bench(nvme_parameters(), loose);
    Random random(5);
    const NvmeBench::Memory m = bench.share(65536);
    for (unsigned round = 0; round < 16; ++round) {
      SCOPED_TRACE(round);
      bench.start();
      ASSERT_EQ(bench.create(1).code, 0U);
      flood(bench, random, m);
      bench.host.pass(1 + random.below(4000));
      if (round % 4 == 3) {
        bench.system.hot_reset(0);
        bench.host.enumerate();
      } else if (round % 4 == 2) {
        bench.system.set_present(0, false);
        bench.host.pass(100);
        EXPECT_EQ(bench.read(0x1C), 0xFFFF'FFFFU);
        bench.system.set_present(0, true);
        bench.host.enumerate();
      }
      bench.bar = bench.host.devices()[0].bars[NvmeCore::kRegisterBar].address;
      if (round % 4 == 2 || round % 4 == 3) continue;
      bench.write(0x14, 0);
      bench.wait_ready(false);
      EXPECT_FALSE(bench.core().busy());
    }
    if (!::testing::Test::HasFailure()) bench.host.pass(100'000);
  }
}

/// A completion that gives an entry back lets a driver use it at once.
TEST(NvmeAccidents, EntriesAreGivenBackWhenTheyHaveBeenRead) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  ASSERT_EQ(bench.set_feature(kFeatureWriteCache, 0).code, 0U);
  for (unsigned gap = 0; gap < 450; gap += 3) {
    const unsigned first = bench.submit(1, {kNvmOpcodeFlush, 1});
    bench.host.pass(gap);
    NvmeBench::Queue& queue = bench.queues[1];
    std::uint8_t* const entry = queue.submissions.bytes + 64 * queue.tail;
    const unsigned second = bench.submit(1, {kNvmOpcodeFlush, 1});
    Cqe done;
    for (int i = 0; i < 3000 && !done.came; ++i) {
      done = bench.poll(1);
      if (!done.came) bench.host.pass(1);
    }
    ASSERT_EQ(done.id, first);
    if (done.head == queue.tail) put_number(entry + 2, 2, 0xBAD);
    ASSERT_EQ(bench.wait(1).id, second) << "after " << gap << " cycles";
  }
}

TEST(NvmeAccidents, AnUnreadableQueueIsFatalUntilAReset) {
  NvmeBench bench;
  bench.start();
  EXPECT_EQ(bench.run(0, {kAdminOpcodeCreateCq, 0, bench.share(4096).bus, 0, 7U << 16U | 1U, 1}).code, 0U);
  EXPECT_EQ(
      bench.run(0, {kAdminOpcodeCreateSq, 0, std::uint64_t{1} << 60U, 0, 7U << 16U | 1U, 1U << 16U | 1U})
          .code,
      0U);
  bench.write(0x1008, 1);
  bench.host.pass(10'000);
  EXPECT_EQ(bench.read(0x1C), 3U);
  bench.submit(0, {kAdminOpcodeAbort});
  EXPECT_FALSE(bench.wait(0, 50).came);
  expect_sound(bench);
}

/// The next one of the queue could be read.
TEST(NvmeAccidents, NothingIsFetchedBehindAnUnreadableEntry) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.commands = 1;
  p.nvme.queue_entries = 128;
  NvmeBench bench(p);
  bench.start();
  constexpr unsigned kEntries = 65;  // the last one lies in another page
  const NvmeBench::Memory list = bench.share(4096), m = bench.share(4096);
  bench.queues[1] = bench.new_queue(kEntries);
  constexpr std::uint32_t kShape = (kEntries - 1) << 16U | 1U;
  ASSERT_EQ(bench.run(0, {kAdminOpcodeCreateCq, 0, bench.queues[1].completions.bus, 0, kShape, 1}).code, 0U);
  put_number(list.bytes, 8, bench.queues[1].submissions.bus);
  put_number(list.bytes + 8, 8, std::uint64_t{1} << 60U);
  ASSERT_EQ(bench.run(0, {kAdminOpcodeCreateSq, 0, list.bus, 0, kShape, 1U << 16U}).code, 0U);
  for (unsigned i = 0; i < kEntries - 1; ++i)
    ASSERT_EQ(bench.run(1, bench.blocks(kNvmOpcodeRead, 0, 1, m)).code, 0U);
  bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 1, m), false);
  bench.submit(1, bench.blocks(kNvmOpcodeWrite, 5, 1, m), false);
  bench.ring(1);
  bench.host.pass(100'000);
  EXPECT_EQ(bench.read(0x1C), 3U);
  EXPECT_EQ(bench.core().counters().writes, 0U);
  EXPECT_EQ(bench.core().queues().submissions[1].fetched, kEntries);
  expect_sound(bench);
}

/// Two drives whose commands, refused ones of Identify, have data in the other's doorbells: each makes the
/// other go on, for ever.
TEST(NvmeAccidents, DrivesThatRingEachOthersDoorbellsLetOthersGoOn) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.count = 2;
  NvmeBench bench(p, true);
  HostMachine& host = bench.host;
  ASSERT_TRUE(host.open_bar(0, 1, 0));
  ASSERT_TRUE(host.open_bar(1, 0, 0));
  std::array<std::uint64_t, 2> bar{}, bus{};
  std::array<std::uint8_t*, 2> memory{};
  for (unsigned d = 0; d < 2; ++d) {
    bar[d] = host.devices()[d].bars[0].address;
    memory[d] = static_cast<std::uint8_t*>(host.allocate(16384, 4096));
    std::memset(memory[d], 0, 16384);
    bus[d] = host.map_dma(d, memory[d], 16384, WL_DMA_BOTH).value();
    host.store(bar[d] + 0x24, 4, 15U << 16U | 7U);
    host.store(bar[d] + 0x28, 8, bus[d]);
    host.store(bar[d] + 0x30, 8, bus[d] + 4096);
    host.store(bar[d] + 0x14, 4, 0x46'0001);
    ASSERT_EQ(host.load(bar[d] + 0x1C, 4), 1U);
  }
  // Get Log Page of the commands supported gives a 1, a 3, a 7 or a 0, by its offset.
  const auto offset_of = [](unsigned value) {
    return value == 1 ? 0U : value == 3 ? 1024U + 4U : value == 7 ? 4U * 0x80U : 4U * 3U;
  };
  const auto put = [&](unsigned d, unsigned slot, std::uint64_t to, unsigned value) {
    std::uint8_t* const at = memory[d] + 64 * slot;
    at[0] = kAdminOpcodeGetLogPage;
    put_number(at + 2, 2, slot);
    put_number(at + 4, 4, 0xFFFF'FFFF);
    put_number(at + 24, 8, to);
    put_number(at + 40, 4, kLogPageCommands | 1U << 15U);
    put_number(at + 48, 4, offset_of(value));
  };
  struct Write {
    unsigned slot = 0, value = 0;
  };
  const std::array<std::array<Write, 4>, 2> tails = {
      {{{{0, 1}, {2, 3}, {6, 7}, {7, 0}}}, {{{0, 3}, {2, 7}, {6, 0}, {7, 1}}}}};
  for (unsigned d = 0; d < 2; ++d) {
    const std::uint64_t tail = bar[1 - d] + 0x1000, head = bar[1 - d] + 0x1004;
    for (unsigned slot = 0; slot < 8; ++slot) put(d, slot, bus[d] + 8192, 1);
    for (const Write& w : tails[d]) put(d, w.slot, tail, w.value);
    for (const Write& w : {Write{1, 1}, Write{3, 3}, Write{4, 7}}) put(d, w.slot, head, w.value);
  }
  host.store(bar[0] + 0x1000, 4, 1);
  host.pass(1'000'000);
  const auto commands = [&](unsigned d) { return bench.system.nvme(d).core().counters().admin_commands; };
  const std::uint64_t before = commands(0) + commands(1);
  EXPECT_GT(before, 1000U) << "they do ring";
  host.pass(1'000'000);
  EXPECT_GT(commands(0) + commands(1), before);
  host.store(bar[0] + 0x14, 4, 0);
  host.store(bar[1] + 0x14, 4, 0);
  host.pass(1000);
  EXPECT_EQ(host.load(bar[0] + 0x1C, 4) | host.load(bar[1] + 0x1C, 4), 0U);
}

/// Garbage in every field that software can write: nothing hangs, nothing outside its memory is touched, and
/// a reset brings it back.
TEST(NvmeAccidents, GarbageHarmsNobody) {
  for (const bool loose : {false, true}) {
    PcieSystemParameters p = nvme_parameters();
    p.nvme.buffer_bytes = 65536;
    NvmeBench bench(p, loose);
    Random random(loose ? 71 : 72);
    const NvmeBench::Memory m = bench.share(65536);
    const auto address = [&] {
      switch (random.below(8)) {
        case 0: return random.next();
        case 1: return (std::uint64_t{1} << 50U) + random.below(70'000);
        case 2: return ~std::uint64_t{0} - random.below(5000);
        default: return m.bus + random.below(66'000) / (1U << random.below(12)) * (1U << random.below(12));
      }
    };
    for (unsigned round = 0; round < 8; ++round) {
      bench.write(0x50, (std::uint64_t{1} << 50U) | 3, 8);
      bench.start(8);
      const Cqe made = bench.create(1);
      ASSERT_TRUE(made.came && made.code == 0) << "round " << round << ", status " << made.code;
      for (unsigned i = 0; i < 65536; i += 8)
        put_number(m.bytes + i, 8,
                   random.below(3) == 0 ? random.next() : (address() & ~std::uint64_t{0xFFF}));
      for (unsigned i = 0; i < 60; ++i) {
        Sqe c;
        c.opcode = static_cast<unsigned>(random.below(4) == 0 ? random.below(256) : random.below(14));
        c.nsid = random.below(3) == 0 ? static_cast<std::uint32_t>(random.next())
                                      : static_cast<std::uint32_t>(random.below(3));
        c.data1 = address();
        c.data2 = random.below(2) == 0
                      ? address()
                      : random.below(70'000) | random.below(4) << 60U | random.below(2) << 56U;
        c.dword10 = random.below(2) == 0
                        ? static_cast<std::uint32_t>(random.below(9) << 16U | random.below(9))
                        : static_cast<std::uint32_t>(random.next());
        c.dword11 = random.below(2) == 0
                        ? static_cast<std::uint32_t>(random.below(3) << 16U | random.below(4))
                        : static_cast<std::uint32_t>(random.next());
        if (c.opcode < 3 || random.below(2) == 0) c.dword11 &= 0x1'0003U;
        c.dword12 = static_cast<std::uint32_t>(random.below(2) == 0 ? random.below(300) : random.next());
        c.flags = static_cast<unsigned>(random.below(3) == 0 ? random.below(256) : random.below(2) << 6U);
        const unsigned queue = static_cast<unsigned>(random.below(2));
        if (queue == 1 && random.below(2) == 0) {
          // One that is nearly right.
          c.opcode = static_cast<unsigned>(random.below(6));
          c.nsid = 1;
          c.dword10 = static_cast<std::uint32_t>(random.below(2048));
          c.dword11 = c.flags = 0;
          c.data1 = m.bus + 4 * random.below(4096);
          c.dword12 &= 31U;
        }
        bench.submit(queue, c);
        if (random.below(40) == 0) bench.write(random.below(0x1300), random.next(), 4U << random.below(2));
        if (random.below(40) == 0) bench.write(0x1000 + 4 * random.below(140), random.below(70));
        if (random.below(3) != 0) bench.host.pass(random.below(3000));
        for (unsigned q = 0; q < 2; ++q)
          while (bench.poll(q).came) {
          }
      }
      bench.host.pass(20'000);
    }
    // Rules of the IOMMU and a reset of the bus put an end to whatever it was told to do.
    bench.write(0x14, 0);
    bench.host.pass(100'000);
    bench.write(0x50, 0, 8);
    for (std::uint32_t nsid = 1; nsid <= 2; ++nsid) bench.core().space(nsid).set_format(0);
    const NvmeCounters& c = bench.core().counters();
    EXPECT_GT(c.failed_commands, 100U);
    EXPECT_GT(c.admin_commands + c.reads + c.writes + c.compares + c.other_commands - c.failed_commands, 50U);
    expect_sound(bench);
  }
}

TEST(NvmeAccidents, CommandsThatNeverCompleteLeaveTheMachineAtRest) {
  PcieSystemParameters p = nvme_parameters();
  p.nvme.timeouts = 1'000'000;
  NvmeBench bench(p);
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  bench.submit(1, {kNvmOpcodeFlush, 1});
  bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  bench.host.pass(50'000);
  EXPECT_FALSE(bench.poll(1).came);
  EXPECT_TRUE(bench.engine.quiescent());
}

TEST(NvmeState, GoesOnAsItWasSaved) {
  NvmeBench first, second;
  first.start();
  const NvmeBench::Memory list = first.share(4096);
  ASSERT_EQ(first.create_scattered(1, 64, list).code, 0U);
  ASSERT_EQ(first.create_scattered(2, 64, list).code, 0U);
  const NvmeBench::Memory m = first.share(4096);
  put_number(m.bytes, 8, 77);
  EXPECT_EQ(first.run(1, first.blocks(kNvmOpcodeWrite, 3, 1, m)).code, 0U);
  EXPECT_EQ(first.set_feature(kFeatureAsyncEvents, 0x100).code, 0U);
  first.submit(0, {kAdminOpcodeAsyncEventRequest});
  first.host.pass(10'000);
  for (Engine* const engine : {&first.engine, &second.engine})
    while (engine->next_tick() != kNever) engine->run_until(engine->next_tick() + 1);
  std::string saved;
  StateArchive out(saved);
  first.engine.archive(out);
  StateArchive in{std::string_view(saved)};
  // Its memory, and its disk's, are restored by whoever owns them.
  std::memcpy(second.memory.at(0), first.memory.at(0), first.memory.size());
  std::memcpy(second.core().space(1).store().memory()->at(0), first.core().space(1).store().memory()->at(0),
              1U << 20U);
  second.engine.archive(in);
  EXPECT_TRUE(in.ended());
  second.system.nvme(0).set_active(2, false, second.engine.now() + 1);
  EXPECT_EQ(second.engine.run_until(second.engine.now() + 20'000), RunOutcome::quiescent);
  EXPECT_EQ(second.core().counters().events, 1U) << "the request that waited";
  EXPECT_EQ(second.core().queues().submissions[1].entries, 64U);
  EXPECT_EQ(second.core().queues().submissions[2].place.pages,
            first.core().queues().submissions[2].place.pages);
  EXPECT_EQ(second.core().counters().writes, 1U);
}

/// A saved state that somebody damaged is refused, or is one that may be.
TEST(NvmeAccidents, DamagedStatesHarmNobody) {
  NvmeBench bench(nvme_parameters(), true);
  bench.start();
  const NvmeBench::Memory m = bench.share(65536);
  ASSERT_EQ(bench.create_scattered(1, 16, m).code, 0U);
  NvmeFaultRule rule;
  rule.fault = NvmeFault::timeout;
  rule.count = 1;
  ASSERT_TRUE(bench.core().inject(rule));
  bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 1, m));
  bench.submit(0, {kAdminOpcodeAsyncEventRequest});
  bench.host.pass(100'000);
  bench.system.nvme(0).set_active(2, false, bench.host.now() + 1);
  bench.host.pass(1000);
  ASSERT_FALSE(bench.core().busy());
  std::string good;
  {
    StateArchive out(good);
    bench.core().archive(out);
  }
  const std::vector<NvmeBench::Queue> queues = bench.queues;
  unsigned refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x81);
    try {
      StateArchive in{std::string_view(bad)};
      bench.core().archive(in);
      bench.queues = queues;
      bench.submit(0, {kAdminOpcodeGetLogPage, 0, m.bus, 0, kLogPageChangedNamespaces | 1023U << 16U});
      bench.submit(1, bench.blocks(kNvmOpcodeRead, 0, 16, m));
      bench.submit(0, {kAdminOpcodeDeleteSq, 0, 0, 0, 1});
      bench.host.pass(20'000);
    } catch (const StateMisfit&) {
      ++refused;
    }
    bench.core().power_on();
    bench.host.pass(1000);
  }
  EXPECT_GT(refused, 50U);
  StateArchive in{std::string_view(good)};
  bench.core().archive(in);
  bench.queues = queues;
  EXPECT_EQ(bench.run(0, {kAdminOpcodeDeleteSq, 0, 0, 0, 1}).code, 0U);
}

}  // namespace nvme_accidents_test
}  // namespace warpline
