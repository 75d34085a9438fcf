// Prefetches, priorities, discards, proxy fences and .mmio accesses of whole programs, by what they change.
#include "rtl_models/sim/command.h"
#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace line_control_test {

constexpr const char* kPause = "nanosleep.u32 20000;";

TEST(Prefetches, FillTheCacheTheyName) {
  struct Row {
    const char* text;
    unsigned l1_hits, l2_hits;
  };
  for (const Row& row :
       {Row{"", 0, 0}, Row{"prefetch.global.L1 [%a];", 4, 0}, Row{"prefetch.L1 [%a+96];", 4, 0},
        Row{"prefetchu.L1 [%a];", 4, 0}, Row{"prefetch.global.L2 [%a];", 0, 4},
        Row{"prefetch.L2 [%a+7];", 0, 4}, Row{"prefetch.global.L2::evict_last [%a];", 0, 4},
        Row{"prefetch.L2::evict_normal [%a];", 0, 4}}) {
    std::string loads;
    for (unsigned s = 0; s < 4; ++s) loads += "ld.global.u64 %x0, [%a+" + std::to_string(32 * s) + "];";
    SingleThread machine(one_set(4, 16), {{"k", std::string(row.text) + kPause + loads}});
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "k"), row.l1_hits) << row.text;
    EXPECT_EQ(machine.count("l2.sector_hits"), row.l2_hits) << row.text;
    EXPECT_EQ(machine.count("lsu.controls"), *row.text == 0 ? 0U : 1U);
  }
}

TEST(Prefetches, OfLocalMemoryBringWhatWasWrittenBack) {
  for (const auto& [text, hits] : std::map<std::string, unsigned>{{"", 0},
                                                                  {"prefetch.local.L1 [local];", 1},
                                                                  {"prefetchu.L1 [%x1];", 0},
                                                                  {"prefetch.L1 [%x1];", 1}}) {
    SingleThread machine(one_set(2, 16),
                         {{"k",
                           "mov.u32 %r0, 7; st.local.u32 [local], %r0; cvta.local.u64 %x1, local;"
                           "st.local.u32 [local+4], %r0; st.local.u32 [local+8], %r0;" +
                               text + kPause + "ld.local.u32 %r1, [local]; st.global.u32 [%o], %r1;"}});
    machine.run("k");
    EXPECT_EQ(machine.count("l1_lg.load_sector_hits"), hits) << text;
    EXPECT_EQ(machine.result(), 7U);
  }
}

TEST(Prefetches, OfSharedAndUnmappedMemoryDoNothing) {
  SingleThread machine(one_set(4, 16), {{"k",
                                         "cvta.shared.u64 %x0, shared; prefetch.L1 [%x0]; prefetchu.L1 [%x0];"
                                         "mov.u64 %x1, 0x70000000; prefetch.L2 [%x1];"
                                         "prefetch.global.L1 [%x1];"}});
  machine.run("k");
  EXPECT_EQ(machine.count("lsu.controls"), 0U);
  EXPECT_EQ(machine.count("lsu.dropped_controls"), 2U);
  EXPECT_TRUE(machine.faults().empty());
}

/// R1: what an acquire invalidates, it keeps from being installed, too.
TEST(Prefetches, UnderWayAcrossAnAcquireInstallNothing) {
  SingleThread machine(one_set(4, 16),
                       {{"k", std::string("prefetch.global.L1 [%a]; fence.acq_rel.gpu;") + kPause},
                        {"again", "ld.global.u64 %x0, [%a];"}});
  machine.run("k");
  EXPECT_EQ(machine.count("l1_lg.dead_fills"), 1U);
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), 0U);
}

