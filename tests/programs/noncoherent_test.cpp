// ld.global.nc: its cache, what it keeps and what makes it forget (PTX ISA, "ld.global.nc").
#include "tests/programs/single_thread.h"

namespace warpline::test {
namespace noncoherent_test {

std::string load(const std::string& op, const std::string& address = "%a", unsigned result = 0) {
  // The fence waits for the load: the next one meets what it left.
  return "ld.global" + op + ".u64 %x0, [" + address + "]; fence.acq_rel.cta; st.global.u64 [%o+" +
         std::to_string(8 * result) + "], %x0;";
}

GpuConfig texture_of(unsigned ways) {
  GpuConfig c = one_set(4, 16);
  c.texture.geometry = {1, ways, 50};
  return c;
}

TEST(NonCoherent, GoesThroughTheTextureCacheWhichKeepsItUnlessItIsToldNotTo) {
  for (const auto& [op, keeps] : std::map<std::string, bool>{{".nc", true},
                                                             {".ca.nc", true},
                                                             {".cs.nc", true},
                                                             {".cg.nc", false},
                                                             {".nc.L1::evict_last", true},
                                                             {".nc.L1::no_allocate", false}}) {
    SingleThread machine(texture_of(4), {{"first", load(op)}, {"again", load(".nc")}});
    EXPECT_EQ(machine.added("texture.sector_accesses", "first"), 1U) << op;
    EXPECT_EQ(machine.added("texture.sector_hits", "again"), keeps ? 1U : 0U) << op;
    EXPECT_EQ(machine.count("l1_lg.load_sectors"), 0U) << op;
  }
}

/// Older line %b, then %a with the operator, then %c into two lines: whether %b is still there.
TEST(NonCoherent, EvictsWhatStreamsFirst) {
  for (const auto& [op, first] : std::map<std::string, bool>{{".nc", false},
                                                             {".ca.nc", false},
                                                             {".cs.nc", true},
                                                             {".nc.L1::evict_first", true},
                                                             {".nc.L1::evict_normal", false}}) {
    SingleThread machine(texture_of(2), {{"fill", load(".nc", "%b") + load(op) + load(".nc", "%c")},
                                         {"look", load(".nc", "%b")}});
    machine.run("fill");
    EXPECT_EQ(machine.added("texture.sector_hits", "look"), first ? 1U : 0U) << op;
  }
}

TEST(NonCoherent, IsStaleAfterStoresFencesAndAcquires) {
  const std::string store = "mov.u64 %x1, 77; st.global.u64 [%a], %x1;";
  for (const std::string order : {"", "fence.sc.sys;", "ld.acquire.gpu.global.u64 %x2, [%d];", "membar.gl;",
                                  "fence.proxy.alias;", "atom.acq_rel.sys.global.add.u64 %x2, [%d], 1;"}) {
    SingleThread machine(texture_of(4),
                         {{"k", load(".nc") + store + order + load(".nc") + load("", "%a", 1)}});
    machine.run("k");
    EXPECT_NE(machine.result(0), 77U) << order;
    EXPECT_EQ(machine.result(1), 77U) << order;
  }
}

TEST(NonCoherent, SharesL1sLinesWhereL1ServesIt) {
  GpuConfig c = one_set(4, 16);
  c.sm.unified_l1 = true;
  SingleThread machine(
      c, {{"load", load("")}, {"nc", load(".nc")}, {"keeps", load(".nc.L1::no_allocate", "%b")}});
  EXPECT_EQ(machine.added("l1_lg.noncoherent_sectors", "nc"), 1U);
  EXPECT_EQ(machine.added("l1_lg.load_sector_hits", "load"), 1U) << "what the other path brought";
  EXPECT_EQ(machine.added("l1_lg.noncoherent_sector_hits", "nc"), 1U);
  EXPECT_EQ(machine.added("l1_lg.noncoherent_sector_hits", "nc", true), 0U) << "a grid boundary drops it";
  machine.run("keeps");
  EXPECT_EQ(machine.added("l1_lg.noncoherent_sector_hits", "keeps"), 0U);
}

TEST(NonCoherent, ForgetsAtAGridBoundary) {
  SingleThread machine(texture_of(4), {{"k", load(".nc")}});
  machine.run("k");
  machine.host_write(0, 77);
  machine.run("k");
  EXPECT_NE(machine.result(), 77U);
  machine.run("k", true);
  EXPECT_EQ(machine.result(), 77U);
}

TEST(NonCoherent, PrefetchSizesReachL2) {
  for (const auto& [size, sectors] :
       std::map<std::string, unsigned>{{"", 0}, {".L2::64B", 1}, {".L2::128B", 3}, {".L2::256B", 7}}) {
    SingleThread machine(texture_of(4), {{"k", load(".nc" + size)}});
    EXPECT_EQ(machine.added("l2.prefetched_sectors", "k"), sectors) << size;
  }
}

TEST(NonCoherent, WidensAsItsTypeSays) {
  SingleThread machine(texture_of(4), {{"k",
                                        "mov.u64 %x1, 0xFFFFFFFFFFFFFF80; st.global.u64 [%b], %x1; membar.gl;"
                                        "ld.global.nc.s8 %x2, [%b]; st.global.u64 [%o], %x2;"
                                        "ld.global.nc.u8 %x2, [%b]; st.global.u64 [%o+8], %x2;"
                                        "ld.global.nc.b16 %x2, [%b]; st.global.u64 [%o+16], %x2;"
                                        "ld.global.nc.v2.s32 {_, %x2}, [%b]; st.global.u64 [%o+24], %x2;"}});
  machine.run("k");
  EXPECT_EQ(machine.result(0), 0xFFFFFFFFFFFFFF80U);
  EXPECT_EQ(machine.result(1), 0x80U);
  EXPECT_EQ(machine.result(2), 0xFF80U);
  EXPECT_EQ(machine.result(3), ~std::uint64_t{0});
}

}  // namespace noncoherent_test
}  // namespace warpline::test
