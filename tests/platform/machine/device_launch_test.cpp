// Grids that kernels launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace device_launch_test {

using testing::HasSubstr;
using testing::IsEmpty;

/// parent adds 1 to each element, and its first thread launches child, which doubles them; `tail` launches
/// one that adds 3 into the tail stream before that. nest launches itself with one less, and counts in out[0]
/// and notes in out[1] the last error. wrong launches a block of `many` threads and stores the last error.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.visible .entry child(.param .u64 out)
{
.reg .b64 %rd<4>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
ld.global.u32 %r2, [%rd1];
shl.b32 %r2, %r2, 1;
st.global.u32 [%rd1], %r2;
ret;
}
.visible .entry after(.param .u64 out)
{
.reg .b64 %rd<4>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd1, %rd1, %rd2;
ld.global.u32 %r2, [%rd1];
add.u32 %r2, %r2, 3;
st.global.u32 [%rd1], %r2;
ret;
}
.func start(.param .b64 kernel, .param .b32 threads, .param .b64 stream, .param .b64 p, .param .b32 n)
{
.reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p;
ld.param.u64 %rd1, [kernel];
ld.param.u32 %r1, [threads];
ld.param.u64 %rd2, [stream];
ld.param.u64 %rd3, [p];
ld.param.u32 %r2, [n];
{
.param .b64 a; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 q;
st.param.b64 [a], %rd1;
st.param.b32 [g], 1;
st.param.b32 [g+4], 1;
st.param.b32 [g+8], 1;
st.param.b32 [b], %r1;
st.param.b32 [b+4], 1;
st.param.b32 [b+8], 1;
st.param.b32 [s], 0;
call.uni (q), __cudaCDP2GetParameterBufferV2, (a, g, b, s);
ld.param.b64 %rd4, [q];
}
setp.eq.u64 %p, %rd4, 0;
@%p bra OUT;
st.u64 [%rd4], %rd3;
st.u32 [%rd4+8], %r2;
{
.param .b64 a; .param .b64 s; .param .b32 q;
st.param.b64 [a], %rd4;
st.param.b64 [s], %rd2;
call.uni (q), __cudaCDP2LaunchDeviceV2, (a, s);
}
OUT:
ret;
}
.visible .entry parent(.param .u64 out, .param .u32 tail)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p, %q;
ld.param.u64 %rd1, [out];
ld.param.u32 %r3, [tail];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd2, %rd1, %rd2;
ld.global.u32 %r2, [%rd2];
add.u32 %r2, %r2, 1;
st.global.u32 [%rd2], %r2;
bar.sync 0;
setp.ne.u32 %p, %r1, 0;
@%p bra OUT;
setp.eq.u32 %q, %r3, 0;
@%q bra FIRST;
mov.u64 %rd3, after;
{
.param .b64 k; .param .b32 t; .param .b64 s; .param .b64 a; .param .b32 n;
st.param.b64 [k], %rd3;
st.param.b32 [t], 64;
st.param.b64 [s], 3;
st.param.b64 [a], %rd1;
st.param.b32 [n], 0;
call.uni start, (k, t, s, a, n);
}
FIRST:
mov.u64 %rd3, child;
{
.param .b64 k; .param .b32 t; .param .b64 s; .param .b64 a; .param .b32 n;
st.param.b64 [k], %rd3;
st.param.b32 [t], 64;
st.param.b64 [s], 0;
st.param.b64 [a], %rd1;
st.param.b32 [n], 0;
call.uni start, (k, t, s, a, n);
}
OUT:
ret;
}
.visible .entry nest(.param .u64 out, .param .u32 left)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [left];
red.global.add.u32 [%rd1], 1;
setp.eq.u32 %p, %r1, 0;
@%p bra OUT;
sub.u32 %r1, %r1, 1;
mov.u64 %rd3, nest;
{
.param .b64 k; .param .b32 t; .param .b64 s; .param .b64 a; .param .b32 n;
st.param.b64 [k], %rd3;
st.param.b32 [t], 1;
st.param.b64 [s], 4;
st.param.b64 [a], %rd1;
st.param.b32 [n], %r1;
call.uni start, (k, t, s, a, n);
}
{
.param .b32 q;
call.uni (q), __cudaCDP2GetLastError;
ld.param.b32 %r2, [q];
}
st.global.u32 [%rd1+4], %r2;
OUT:
ret;
}
.visible .entry wrong(.param .u64 out, .param .u32 many)
{
.reg .b64 %rd<6>; .reg .b32 %r<6>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [many];
mov.u64 %rd3, child;
{
.param .b64 k; .param .b32 t; .param .b64 s; .param .b64 a; .param .b32 n;
st.param.b64 [k], %rd3;
st.param.b32 [t], %r1;
st.param.b64 [s], 0;
st.param.b64 [a], %rd1;
st.param.b32 [n], 0;
call.uni start, (k, t, s, a, n);
}
{
.param .b32 q;
call.uni (q), __cudaCDP2GetLastError;
ld.param.b32 %r2, [q];
}
st.global.u32 [%rd1], %r2;
ret;
}
)";

