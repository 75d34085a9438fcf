// Cooperative grids, special registers of the launch, registers that warps hand to each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace launch_attributes_test {

using testing::HasSubstr;
using testing::IsEmpty;

std::string head(const char* target = "sm_80") {
  return std::string(".version 8.1\n.target ") + target + "\n.address_size 64\n";
}

std::string launch(const std::string& more, const std::string& grid = "1", const std::string& block = "1",
                   const std::string& expect = {}, unsigned count = 16) {
  return "module = \"k.ptx\"\nkernel = \"k\"\n" + more + "grid = [" + grid + "]\nblock = [" + block +
         "]\n[[argument]]\nbuffer = \"out\"\ntype = \"u32\"\ncount = " + std::to_string(count) + "\n" +
         (expect.empty() ? "" : "expect = { expression = \"" + expect + "\" }\n");
}

/// Each block adds 1 to out[0], all meet at a barrier as that of cooperative groups, and each stores what it
/// finds in out[1 + block].
const std::string& meeting() {
  static const std::string kText = head() + R"(
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .pred %p<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %envreg1;
mov.u32 %r2, %envreg2;
mov.b64 %rd2, {%r2, %r1};
setp.eq.u64 %p0, %rd2, 0;
@%p0 trap;
atom.global.add.u32 %r3, [%rd1], 1;
fence.acq_rel.gpu;
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %nctaid.x;
sub.u32 %r6, 0x80000001, %r5;
setp.eq.u32 %p1, %r4, 0;
selp.u32 %r6, %r6, 1, %p1;
atom.add.release.gpu.u32 %r7, [%rd2+4], %r6;
WAIT:
ld.acquire.gpu.u32 %r8, [%rd2+4];
xor.b32 %r8, %r8, %r7;
setp.ge.s32 %p2, %r8, 0;
@%p2 bra WAIT;
ld.relaxed.gpu.global.u32 %r9, [%rd1];
mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd3, %rd3, %rd1;
st.global.u32 [%rd3+4], %r9;
ret;
}
)";
  return kText;
}

TEST(CooperativeGrid, MeetsAtItsBarrier) {
  // The same kernel twice: each grid has a workspace of its own.
  std::string text;
  for (unsigned n = 0; n < 2; ++n)
    text +=
        "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ncooperative = true\ngrid = [12]\nblock = [1]\n"
        "[[launch.argument]]\nbuffer = \"out" +
        std::to_string(n) + "\"\ntype = \"u32\"\ncount = 13\nexpect = { value = 12 }\n";
  PtxRun run(meeting(), text);
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
}

TEST(CooperativeGrid, ThatDoesNotFitAtOnceIsRefused) {
  const GpuConfig mini = preset("mini");
  const std::uint64_t fit = std::uint64_t{mini.sms} * mini.sm.cta_slots;
  const auto refused = [&](std::uint64_t blocks) {
    try {
      const PtxRun run(meeting(), launch("cooperative = true\n", std::to_string(blocks), "1", "", 1024));
    } catch (const std::runtime_error& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(fit), "");
  EXPECT_THAT(refused(fit + 1),
              HasSubstr("all its " + std::to_string(fit + 1) + " blocks are to be resident at once; " +
                        std::to_string(fit) + " fit"));
}

/// Blocks of 512 threads that are resident on an SM at once, as a cooperative grid finds.
std::string resident(const std::string& bounds, const std::string& keys, const std::string& kernel = "ret;") {
  const std::string ptx = head() + ".visible .entry k(.param .u64 out) " + bounds + "\n{\n.reg .b64 %d;\n" +
                          ".reg .b32 %r<90>;\n" + kernel + "\n}\n";
  try {
    const PtxRun run(ptx, launch("cooperative = true\n" + keys, "10000", "512"));
  } catch (const std::runtime_error& fault) {
    const std::string text = fault.what();
    const std::size_t at = text.find(" fit, ");
    return at == std::string::npos ? text : text.substr(at + 6, text.find(" on each") - at - 6);
  }
  return "all";
}

TEST(Registers, LimitTheBlocksThatAreResident) {
  EXPECT_EQ(resident("", ""), "4") << "the SM has 64 slots for warps";
  EXPECT_EQ(resident(".maxnreg 32", ""), "4");
  EXPECT_EQ(resident(".maxnreg 33", ""), "3") << "a warp has registers in units of 256";
  EXPECT_EQ(resident(".maxnreg 40", ""), "3");
  EXPECT_EQ(resident(".maxnreg 48", ""), "2");
  EXPECT_EQ(resident(".maxnreg 255", ""), "1") << "one always is, as most numbers are estimates";
  EXPECT_EQ(resident("", "registers = 64\n"), "2");
  EXPECT_EQ(resident(".maxnreg 255", "registers = 32\n"), "4") << "the assembler's report counts";
  // 60 values that are needed at once, an address and six of the assembler's own.
  std::string body = "ld.param.u64 %d, [out];\n", sum;
  for (int i = 0; i < 60; ++i) {
    const std::string r = "%r" + std::to_string(i);
    body += "ld.volatile.global.u32 " + r + ", [%d];\n";
    sum += "st.volatile.global.u32 [%d], " + r + ";\n";
  }
  EXPECT_EQ(resident("", "", body + sum + "ret;"), "1");
  EXPECT_EQ(resident(".maxntid 512", "", body + sum + "ret;"), "1");
  EXPECT_EQ(resident(".maxntid 512 .minnctapersm 3", "", body + sum + "ret;"), "3");
}

TEST(CooperativeGrid, WithoutTheKeyThereIsNoWorkspace) {
  PtxRun run(meeting(), launch("", "4"));
  ASSERT_EQ(run.gpu().faults().size(), 4U);
  EXPECT_EQ(run.gpu().faults()[0].kind, "trap");
}

TEST(LaunchRegisters, SayWhatTheLaunchIs) {
  const std::string ptx = head("sm_90") + R"(
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 own[100];
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<6>; .reg .b32 %r<16>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, own;
mov.u32 %r1, dynamic;
mov.u32 %r1, %dynamic_smem_size;
st.global.u32 [%rd1], %r1;
mov.u32 %r2, %total_smem_size;
st.global.u32 [%rd1+4], %r2;
mov.u32 %r3, %aggr_smem_size;
st.global.u32 [%rd1+8], %r3;
mov.u32 %r4, %reserved_smem_offset_begin;
st.global.u32 [%rd1+12], %r4;
mov.u32 %r5, %reserved_smem_offset_end;
st.global.u32 [%rd1+16], %r5;
mov.u32 %r6, %reserved_smem_offset_1;
st.shared.u32 [%r6+508], 9;
ld.shared.u32 %r7, [%r6+508];
st.global.u32 [%rd1+20], %r7;
mov.u32 %r8, %envreg7;
st.global.u32 [%rd1+24], %r8;
mov.u64 %rd2, %current_graph_exec;
st.global.u64 [%rd1+32], %rd2;
mov.u32 %r9, %pm3;
st.global.u32 [%rd1+40], %r9;
mov.u32 %r10, %nsmid;
st.global.u32 [%rd1+44], %r10;
mov.u32 %r11, %gridid;
st.global.u32 [%rd1+48], %r11;
ret;
}
)";
  // 100 bytes and 300 behind a multiple of 16 are 412; handed out in units of 128.
  const std::string sms = std::to_string(preset("mini").sms);
  PtxRun run(
      ptx, launch("shared_bytes = 300\n", "1", "1",
                  "i == 0 ? 300 : i == 1 ? 512 : i == 2 ? 1536 : i == 3 ? 512 : i == 4 ? 1536 : i == 5 ? 9 : "
                  "i == 11 ? " +
                      sms + " : i == 12 ? 1 : 0"));
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
}