TEST(Priorities, OfPrefetchesOutliveAStreamUntilTheyAreTakenBack) {
  const std::string stream =
      "ld.global.cg.u64 %x0, [%b]; ld.global.cg.u64 %x0, [%c]; ld.global.cg.u64 %x0, [%d]; fence.acq_rel.cta;"
      "ld.global.cg.u64 %x0, [%a];";
  for (const auto& [text, stays] : std::map<std::string, bool>{
           {"prefetch.global.L2 [%a];", false},
           {"prefetch.global.L2::evict_normal [%a];", false},
           {"prefetch.global.L2::evict_last [%a];", true},
           {"prefetch.global.L2::evict_last [%a]; applypriority.global.L2::evict_normal [%a], 128;", false},
           {std::string("prefetch.global.L2::evict_last [%a];") + kPause +
                "applypriority.global.L2::evict_normal [%a], 128;",
            false},
           {"prefetch.global.L2::evict_last [%a]; prefetch.L2::evict_normal [%a];", false}}) {
    SingleThread machine(one_set(4, 2), {{"k", text + kPause + stream}});
    EXPECT_EQ(machine.added("l2.sector_hits", "k"), stays ? 1U : 0U) << text;
  }
}

TEST(Discards, SaveTheWriteBack) {
  for (const bool discards : {false, true}) {
    const std::string text = std::string("st.global.u64 [%a], %x0;") +
                             (discards ? "discard.global.L2 [%a], 128;" : "") +
                             "ld.global.u64 %x0, [%b]; ld.global.u64 %x0, [%c];";
    SingleThread machine(one_set(4, 1), {{"k", text}});
    machine.run("k");
    EXPECT_EQ(machine.count("l2.discarded_lines"), discards ? 1U : 0U);
    EXPECT_EQ(machine.count("dram.bytes_written"), discards ? 0U : 32U);
  }
}

TEST(Discards, LeaveAPatternThatOwnStoresReplace) {
  for (const Aperture aperture : {Aperture::vidmem, Aperture::sysmem}) {
    for (const bool poison : {false, true}) {
      GpuConfig config = one_set(4, 16);
      config.l2.poison_discarded = poison;
      SingleThread machine(config,
                           {{"k",
                             "mov.u64 %x1, 5; mov.u64 %x2, 6; st.global.u64 [%a], %x1; ld.global.u64 %x0, "
                             "[%a]; fence.acq_rel.cta;"
                             "discard.L2 [%a], 128; st.global.u64 [%a+8], %x2;"
                             "ld.global.u64 %x3, [%a]; ld.global.u64 %x4, [%a+8];"
                             "st.global.u64 [%o], %x3; st.global.u64 [%o+8], %x4;"}},
                           aperture);
      machine.run("k");
      if (poison) {
        EXPECT_EQ(machine.result(0), 0xDCDCDCDCDCDCDCDCU) << "L1 lets go of the line";
      }
      EXPECT_EQ(machine.result(1), 6U);
    }
  }
}

TEST(Discards, AreDrainedByAFenceAsAStoreIs) {
  const auto cycles = [](const std::string& text) {
    SingleThread machine(one_set(4, 16),
                         {{"k", "fence.acq_rel.cta; mov.u64 %x8, %clock64;" + text +
                                    "fence.acq_rel.gpu; mov.u64 %x9, %clock64; sub.u64 %x9, %x9, %x8;"
                                    "st.global.u64 [%o], %x9;"}});
    machine.run("k");
    return machine.result();
  };
  EXPECT_EQ(cycles("discard.L2 [%a], 128;"), cycles("st.global.u64 [%a], %x0;"));
  EXPECT_GT(cycles("discard.L2 [%a], 128;"), cycles("applypriority.L2::evict_normal [%a], 128;"));
}

