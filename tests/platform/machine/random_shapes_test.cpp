#include <gtest/gtest.h>

#include "tests/platform/machine/harness.h"

namespace warpline::test {
namespace random_shapes_test {

TEST(AnyShape, EveryCountFromOneToNineRunsAndReconciles) {
  for (unsigned n = 1; n <= 9; ++n)
    for (unsigned m = 1; m <= 9; m += 2) {
      GpuConfig c = preset("mini");
      c.sms = n;
      c.l2.slices = m;
      c.dram.channels = 10 - n;
      c.l1_lg.geometry.sets = m;
      c.l2.geometry.sets = n;
      GeneratorRun run(c);
      GeneratorParameters p;
      p.kind = "random";
      p.footprint = 100'000;
      p.accesses = 60;
      p.grid = {7, 1, 1};
      p.block = {96, 1, 1};
      ASSERT_EQ(run.launch(p).outcome, RunOutcome::quiescent) << n << " " << m;
      const std::vector<std::string> faults = run.platform().unreconciled();
      ASSERT_TRUE(faults.empty()) << faults.front() << " at " << n << " SMs, " << m << " slices";
      const AllCounters counters(run.platform());
      ASSERT_EQ(counters.total("l1_lg.sector_accesses"), counters.total("lsu.global_sectors"));
    }
}

TEST(AnyShape, AProgramThatDoesNotFitIsRefusedWithTheReason) {
  GpuConfig c = preset("mini");
  c.sm.warp_slots = 4;
  GeneratorRun run(c);
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = 4096;
  p.block = {256, 1, 1};
  const std::unique_ptr<Kernel> kernel = make_generator(p);
  const std::vector<std::string> why = run.platform().refusals(kernel->info());
  ASSERT_EQ(why.size(), 1U);
  EXPECT_NE(why.front().find("8 warps does not fit"), std::string::npos) << why.front();
}

}  // namespace random_shapes_test
}  // namespace warpline::test