std::string launch(const std::string& kernel, unsigned threads, unsigned number, const std::string& expect) {
  return "module = \"k.ptx\"\nkernel = \"" + kernel + "\"\ngrid = [1]\nblock = [" + std::to_string(threads) +
         "]\n[[argument]]\nbuffer = \"out\"\ntype = \"u32\"\ncount = 64\ninit = { iota = {} }\n"
         "expect = { expression = \"" +
         expect + "\" }\n[[argument]]\nscalar = " + std::to_string(number) + "\ntype = \"u32\"\n";
}

TEST(DeviceLaunch, RunsBehindItsParentAndSeesWhatThatWrote) {
  PtxRun run(kPtx, launch("parent", 64, 0, "2 * (i + 1)"));
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
}

TEST(DeviceLaunch, OfTheTailStreamComesLast) {
  PtxRun run(kPtx, launch("parent", 64, 1, "2 * (i + 1) + 3"));
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
}

TEST(DeviceLaunch, NestsUpToTheLimit) {
  // 65 is cudaErrorLaunchMaxDepthExceeded.
  PtxRun few(kPtx, launch("nest", 1, 5, "i == 0 ? 6 : i == 1 ? 0 : i"));
  EXPECT_THAT(few.end().failures, IsEmpty());
  PtxRun many(kPtx, launch("nest", 1, 30, "i == 0 ? 24 : i == 1 ? 65 : i"));
  EXPECT_THAT(many.end().failures, IsEmpty());
}

TEST(DeviceLaunch, ThatCannotBeIsToldToTheProgramOrByTheRun) {
  // 9 is cudaErrorInvalidConfiguration.
  PtxRun wrong(kPtx, launch("wrong", 1, 1025, "i == 0 ? 9 : i"));
  EXPECT_THAT(wrong.end().failures, IsEmpty());
  std::string limited = kPtx;
  limited.replace(limited.find("child(.param .u64 out)\n"), 23, "child(.param .u64 out) .maxntid 32\n");
  PtxRun run(limited, launch("wrong", 1, 64, "i"));
  ASSERT_EQ(run.end().failures.size(), 1U);
  EXPECT_THAT(run.end().failures[0],
              HasSubstr("a launch from the device failed: kernel 'child' takes at most 32"));
}