TEST(LineControl, FaultsOfThePrograms) {
  for (const auto& [text, kind] : std::map<std::string, std::string>{
           {"discard.global.L2 [%a+64], 128;", "misaligned address"},
           {"applypriority.L2::evict_normal [%a+4], 128;", "misaligned address"},
           {"cvta.shared.u64 %x0, shared; discard.L2 [%x0], 128;", "address outside global memory"},
           {"cvta.local.u64 %x0, local; applypriority.L2::evict_normal [%x0], 128;",
            "address outside global memory"},
           {"cvta.local.u64 %x0, local; ld.mmio.relaxed.sys.u32 %r0, [%x0];",
            "address outside global memory"},
           {"cvta.shared.u64 %x0, shared; ld.v4.u64 {%x1, %x2, %x3, %x4}, [%x0];",
            "address outside global memory"},
           {"cvta.local.u64 %x0, local; st.v4.u64 [%x0], {%x1, %x2, %x3, %x4};",
            "address outside global memory"},
           {"cvta.shared.u64 %x0, shared; ld.v8.u32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%x0];",
            "address outside global memory"},
           {"cvta.shared.u64 %x0, shared; ld.L2::evict_first.v4.u64 {%x1, %x2, %x3, %x4}, [%x0];",
            "address outside global memory"},
           {"cvta.shared.u64 %x0, shared; .reg .f32 %f<2>; red.add.v2.f32 [%x0], {%f0, %f1};",
            "address outside global memory"},
           {"mov.u64 %x0, 0x70000000; discard.L2 [%x0], 128;", "unmapped address"}}) {
    SingleThread machine(one_set(4, 16), {{"k", text}});
    machine.run("k");
    ASSERT_EQ(machine.faults().size(), 1U) << text;
    EXPECT_EQ(machine.faults()[0].kind, kind) << text;
  }
}

TEST(ProxyFences, OfAliasesAndOfBulkCopiesInvalidateL1) {
  for (const auto& [text, invalidates] :
       std::map<std::string, bool>{{"fence.proxy.alias;", true},
                                   {"membar.proxy.alias;", true},
                                   {"fence.proxy.async;", true},
                                   {"fence.proxy.async.global;", true},
                                   {"fence.proxy.async.shared::cta;", false}}) {
    SingleThread machine(one_set(4, 16), {{"k", "ld.global.u64 %x0, [%a]; st.global.u64 [%b], %x0;" + text},
                                          {"again", "ld.global.u64 %x0, [%a];"}});
    EXPECT_EQ(machine.added("l1_lg.invalidations", "k"), invalidates ? 1U : 0U) << text;
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), invalidates ? 0U : 1U) << text;
  }
}

TEST(Mmio, OfSystemMemoryIsATransactionOfItsSizeOnTheLink) {
  SingleThread machine(one_set(4, 16),
                       {{"k",
                         "ld.mmio.relaxed.sys.global.u32 %r0, [%a+4]; ld.relaxed.sys.mmio.u8 %r1, [%a+4];"
                         "st.mmio.relaxed.sys.global.u32 [%a+8], %r0; st.global.u32 [%o], %r0;"}},
                       Aperture::sysmem);
  machine.run("k");
  EXPECT_EQ(machine.count("lsu.mmio_transactions"), 3U);
  EXPECT_EQ(machine.count("pcie.flushes"), 1U) << "behind the write, at the end of the grid";
  EXPECT_EQ(machine.count("pcie.reads"), 2U + machine.count("pcie.flushes"));
  EXPECT_EQ(machine.count("pcie.bytes_down"), 8U) << "the link moves whole words of four bytes";
  EXPECT_EQ(machine.count("pcie.bytes_up"), 4U);
  EXPECT_EQ(machine.host_read(0) >> 32U, machine.result());
}

