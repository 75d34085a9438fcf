// Every cache operator of loads and stores (PTX ISA, "Cache Operators"), by what a program or a counter shows
// of it.
#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace cache_operators_test {

std::string load(const std::string& op, const std::string& address = "%a") {
  return "ld.global" + op + ".u64 %x0, [" + address + "]; st.global.u64 [%o], %x0;";
}

TEST(LoadOperators, WhichMayHitAStaleLineOfL1) {
  struct Row {
    const char* op;
    bool stale;
  };
  for (const Row& row : {Row{"ld.global", true}, Row{"ld.global.ca", true}, Row{"ld.global.cs", true},
                         Row{"ld.global.lu", true}, Row{"ld.global.cg", false}, Row{"ld.global.cv", false},
                         Row{"ld.volatile.global", false}, Row{"ld.relaxed.cta.global", true},
                         Row{"ld.relaxed.cluster.global", false}, Row{"ld.relaxed.gpu.global", false},
                         Row{"ld.relaxed.sys.global", false}, Row{"ld.mmio.relaxed.sys.global", false}}) {
    const std::string text = std::string(row.op) + ".u64 %x0, [%a]; st.global.u64 [%o], %x0;";
    SingleThread machine(one_set(4, 16), {{"warm", load(".ca")}, {"again", text}});
    machine.run("warm");
    machine.host_write(0, 77);
    machine.run("again");
    EXPECT_EQ(machine.result() != 77, row.stale) << row.op;
  }
}

TEST(LoadOperators, WhichAllocateInL1) {
  for (const auto& [op, allocates] : std::map<std::string, bool>{
           {"", true}, {".ca", true}, {".cs", true}, {".lu", true}, {".cg", false}, {".cv", false}}) {
    SingleThread machine(one_set(4, 16), {{"first", "ld.global" + op + ".u64 %x0, [%a];"},
                                          {"again", "ld.global.ca.u64 %x0, [%a];"}});
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "first"), 0U);
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), allocates ? 1U : 0U) << op;
  }
}

std::string get(const std::string& address, const std::string& op = "") {
  // A fence that waits for the load: the next one meets what it left in the caches.
  return "ld.global" + op + ".u64 %x0, [" + address + "]; fence.acq_rel.cta;";
}

TEST(LoadOperators, AllAllocateInL2) {
  for (const std::string op : {"", ".ca", ".cg", ".cs", ".lu", ".cv"}) {
    SingleThread machine(one_set(4, 16), {{"k", get("%a", op) + get("%a", ".cg")}});
    EXPECT_EQ(machine.added("l2.sector_hits", "k"), 1U) << op;
  }
}

/// Older line %b, then %a with the operator, then %c into two lines: whether %b is still there.
TEST(LoadOperators, EvictFirst) {
  for (const auto& [op, first] :
       std::map<std::string, bool>{{"", false}, {".ca", false}, {".cs", true}, {".lu", true}}) {
    const std::string fill = get("%b") + get("%a", op) + get("%c");
    SingleThread l2(one_set(1, 2), {{"k", fill + get("%b", ".cg")}});
    EXPECT_EQ(l2.added("l2.sector_hits", "k"), first ? 1U : 0U) << op;
    SingleThread l1(one_set(2, 16), {{"k", fill + get("%b")}});
    EXPECT_EQ(l1.added("l1_lg.load_sector_hits", "k"), first ? 1U : 0U) << op;
  }
}

TEST(StoreOperators, EvictFirst) {
  for (const auto& [op, first] : std::map<std::string, bool>{
           {"", false}, {".wb", false}, {".cg", false}, {".wt", false}, {".cs", true}}) {
    const std::string put = "st.global" + op + ".u64 [%a], %x0;";
    // At L2 a store allocates.
    SingleThread l2(one_set(1, 2), {{"k", get("%b") + put + get("%c") + get("%b", ".cg")}});
    EXPECT_EQ(l2.added("l2.sector_hits", "k"), first ? 1U : 0U) << op;
    // At L1 it gives its class to a line that is there, unless it passes L1 by, where it drops the line: that
    // is its room.
    const bool drops = op == ".cg" || op == ".wt";
    SingleThread l1(one_set(2, 16), {{"k", get("%b") + get("%a") + put + get("%c") + get("%b")}});
    EXPECT_EQ(l1.added("l1_lg.load_sector_hits", "k"), first || drops ? 1U : 0U) << op;
  }
}

