// Cache policies made and taken by programs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/cache_policy.h"
#include "rtl_models/sm/address_windows.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace policies_test {

using E = L2Eviction;

/// A kernel of one warp with the body given: %f1 and %r1, %r2 hold the lane's elements of three buffers, %rd2
/// of a fourth; what %rd3 holds in the end is stored.
std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 f, .param .u64 p, .param .u64 t, .param .u64 a, .param .u64 out)\n{\n"
         ".reg .pred %p<2>; .reg .f32 %f<2>; .reg .b32 %r<4>; .reg .b64 %rd<12>; .shared .align 16 .b8 "
         "tile[64];\n"
         "mov.u32 %r3, %tid.x; mul.wide.u32 %rd4, %r3, 4; mul.wide.u32 %rd5, %r3, 8;\n"
         "ld.param.u64 %rd6, [f]; add.u64 %rd6, %rd6, %rd4; ld.global.f32 %f1, [%rd6];\n"
         "ld.param.u64 %rd7, [p]; add.u64 %rd7, %rd7, %rd4; ld.global.u32 %r1, [%rd7];\n"
         "ld.param.u64 %rd8, [t]; add.u64 %rd8, %rd8, %rd4; ld.global.u32 %r2, [%rd8];\n"
         "ld.param.u64 %rd9, [a]; add.u64 %rd9, %rd9, %rd5; ld.global.u64 %rd2, [%rd9];\n"
         "ld.param.u64 %rd10, [out]; add.u64 %rd10, %rd10, %rd5; mov.u64 %rd3, 7;\n" +
         body + "\nst.global.u64 [%rd10], %rd3;\nret;\n}\n";
}

struct Lanes {
  std::vector<float> fraction = std::vector<float>(32, 0.5F);
  std::vector<std::uint32_t> primary = std::vector<std::uint32_t>(32), total = primary;
  std::vector<std::uint64_t> address = std::vector<std::uint64_t>(32);
  std::vector<std::string> faults;
};

/// What the lanes stored.
std::vector<std::uint64_t> run(const std::string& body, Lanes& lanes) {
  Machine machine;
  machine.load(kernel(body));
  const std::uint64_t out = machine.buffer(std::vector<std::uint64_t>(32, 1));
  machine.launch("k", {1, 1, 1}, {32, 1, 1}, 0, machine.buffer(lanes.fraction), machine.buffer(lanes.primary),
                 machine.buffer(lanes.total), machine.buffer(lanes.address), out);
  lanes.faults = machine.faults;
  return machine.read<std::uint64_t>(out, 32);
}

std::uint64_t first(const std::string& body) {
  Lanes lanes;
  return run(body, lanes).front();
}

TEST(PtxPolicies, LiteralsMakeTheAssemblersDescriptors) {
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;"), 0x14F0000000000000U);
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_last.b64 %rd3;"), 0x14F0000000000000U) << "default 1.0";
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %rd3, 0.5;"),
            0x1770000000000000U);
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd3, 0f3F000000;"),
            0x1270000000000000U);
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_unchanged.b64 %rd3, 0d3FE0000000000000;"),
            0x1070000000000000U);
  EXPECT_EQ(first("createpolicy.fractional.L2::evict_first.L2::evict_first.b64 %rd3, 0.5001;"),
            0x1370000000000000U);
  EXPECT_EQ(first("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd3, [%rd2+0x12345], 1, 1;"),
            0x1D01202000000000U);
  EXPECT_EQ(first("createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], -1, 4294967295;"),
            0x1CD00FE000000000U);
  EXPECT_EQ(first("createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], 0, 0;"), 0x1800000000000000U);
}

TEST(PtxPolicies, ConversionKeepsTheBits) {
  EXPECT_EQ(first("createpolicy.cvt.L2.b64 %rd3, 0x16F0000000000000;"), 0x16F0000000000000U);
  EXPECT_EQ(first("createpolicy.cvt.L2.b64 %rd3, 1;"), 1U) << "whatever they mean";
  Lanes lanes;
  Random random(9);
  for (std::uint64_t& a : lanes.address) a = random.next();
  EXPECT_EQ(run("createpolicy.cvt.L2.b64 %rd3, %rd2;", lanes), lanes.address);
}

