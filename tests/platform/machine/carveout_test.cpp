// L1 and shared memory in one storage: what a kernel leaves to L1.
#include "platform/machine/carveout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace carveout_test {

struct Row {
  std::uint32_t shared_bytes;
  unsigned ctas;  ///< that an SM would hold
  std::optional<unsigned> carveout;
  std::uint64_t kib;  ///< wanted
  unsigned fit;       ///< likewise
};

void check(const GpuConfig& config, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    KernelInfo info;
    info.shared_bytes = row.shared_bytes;
    info.carveout = row.carveout;
    const Carveout c = carveout_for(config, info, row.ctas);
    const std::string what = std::to_string(row.ctas) + " CTAs of " + std::to_string(row.shared_bytes) +
                             " bytes, prefers " + (row.carveout ? std::to_string(*row.carveout) : "nothing");
    EXPECT_EQ(c.shared_bytes, row.kib << 10U) << what;
    EXPECT_EQ(c.ctas, row.fit) << what;
  }
}

TEST(Carveout, IsTheLeastThatHoldsAsManyCtas) {
  const std::optional<unsigned> none;
  check(preset("v100"), {{0, 32, none, 0, 32},
                         {1, 32, none, 8, 32},
                         {4096, 8, none, 32, 8},
                         {4100, 8, none, 64, 8},
                         {49152, 2, none, 96, 2}});
  // 1 KiB of each CTA's is the system's.
  check(preset("a100"), {{0, 32, none, 32, 32},
                         {0, 8, none, 8, 8},
                         {0, 1, none, 8, 1},
                         {16384, 10, none, 164, 9},
                         {167936, 1, none, 164, 1}});
  check(preset("h100"), {{0, 32, none, 32, 32}, {33792, 6, none, 228, 6}});
  check(preset("mini"), {{0, 32, none, 0, 32}, {4096, 8, none, 0, 8}});
  check(preset("v100"), {{4096, 0, none, 0, 0}});
}

TEST(Carveout, IsTheLeastThatIsAsMuchAsPreferredAndHoldsACta) {
  check(preset("v100"), {{0, 32, 0, 0, 32},
                         {0, 32, 50, 64, 32},
                         {0, 32, 100, 96, 32},
                         {8192, 12, 0, 8, 1},
                         {8192, 12, 25, 32, 4},
                         {9000, 10, 0, 16, 1}});
  check(preset("a100"), {{0, 32, 0, 8, 8}, {0, 32, 100, 164, 32}});
  // TU102: 96 KiB, of which shared memory has 32 or 64 (tu102 carve0, carve32 and carve64).
  GpuConfig turing = preset("v100");
  turing.l1_lg.carveouts = {32, 64};
  check(turing, {{0, 16, 0, 32, 16}, {0, 16, 32, 32, 16}, {0, 16, 64, 64, 16}, {0, 16, {}, 32, 16}});
}

/// Two rounds of one thread over 24 lines; 4 KiB of storage hold them, 2 KiB do not.
RunEnd two_rounds(const std::string& keys, std::map<std::string, std::uint64_t>& counters) {
  constexpr const char* kModule = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 in)
{
.reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p<2>;
ld.param.u64 %rd1, [in];
mov.u32 %r1, 0;
ROUND:
mov.u64 %rd2, %rd1;
mov.u32 %r2, 0;
NEXT:
ld.global.u32 %r3, [%rd2];
add.u64 %rd2, %rd2, 128;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 24;
@%p1 bra NEXT;
fence.acq_rel.cta;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 2;
@%p1 bra ROUND;
ret;
}
)";
  PtxRun run(kModule,
             "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n" + keys +
                 "[[launch.argument]]\nbuffer = \"a\"\ntype = \"u32\"\ncount = 1024\n",
             {"l1_lg.sets=8", "l1_lg.ways=4", "l1_lg.carveouts=[0, 2]", "sms=1"});
  counters["hits"] = AllCounters(run.gpu()).total("l1_lg.load_sector_hits");
  EXPECT_TRUE(run.gpu().unreconciled().empty());
  return run.end();
}

TEST(Carveout, DecidesWhatL1HoldsOfALaunch) {
  const auto hits = [](const std::string& keys) {
    std::map<std::string, std::uint64_t> counters;
    EXPECT_EQ(two_rounds(keys, counters).outcome, RunOutcome::quiescent);
    return counters["hits"];
  };
  EXPECT_EQ(hits(""), 24U);
  EXPECT_EQ(hits("carveout = 0\n"), 24U);
  EXPECT_EQ(hits("carveout = 100\n"), 0U) << "six lines in each set of four";
  EXPECT_EQ(hits("shared_bytes = 64\n"), 0U);
}

TEST(Carveout, OfALaunchFileIsAPercentageOfAKernelInPtx) {
  std::map<std::string, std::uint64_t> counters;
  for (const char* keys : {"carveout = 101\n", "carveout = -1\n", "carveout = \"max\"\n"})
    EXPECT_THROW(two_rounds(keys, counters), std::runtime_error) << keys;
}

}  // namespace carveout_test
}  // namespace warpline::test
