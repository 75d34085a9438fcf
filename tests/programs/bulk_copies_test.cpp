// Bulk copies on a whole machine: past L1, in the order that fences make, and counted on every level.
#include <gtest/gtest.h>

#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace bulk_copies_test {

/// Copies a line from `from` to shared memory by a bulk copy, and leaves its first word in %x1.
std::string fetched(const std::string& from) {
  return "mbarrier.init.shared.b64 [shared], 1; mbarrier.arrive.expect_tx.shared.b64 _, [shared], 128;"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared+128], [" +
         from +
         "], 128, [shared];"
         "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [shared], 0; @!%p bra WAIT; ld.shared.u64 %x1, "
         "[shared+128];";
}
/// Writes 5 to the first word of the line at `to` by a bulk copy, and waits for it, or (".read") until it has
/// read its bytes.
std::string written(const std::string& to, const std::string& what = "") {
  return "st.shared.u64 [shared+256], 5; fence.proxy.async.shared::cta;"
         "cp.async.bulk.global.shared::cta.bulk_group [" +
         to + "], [shared+256], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group" + what + " 0;";
}

TEST(BulkCopies, DoNotLookAtL1) {
  SingleThread machine(one_set(4, 16),
                       {{"warm", "ld.global.u64 %x0, [%a];"},
                        {"k", fetched("%a") + "ld.global.u64 %x2, [%a]; st.global.u64 [%o], %x1;"
                                              "st.global.u64 [%o+8], %x2;"}});
  machine.run("warm");
  const std::uint64_t before = machine.host_read(0);
  machine.host_write(0, 77);
  EXPECT_EQ(machine.added("bulk_copy.read_sectors", "k"), 4U);
  EXPECT_EQ(machine.result(0), 77U);
  EXPECT_EQ(machine.result(1), before) << "L1's line has become old, and stays";
}

TEST(BulkCopies, LeaveL1OldUntilTheyAreWaitedFor) {
  const std::string read = "ld.global.u64 %x2, [%b]; st.global.u64 [%o], %x2;";
  SingleThread machine(one_set(4, 16), {{"warm", "ld.global.u64 %x0, [%b];"},
                                        {"old", written("%b", ".read") + read},
                                        {"new", written("%b") + read}});
  machine.run("warm");
  const std::uint64_t before = machine.host_read(1);
  EXPECT_EQ(machine.added("bulk_copy.written_sectors", "old"), 4U);
  EXPECT_EQ(machine.host_read(1), 5U);
  EXPECT_EQ(machine.result(), before);
  machine.run("new");
  EXPECT_EQ(machine.result(), 5U);
}

TEST(BulkCopies, SeeStoresBeforeAFence) {
  SingleThread machine(one_set(4, 16), {{"k", "st.global.u64 [%c], 9; fence.proxy.async;" + fetched("%c") +
                                                  "st.global.u64 [%o], %x1;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(), 9U);
}

TEST(BulkCopies, ThatReduceOrPrefetchAreCountedOnEveryLevel) {
  SingleThread machine(
      one_set(4, 16),
      {{"reduce",
        "mov.u32 %r0, 0; ZERO: st.shared.u32 [shared+512], 3;"
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a+16], [shared+512], 16;"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ld.global.u64 %x0, [%a+16];"
        "st.global.u64 [%o], %x0;"},
       {"prefetch", "cp.async.bulk.prefetch.L2.global [%d], 256;"}});
  std::uint32_t before = 0;
  for (unsigned b = 0; b < 4; ++b) before |= (16 + b) % 61 << 8U * b;
  EXPECT_EQ(machine.added("bulk_copy.reduced_sectors", "reduce"), 1U);
  EXPECT_EQ(static_cast<std::uint32_t>(machine.result()), before + 3);
  EXPECT_EQ(machine.added("bulk_copy.prefetched_sectors", "prefetch"), 8U);
  EXPECT_EQ(machine.added("l2.sector_misses", "prefetch"), 0U) << "they are there";
}

TEST(BulkCopies, WhatIsWrongEndsTheWarp) {
  SingleThread machine(one_set(4, 16), {{"k", "add.u64 %x0, %a, 8;" + fetched("%x0")}});
  machine.run("k");
  ASSERT_EQ(machine.faults().size(), 1U);
  EXPECT_EQ(machine.faults()[0].kind, "misaligned address");
}

}  // namespace bulk_copies_test
}  // namespace warpline::test