/// Kernel asks stores what the device runtime answers: a word that went through memory of cudaMalloc, and
/// what each of its calls returned; the device, and how many there are; what events returned; the first
/// letters of the name of error 2 and of what it means; what cudaMalloc says of too much.
constexpr const char* kAsks = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 p, .param .b64 n);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 p);
.extern .func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 p);
.extern .func (.param .b32 r) __cudaCDP2GetDeviceCount(.param .b64 p);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags(.param .b64 p, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventRecord(.param .b64 e, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent(.param .b64 s, .param .b64 e, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventDestroy(.param .b64 e);
.extern .func (.param .b64 r) __cudaCDP2GetErrorName(.param .b32 e);
.extern .func (.param .b64 r) __cudaCDP2GetErrorString(.param .b32 e);
.visible .entry asks(.param .u64 out, .param .u32 n)
{
.local .align 8 .b64 where;
.reg .b64 %rd<10>; .reg .b32 %r<10>;
ld.param.u64 %rd1, [out];
mov.u64 %rd2, where;
cvta.local.u64 %rd2, %rd2;
{
.param .b64 p; .param .b64 size; .param .b32 q;
st.param.b64 [p], %rd2;
st.param.b64 [size], 16;
call.uni (q), __cudaCDP2Malloc, (p, size);
ld.param.b32 %r1, [q];
}
ld.local.u64 %rd3, [where];
st.u32 [%rd3+12], 77;
ld.u32 %r2, [%rd3+12];
st.global.v2.u32 [%rd1], {%r1, %r2};
{
.param .b64 p; .param .b32 q;
st.param.b64 [p], %rd3;
call.uni (q), __cudaCDP2Free, (p);
ld.param.b32 %r1, [q];
st.param.b64 [p], %rd2;
call.uni (q), __cudaCDP2GetDevice, (p);
ld.local.u32 %r2, [where];
call.uni (q), __cudaCDP2GetDeviceCount, (p);
ld.local.u32 %r3, [where];
}
st.global.v2.u32 [%rd1+8], {%r1, %r2};
st.global.u32 [%rd1+16], %r3;
{
.param .b64 p; .param .b64 s; .param .b32 f; .param .b32 q;
st.param.b64 [p], %rd2;
st.param.b32 [f], 2;
st.param.b64 [s], 0;
call.uni (q), __cudaCDP2EventCreateWithFlags, (p, f);
ld.param.b32 %r1, [q];
ld.local.u64 %rd4, [where];
st.param.b64 [p], %rd4;
call.uni (q), __cudaCDP2EventRecord, (p, s);
ld.param.b32 %r2, [q];
or.b32 %r1, %r1, %r2;
call.uni (q), __cudaCDP2StreamWaitEvent, (s, p, f);
ld.param.b32 %r2, [q];
or.b32 %r1, %r1, %r2;
call.uni (q), __cudaCDP2EventDestroy, (p);
ld.param.b32 %r2, [q];
or.b32 %r1, %r1, %r2;
}
st.global.u32 [%rd1+20], %r1;
{
.param .b32 e; .param .b64 q;
st.param.b32 [e], 2;
call.uni (q), __cudaCDP2GetErrorName, (e);
ld.param.b64 %rd5, [q];
call.uni (q), __cudaCDP2GetErrorString, (e);
ld.param.b64 %rd6, [q];
}
ld.u8 %r1, [%rd5+9];
ld.u8 %r2, [%rd6+7];
st.global.v2.u32 [%rd1+24], {%r1, %r2};
{
.param .b64 p; .param .b64 size; .param .b32 q;
st.param.b64 [p], %rd2;
st.param.b64 [size], 0x100000000;
call.uni (q), __cudaCDP2Malloc, (p, size);
ld.param.b32 %r1, [q];
}
st.global.u32 [%rd1+32], %r1;
ret;
}
)";

TEST(DeviceLaunch, TheRuntimeAnswersWhatItIsAsked) {
  // "cudaErrorMemoryAllocation", "out of memory"; 2 is that.
  PtxRun run(kAsks,
             launch("asks", 1, 0,
                    "i == 0 ? 0 : i == 1 ? 77 : i == 2 ? 0 : i == 3 ? 0 : i == 4 ? 1 : i == 5 ? 0 : i == 6 ? "
                    "77 : i == 7 ? 109 : i == 8 ? 2 : i"));
  EXPECT_THAT(run.end().failures, IsEmpty());
  EXPECT_TRUE(run.gpu().faults().empty());
}

}  // namespace device_launch_test
}  // namespace warpline::test
