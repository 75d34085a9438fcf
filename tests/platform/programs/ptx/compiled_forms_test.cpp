// The full opcodes that kernels compiled from hinted CUDA code consist of: each parses alone.
#include <gtest/gtest.h>

#include <string>

#include "platform/programs/ptx/module.h"

namespace warpline::ptx::test {
namespace compiled_forms_test {

/// One statement of each, a line each.
constexpr const char* kStatements = R"(
add.f32 %f1, %f2, %f3;
add.f64 %fd1, %fd2, %fd3;
add.s16 %rs1, %rs2, 1;
add.s32 %r1, %r2, -3;
add.s64 %rd1, %rd2, 8;
and.b32 %r1, %r2, 255;
and.pred %p1, %p2, %p3;
applypriority.global.L2::evict_normal [%rd1], 128;
atom.add.acq_rel.gpu.global.u32 %r1, [%rd1], 1;
atom.global.add.f32 %f1, [%rd1], %f2;
atom.global.add.f64 %fd1, [%rd1], %fd2;
atom.global.add.u32 %r1, [%rd1], 1;
atom.global.add.u64 %rd2, [%rd1], %rd3;
atom.global.and.b32 %r1, [%rd1], %r2;
atom.global.cas.b32 %r1, [%rd1], %r2, %r3;
atom.global.dec.u32 %r1, [%rd1], 99;
atom.global.exch.b32 %r1, [%rd1], %r2;
atom.global.inc.u32 %r1, [%rd1], 99;
atom.global.max.s32 %r1, [%rd1], %r2;
atom.global.max.u64 %rd2, [%rd1], %rd3;
atom.global.min.s32 %r1, [%rd1], %r2;
atom.global.or.b32 %r1, [%rd1], %r2;
atom.global.sys.add.u32 %r1, [%rd1], 1;
atom.global.xor.b32 %r1, [%rd1], %r2;
atom.relaxed.global.cas.b32 %r1, [%rd1], 0, 1;
atom.shared.add.u32 %r1, [tile], 1;
bar.sync 0;
@%p1 bra DONE;
bra.uni DONE;
cp.async.ca.shared.global [%r1], [%rd1], 4, 4;
cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, 16;
cp.async.commit_group;
cp.async.wait_group 1;
createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, 1.0;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd1, [%rd2], %r1, %r2;
cvt.rn.f32.s32 %f1, %r1;
cvt.rn.f32.u32 %f1, %r1;
cvt.s64.s32 %rd1, %r1;
cvt.u16.u32 %rs1, %r1;
cvt.u16.u8 %rs1, %rs2;
cvt.u32.u16 %r1, %rs1;
cvt.u64.u32 %rd1, %r1;
cvta.to.global.u64 %rd1, %rd2;
discard.global.L2 [%rd1], 128;
div.u16 %rs1, %rs2, %rs3;
div.u32 %r1, %r2, %r3;
fence.acq_rel.gpu;
fence.sc.gpu;
fma.rn.f32 %f1, %f2, %f3, %f1;
fma.rn.f64 %fd1, %fd2, %fd3, %fd1;
ld.acquire.sys.global.u64 %rd1, [%rd2];
ld.global.L1::evict_first.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.L1::evict_last.L2::cache_hint.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1], %rd2;
ld.global.ca.u32 %r1, [%rd1];
ld.global.cg.u32 %r1, [%rd1];
ld.global.cg.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.cs.f64 %fd1, [%rd1];
ld.global.cv.u32 %r1, [%rd1];
ld.global.f64 %fd1, [%rd1];
ld.global.lu.u32 %r1, [%rd1];
ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.nc.f32 %f1, [%rd1];
ld.global.nc.s32 %r1, [%rd1];
ld.global.nc.u32 %r1, [%rd1+4];
ld.global.nc.u8 %rs1, [%rd1];
ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
ld.global.u32 %r1, [%rd1];
ld.global.u8 %rs1, [%rd1];
ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];
ld.param.u32 %r1, [p2];
ld.param.u64 %rd1, [p1];
ld.relaxed.gpu.global.s32 %r1, [%rd1];
ld.shared.f32 %f1, [%r1];
ld.shared.u32 %r1, [%r2+4];
ld.shared.u8 %rs1, [%r1];
ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];
ld.volatile.global.f32 %f1, [%rd1];
ld.volatile.global.u32 %r1, [%rd1];
mad.lo.s32 %r1, %r2, %r3, %r4;
mad.lo.s64 %rd1, %rd2, %rd3, %rd4;
max.s32 %r1, %r2, %r3;
max.u32 %r1, %r2, %r3;
membar.gl;
membar.sys;
mov.b32 %r1, %f1;
mov.f32 %f1, 0f3F800000;
mov.u32 %r1, %nctaid.x;
mov.u64 %rd1, %clock64;
mul.f64 %fd1, %fd2, %fd3;
mul.lo.s32 %r1, %r2, %r3;
mul.wide.s32 %rd1, %r1, 4;
mul.wide.u16 %r1, %rs1, %rs2;
mul.wide.u32 %rd1, %r1, 4;
nanosleep.u32 100;
neg.s32 %r1, %r2;
not.b32 %r1, %r2;
or.b32 %r1, %r2, %r3;
or.pred %p1, %p2, %p3;
prefetch.global.L2 [%rd1];
prefetch.global.L2::evict_last [%rd1];
red.relaxed.cta.global.max.u32 [%rd1], %r1;
red.release.sys.global.add.u32 [%rd1], 1;
ret;
rem.u32 %r1, %r2, %r3;
selp.b32 %r1, %r2, %r3, %p1;
selp.u16 %rs1, 1, 0, %p1;
selp.u32 %r1, 1, 0, %p1;
setp.eq.b32 %p1, %r1, %r2;
setp.eq.s16 %p1, %rs1, 0;
setp.eq.s32 %p1, %r1, 0;
setp.ge.s32 %p1, %r1, %r2;
setp.ge.u32 %p1, %r1, %r2;
setp.gt.u32 %p1, %r1, %r2;
setp.gt.u64 %p1, %rd1, %rd2;
setp.le.u64 %p1, %rd1, %rd2;
setp.lt.s32 %p1, %r1, %r2;
setp.lt.u32 %p1, %r1, %r2;
setp.ne.s32 %p1, %r1, 0;
shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;
shl.b32 %r1, %r2, 2;
shl.b64 %rd1, %rd2, 2;
shr.u32 %r1, %r2, 5;
st.global.L1::no_allocate.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
st.global.L2::cache_hint.u32 [%rd1], %r1, %rd2;
st.global.cs.f32 [%rd1], %f1;
st.global.f32 [%rd1], %f1;
st.global.u32 [%rd1], %r1;
st.global.u64 [%rd1], %rd2;
st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
st.global.wt.f64 [%rd1], %fd1;
st.mmio.relaxed.sys.global.u32 [%rd1], %r1;
st.relaxed.gpu.global.s32 [%rd1], %r1;
st.relaxed.sys.global.u32 [%rd1], %r1;
st.release.sys.global.u64 [%rd1], %rd2;
st.shared.f32 [%r1], %f1;
st.shared.u32 [%r1], %r2;
st.shared.u8 [%r1], %rs1;
st.volatile.global.u32 [%rd1], %r1;
sub.s32 %r1, %r2, %r3;
sub.s64 %rd1, %rd2, %rd3;
sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
xor.b32 %r1, %r2, %r3;
)";

TEST(CompiledForms, EachParses) {
  std::string rest = kStatements + 1;
  unsigned count = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string statement = rest.substr(0, end);
    rest.erase(0, end + 1);
    ++count;
    const auto result = parse(
        ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p1, .param .u32 "
        "p2)\n{\n"
        ".reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n"
        ".reg .f64 %fd<4>;\n.shared .align 16 .b8 tile[64];\n" +
            statement + "\nDONE:\nret;\n}\n",
        "form.ptx");
    EXPECT_TRUE(result.ok()) << result.faults()[0].text();
  }
  EXPECT_EQ(count, 145U);
}

}  // namespace compiled_forms_test
}  // namespace warpline::ptx::test