TEST(PtxPolicies, FractionsInRegistersAreEachLanesOwn) {
  Lanes lanes;
  for (unsigned i = 0; i < 32; ++i) lanes.fraction[i] = static_cast<float>(i + 1) / 32;
  lanes.fraction[0] = std::numeric_limits<float>::denorm_min();
  const auto got = run("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd3, %f1;", lanes);
  const auto as_bits =
      run("mov.b32 %r1, %f1; createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd3, %r1;", lanes);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], fractional_policy(E::last, E::first, lanes.fraction[i])) << lanes.fraction[i];
  EXPECT_EQ(as_bits, got);
}

TEST(PtxPolicies, AFractionThatIsNoneEndsTheWarp) {
  for (const float bad : {0.0F, -1.0F, 1.0001F, 2.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    Lanes lanes;
    lanes.fraction[17] = bad;
    const auto got = run("createpolicy.fractional.L2::evict_last.b64 %rd3, %f1;", lanes);
    ASSERT_EQ(lanes.faults.size(), 1U) << bad;
    EXPECT_EQ(lanes.faults[0], "createpolicy.fractional: a fraction that is not above 0 and at most 1");
    EXPECT_EQ(got[0], 1U) << "nothing was stored";
    run("setp.ne.u32 %p1, %r3, 17; @%p1 createpolicy.fractional.L2::evict_last.b64 %rd3, %f1;", lanes);
    EXPECT_TRUE(lanes.faults.empty()) << "lanes that do not execute it do no harm";
  }
}

TEST(PtxPolicies, APrimarySizeAboveTheTotalEndsTheWarp) {
  Lanes lanes;
  lanes.primary[9] = 4097;
  lanes.total[9] = 4096;
  for (const char* space : {"", ".global"}) {
    run(std::string("createpolicy.range") + space + ".L2::evict_last.b64 %rd3, [%rd2], %r1, %r2;", lanes);
    ASSERT_EQ(lanes.faults.size(), 1U);
    EXPECT_EQ(lanes.faults[0], "createpolicy.range: a primary size above the total size, at address");
  }
  lanes.primary[9] = 4096;
  run("createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], %r1, %r2;", lanes);
  EXPECT_TRUE(lanes.faults.empty());
}

TEST(PtxPolicies, RangesInRegistersAreEachLanesOwn) {
  Lanes lanes;
  Random random(10);
  for (unsigned i = 0; i < 32; ++i) {
    lanes.total[i] = static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
    lanes.primary[i] = static_cast<std::uint32_t>(random.below(std::uint64_t{lanes.total[i]} + 1));
    lanes.address[i] = random.next() >> 20U;
  }
  for (const char* space : {"", ".global"}) {
    const auto got = run(std::string("createpolicy.range") + space +
                             ".L2::evict_normal.L2::evict_first.b64 %rd3, [%rd2+256], %r1, %r2;",
                         lanes);
    for (unsigned i = 0; i < 32; ++i)
      EXPECT_EQ(got[i],
                range_policy(E::normal, E::first, lanes.address[i] + 256, lanes.primary[i], lanes.total[i]));
    EXPECT_TRUE(lanes.faults.empty());
  }
}

TEST(PtxPolicies, OnlyLanesWhoseGuardHoldsTakeTheResult) {
  Lanes lanes;
  const auto got =
      run("setp.lt.u32 %p1, %r3, 5;\n@%p1 createpolicy.fractional.L2::evict_last.b64 %rd3, %f1;\n"
          "@!%p1 createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], 1, 1;",
          lanes);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 5 ? 0x1470000000000000U : 0x1C00002000000000U) << i;
}

TEST(PtxPolicies, ARangeOutsideGlobalMemoryEndsTheWarp) {
  for (const std::uint64_t base : {AddressWindows::kSharedBase, AddressWindows::kLocalBase}) {
    Lanes lanes;
    lanes.address[17] = base + 16;
    const auto got = run("createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], 1, 1;", lanes);
    ASSERT_EQ(lanes.faults.size(), 1U);
    EXPECT_EQ(lanes.faults[0], "createpolicy.range: a generic address outside global memory");
    EXPECT_EQ(got[0], 1U) << "nothing was stored";
    // Lanes that do not execute it, and global addresses that only look like a window's, do no harm.
    run("setp.ne.u32 %p1, %r3, 17; @%p1 createpolicy.range.L2::evict_last.b64 %rd3, [%rd2], 1, 1;", lanes);
    EXPECT_TRUE(lanes.faults.empty());
    run("createpolicy.range.global.L2::evict_last.b64 %rd3, [%rd2], 1, 1;", lanes);
    EXPECT_TRUE(lanes.faults.empty());
  }
}

}  // namespace policies_test
}  // namespace warpline::ptx::test
