// mbarrier and bulk copies as PTX writes them: the forms, what they mean to the SM, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sm/mbarrier.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace asynchronous_test {

using ::testing::HasSubstr;

std::string kernel(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<12>;
.shared .align 8 .b64 bar[4];
.shared .align 128 .b8 tile[1024];
.reg .b16 %h<4>;
mov.u32 %r1, bar;
mov.u64 %rd1, bar;
cvta.shared.u64 %rd2, %rd1;
)" + body +
         "\nret;\n}\n";
}

/// The memory instruction of `body`, as the SM sees it, in PTX's words.
std::string seen(const std::string& body) {
  const auto parsed = parse(kernel(body), "k.ptx");
  if (!parsed.ok()) return parsed.faults()[0].message;
  const std::unique_ptr<Kernel> kernel =
      parsed.value()->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, std::vector<std::uint8_t>(8));
  const auto source = kernel->make_source({});
  source->begin_warp(0, {}, 0, 1);
  while (source->state(0) == WarpState::runnable) {
    const Instruction& i = source->next(0);
    const MemKind kind = i.mem.kind;
    if (kind == MemKind::mbarrier || kind == MemKind::bulk_copy || kind == MemKind::async_store)
      return to_ptx(i.mem);
    if (i.kind == InstructionKind::commit_bulk) return "commit";
    if (i.kind == InstructionKind::wait_bulk) return "wait " + std::to_string(i.groups_left);
    if (i.kind == InstructionKind::wait_bulk_reads) return "wait read " + std::to_string(i.groups_left);
    if (i.kind == InstructionKind::fence) return to_ptx(i.mem);
    MemoryAccess access;
    Issue issue;
    issue.access = &access;
    source->execute(0, issue);
  }
  return "nothing";
}

TEST(PtxMbarrier, FormsMeanWhatTheySay) {
  struct Row {
    const char* body;
    const char* seen;
  };
  for (const Row& row : {
           Row{"mbarrier.init.shared.b64 [bar], 4;", "mbarrier.init.shared.b64"},
           Row{"mbarrier.init.b64 [%rd2], %r2;", "mbarrier.init.b64"},
           Row{"mbarrier.inval.shared::cta.b64 [%r1+8];", "mbarrier.inval.shared.b64"},
           Row{"mbarrier.arrive.shared.b64 %rd3, [%r1];", "mbarrier.arrive.release.cta.shared.b64"},
           Row{"mbarrier.arrive.shared.b64 _, [%r1], 3;", "mbarrier.arrive.release.cta.shared.b64"},
           Row{"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];",
               "mbarrier.arrive.release.cluster.shared::cluster.b64"},
           Row{"mbarrier.arrive.relaxed.cta.b64 %rd3, [%rd2], %r2;", "mbarrier.arrive.relaxed.cta.b64"},
           Row{"mbarrier.arrive.noComplete.shared.b64 %rd3, [%r1], 2;",
               "mbarrier.arrive.noComplete.release.cta.shared.b64"},
           Row{"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd3, [%r1], %r2;",
               "mbarrier.arrive.expect_tx.release.cta.shared.b64"},
           Row{"mbarrier.arrive_drop.shared.b64 %rd3, [%r1];", "mbarrier.arrive_drop.release.cta.shared.b64"},
           Row{"mbarrier.arrive_drop.noComplete.shared.b64 _, [%r1], 1;",
               "mbarrier.arrive_drop.noComplete.release.cta.shared.b64"},
           Row{"mbarrier.arrive_drop.expect_tx.shared.b64 _, [%r1], 16;",
               "mbarrier.arrive_drop.expect_tx.release.cta.shared.b64"},
           Row{"mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r1], 16;",
               "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64"},
           Row{"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], %r2;",
               "mbarrier.complete_tx.relaxed.cta.shared.b64"},
           Row{"mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3;",
               "mbarrier.test_wait.acquire.cta.shared.b64"},
           Row{"mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 1;",
               "mbarrier.test_wait.parity.acquire.cluster.shared.b64"},
           Row{"mbarrier.try_wait.shared.b64 %p1, [%r1], %rd3, %r2;",
               "mbarrier.try_wait.acquire.cta.shared.b64"},
           Row{"mbarrier.try_wait.parity.relaxed.cta.b64 %p1, [%rd2], %r2, 1000;",
               "mbarrier.try_wait.parity.relaxed.cta.b64"},
           Row{"cp.async.mbarrier.arrive.shared.b64 [%r1];", "cp.async.mbarrier.arrive.shared.b64"},
           Row{"cp.async.mbarrier.arrive.noinc.b64 [%rd2];", "cp.async.mbarrier.arrive.noinc.b64"},
           Row{"fence.mbarrier_init.release.cluster;", "fence.release.cluster"},
           Row{"mbarrier.arrive.shared::cluster.b64 %rd3, [%r1];", "expected '_'"},
           Row{"mbarrier.arrive.acquire.cta.shared.b64 %rd3, [%r1];",
               "'mbarrier' does not take '.acquire' with the others"},
           Row{"mbarrier.arrive.release.gpu.shared.b64 %rd3, [%r1];",
               "'mbarrier' does not take '.release' with the others"},
           Row{"mbarrier.init.relaxed.cta.shared.b64 [%r1], 1;",
               "'mbarrier' does not take '.relaxed' with the others"},
           Row{"mbarrier.test_wait.shared::cluster.b64 %p1, [%r1], %rd3;",
               "'mbarrier' does not take '.shared::cluster' with the others"},
           Row{"mbarrier.init.global.b64 [%rd2], 1;", "'mbarrier' takes no '.global'"},
           Row{"mbarrier.shared.b64 [%r1];", "'mbarrier' needs '.init'"},
           Row{"mbarrier.init.noComplete.shared.b64 [%r1], 1;",
               "'mbarrier' does not take '.noComplete' with the others"},
       })
    EXPECT_EQ(seen(row.body), row.seen) << row.body;
}

