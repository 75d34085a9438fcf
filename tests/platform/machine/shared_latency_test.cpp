#include <gtest/gtest.h>

#include <sstream>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace shared_latency_test {

/// Cycles in which one warp does `loads` loads of shared memory, each of which waits for the address that the
/// one before it reads: lane n goes round at n times `stride` bytes.
Cycle chain(unsigned loads, unsigned stride, const std::vector<std::string>& overrides, const char* type) {
  std::ostringstream module;
  module << ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>; .reg "
            ".b64 %rd<4>;\n"
            ".shared .align 8 .b8 words[8192];\n"
            "mov.u32 %r2, words;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r1, %r1, "
         << stride << ", %r2;\nst.shared.u32 [%r1], %r1;\nst.shared.u32 [%r1+4], %r1;\n";
  // The upper word of 64 bits is dropped: both are the address.
  for (unsigned n = 0; n < loads; ++n)
    module << (type == std::string("u64") ? "ld.shared.u64 %rd1, [%r1];\ncvt.u32.u64 %r1, %rd1;\n"
                                          : "ld.shared.u32 %r1, [%r1];\n");
  module << "ret;\n}\n";
  std::vector<std::string> all = overrides;
  all.push_back({"sm.fetch_instructions=false"});
  PtxRun run(module.str(), "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n", all);
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  return run.gpu().now();
}

/// Of one load of the chain.
double latency(unsigned stride, const std::vector<std::string>& overrides = {}) {
  return static_cast<double>(chain(300, stride, overrides, "u32") - chain(100, stride, overrides, "u32")) /
         200;
}

TEST(SharedLatency, IsThatOfTheKeyFromLoadToLoad) {
  EXPECT_EQ(latency(4), preset("mini").sm.shared_latency);
  EXPECT_EQ(latency(4, {{"sm.issue_latency=10"}, {"sm.writeback_latency=6"}, {"sm.shared_latency=19"}}), 19);
}

TEST(SharedLatency, EachFurtherWayOfAConflictCostsWhatTheKeySays) {
  const double alone = latency(4);
  EXPECT_EQ(latency(8), alone + 2);
  EXPECT_EQ(latency(128), alone + 2 * 31);
  EXPECT_EQ(latency(128, {{"sm.shared_pass_cycles=1"}}), alone + 31);
}

TEST(SharedLatency, PresetsSayWhatWasMeasured) {
  EXPECT_EQ(preset("v100").sm.shared_latency, 19U);
  EXPECT_EQ(preset("a100").sm.shared_latency, 23U);
}

TEST(SharedLatency, PartsOfAWarpAreNoConflict) {
  // 64 bits a lane are two parts of 128 bytes.
  const auto wide = [](const char* cycles) {
    const std::vector<std::string> overrides = {{std::string("sm.shared_pass_cycles=") + cycles}};
    return chain(300, 8, overrides, "u64") -
           chain(100, 8, overrides, "u64");  // the stores before do conflict
  };
  EXPECT_EQ(wide("1"), wide("7"));
}

}  // namespace shared_latency_test
}  // namespace warpline::test
