// Variables of modules, and parameters whose address is taken, in memory: where they lie, and that those that
// are not modelled are in nobody's way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace module_variables_test {

using testing::HasSubstr;

/// Kernel good stores whether the large variables lie where they must; kernel other names what is not
/// modelled.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.global .attribute(.managed) .align 4 .u32 managed = 5;
.global .texref texture;
.global .u32 small;
.global .align 8192 .u32 x;
.global .align 1024 .u32 y = 7;
.global .u32 huge[400000000];
.global .u64 pointer = managed;
.visible .entry good(.param .u64 p)
{
.reg .b64 %rd<6>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [p];
mov.u64 %rd2, x;
and.b64 %rd2, %rd2, 8191;
mov.u64 %rd3, y;
and.b64 %rd3, %rd3, 1023;
ld.global.u32 %r1, [y];
cvt.u32.u64 %r2, %rd2;
cvt.u32.u64 %r3, %rd3;
st.global.v2.u32 [%rd1], {%r2, %r3};
st.global.u32 [%rd1+8], %r1;
ret;
}
.visible .entry other(.param .u64 p)
{
.reg .b64 %rd<2>;
mov.u64 %rd1, huge;
st.global.u32 [%rd1], 1;
ret;
}
.visible .entry manage(.param .u64 p)
{
.reg .b64 %rd<3>; .reg .b32 %r<2>;
ld.global.u64 %rd1, [pointer];
ld.global.u32 %r1, [%rd1];
add.u32 %r1, %r1, 2;
st.global.u32 [managed], %r1;
ld.param.u64 %rd2, [p];
st.global.u32 [%rd2+8], 7;
ret;
}
)";
/// Constants by generic addresses: from an initialiser, from `cvta`, of even lanes beside parameters of odd
/// ones. What is stored: the value of each lane, whether isspacep tells where it lies, and the address of
/// `wide`, which is aligned in the generic space, too.
constexpr const char* kConstants = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 first[3] = {1, 2, 3};
.const .align 128 .u32 wide[40] = {10, 11, 12, 13};
.global .u64 pointer = generic(wide)+4;
.global .u64 offset = wide;
.visible .entry k(.param .u64 p, .param .align 4 .b8 q[16])
{
.reg .b64 %rd<12>; .reg .b32 %r<12>; .reg .pred %p<4>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 1;
mul.wide.u32 %rd2, %r1, 12;
add.u64 %rd1, %rd1, %rd2;
setp.ne.u32 %p1, %r2, 0;
shr.u32 %r3, %r1, 1;
and.b32 %r3, %r3, 3;
mul.wide.u32 %rd3, %r3, 4;
mov.u64 %rd4, wide;
cvta.const.u64 %rd5, %rd4;
mov.b64 %rd6, q;
cvta.param.u64 %rd7, %rd6;
selp.b64 %rd8, %rd7, %rd5, %p1;
add.u64 %rd8, %rd8, %rd3;
ld.u32 %r4, [%rd8];
st.global.u32 [%rd1], %r4;
isspacep.const %p2, %rd8;
selp.u32 %r5, 1, 0, %p2;
ld.global.u64 %rd9, [pointer];
ld.u32 %r6, [%rd9];
mad.lo.u32 %r5, %r6, 10, %r5;
cvta.to.const.u64 %rd10, %rd9;
ld.const.u32 %r7, [%rd10+4];
mad.lo.u32 %r5, %r7, 1000, %r5;
st.global.u32 [%rd1+4], %r5;
and.b64 %rd11, %rd5, 127;
cvt.u32.u64 %r8, %rd11;
ld.global.u64 %rd11, [offset];
ld.const.u32 %r9, [%rd11+12];
add.u32 %r8, %r8, %r9;
ld.const.u32 %r10, [wide+8];
mad.lo.u32 %r8, %r10, 100, %r8;
st.global.u32 [%rd1+8], %r8;
ret;
}
.visible .entry store(.param .u64 p, .param .align 4 .b8 q[16])
{
.reg .b64 %rd<3>;
mov.u64 %rd1, wide;
cvta.const.u64 %rd2, %rd1;
st.u32 [%rd2+16], 1;
ret;
}
)";
std::string constants(const std::string& kernel) {
  return "module = \"k.ptx\"\nkernel = \"" + kernel +
         "\"\ngrid = [1]\nblock = [32]\n[[argument]]\nbuffer = \"p\"\ntype = \"u32\"\ncount = 96\n"
         "expect = { expression = \"i % 3 == 0 ? (i / 3 % 2 == 1 ? 20 : 10) + i / 6 % 4 : i % 3 == 1 ? 12110 "
         "+ (i / 3 % 2 == 1 ? 0 : 1) : 1213\" }\n"
         "[[argument]]\nbytes = \"14000000 15000000 16000000 17000000\"\n";
}
std::string launch(const std::string& kernel, const std::string& more = {}) {
  return "module = \"k.ptx\"\nkernel = \"" + kernel +
         "\"\ngrid = [1]\nblock = [1]\n[[argument]]\nbuffer = \"p\"\ntype = \"u32\"\ncount = 3\n"
         "expect = { expression = \"i == 2 ? 7 : 0\" }\n" +
         more;
}