TEST(StoreOperators, AllWriteGlobalLinesThroughL1AndAllocateThereNever) {
  for (const std::string op : {"", ".wb", ".cg", ".cs", ".wt"}) {
    SingleThread machine(one_set(4, 16), {{"k", "mov.u64 %x0, 5; st.global" + op + ".u64 [%a], %x0;"},
                                          {"again", "ld.global.u64 %x0, [%a];"}});
    EXPECT_EQ(machine.added("l2.write_sectors", "k"), 1U) << op;
    EXPECT_EQ(machine.host_read(0), 5U);
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "again"), 0U) << op;
  }
}

TEST(StoreOperators, APresentLineDoesNotServeTheOldValue) {
  for (const bool update : {false, true}) {
    for (const std::string op : {"", ".wb", ".cg", ".cs", ".wt"}) {
      GpuConfig config = one_set(4, 16);
      config.l1_lg.update_on_store = update;
      SingleThread machine(
          config, {{"k", load("") + "mov.u64 %x1, 5; st.global" + op + ".u64 [%a], %x1;" + load("")}});
      machine.run("k");
      EXPECT_EQ(machine.result(), 5U) << op;
    }
  }
}

TEST(StoreOperators, CgAndWtGoPastL1) {
  for (const std::string op : {"", ".wb", ".cs", ".cg", ".wt"}) {
    const bool past = op == ".cg" || op == ".wt";
    const std::string store = "mov.u64 %x1, 5; st.global" + op + ".u64 [%a], %x1;";
    SingleThread machine(one_set(4, 16), {{"store", store}, {"between", load("") + store + load("")}});
    EXPECT_EQ(machine.added("l1_lg.sector_accesses", "store"), past ? 0U : 1U) << op;
    EXPECT_EQ(machine.added("l1_lg.bypassed_sectors", "store"), past ? 1U : 0U) << op;
    EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "between"), past ? 0U : 1U)
        << op << ": the line is dropped";
  }
}

/// Text that touches local memory line after line, words that lie a line apart in every thread.
std::string local_words(const std::string& what, unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = first; i < first + count; ++i) {
    std::string s = what;
    const std::size_t at = s.find('@');
    text += s.replace(at, 1, std::to_string(4 * i));
  }
  return text;
}

TEST(LocalMemory, IsWrittenBackWhenItsLineGoesAndNotBefore) {
  SingleThread machine(one_set(2, 16), {{"stay", local_words("st.local.u32 [local+@], %r0;", 0, 2)},
                                        {"go", local_words("st.local.u32 [local+@], %r0;", 0, 3)}});
  EXPECT_EQ(machine.added("l2.write_sectors", "stay"), 0U);
  EXPECT_GE(machine.added("l2.write_sectors", "go"), 1U);
}

TEST(LocalMemory, LastUseSavesTheWriteBackAndLosesNoByte) {
  for (const auto& [op, last] : std::map<std::string, bool>{
           {"", false}, {".ca", false}, {".cg", false}, {".cv", false}, {".cs", true}, {".lu", true}}) {
    for (const bool poison : {false, true}) {
      GpuConfig config = one_set(2, 16);
      config.l1_lg.poison_last_use = poison;
      SingleThread machine(config, {{"k", "mov.u32 %r0, 7; st.local.u32 [local], %r0; ld.local" + op +
                                              ".u32 %r1, [local]; fence.acq_rel.cta;" +
                                              local_words("ld.local.u32 %r2, [local+@];", 1, 2) +
                                              "fence.acq_rel.cta; ld.local.u32 %r3, [local]; st.global.u32 "
                                              "[%o], %r1; st.global.u32 [%o+8], %r3;"}});
      machine.run("k");
      EXPECT_EQ(machine.count("l1_lg.saved_writebacks"), last ? 1U : 0U) << op;
      EXPECT_EQ(machine.count("l1_lg.writebacks"), last ? 0U : 1U) << op;
      EXPECT_EQ(machine.result(), 7U);
      EXPECT_EQ(machine.result(1), last && poison ? 0xDBDBDBDBU : 7U) << op;
    }
  }
}

