// Instructions whose qualifiers go together as a whole: rows of our own, a few of each rule, and what is said
// of those that are refused. Where NVIDIA's assembler is installed it is asked, too.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"

namespace warpline::ptx::test {
namespace forms_test {

struct Row {
  const char* language;  ///< "8.0 sm_90"
  const char* instruction;
  bool good;
};

const Row kRows[] = {
    // Matrices: shapes with their types, vectors with their sizes, and since when.
    {"7.0 sm_80",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     true},
    {"7.0 sm_80",
     "mma.f32.f16.f16.f32.row.aligned.col.m16n8k16.sync "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     true},
    {"7.0 sm_75",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.0 sm_80",
     "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.0 sm_80",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 "
     "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.0 sm_80",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.0 sm_80",
     "mma.sync.m16n8k16.row.col.f32.f16.f16.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.0 sm_80", "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
     true},
    {"7.8 sm_90",
     "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
     "{%fd0,%fd1,%fd2,%fd3},{%fd4,%fd5,%fd6,%fd7},{%fd8,%fd9},{%fd0,%fd1,%fd2,%fd3};",
     true},
    {"7.7 sm_90",
     "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
     "{%fd0,%fd1,%fd2,%fd3},{%fd4,%fd5,%fd6,%fd7},{%fd8,%fd9},{%fd0,%fd1,%fd2,%fd3};",
     false},
    {"7.1 sm_80", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
     true},
    {"7.1 sm_80", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.and {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
     false},
    {"8.4 sm_89",
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     true},
    {"8.7 sm_120a",
     "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     true},
    {"8.7 sm_120",
     "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32 "
     "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
     false},
    {"7.1 sm_80",
     "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
     "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r6,%r7},{%r0,%r1,%r2,%r3},%r9,1;",
     true},
    {"7.1 sm_80",
     "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
     "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r6,%r7},{%r0,%r1,%r2,%r3},%r9,2;",
     false},
    {"7.1 sm_80",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
     "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r6,%r7},{%r0,%r1,%r2,%r3},%r9,1;",
     false},
    {"6.3 sm_70",
     "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%r9],%r10;", true},
    {"7.7 sm_80",
     "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%r9];",
     false},
    {"6.3 sm_75", "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0},[%rd1];", false},
    {"7.0 sm_80", "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%fd0,%fd1},[%rd1];", true},
    {"7.0 sm_80", "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%fd0,%fd1},[%rd1],%f1;", false},
    {"6.3 sm_72",
     "wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32.satfinite "
     "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r8,%r9,%r10,%r11},{%r12},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
     true},
    {"6.3 sm_72",
     "wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.s8.s32 "
     "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r8,%r9,%r10,%r11},{%r12},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
     false},
    {"6.3 sm_72", "wmma.store.d.sync.aligned.row.m16n16k16.s32 [%rd1],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},%r9;",
     true},
    {"6.5 sm_75", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0,%r1,%r2,%r3},[%r9];", true},
    {"6.5 sm_75", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0,%r1,%r2,%r3},[%r9];", false},
    {"6.5 sm_75", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0,[%r9];", false},
    {"9.0 sm_100", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1},[%r9];", false},
    {"9.0 sm_100a", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1},[%r9];", true},
    {"7.8 sm_90", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9],{%r0,%r1};", true},
    {"7.8 sm_75", "movmatrix.sync.aligned.m8n8.trans.b16 %r0,%r1;", true},
    {"7.8 sm_75", "movmatrix.sync.aligned.m8n8.trans.b16 %r0,7;", false},
    {"8.0 sm_90a",
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
     "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},%rd1,%rd2,%p1,1,-1,0,1;",
     true},
    {"8.0 sm_90",
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
     "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},%rd1,%rd2,%p1,1,-1,0,1;",
     false},
    {"8.0 sm_90a",
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
     "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},%rd1,%rd2,%p1,1,2,0,1;",
     false},
    {"8.0 sm_90a",
     "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0,%f1,%f2,%f3,%f4,%f5},%rd1,%rd2,%p1,1,1,0,1;",
     false},
    {"8.0 sm_90a", "wgmma.wait_group.sync.aligned 0;", true},
    // mbarriers: semantics go with a scope, and a remote arrival has no result.
    {"7.0 sm_80", "mbarrier.init.shared.b64 [%r9],%r1;", true},
    {"7.0 sm_80", "mbarrier.shared.init.b64 [%r9],%r1;", false},
    {"7.0 sm_80", "mbarrier.init.b64 [gvar],%r1;", false},
    {"7.0 sm_80", "mbarrier.arrive.shared.b64 %rd1,[%r9];", true},
    {"7.0 sm_80", "mbarrier.arrive.shared.b64 _,[%r9];", false},
    {"7.0 sm_80", "mbarrier.arrive.shared.b64 %rd1,[%r9],%r1;", false},
    {"7.8 sm_90", "mbarrier.arrive.shared.b64 %rd1,[%r9],%r1;", true},
    {"9.0 sm_90", "mbarrier.arrive.release.shared.b64 %rd1,[%r9];", false},
    {"9.0 sm_90", "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _,[%r9],%r1;", true},
    {"9.0 sm_90", "mbarrier.arrive.shared::cluster.b64 %rd1,[%r9];", false},
    {"8.0 sm_90", "mbarrier.try_wait.parity.acquire.cta.shared.b64 %p1,[%r9],%r1,%r2;", true},
    {"8.0 sm_90", "mbarrier.test_wait.parity.acquire.cta.shared.b64 %p1,[%r9],%r1,%r2;", false},
    {"8.0 sm_90", "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r9],%r1;", true},
    // Clusters and launches.
    {"7.8 sm_90", "mapa.shared::cluster.u32 %r1,%r2,%r3;", true},
    {"7.7 sm_90", "mapa.shared::cluster.u32 %r1,%r2,%r3;", false},
    {"7.8 sm_90", "getctarank.u64 %r1,%rd2;", true},
    {"7.8 sm_90", "getctarank.u64 %rd1,%rd2;", false},
    {"7.8 sm_90", "griddepcontrol.wait;", true},
    {"7.8 sm_80", "griddepcontrol.launch_dependents;", false},
    {"8.0 sm_90a", "setmaxnreg.inc.sync.aligned.u32 40;", true},
    {"8.0 sm_90", "setmaxnreg.inc.sync.aligned.u32 40;", false},
    {"8.0 sm_90a", "setmaxnreg.inc.sync.aligned.u32 41;", false},
    {"8.0 sm_90", "elect.sync %r1|%p1,0xffffffff;", true},
    {"8.0 sm_90", "elect.sync %r1,0xffffffff;", false},
    {"8.6 sm_100",
     "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1],[%r2];",
     true},
    // Conversions.
    {"8.1 sm_89", "cvt.rn.satfinite.e4m3x2.f32 %h1,%f1,%f2;", true},
    {"8.0 sm_89", "cvt.rn.satfinite.e4m3x2.f32 %h1,%f1,%f2;", false},
    {"8.1 sm_89", "cvt.rn.e4m3x2.f32 %h1,%f1,%f2;", false},
    {"8.1 sm_89", "cvt.rz.satfinite.e4m3x2.f32 %h1,%f1,%f2;", false},
    {"9.0 sm_100a", "cvt.rn.satfinite.e2m1x2.f32 %b1,%f1,%f2;", true},
    {"9.0 sm_100a", "cvt.rn.satfinite.e2m1x2.f32 %h1,%f1,%f2;", false},
    {"9.0 sm_100a", "cvt.rs.satfinite.e4m3x4.f32 %r1,{%f1,%f2,%f3,%f4},%r2;", true},
    {"9.0 sm_120a", "cvt.rs.satfinite.e4m3x4.f32 %r1,{%f1,%f2,%f3,%f4},%r2;", false},
    {"7.0 sm_80", "cvt.rna.tf32.f32 %r1,%f1;", true},
    {"7.8 sm_90", "cvt.rna.relu.tf32.f32 %r1,%f1;", false},
    {"6.5 sm_72", "cvt.pack.sat.u8.s32.b32 %r1,%r2,%r3,%r4;", true},
    {"6.5 sm_72", "cvt.pack.sat.u4.s32.b32 %r1,%r2,%r3,%r4;", false},
    // Pairs.
    {"6.0 sm_53", "add.rn.ftz.sat.f16x2 %r1,%r2,%r3;", true},
    {"7.7 sm_90", "add.bf16x2 %r1,%r2,%r3;", false},
    {"7.8 sm_90", "mul.sat.bf16x2 %r1,%r2,%r3;", false},
    {"7.0 sm_80", "fma.rn.relu.bf16x2 %r1,%r2,%r3,%r4;", true},
    {"7.0 sm_80", "fma.relu.bf16x2 %r1,%r2,%r3,%r4;", false},
    {"8.1 sm_90", "fma.rn.ftz.oob.f16 %h1,%h2,%h3,%h4;", false},
    {"8.6 sm_100", "fma.rm.ftz.f32x2 %rd1,%rd2,%rd3,%rd4;", true},
    {"8.6 sm_100", "add.rz.sat.f32.bf16 %f1,%h1,%f2;", true},
    {"8.6 sm_100", "mul.f32.bf16 %f1,%h1,%f2;", false},
    {"8.0 sm_90", "max.relu.s16x2 %r1,%r2,%r3;", true},
    {"8.0 sm_90", "max.relu.u16x2 %r1,%r2,%r3;", false},
    {"8.0 sm_90", "sub.s16x2 %r1,%r2,%r3;", false},
    {"7.8 sm_90", "ex2.approx.bf16 %h1,%h2;", false},
    {"8.6 sm_100a", "redux.sync.min.abs.NaN.f32 %f1,%f2,%r1;", true},
    {"8.6 sm_100", "redux.sync.min.f32 %f1,%f2,%r1;", false},
    // Video.
    {"6.0 sm_50", "vadd.u32.s32.s32.sat.max %r4,%r1.b0,%r2.h1,%r3;", true},
    {"6.0 sm_50", "vadd.u32.s32.s32.max %r4.h1,%r1.b0,%r2.h1,%r3;", false},
    {"6.0 sm_50", "vadd.u32.s32.s32 %r4,%r1.b4,%r2;", false},
    {"6.0 sm_50", "vshl.u32.u32.u32 %r4,%r1,%r2;", false},
    {"6.0 sm_50", "vmad.s32.s32.u32.sat.shr7 %r4,%r1.h0,-%r2.b1,%r3;", true},
    {"6.0 sm_50", "vmad.s32.s32.u32 %r4,%r1,-%r2,-%r3;", false},
    {"6.0 sm_50", "vadd4.u32.u32.u32.sat %r4.b20,%r1.b7654,%r2,%r3;", true},
    {"6.0 sm_50", "vadd4.u32.u32.u32.sat.add %r4,%r1,%r2,%r3;", false},
    {"6.0 sm_50", "vset2.u32.s32.ne.add %r4.h01,%r1,%r2,%r3;", false},
    // Tensor maps, and what asks textures.
    {"8.3 sm_90a", "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r9],4,%r1;", true},
    {"8.3 sm_90a", "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r9],5,%r1;", false},
    {"8.3 sm_90a", "tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd9],4;", false},
    {"6.0 sm_50", "txq.level.width.b32 %r1,[%rd1],%r2;", true},
    {"6.0 sm_50", "txq.level.filter_mode.b32 %r1,[%rd1],%r2;", false},
    {"6.0 sm_50", "suq.filter_mode.b32 %r1,[%rd1];", false},
    {"6.0 sm_50", "tld4.g.2d.v4.u32.f32 {%r1,%r2,%r3,%r4},[%rd1,{%f1,%f2}];", true},
    {"6.0 sm_50", "tld4.g.3d.v4.u32.f32 {%r1,%r2,%r3,%r4},[%rd1,{%f1,%f2,%f3,%f4}];", false},
    // Comparisons: a predicate to combine goes with an operation, and orders with numbers.
    {"6.0 sm_53", "set.neu.ftz.f16.f32 %h1,%f1,%f2;", true},
    {"6.0 sm_53", "set.num.xor.ftz.f16.f32 %h1,%f1,%f2,%p1;", true},
    {"7.8 sm_90", "set.neu.ftz.bf16.f32 %h1,%f1,%f2;", false},
    {"6.5 sm_70", "set.eq.ftz.u32.f16 %r1,%h1,%h2;", true},
    {"6.4 sm_70", "set.eq.ftz.u32.f16 %r1,%h1,%h2;", false},
    {"7.8 sm_90", "set.lt.and.bf16x2.bf16x2 %r1,%r2,%r3,!%p1;", true},
    {"7.8 sm_90", "set.lt.and.bf16x2.bf16x2 %r1,%r2,%r3;", false},
    {"7.8 sm_90", "set.lt.bf16x2.bf16x2 %r1,%r2,%r3,%p1;", false},
    {"7.8 sm_80", "set.lt.bf16.f32 %h1,%f2,%f3;", false},
    {"6.0 sm_53", "setp.neu.xor.f16x2 %p1|%p2,%r1,%r2,%p3;", true},
    {"6.0 sm_53", "setp.neu.f16 %p1|%p2,%h1,%h2;", false},
    {"6.0 sm_53", "setp.lo.u32 %p1,%r1,%r2;", true},
    {"6.0 sm_53", "setp.lo.s32 %p1,%r1,%r2;", false},
    {"6.0 sm_53", "setp.eq.ftz.f64 %p1,%fd1,%fd2;", false},
    // Sums, products and extremes of plain types.
    {"6.0 sm_50", "add.sat.s32 %r1,%r2,%r3;", true},
    {"6.0 sm_50", "add.sat.u32 %r1,%r2,%r3;", false},
    {"6.0 sm_50", "mul.wide.u64 %rd1,%rd2,%rd3;", false},
    {"6.0 sm_50", "mul.u32 %r1,%r2,%r3;", false},
    {"6.0 sm_50", "fma.f32 %f1,%f2,%f3,%f4;", false},
    {"9.0 sm_100", "fma.rz.relu.bf16 %h1,%h2,%h3,%h4;", true},
    {"9.0 sm_100", "max.ftz.NaN.abs.f32 %f1,%f2,%f3,%f4;", true},
    {"9.0 sm_90", "max.f32 %f1,%f2,%f3,%f4;", false},
    {"7.2 sm_86", "min.NaN.xorsign.abs.f32 %f1,%f2,%f3;", true},
    {"7.2 sm_86", "min.NaN.xorsign.f32 %f1,%f2,%f3;", false},
    {"8.0 sm_90", "max.relu.s32 %r1,%r2,%r3;", true},
    {"8.0 sm_90", "min.s16x2 %r1,%r2,7;", false},
    // Bits, and what threads of a warp tell each other.
    {"7.6 sm_70", "szext.wrap.s32 %r1,%r2,7;", true},
    {"7.6 sm_70", "szext.s32 %r1,%r2,7;", false},
    {"7.5 sm_70", "bmsk.clamp.b32 %r1,%r2,%r3;", false},
    {"6.0 sm_50", "fns.b32 %r1,%r2,%r3,-1;", true},
    {"6.0 sm_50", "prmt.b32.rc8 %r1,%r2,%r3,%r4;", true},
    {"6.0 sm_50", "lop3.b32 %r1,%r2,%r3,%r4,%r5;", false},
    {"8.2 sm_70", "lop3.or.b32 _|%p1,%r2,%r3,%r4,0x80,!%p2;", true},
    {"6.1 sm_61", "dp4a.u32.s32 %r1,%r2,%r3,%r4;", true},
    {"6.0 sm_50", "and.u32 %r1,%r2,%r3;", false},
    {"6.0 sm_50", "shr.u32 %f1,%r2,%r3;", false},
    {"6.0 sm_70", "shfl.sync.up.b32 %r1|%p1,%r2,1,0x1f,-1;", true},
    {"6.4 sm_70", "shfl.up.b32 %r1,%r2,1,0x1f;", false},
    {"6.0 sm_70", "match.all.sync.b64 %r1|%p1,%rd2,%r3;", true},
    {"6.0 sm_70", "vote.sync.ballot.b32 %r1,!%p2,%r3;", true},
    // Surfaces that are combined with, stores to a cluster, handles without brackets.
    {"8.1 sm_50", "sured.b.min.2d.u64.trap [%rd1,{%r1,%r2}],%rd5;", true},
    {"8.0 sm_90", "sured.b.min.2d.u64.trap [%rd1,{%r1,%r2}],%rd5;", false},
    {"6.0 sm_50", "sured.p.or.1d.b32.zero [%rd1,{%r1}],%r5;", true},
    {"6.0 sm_50", "sured.b.and.1d.u32.zero [%rd1,{%r1}],%r5;", false},
    {"9.0 sm_90", "st.async.gpu.f64 [%rd9],%fd2;", true},
    {"9.0 sm_90", "st.async.release.gpu.f64 [%rd9],%fd2;", false},
    {"9.0 sm_90", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r9],{%r1,%r2},[%r10];", false},
    {"9.0 sm_90", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd9,{%r1}],%r9;", true},
    {"9.0 sm_90", "fence.proxy.alias.async;", false},
    {"9.0 sm_90", "barrier.cta.aligned.sync 0;", true},
    {"9.0 sm_90", "tex.level.1d.v4.s32.f32 {%r5,%r6,%r7,%r8},%rd7,[%rd1,{%f1}],{%f9};", true},
    {"9.0 sm_90", "tex.1d.v4.f32.s32 {%f5,%f6,%f7,%f8},[%rd1,{%r1}],%f2;", false},
    {"8.2 sm_90a",
     "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd1,%rd2,%r9,1,%p1,1,1,0,0;",
     true},
    {"8.2 sm_90a",
     "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0,%r1,%r2,%r3},%rd1,%rd2,%r9,1,%p1;", false},
};

std::string verdict_of(const Row& r) {
  std::string row = r.language;
  row[row.find(' ')] = '\t';
  std::string v = judge_table(row + "\t" + r.instruction + "\n", [](double, std::uint64_t) {});
  v.pop_back();
  return v;
}

TEST(Forms, AreJudgedAsWholes) {
  for (const Row& r : kRows)
    EXPECT_EQ(verdict_of(r).substr(0, 6), r.good ? "accept" : "reject")
        << r.language << " " << r.instruction << "\n  " << verdict_of(r);
}

TEST(Forms, SayWhatWouldBeRight) {
  const std::pair<Row, const char*> said[] = {
      {{"7.7 sm_80", "mapa.shared::cluster.u32 %r1,%r2,%r3;", false},
       "reject\t'mapa.shared::cluster.u32' is right since PTX ISA 7.8 and sm_90; this module is for PTX ISA "
       "7.7 and sm_80"},
      {{"8.0 sm_90", "setmaxnreg.inc.sync.aligned.u32 40;", false},
       "reject\t'setmaxnreg.inc.sync.aligned.u32' is right on sm_90a, sm_100a, sm_100f, sm_101a, sm_101f, "
       "sm_103a, "
       "sm_103f, sm_110a, sm_110f, sm_120a, sm_120f, sm_121a and sm_121f only"},
      {{"7.0 sm_80",
        "mma.sync.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
        false},
       "reject\t'mma' needs '.aligned'"},
      {{"7.0 sm_80", "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0},[%r1];", false},
       "reject\t'ldmatrix' takes no '.x3'; it takes '.x1' there"},
      {{"7.0 sm_80", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0},[%r1];", false},
       "reject\texpected a vector of 2, found 1 elements"},
      {{"9.0 sm_90", "mbarrier.inval.shared.b64 [%r1],%r2;", false},
       "reject\t'mbarrier' takes 1 operands here, not 2"}};
  for (const auto& [row, text] : said) EXPECT_EQ(verdict_of(row), text);
}

TEST(Forms, OfArithmeticAreNoMemoryInstructionsAndAreJudgedAllTheSame) {
  const ModuleLegality j = check_text(R"(.version 8.0
.target sm_89
.address_size 64
.visible .entry k() {
.reg .b16 %h<4>; .reg .f32 %f<4>; .reg .b32 %r<4>;
ld.shared.u32 %r1, [%r2];
cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;
ret;
}
)",
                                      "m.ptx");
  EXPECT_EQ(j.instructions, 1U);
  EXPECT_EQ(j.rejected, 0U);
  ASSERT_EQ(j.faults.size(), 1U);
  EXPECT_NE(
      j.faults[0].text().find("m.ptx:7:1: error: 'cvt.rn.satfinite.e4m3x2.f32' is right since PTX ISA 8.1"),
      std::string::npos)
      << j.faults[0].text();
}

TEST(Forms, OfTensorMemoryAreNotJudgedAndThatIsSaid) {
  for (const char* form :
       {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], %r2;",
        "tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r3, %p1;", "tcgen05.wait::ld.sync.aligned;",
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];"}) {
    const ModuleLegality j =
        check_text(std::string(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
                               ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n") +
                       form + "\nret;\n}\n",
                   "m.ptx");
    EXPECT_TRUE(j.faults.empty()) << form;
    ASSERT_EQ(j.notes.size(), 1U) << form;
    const std::string said = note_text(j.notes[0]);
    const std::string name(form, std::string(form).find_first_of(" ;"));
    EXPECT_NE(said.find("m.ptx:6:1: note: '" + name +
                        "' is not judged, and no kernel with it runs: there is no "
                        "tensor memory in this model"),
              std::string::npos)
        << said;
  }
}

/// What the assembler says of the rows of one language: those it refuses. Files in `folder`.
std::vector<bool> asked(const std::string& language, const std::vector<const Row*>& rows,
                        const std::filesystem::path& folder, const std::string& assembler) {
  std::vector<bool> good;
  const std::size_t space = language.find(' ');
  const std::string target = language.substr(space + 1);
  const int number = std::atoi(target.c_str() + 3);
  for (const Row* r : rows) {
    const bool wide = language >= "8.3" && number >= 70;
    std::ofstream(folder / "row.ptx")
        << ".version " << language.substr(0, space) << "\n.target " << target << "\n.address_size 64\n"
        << ".global .align 256 .b8 gvar[4096];\n.visible .entry k() {\n.reg .pred %p<4>; .reg .b16 %h<20>; "
           ".reg .b32 "
           "%r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %fd<20>; .reg .b8 %b<8>;\n"
        << (wide ? ".reg .b128 %q<6>;\n" : "") << r->instruction << "\nret;\n}\n";
    const std::string command = assembler + " -arch=" + (number < 75 ? "sm_75" : target) + " -c " +
                                (folder / "row.ptx").string() + " -o " + (folder / "row.cubin").string() +
                                " > /dev/null 2>&1";
    good.push_back(std::system(command.c_str()) == 0);  // NOLINT(cert-env33-c): the assembler is a program
  }
  return good;
}

TEST(Forms, AreJudgedAsTheAssemblerDoes) {
  const char* const named = std::getenv("WARPLINE_PTXAS");
  if (named == nullptr) GTEST_SKIP() << "WARPLINE_PTXAS names no assembler";
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "warpline_forms";
  std::filesystem::create_directories(folder);
  std::map<std::string, std::vector<const Row*>> by_language;
  for (const Row& r : kRows) by_language[r.language].push_back(&r);
  for (const auto& [language, rows] : by_language) {
    const std::vector<bool> good = asked(language, rows, folder, named);
    for (std::size_t n = 0; n < rows.size(); ++n)
      EXPECT_EQ(good[n], rows[n]->good) << language << " " << rows[n]->instruction;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace forms_test
}  // namespace warpline::ptx::test