TEST(PtxTensorMap, WhatIsNotBuiltIsRefusedByName) {
  struct Row {
    const char* body;
    const char* said;
  };
  for (const Row& row :
       {Row{"tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [tile], 1;",
            "interleaved tensors are not modelled"},
        Row{"tensormap.replace.tile.elemtype.b1024.b32 [%rd2], 11;", "this type of elements is not modelled"},
        Row{"tensormap.replace.tile.swizzle_atomicity.b1024.b32 [%rd2], 1;",
            "a swizzle of other pieces than 16 bytes is not modelled"},
        Row{"tensormap.replace.tile.global_stride.global.b1024.b64 [%rd2], 4, 16;",
            "'.global_stride' is of a number from 0 to 3"},
        Row{"cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [tile], "
            "[%rd2, {%r2, %r3}], [bar];",
            "expected 5 coordinates, found 2"}}) {
    std::string text = kernel(row.body);
    text.replace(text.find("sm_90"), 5, "sm_100a");
    const auto module = parse(text, "m.ptx");
    std::string said;
    if (!module.ok()) said = module.faults()[0].text();
    if (module.ok() && !module.value()->entries()[0].refused.empty())
      said = module.value()->entries()[0].refused[0].text();
    EXPECT_THAT(said, HasSubstr(row.said)) << row.body;
  }
}

TEST(PtxBulkCopy, FormsMeanWhatTheySay) {
  struct Row {
    const char* body;
    const char* seen;
  };
  for (const Row& row : {
           Row{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd2], 64, [bar];",
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"},
           Row{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1+16], "
               "[%rd2+32], "
               "%r2, [%r1], %rd3;",
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"},
           Row{"cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 64;",
               "cp.async.bulk.global.shared::cta.bulk_group"},
           Row{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [tile], 64;",
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"},
           Row{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd2], [%r1], %r2;",
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.bf16"},
           Row{"cp.async.bulk.prefetch.L2.global [%rd2], 64;", "cp.async.bulk.prefetch.L2.global"},
           Row{"cp.async.bulk.commit_group;", "commit"},
           Row{"cp.async.bulk.wait_group 2;", "wait 2"},
           Row{"cp.async.bulk.wait_group.read 0;", "wait read 0"},
           Row{"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd2, "
               "{%r2}], [bar];",
               "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"},
           Row{"cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
               "hint [tile], "
               "[%rd2, {%r2, %r3, %r4, %r5, 7}], [bar], %rd3;",
               "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
               "hint"},
           Row{"cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], "
               "[%rd2, {%r2, %r3, %r4, %r5}], [bar], {%h1, %h2};",
               "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"},
           Row{"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r2, %r3}], [tile];",
               "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"},
           Row{"cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rd2, {%r2, %r3, "
               "%r4}], [tile];",
               "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group"},
           Row{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group [%rd2, {%r2, %r3}], "
               "[tile];",
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.min"},
           Row{"cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {%r2, %r3}];",
               "cp.async.bulk.prefetch.tensor.2d.L2.global"},
           Row{"prefetch.tensormap [%rd2];", "cp.async.bulk.prefetch.L2.global"},
           Row{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], "
               "[%rd2], 64, "
               "[bar], %h1;",
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"},
           Row{"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 64, "
               "[%r3];",
               "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"},
           Row{"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%r1], "
               "[%r2], 64, [%r3];",
               "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32"},
           Row{"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r1], {%r2, %r3}, [%r4];",
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32"},
           Row{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, "
               "[%r4];",
               "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32"},
           Row{"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
               "[%rd2, {%r2}], "
               "[bar];",
               "expected 2 coordinates, found 1"},
       })
    EXPECT_THAT(seen(row.body), testing::HasSubstr(row.seen)) << row.body;
}

TEST(PtxMbarrier, APendingCountIsThatOfTheState) {
  Machine machine;
  Mbarrier object;
  ASSERT_EQ(object.init(77), MbarrierStatus::done);
  ASSERT_EQ(object.arrive(7), MbarrierStatus::done);
  machine.load(kernel("ld.param.u64 %rd4, [out];\nmov.u64 %rd3, " + std::to_string(object.word()) +
                      "U;\nmbarrier.pending_count.b64 %r3, %rd3;\nst.global.u32 [%rd4], %r3;"));
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>{0});
  machine.launch("k", {1, 1, 1}, {1, 1, 1}, 0, out);
  EXPECT_EQ(machine.read<std::uint32_t>(out, 1)[0], 70U);
}

}  // namespace asynchronous_test
}  // namespace warpline::ptx::test
