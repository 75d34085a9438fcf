// `.mmio`: transactions of single lanes; and vector elements that are sinks.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_mmio_test {

Step access(MemKind kind, DataType type, std::function<void(MemoryAccess&)> fill) {
  Step s = ordered(memory(kind, Space::global, type, std::move(fill), {1}), Semantics::relaxed, Scope::sys);
  s.instruction.mem.is_mmio = true;
  return s;
}

TEST(SmMmio, EveryLaneIsATransactionOfItsOwnBytesInLaneOrder) {
  for (const MemKind kind : {MemKind::load, MemKind::store}) {
    // Two lanes of the same word, two of one sector, one of another line.
    SmBench bench({{access(kind, DataType::b16, [](MemoryAccess& a) {
      a.active = 0x8107;
      for (const auto& [lane, address] : std::map<unsigned, std::uint64_t>{
               {0, 0x1004}, {1, 0x1004}, {2, 0x1006}, {8, 0x1100}, {15, 0x1000}}) {
        a.address[lane] = address;
        std::memset(a.lane_data(lane), static_cast<int>(lane + 1), 2);
      }
    })}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const std::vector<std::uint64_t> wanted = {0x8004, 0x8004, 0x8006, 0x8100, 0x8000};
    ASSERT_EQ(bench.l1.seen.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const FlatMemory::Seen& r = bench.l1.seen[i];
      EXPECT_TRUE(r.exact);
      EXPECT_EQ(r.scope, Scope::sys);
      EXPECT_EQ(r.line.value + r.bytes.first(), wanted[i]);
      EXPECT_EQ(r.bytes.count(), 2U);
      // The issue of the next waits for the response of a read, not for that of a write.
      if (i > 0) {
        EXPECT_EQ(r.at > bench.l1.seen[i - 1].answered, kind == MemKind::load) << i;
      }
    }
    EXPECT_EQ(bench.sm.lsu_counters().mmio_transactions, 5U);
    EXPECT_EQ(bench.sm.lsu_counters().global_requests, 5U);
  }
}

TEST(SmMmio, AWarpOfConsecutiveWordsIsNotTakenAsALine) {
  SmBench bench({{access(MemKind::load, DataType::b32, strided(0x1000, 4))}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_EQ(bench.l1.seen.size(), 32U);
}

TEST(SmMmio, EachLaneGetsWhatItsOwnTransactionRead) {
  // A register that counts its reads: every lane must see another value.
  SmBench bench({{access(MemKind::load, DataType::b32, strided(0x1000, 0)), alu(4, {1})}},
                [](const Request& r, std::size_t n) {
                  const_cast<Request&>(r).data[0] = static_cast<std::uint8_t>(n + 1);
                  return Cycle{5};
                });
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    EXPECT_EQ((bench.log.loaded[{0, 0}].data[std::size_t{lane} * MemoryAccess::kMaxLaneBytes]), lane + 1);
}

TEST(SmMmio, ReadsOfTwoWarpsDoNotOverlapEither) {
  const Step step = access(MemKind::load, DataType::b32, [](MemoryAccess& a) {
    a.active = 1;
    a.address[0] = 0x1000;
  });
  SmBench bench({{step}, {step}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.l1.seen.size(), 2U);
  EXPECT_GT(bench.l1.seen[1].at, bench.l1.seen[0].answered);
}

Step vector(MemKind kind, Space space, unsigned elements, unsigned sinks,
            std::function<void(MemoryAccess&)> fill) {
  Step s = memory(kind, space, DataType::b32, std::move(fill), {1});
  s.instruction.mem.vector = static_cast<std::uint8_t>(elements);
  s.instruction.mem.sink_lanes = static_cast<std::uint8_t>(sinks);
  return s;
}

TEST(SmSinks, ALoadDoesNotFaultForThem) {
  for (const unsigned sinks : {0x0U, 0xCU}) {
    // Eight bytes of the mapping are left.
    SmBench bench({{vector(MemKind::load, Space::global, 4, sinks, strided(0x3000 + 0x80, 0))}});
    bench.space.map({0x3000, 0x88, physical(Aperture::vidmem, 0x9000), 0});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.sm.faults().size(), sinks == 0 ? 1U : 0U);
    // And so of shared and of local memory, which end at 1024 and 64 bytes.
    SmBench shared({{vector(MemKind::load, Space::shared, 4, sinks << 1U | 2U, strided(1024 - 16, 0))}});
    ASSERT_EQ(shared.run(), RunOutcome::quiescent);
    EXPECT_TRUE(shared.sm.faults().empty());
  }
}

TEST(SmSinks, ALoadFromTwoBuffersDoesNotFaultForThem) {
  for (const unsigned sinks : {0x0U, 0xCU}) {
    // Eight bytes of either mapping are left, which lanes reach in turns.
    SmBench bench({{vector(MemKind::load, Space::global, 4, sinks, [](MemoryAccess& a) {
      for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        a.address[lane] = (lane % 2 == 0 ? 0x3000 : 0x5000) + 0x80;
      a.active = ~LaneMask{0};
    })}});
    bench.space.map({0x3000, 0x88, physical(Aperture::vidmem, 0x9000), 0});
    bench.space.map({0x5000, 0x88, physical(Aperture::vidmem, 0xA000), 0});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.sm.faults().size(), sinks == 0 ? 1U : 0U);
  }
}

TEST(SmSinks, WordsOfLocalMemoryThatAreSinksAreNotRequested) {
  SmBench bench({{vector(MemKind::load, Space::local, 4, 0x5, strided(16, 0))}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.l1.seen.size(), 2U);
  EXPECT_EQ(bench.l1.seen[0].line.value, 0x200000 + 5 * kLineBytes);
  EXPECT_EQ(bench.l1.seen[1].line.value, 0x200000 + 7 * kLineBytes);
}

TEST(SmSinks, AStoreLeavesTheirBytesAlone) {
  for (const Space space : {Space::global, Space::generic}) {
    SmBench bench({{vector(MemKind::store, space, 8, 0xA5, [](MemoryAccess& a) {
      a.active = 1;
      a.address[0] = 0x1020;
      std::memset(a.lane_data(0), 0x77, 32);
    })}});
    bench.l1.lines[0x8000].fill(0x11);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    for (unsigned b = 0; b < 32; ++b)
      EXPECT_EQ(bench.l1.lines[0x8000][0x20 + b], (0xA5 >> b / 4 & 1) != 0 ? 0x11 : 0x77) << b;
  }
}

TEST(SmSinks, SharedMemoryKeepsTheBytesOfAStoresSinks) {
  const auto at = [](std::uint8_t value) {
    return [value](MemoryAccess& a) {
      a.active = 1;
      a.address[0] = 64;
      std::memset(a.lane_data(0), value, 32);
    };
  };
  SmBench bench({{vector(MemKind::store, Space::shared, 8, 0, at(0x11)),
                  vector(MemKind::store, Space::shared, 8, 0xA5, at(0x77)),
                  vector(MemKind::load, Space::shared, 8, 0, at(0)), alu(4, {1})}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  for (unsigned b = 0; b < 32; ++b)
    EXPECT_EQ((bench.log.loaded[{0, 2}].data[b]), (0xA5 >> b / 4 & 1) != 0 ? 0x11 : 0x77) << b;
}

}  // namespace sm_mmio_test
}  // namespace warpline::test