TEST(Mmio, ReadsOfVideoMemoryAreServedByNoCacheAndLeaveNothing) {
  SingleThread machine(
      one_set(4, 16),
      {{"warm", "st.global.u32 [%a+4], 7; ld.global.u32 %r0, [%a]; ld.global.u32 %r0, [%o];"},
       {"k",
        "ld.mmio.relaxed.sys.global.u32 %r1, [%a+4]; ld.mmio.relaxed.sys.global.u32 %r2, [%a+4];"
        "ld.mmio.relaxed.sys.global.u32 %r3, [%b]; add.u32 %r1, %r1, %r2; st.global.u32 [%o], %r1;"},
       {"again", "ld.global.u32 %r0, [%b];"}});
  machine.run("warm");
  const auto code = [&] {
    return machine.count("constant.fetched_sectors") + machine.count("instruction.fetched_sectors");
  };
  const std::uint64_t code_before = code(), reads_before = machine.count("l2.read_sectors");
  const std::uint64_t writebacks_before = machine.count("l2.writebacks");
  const std::uint64_t dram_before = machine.count("dram.bytes_read");
  const std::uint64_t fetched_before = machine.count("l2.fetched_sectors");
  machine.run("k");
  EXPECT_EQ(machine.result(), 14U);
  EXPECT_EQ(machine.count("l1_lg.forwarded_sectors"), 3U);
  EXPECT_EQ(machine.count("l2.direct_sectors"), 3U);
  EXPECT_EQ(machine.count("l2.read_sectors") - reads_before, code() - code_before) << "none was looked up";
  EXPECT_EQ(machine.count("l2.writebacks") - writebacks_before, 1U) << "what was dirty, before the first";
  EXPECT_EQ(machine.count("dram.bytes_read") - dram_before,
            32U * (machine.count("l2.fetched_sectors") - fetched_before));
  EXPECT_GE(machine.count("l2.fetched_sectors") - fetched_before, 3U);
  const std::uint64_t misses_before = machine.count("l2.sector_misses");
  machine.run("again");
  EXPECT_GE(machine.count("l2.sector_misses") - misses_before, 1U) << "the read of b left nothing";
}

TEST(Mmio, WritesOfVideoMemoryGoToDramEach) {
  SingleThread machine(one_set(4, 16), {{"k",
                                         "mov.u32 %r0, 5; st.mmio.relaxed.sys.global.u32 [%a], %r0;"
                                         "st.mmio.relaxed.sys.global.u32 [%a], %r0;"
                                         "st.mmio.relaxed.sys.global.u8 [%a+6], %r0;"
                                         "ld.global.u64 %x1, [%a]; st.global.u64 [%o], %x1;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(), 0x0705050400000005U);
  EXPECT_EQ(machine.count("l2.writebacks"), 3U);
  EXPECT_EQ(machine.count("l2.direct_sectors"), 3U);
  EXPECT_EQ(machine.count("dram.bytes_written"), 3U * 32U);
}

TEST(Vectors, OfThirtyTwoBytesWithSinks) {
  SingleThread machine(
      one_set(4, 16),
      {{"k",
        "mov.u64 %x1, 1; mov.u64 %x2, 2; mov.u64 %x3, 3; mov.u64 %x4, 4;"
        "st.global.v4.u64 [%a], {%x1, %x2, %x3, %x4}; st.global.v4.u64 [%a], {_, %x4, _, %x1};"
        "ld.global.v8.u32 {%r0, _, %r2, _, %r4, _, %r6, _}, [%a];"
        "st.global.v8.u32 [%a+32], {%r0, %r0, %r2, %r2, %r4, %r4, %r6, %r6};"
        "ld.global.v4.u64 {%x5, _, _, %x8}, [%a+32]; st.global.u64 [%o], %x5; st.global.u64 [%o+8], %x8;"
        "ld.global.v2.u16 {_, %r9}, [%a+12]; ld.global.v4.u8 {%r8, _, _, %r7}, [%a+32];"
        "st.global.u32 [%o+16], %r9; st.global.u32 [%o+24], %r8;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(0), 0x100000001U);
  EXPECT_EQ(machine.result(1), 0x100000001U);
  EXPECT_EQ(machine.result(2), 0U);
  EXPECT_EQ(machine.result(3), 1U);
}

TEST(Vectors, OfOneHundredAndTwentyEightBits) {
  SingleThread machine(one_set(4, 16),
                       {{"k",
                         ".reg .b128 %q; ld.global.b128 %q, [%a+16]; st.global.b128 [%o], %q;"
                         "ld.relaxed.gpu.global.b128 %q, [%o]; st.global.b128 [%o+16], %q;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(0), 0x1716151413121110U);
  EXPECT_EQ(machine.result(1), 0x1F1E1D1C1B1A1918U);
  EXPECT_EQ(machine.result(2), machine.result(0));
  EXPECT_EQ(machine.result(3), machine.result(1));
}

}  // namespace line_control_test
}  // namespace warpline::test
