// SASS's cache control as the SM sends it: to which cache, in which order, and what goes past the queue.
#include <gtest/gtest.h>

#include "tests/rtl_models/sm/script.h"

namespace warpline::test {
namespace sm_cctl_test {

Step cctl(CctlOperation operation, CctlTarget target, Space space = Space::generic,
          std::uint64_t address = 0x1000, LaneMask active = ~LaneMask{0}) {
  Step s = memory(MemKind::cache_control, space, DataType::none, strided(address, 0, active));
  s.instruction.mem.cache_operation = operation;
  s.instruction.mem.cache_target = target;
  return s;
}
Step dispatch(InstructionKind kind) {
  Step s;
  s.instruction.kind = kind;
  return s;
}
Step load(Space space, std::uint64_t address) {
  return memory(MemKind::load, space, DataType::b32, strided(address, 0));
}

TEST(SmCctl, ALineOperationNamesEachLineOnce) {
  const std::pair<CctlOperation, LineControl> kRows[] = {
      {CctlOperation::prefetch_l1, LineControl::prefetch_l1},
      {CctlOperation::prefetch_l2, LineControl::prefetch_l2},
      {CctlOperation::write_back, LineControl::write_back},
      {CctlOperation::invalidate, LineControl::invalidate},
      {CctlOperation::reset, LineControl::reset}};
  for (const auto& [operation, control] : kRows)
    for (const bool local : {false, true}) {
      Step s = cctl(operation, CctlTarget::data_line, local ? Space::local : Space::generic);
      s.fill = [local](MemoryAccess& a) {
        a.active = 0x0F;
        for (unsigned lane = 0; lane < 4; ++lane)
          a.address[lane] = local ? lane / 2 * 4 : 0x1004 + lane / 2 * kLineBytes;
      };
      SmBench bench({{s}});
      ASSERT_EQ(bench.run(), RunOutcome::quiescent);
      ASSERT_EQ(bench.l1.seen.size(), 2U);
      for (unsigned i = 0; i < 2; ++i) {
        EXPECT_EQ(bench.l1.seen[i].command, Command::control);
        EXPECT_EQ(bench.l1.seen[i].control, control);
        EXPECT_EQ(bench.l1.seen[i].line.value, (local ? 0x200000U : 0x8000U) + i * kLineBytes);
      }
      EXPECT_EQ(bench.sm.lsu_counters().controls, 2U);
      EXPECT_EQ(bench.sm.lsu_counters().local_requests, 0U);
    }
}

/// A generic address in the local window names a local line, one in the shared window nothing, and what is
/// not mapped is dropped.
TEST(SmCctl, AGenericAddressNamesWhatItsWindowSays) {
  struct Row {
    std::uint64_t address;
    unsigned requests, dropped;
  };
  for (const Row& row : {Row{AddressWindows::kLocalBase, 1, 0}, Row{AddressWindows::kSharedBase, 0, 0},
                         Row{AddressWindows::kLocalBase + 64, 0, 32}, Row{0x7777'0000, 0, 32}}) {
    SmBench bench({{cctl(CctlOperation::invalidate, CctlTarget::data_line, Space::generic, row.address)}});
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    EXPECT_EQ(bench.l1.seen.size(), row.requests);
    EXPECT_EQ(bench.sm.lsu_counters().dropped_controls, row.dropped);
    EXPECT_TRUE(bench.sm.faults().empty());
  }
}

TEST(SmCctl, AllOfAKindIsOneRequestToItsCache) {
  const auto run = [](CctlTarget target) {
    auto bench = std::make_unique<SmBench>(
        std::vector<std::vector<Step>>{{cctl(CctlOperation::invalidate_all, target)}});
    EXPECT_EQ(bench->run(), RunOutcome::quiescent);
    return bench;
  };
  const auto global = run(CctlTarget::global_lines);
  ASSERT_EQ(global->l1.seen.size(), 1U);
  EXPECT_EQ(global->l1.seen[0].maintenance, maintenance::kInvalidate | maintenance::kInvalidateSurfaces);
  const auto local = run(CctlTarget::local_lines);
  ASSERT_EQ(local->l1.seen.size(), 1U);
  EXPECT_EQ(local->l1.seen[0].maintenance, maintenance::kInvalidateLocal);
  const auto constants = run(CctlTarget::indexed_constants);
  EXPECT_TRUE(constants->l1.seen.empty());
  ASSERT_EQ(constants->constant.seen.size(), 1U);
  EXPECT_EQ(constants->constant.seen[0].maintenance, maintenance::kInvalidate);
}

/// Behind what was issued before it and before what is issued after it, and nobody waits for it to be done.
TEST(SmCctl, InvalidationsGoThroughTheQueueInOrderAndHoldNobody) {
  for (const bool constants : {false, true}) {
    const Space space = constants ? Space::constant : Space::global;
    const std::uint64_t address = constants ? 0x30000 : 0x1000;
    SmBench bench({{load(space, address),
                    cctl(CctlOperation::invalidate_all,
                         constants ? CctlTarget::indexed_constants : CctlTarget::global_lines),
                    load(space, address)}},
                  SmBench::fixed(300));
    ASSERT_EQ(bench.run(), RunOutcome::quiescent);
    const auto& seen = constants ? bench.constant.seen : bench.l1.seen;
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].command, Command::read);
    EXPECT_EQ(seen[1].command, Command::maintain);
    EXPECT_EQ(seen[2].command, Command::read);
    EXPECT_LT(seen[2].at, seen[0].answered);
  }
}

/// CCTL.C.IVALL overtakes what waits in the queue.
TEST(SmCctl, DispatchGoesPastTheQueue) {
  std::vector<Step> script;
  // Conflicts in shared memory keep the queue waiting.
  for (unsigned n = 0; n < 4; ++n)
    script.push_back(memory(MemKind::load, Space::shared, DataType::b32, strided(0, 128, 0xFF)));
  script.push_back(load(Space::constant, 0x30000));
  script.push_back(dispatch(InstructionKind::invalidate_constants));
  SmBench bench({script});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.constant.seen.size(), 2U);
  EXPECT_EQ(bench.constant.seen[0].command, Command::maintain);
  EXPECT_EQ(bench.constant.seen[1].command, Command::read);
}

/// It does so while the queue has no room at all.
TEST(SmCctl, DispatchNeedsNoRoomInTheQueue) {
  SmParameters p;
  p.lsu_entries = p.lsu_queue = 1;
  SmBench bench({{load(Space::global, 0x1000), dispatch(InstructionKind::invalidate_constants)}},
                SmBench::fixed(500), p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.constant.seen.size(), 1U);
  EXPECT_LT(bench.constant.seen[0].at, 100U);
}

TEST(SmCctl, LanesThatAreOffControlNothing) {
  SmBench bench({{cctl(CctlOperation::invalidate_all, CctlTarget::global_lines, Space::generic, 0x1000, 0),
                  cctl(CctlOperation::invalidate, CctlTarget::data_line, Space::generic, 0x1000, 0)}});
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  EXPECT_TRUE(bench.l1.seen.empty());
}

/// It goes by the first port, whose answers are slow here, and what is behind it by another one.
TEST(SmCctl, AccessesByOtherPortsOfL1WaitUntilAnInvalidationIsAnswered) {
  SmParameters p;
  p.l1_ports = 2;
  const auto delay = [](const Request& r, std::size_t) {
    return r.command == Command::maintain ? Cycle{400} : Cycle{3};
  };
  SmBench bench({{cctl(CctlOperation::invalidate_all, CctlTarget::global_lines),
                  load(Space::global, 0x10000000), load(Space::global, 0x10000080)}},
                delay, p);
  ASSERT_EQ(bench.run(), RunOutcome::quiescent);
  ASSERT_EQ(bench.l1.seen.size(), 2U);
  ASSERT_EQ(bench.more_l1.size(), 1U);
  ASSERT_EQ(bench.more_l1[0].seen.size(), 1U);
  EXPECT_EQ(bench.l1.seen[0].command, Command::maintain);
  EXPECT_GT(bench.more_l1[0].seen[0].at, bench.l1.seen[0].answered);
}

}  // namespace sm_cctl_test
}  // namespace warpline::test
