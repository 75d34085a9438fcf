// cp.async as PTX writes it: sizes, sources that are shorter than the copy, groups, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace async_copy_test {

using ::testing::HasSubstr;

/// A kernel of 32 threads with the arguments `in` and `out`, %rd3 and %rd4 their places for the thread, 16
/// bytes apart, and %r2 the thread's 16 bytes of `tile`.
std::string kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<12>;
.reg .b64 %rd<12>;
.shared .align 16 .b8 tile[1024];
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd5, %r1, 16;
add.s64 %rd3, %rd1, %rd5;
add.s64 %rd4, %rd2, %rd5;
mov.u32 %r2, tile;
mad.lo.u32 %r2, %r1, 16, %r2;
setp.lt.u32 %p1, %r1, 20;
)" + body +
         "\nret;\n}\n";
}

std::vector<std::uint8_t> run(const std::string& body) {
  Machine machine;
  machine.load(kernel(body));
  std::vector<std::uint8_t> in(512);
  std::iota(in.begin(), in.end(), std::uint8_t{1});
  const std::uint64_t from = machine.buffer(in);
  const std::uint64_t to = machine.buffer(std::vector<std::uint8_t>(512, 0xEE));
  std::vector<std::uint8_t> parameters(16);
  std::memcpy(parameters.data(), &from, 8);
  std::memcpy(&parameters[8], &to, 8);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, 0, parameters);
  return machine.read<std::uint8_t>(to, 512);
}

constexpr const char* kStoreTile = R"(
ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};
)";

std::uint8_t input(std::size_t i) {
  return static_cast<std::uint8_t>(i + 1);
}

TEST(PtxAsyncCopy, MovesItsBytesAndFillsTheRestWithZeros) {
  struct Row {
    const char* copy;
    unsigned read;  ///< of each thread's 16 bytes
  };
  for (const Row& row :
       {Row{"cp.async.cg.shared.global [%r2], [%rd3], 16;", 16},
        Row{"cp.async.ca.shared::cta.global.L2::128B [%r2], [%rd3], 16;", 16},
        Row{"cp.async.ca.shared.global [%r2+0], [%rd3+0], 8;", 8},
        Row{"cp.async.ca.shared.global [%r2], [%rd3], 4;", 4},
        Row{"cp.async.ca.shared.global [%r2], [%rd3], 16, 5;", 5},
        Row{"mov.u32 %r3, 12; cp.async.cg.shared.global [%r2], [%rd3], 16, %r3;", 12},
        Row{"mov.u64 %rd6, 99; cp.async.cg.shared.global [%r2], [%rd6], 16, 0;", 0},
        Row{"cp.async.cg.shared.global.L2::cache_hint [%r2], [%rd3], 16, 0x14F0000000000000;", 16},
        Row{"mov.u64 %rd7, 0x12F0000000000000; "
            "cp.async.ca.shared.global.L2::cache_hint.L2::256B [%r2], [%rd3], 16, 3, %rd7;",
            3},
        Row{"cvt.u64.u32 %rd6, %r2; cp.async.cg.shared.global [%rd6], [%rd3], 16;", 16}}) {
    const auto got = run(std::string("st.shared.v4.u32 [%r2], {0, 0, 0, 0};\n") + row.copy +
                         "\ncp.async.wait_all;" + kStoreTile);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], i % 16 < row.read ? input(i) : 0) << row.copy << " byte " << i;
  }
}

TEST(PtxAsyncCopy, ASourceIsIgnoredWhereThePredicateSaysSo) {
  for (const bool negated : {false, true}) {
    const auto got = run(std::string("cp.async.ca.shared.global [%r2], [%rd3], 16, ") + (negated ? "!" : "") +
                         "%p1;\ncp.async.wait_all;" + kStoreTile);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], (i / 16 < 20) == negated ? input(i) : 0) << "byte " << i;
  }
}

TEST(PtxAsyncCopy, AGuardKeepsLanesOut) {
  const auto got = run(std::string("st.shared.v4.u32 [%r2], {7, 7, 7, 7};\n"
                                   "@%p1 cp.async.ca.shared.global [%r2], [%rd3], 16;\ncp.async.wait_all;") +
                       kStoreTile);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], i / 16 < 20 ? input(i) : (i % 4 == 0 ? 7 : 0)) << "byte " << i;
}

TEST(PtxAsyncCopy, GroupsOfDivergedLanesAreWaitedForByEach) {
  // The two halves commit in turn, so a lane's groups are every other one of the warp's.
  for (unsigned repeat = 0; repeat < 20; ++repeat) {
    const auto got = run(std::string(R"(
@%p1 bra LOW;
cp.async.ca.shared.global [%r2], [%rd3], 8;
cp.async.commit_group;
cp.async.ca.shared.global [%r2+8], [%rd3+8], 8;
cp.async.commit_group;
cp.async.wait_group 0;
bra JOIN;
LOW:
cp.async.ca.shared.global [%r2], [%rd3], 16;
cp.async.commit_group;
cp.async.ca.shared.global [%r2+512], [%rd3], 16;
cp.async.commit_group;
cp.async.wait_group 1;
JOIN:
)") + kStoreTile);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], input(i)) << "byte " << i;
  }
}

TEST(PtxAsyncCopy, WhatIsNoCopyIsReported) {
  struct Row {
    const char* body;
    const char* message;
  };
  for (const Row& row :
       {Row{"cp.async.cg.shared.global [%r2], [%rd3], 8;", "'.cg' copies 16 bytes"},
        Row{"cp.async.ca.shared.global [%r2], [%rd3], 12;", "4, 8 or 16 bytes are copied"},
        Row{"cp.async.ca.shared.global [%r2], [%rd3], %r1;", "4, 8 or 16 bytes are copied"},
        Row{"cp.async.shared.global [%r2], [%rd3], 16;", "needs '.ca' or '.cg'"},
        Row{"cp.async.ca.global.global [%r2], [%rd3], 16;", "takes '.global' in second place only"},
        Row{"cp.async.ca.shared.global.relaxed [%r2], [%rd3], 16;", "'cp.async' takes no '.relaxed'"},
        Row{"cp.async.ca.shared.global [%r2], [%rd3];", "takes 3 to 4 operands here, not 2"},
        Row{"cp.async.ca.shared.global [%rd3], tile, 16;", "expected an address, found 'tile'"},
        Row{"cp.shared.global [%r2], [%rd3], 16;", "PTX has no such form of 'cp'"},
        Row{"cp.async.wait_group %r1;", "expected an integer literal"},
        Row{"cp.async.wait_all 0;", "takes 0 operands here, not 1"}}) {
    const auto result = parse(kernel(row.body), "bad.ptx");
    ASSERT_FALSE(result.ok()) << row.body;
    EXPECT_THAT(result.faults()[0].message, HasSubstr(row.message)) << row.body;
  }
}

}  // namespace async_copy_test
}  // namespace warpline::ptx::test
