// Whatever the operators, a thread sees its own earlier store (PTX ISA, "Memory Consistency Model").
//
// WARPLINE_RANDOM_SEED is the first seed.
#include "tests/programs/own_stores.h"

#include <gtest/gtest.h>

#include "platform/config/load_gpu.h"
#include "platform/machine/direct_backend.h"

namespace warpline::test {
namespace own_stores_test {

class OwnStoresOf : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(OwnStoresOf, AreSeenWhateverTheOperators) {
  const std::uint64_t seed = GetParam() + from_environment("WARPLINE_RANDOM_SEED", 0);
  SCOPED_TRACE("WARPLINE_RANDOM_SEED=" + std::to_string(seed));
  Random random(splitmix64(seed));
  const OwnStores program = own_stores(random);
  EXPECT_GT(program.cases.size(), 1000U);
  GpuConfig config = random_machine(random);
  config.l2.poison_discarded = seed % 2 == 0;
  ASSERT_TRUE(config.problems().empty());
  expect_seen(program, config, std::make_shared<DirectBackend>(TickMode::lazy, seed), seed % 4 == 3);
}

/// Each thread stores to a word of its own and loads it, by turns.
constexpr const char* kByTurns = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 words, .param .u64 wrong) {
  .reg .b32 %r<9>; .reg .b64 %d<6>; .reg .pred %p<3>;
  ld.param.u64 %d1, [words]; ld.param.u64 %d2, [wrong];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  mov.u32 %r7, 0; mov.u32 %r5, 0;
again:
  add.s32 %r5, %r5, 1;
  st.relaxed.gpu.global.u32 [%d4], %r5;
  add.s32 %r6, %r5, 1000;
  st.relaxed.gpu.global.u32 [%d4], %r6;
  ld.relaxed.gpu.global.u32 %r8, [%d4];
  setp.ne.u32 %p1, %r8, %r6;
  @%p1 add.s32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r5, 16;
  @%p2 bra again;
  st.global.u32 [%d5], %r7;
  ret;
})";

// What waits for a port of the network, or for its translation, is not overtaken by what comes when that
// ends.
TEST(OwnStores, AreNotOvertakenInTheNetwork) {
  const auto wrong = [](GpuConfig c) {
    EXPECT_TRUE(c.problems().empty());
    constexpr unsigned kCtas = 16, kThreads = 256;
    Bench bench(c, kByTurns);
    const std::vector<std::uint32_t> zeros(kCtas * kThreads);
    const std::uint64_t words = bench.put(zeros), counts = bench.put(zeros);
    bench.launch("turns", kCtas, kThreads, {words, counts});
    unsigned lost = 0;
    for (const std::uint32_t n : bench.get<std::uint32_t>(counts, zeros.size())) lost += n;
    for (const std::uint32_t n : bench.get<std::uint32_t>(words, zeros.size())) lost += n != 1016;
    return lost;
  };
  GpuConfig ports = load_gpu("mini").value();
  ports.sms_per_tpc = 4;
  ports.crossbar.network.tpc_request = 512;
  EXPECT_EQ(wrong(ports), 0U);
  GpuConfig pages = load_gpu("mini").value();
  pages.crossbar.translation = {4096, 1, 5, 0, 0};
  EXPECT_EQ(wrong(pages), 0U);
  pages.crossbar.translation = {4096, 1, 5, 1, 0, 2, 1};
  EXPECT_EQ(wrong(pages), 0U) << "walks read tables";
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnStoresOf, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace own_stores_test
}  // namespace warpline::test