/// The first four warps give up registers when the others wait for them; who is first to have them says so.
std::string handing_over(unsigned given, const std::string& directive) {
  return head("sm_90a") + ".visible .entry k(.param .u64 out) " + directive + R"(
{
.reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p, %r1, 128;
@%p bra GIVER;
setmaxnreg.inc.sync.aligned.u32 160;
mov.u32 %r2, %clock;
st.global.u32 [%rd1], %r2;
ret;
GIVER:
nanosleep.u32 3000;
mov.u32 %r2, %clock;
st.global.u32 [%rd1+4], %r2;
setmaxnreg.dec.sync.aligned.u32 )" +
         std::to_string(given) + ";\nret;\n}\n";
}

TEST(RegisterReallocation, WaitsUntilOtherWarpsHaveGivenThemUp) {
  // 256 threads begin with 128 each; four warps give up 104, of which four others want 32.
  PtxRun run(handing_over(24, ".maxnreg 128"), launch("", "1", "256"));
  ASSERT_EQ(run.end().outcome, RunOutcome::quiescent);
  std::uint32_t clocks[2] = {};
  run.gpu().read(0x7F0000120000ULL, clocks, sizeof clocks);
  EXPECT_GT(clocks[1], 3000U);
  EXPECT_GT(clocks[0], clocks[1]);
}

TEST(RegisterReallocation, ThatNeverComesIsADeadlockThatSaysWhy) {
  RunOptions options;
  options.max_cycles = 100'000;
  PtxRun run(handing_over(112, ".maxnreg 128"), launch("", "1", "256"), {}, {}, options);
  EXPECT_NE(run.end().outcome, RunOutcome::quiescent);
  std::string all;
  for (const Wait& w : run.end().standstill.waits) all += w.what + "\n";
  EXPECT_THAT(all, HasSubstr("1024 registers that other warps of its block are to give up"));
}

TEST(RegisterReallocation, LimitsTheBlocksOfAnSm) {
  const GpuConfig mini = preset("mini");
  // As many registers as a block of 256 threads with 128 each has: one block on an SM at a time.
  const auto cycles = [&](const std::string& registers) {
    PtxRun run(handing_over(24, ".maxnreg 128"), launch("", std::to_string(2 * mini.sms), "256"),
               {"sm.registers=" + registers});
    EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
    return run.gpu().now();
  };
  EXPECT_GT(cycles("32768"), cycles("65536") + 2000);
  EXPECT_THROW(PtxRun(handing_over(24, ".maxnreg 128"), launch("", "1", "256"), {"sm.registers=16384"}),
               std::runtime_error);
}

}  // namespace launch_attributes_test
}  // namespace warpline::test
