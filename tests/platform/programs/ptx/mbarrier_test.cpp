// mbarrier as PTX writes it: the forms, what they mean to the SM, and what is refused.

#include "rtl_models/sm/mbarrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rtl_models/isa/mem_op.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace mbarrier_test {

using ::testing::HasSubstr;

std::string kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<12>;
.shared .align 8 .b64 bar[4];
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
    if (i.kind == InstructionKind::memory && i.mem.kind == MemKind::mbarrier) return to_ptx(i.mem);
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
           Row{"mbarrier.arrive.shared::cluster.b64 %rd3, [%r1];",
               "an arrival in '.shared::cluster' has no state"},
           Row{"mbarrier.arrive.acquire.cta.shared.b64 %rd3, [%r1];", "'mbarrier' takes no such order here"},
           Row{"mbarrier.arrive.release.gpu.shared.b64 %rd3, [%r1];",
               "an mbarrier is of a CTA or a cluster: the scope is '.cta' or '.cluster'"},
           Row{"mbarrier.init.relaxed.cta.shared.b64 [%r1], 1;", "'mbarrier' takes no order here"},
           Row{"mbarrier.test_wait.shared::cluster.b64 %p1, [%r1], %rd3;",
               "a wait is for an mbarrier of the CTA's own shared memory"},
           Row{"mbarrier.init.global.b64 [%rd2], 1;", "an mbarrier is in shared memory"},
           Row{"mbarrier.shared.b64 [%r1];", "'mbarrier' needs an operation such as '.arrive'"},
           Row{"mbarrier.init.noComplete.shared.b64 [%r1], 1;",
               "qualifier '.noComplete' is not supported on 'mbarrier' here"},
       })
    EXPECT_EQ(seen(row.body), row.seen) << row.body;
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

}  // namespace mbarrier_test
}  // namespace warpline::ptx::test