TEST(LocalMemory, PoisonTellsOfTheBytesThatWereLastUsedOnly) {
  GpuConfig config = one_set(2, 16);
  config.l1_lg.poison_last_use = true;
  SingleThread machine(config,
                       {{"k",
                         "mov.u32 %r0, 0x04030201; st.local.u32 [local], %r0; ld.local.lu.u8 %r1, [local+1];"
                         "fence.acq_rel.cta;" +
                             local_words("ld.local.u32 %r2, [local+@];", 1, 2) +
                             "fence.acq_rel.cta; ld.local.u32 %r3, [local]; st.global.u32 [%o], %r1;"
                             "st.global.u32 [%o+8], %r3;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(), 2U);
  EXPECT_EQ(machine.result(1), 0x0403DB01U);
}

TEST(LocalMemory, LastUseSavesL2sWriteBackToo) {
  for (const auto& [op, last] : std::map<std::string, bool>{{"", false}, {".lu", true}, {".cs", true}}) {
    // Word 0 is written back to L2, comes back by its last use, and then leaves L2.
    SingleThread machine(one_set(1, 4), {{"k",
                                          "mov.u32 %r0, 7; st.local.u32 [local], %r0;"
                                          "ld.local.u32 %r2, [local+4]; fence.acq_rel.cta; ld.local" +
                                              op + ".u32 %r1, [local]; st.global.u32 [%o], %r1;"}});
    machine.run("k");
    EXPECT_EQ(machine.count("l2.saved_writebacks"), last ? 1U : 0U) << op;
    EXPECT_EQ(machine.result(), 7U);
  }
}

TEST(SystemMemory, CvReadsTheMemoryOnEveryLoadAndOthersL2sCopy) {
  for (const auto& [op, reads] : std::map<std::string, bool>{
           {"", false}, {".ca", false}, {".cg", false}, {".cs", false}, {".lu", false}, {".cv", true}}) {
    const std::string cold = "ld.global" + op + ".u64 %x0, [%a];";
    SingleThread machine(one_set(4, 16), {{"warm", load(".cg")}, {"again", cold + load(op)}},
                         Aperture::sysmem);
    machine.run("warm");
    machine.host_write(0, 77);
    EXPECT_EQ(machine.added("pcie.reads", "again"), reads ? 2U : 0U) << op;
    EXPECT_EQ(machine.result() == 77, reads) << op;
  }
}

TEST(SystemMemory, CvWritesADirtyLineBackFirst) {
  SingleThread machine(one_set(4, 16),
                       {{"k",
                         "mov.u64 %x1, 9; st.global.u64 [%a+8], %x1; ld.global.cv.u64 %x0, [%a+8];"
                         "st.global.u64 [%o], %x0;"}},
                       Aperture::sysmem);
  machine.run("k");
  EXPECT_EQ(machine.result(), 9U);
  EXPECT_EQ(machine.count("l2.sysmem_writebacks"), 1U);
  EXPECT_EQ(machine.count("l2.sysmem_discards"), 1U);
}

TEST(SystemMemory, WtIsWrittenThroughL2AndTheOthersStayThere) {
  for (const auto& [op, through] : std::map<std::string, bool>{
           {"", false}, {".wb", false}, {".cg", false}, {".cs", false}, {".wt", true}}) {
    SingleThread machine(
        one_set(4, 16),
        {{"k", "mov.u64 %x1, 9; st.global" + op + ".u64 [%a], %x1; st.global" + op + ".u64 [%a], %x1;"}},
        Aperture::sysmem);
    // What stays in L2 is written once, when the grid is over.
    EXPECT_EQ(machine.added("pcie.writes", "k"), through ? 2U : 1U) << op;
    EXPECT_EQ(machine.count("l2.direct_sectors"), through ? 2U : 0U) << op;
  }
}

TEST(GridBoundary, InvalidatesL1UnlessTheLaunchSaysNot) {
  for (const bool invalidate : {false, true}) {
    SingleThread machine(one_set(4, 16), {{"warm", load("")}, {"again", load("")}});
    machine.run("warm");
    machine.host_write(0, 77);
    machine.run("again", invalidate);
    EXPECT_EQ(machine.result() == 77, invalidate);
  }
}

}  // namespace cache_operators_test
}  // namespace warpline::test
