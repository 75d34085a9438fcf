#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_fault_test {

std::function<void(MemoryAccess&)> one_lane(unsigned lane, std::uint64_t address) {
  return [=](MemoryAccess& a) {
    a.active = LaneMask{1} << lane;
    a.address[lane] = address;
  };
}

struct FaultCase {
  const char* what;
  Step step;
  FaultKind kind;
  unsigned lane;
  std::uint64_t address;
};

TEST(SmFaults, EveryKindLeavesARecordAndEndsTheWarp) {
  constexpr std::uint64_t kLocal = AddressWindows::kLocalBase, kShared = AddressWindows::kSharedBase;
  const MemKind load = MemKind::load, atomic = MemKind::atomic;
  const DataType u32 = DataType::u32;
  const std::vector<FaultCase> cases = {
      {"misaligned", memory(load, Space::global, u32, one_lane(5, 0x1002)), FaultKind::misaligned, 5, 0x1002},
      {"misaligned, strided", memory(load, Space::global, u32, strided(0x1000, 2)), FaultKind::misaligned, 1,
       0x1002},
      {"unmapped", memory(load, Space::global, u32, one_lane(3, 0x3000)), FaultKind::unmapped, 3, 0x3000},
      {"past the end", memory(load, Space::global, u32, strided(0x1FC0, 4)), FaultKind::unmapped, 16, 0x2000},
      {"below, downwards", memory(load, Space::global, u32, strided(0x1010, -4)), FaultKind::unmapped, 5,
       0xFFC},
      {"shared", memory(load, Space::shared, u32, one_lane(1, 1024)), FaultKind::shared_range, 1, 1024},
      {"shared, generic", memory(load, Space::generic, u32, one_lane(1, kShared + 1024)),
       FaultKind::shared_range, 1, kShared + 1024},
      {"local", memory(load, Space::local, u32, one_lane(31, 64)), FaultKind::local_range, 31, 64},
      {"local, generic", memory(load, Space::generic, u32, one_lane(0, kLocal + 64)), FaultKind::local_range,
       0, kLocal + 64},
      {"local, misaligned", memory(load, Space::generic, u32, one_lane(0, kLocal + 1)), FaultKind::misaligned,
       0, kLocal + 1},
      {"atomic on local", memory(atomic, Space::generic, DataType::u64, one_lane(2, kLocal + 8)),
       FaultKind::atomic_local, 2, kLocal + 8},
      {"constant", memory(load, Space::constant, u32, one_lane(0, 18U << 16U)), FaultKind::constant_range, 0,
       18U << 16U},
      {"parameter", memory(load, Space::param, u32, one_lane(0, 18U << 16U)), FaultKind::constant_range, 0,
       18U << 16U},
  };
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(c.what);
    Step bad = c.step;
    if (bad.instruction.mem.kind == atomic) bad.instruction.mem.atomic = AtomicOperation::add;
    SmBench bench({{alu(4), bad, alu(1), alu(200), alu(1)}, {alu(4), alu(4)}});
    bad.instruction.pc = 7;
    bench.scripts[0][1].instruction.pc = 7;
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(bench.sm.faults().size(), 1U);
    const Fault& f = bench.sm.faults()[0].fault;
    EXPECT_EQ(f.kind, c.kind) << name_of(f.kind);
    EXPECT_EQ(f.lane, c.lane);
    EXPECT_EQ(f.address, c.address) << std::hex << f.address;
    EXPECT_EQ(f.slot, 0U);
    EXPECT_EQ(bench.sm.faults()[0].where, "pc 7");
    EXPECT_EQ(bench.sm.lsu_counters().faults, 1U);
    EXPECT_EQ(bench.l1.seen.size() + bench.constant.seen.size(), 0U) << "nothing of the access is performed";
    EXPECT_EQ(bench.sm.counters().warps, 2U) << "the other warp ends as it would";
    EXPECT_TRUE(bench.engine.quiescent());
  }
}

TEST(SmFaults, ABusErrorNamesTheLineOrTheLocalAddress) {
  constexpr std::uint64_t kLocal = AddressWindows::kLocalBase;
  struct Row {
    Space space;
    std::uint64_t address, line, named;
  };
  for (const Row& row : {Row{Space::global, 0x1104, 0x8100, 0x1100}, Row{Space::local, 8, 0x200100, 8},
                         Row{Space::generic, kLocal + 8, 0x200100, kLocal + 8}}) {
    SmBench bench({{memory(MemKind::load, row.space, DataType::u32, one_lane(3, row.address)), alu(1)}});
    bench.l1.broken = physical(Aperture::vidmem, row.line);
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    ASSERT_EQ(bench.sm.faults().size(), 1U);
    const Fault& f = bench.sm.faults()[0].fault;
    EXPECT_EQ(f.kind, FaultKind::bus_error);
    EXPECT_EQ(f.lane, 3U);
    EXPECT_EQ(f.address, row.named) << std::hex << f.address;
  }
}

TEST(SmFaults, ABusErrorIsThatOfTheLaneWhoseLineItWas) {
  const auto lanes = [](MemoryAccess& a) {
    a.active = 1U << 3U | 1U << 7U;
    a.address[3] = 0x1004;
    a.address[7] = 0x1104;
  };
  SmBench bench({{memory(MemKind::load, Space::generic, DataType::u32, lanes), alu(1)}});
  bench.l1.broken = physical(Aperture::vidmem, 0x8100);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.sm.faults().size(), 1U);
  EXPECT_EQ(bench.sm.faults()[0].fault.lane, 7U);
  EXPECT_EQ(bench.sm.faults()[0].fault.address, 0x1100U);
  EXPECT_EQ(bench.sm.faults()[0].fault.space, Space::global);
}

TEST(SmFaults, AFaultWithLoadsInFlightAndABarrierReleasesTheOthers) {
  const Step good = memory(MemKind::load, Space::global, DataType::u32, strided(0x1000, 4), {1});
  const Step bad = memory(MemKind::load, Space::global, DataType::u32, strided(0x3000, 4), {2});
  SmBench bench({{good, good, bad, barrier({0, 0, true})}, {barrier({0, 0, true}), alu(4)}},
                SmBench::fixed(100));
  ASSERT_EQ(bench.run(3), RunOutcome::quiescent);
  EXPECT_EQ(bench.sm.faults().size(), 3U);
  EXPECT_EQ(bench.sm.counters().ctas, 3U);
  EXPECT_NE(bench.log.edge_of(1, 1), ~std::uint64_t{0});
}

TEST(Sm, ADivergedWarpRunsWhatABarrierReleases) {
  // Lanes of warp 0 wait at a barrier while its others are about to issue step 1; the release makes
  // step 2 the next, which is of another kind.
  Step partly = barrier({0, 64, true});
  partly.others_run = true;
  Step later = alu(4, {3});
  const Step load = memory(MemKind::load, Space::global, DataType::u32, strided(0x1000, 4), {1});
  std::vector<Step> diverged = {alu(20, {}, {3}), partly, later, load, alu(4, {1})};
  SmBench bench({diverged, {alu(8, {}, {1}), alu(1, {1}), barrier({0, 64, true}), alu(1)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  for (const Log::Issued& i : bench.log.issued)
    EXPECT_EQ(i.expected, i.executed) << "slot " << i.slot << " step " << i.step;
  EXPECT_EQ(bench.l1.seen.size(), 1U);
}

}  // namespace sm_fault_test
}  // namespace warpline::test