std::string refusal(const std::string& text) {
  try {
    const PtxRun run(kPtx, text);
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
  return {};
}

TEST(ModuleVariables, LieAtTheirAlignmentsBesideThoseThatAreNotModelled) {
  const PtxRun run(kPtx, launch("good"));
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(ModuleVariables, ThatAreNotModelledRefuseWhoNamesThem) {
  EXPECT_THAT(refusal(launch("other")), HasSubstr("kernel \"other\" cannot be run"));
  EXPECT_THAT(refusal(launch("good", "[[symbol]]\nname = \"huge\"\nexpect = { expression = \"0\" }\n")),
              HasSubstr("k.ptx cannot be used: it is too large"));
}

TEST(ModuleVariables, ThatAreManagedAreSetAndCheckedAsOthers) {
  const PtxRun run(kPtx, launch("manage",
                                "[[symbol]]\nname = \"managed\"\ninit = { value = 40 }\n"
                                "expect = { value = 42 }\n"));
  EXPECT_EQ(run.end().checks, 2U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(ModuleVariables, OfConstantMemoryAreReadByGenericAddresses) {
  const PtxRun run(kConstants, constants("k"));
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

// Each lane gets what lies at its own address, whatever the others' lie in.
TEST(ModuleVariables, OfConstantMemoryAreReadBesideGlobalMemory) {
  constexpr const char* kMixed = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 table[16] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115};
.visible .entry k(.param .u64 out, .param .u64 in, .param .align 4 .b8 q[16])
{
.reg .b64 %rd<9>; .reg .b32 %r<3>; .reg .pred %p<3>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd1, %rd1, %rd3;
mov.u64 %rd4, table;
cvta.const.u64 %rd4, %rd4;
mov.b64 %rd5, q;
cvta.param.u64 %rd5, %rd5;
and.b64 %rd6, %rd3, 12;
add.u64 %rd5, %rd5, %rd6;
add.u64 %rd4, %rd4, %rd3;
add.u64 %rd2, %rd2, %rd3;
setp.lt.u32 %p1, %r1, 12;
selp.b64 %rd7, %rd4, %rd2, %p1;
setp.ge.u32 %p2, %r1, 28;
selp.b64 %rd7, %rd5, %rd7, %p2;
ld.u32 %r2, [%rd7];
st.global.u32 [%rd1], %r2;
ret;
}
)";
  const PtxRun run(kMixed,
                   "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n"
                   "[[argument]]\nbuffer = \"p\"\ntype = \"u32\"\ncount = 32\n"
                   "expect = { expression = \"i < 12 ? 100 + i : i < 28 ? 7 + i : 20 + i % 4\" }\n"
                   "[[argument]]\nbuffer = \"in\"\ntype = \"u32\"\ncount = 32\n"
                   "init = { iota = { start = 7, step = 1 } }\n"
                   "[[argument]]\nbytes = \"14000000 15000000 16000000 17000000\"\n");
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(ModuleVariables, OfConstantMemoryAreNotWrittenByGenericAddresses) {
  PtxRun run(kConstants, constants("store"));
  ASSERT_FALSE(run.gpu().faults().empty());
  const FaultRecord fault = run.gpu().faults().front();
  EXPECT_EQ(fault.kind, "unmapped address");
  EXPECT_EQ(fault.memory, "variable wide");
  EXPECT_EQ(fault.offset, 16);
}

/// f(a, k) adds 10 to its own copy of a[0] by a pointer. Where k is 0 it answers that and a[22]; else
/// f(the copy, k - 1) * 100 + its own copy's a[0], which the callee has not changed.
constexpr const char* kStacked = R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) f(.param .align 8 .b8 a[23], .param .b32 k)
{
.reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<2>;
ld.param.u32 %r1, [k];
mov.b64 %rd1, a;
cvta.local.u64 %rd2, %rd1;
ld.u32 %r2, [%rd2];
add.u32 %r2, %r2, 10;
st.u32 [%rd2], %r2;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra last;
sub.u32 %r1, %r1, 1;
{
.param .align 8 .b8 p0[23];
.param .b32 p1;
.param .b32 q;
ld.param.v4.b32 {%r3, %r4, %r5, %r6}, [a];
ld.param.u32 %r7, [a+16];
ld.param.u8 %r8, [a+22];
st.param.v4.b32 [p0], {%r3, %r4, %r5, %r6};
st.param.b32 [p0+16], %r7;
st.param.b8 [p0+22], %r8;
st.param.b32 [p1], %r1;
call.uni (q), f, (p0, p1);
ld.param.b32 %r9, [q];
}
ld.local.u32 %r10, [%rd1];
mad.lo.u32 %r9, %r9, 100, %r10;
st.param.b32 [r], %r9;
ret;
last:
ld.u8 %r11, [%rd2+22];
add.u32 %r2, %r2, %r11;
st.param.b32 [r], %r2;
ret;
}
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<4>; .reg .b32 %r<8>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
{
.param .align 8 .b8 p0[23];
.param .b32 p1;
.param .b32 q;
st.param.b32 [p0], %r1;
st.param.b8 [p0+22], 5;
st.param.b32 [p1], 2;
call.uni (q), f, (p0, p1);
ld.param.b32 %r2, [q];
}
st.global.u32 [%rd1], %r2;
ret;
}
)";

TEST(StackedParameters, AreTheFunctionsOwnInEveryCall) {
  const PtxRun run(kStacked,
                   "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n[[argument]]\nbuffer = "
                   "\"p\"\ntype = \"u32\"\ncount = 32\n"
                   "expect = { expression = \"((i + 35) * 100 + i + 20) * 100 + i + 10\" }\n");
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

/// Addresses of 32 bits as the assembler takes them, and fences that are restricted to shared memory.
constexpr const char* kNarrow = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 32 .reqnctapercluster 2 .blocksareclusters
{
.shared .align 16 .b8 rows[512];
.shared .align 8 .b64 barrier;
.reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 0;
mov.u32 %r2, barrier;
@%p1 bra set;
mbarrier.init.shared.b64 [%r2], 64;
set:
bar.sync 0;
mov.u32 %r3, rows;
mad.lo.u32 %r4, %r1, 4, %r3;
st.shared.u32 [%r4], %r1;
cp.async.mbarrier.arrive.noinc.b64 [%r2];
mbarrier.arrive.shared.b64 _, [%r2];
wait:
mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;
@!%p1 bra wait;
fence.acquire.sync_restrict::shared::cluster.cluster;
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
fence.release.sync_restrict::shared::cta.cluster;
and.b32 %r5, %r1, 7;
mad.lo.u32 %r5, %r5, 16, %r3;
ldmatrix.sync.aligned.m8n8.x1.b16 {%r6}, [%r5];
mov.u32 %r7, %nctaid.x;
mad.lo.u32 %r6, %r7, 1000, %r6;
mov.u32 %r8, %nclusterid.x;
mad.lo.u32 %r6, %r8, 100000, %r6;
ld.param.u64 %rd1, [p];
mov.u32 %r9, %ctaid.x;
mad.lo.u32 %r9, %r9, 32, %r1;
mul.wide.u32 %rd2, %r9, 4;
add.u64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r6;
ret;
}
)";

TEST(NarrowAddresses, ReachSharedMemoryInAGridThatCountsClusters) {
  const PtxRun run(kNarrow,
                   "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [3]\nblock = [32]\n[[argument]]\nbuffer = "
                   "\"p\"\ntype = \"u32\"\ncount = 224\n"
                   "expect = { expression = \"i < 192 ? 306000 + i % 32 : 0\" }\n",
                   {"sm_network.present=true"});
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

}  // namespace module_variables_test
}  // namespace warpline::test
