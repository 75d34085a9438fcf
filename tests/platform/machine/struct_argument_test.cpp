// Structures as arguments: where their members lie, and that kernels reach the buffers in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace struct_argument_test {

using testing::HasSubstr;

/// struct { char c; float* in; unsigned short n; float* out; } by value, as a kernel of nvcc has it: 32
/// bytes.
constexpr const char* kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .align 8 .b8 s[32])
{
.reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f32 %f<3>; .reg .b16 %h<2>;
ld.param.u64 %rd1, [s+8];
ld.param.u16 %h1, [s+16];
ld.param.u64 %rd2, [s+24];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd4, %rd1, %rd3;
add.u64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
cvt.rn.f32.u16 %f2, %h1;
mul.f32 %f1, %f1, %f2;
st.global.f32 [%rd5], %f1;
ret;
}
)";
std::string launch(const std::string& members) {
  return "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n[[argument]]\nstruct = [\n" +
         members + "]\n";
}
constexpr const char* kIn =
    "{ buffer = \"in\", type = \"f32\", count = 32, init = { iota = { start = 1, step = 1 } } },\n";
constexpr const char* kOut =
    "buffer = \"out\", type = \"f32\", count = 32, expect = { expression = \"3 * (i + 1)\" } },\n";

std::string refusal(const std::string& members) {
  try {
    const PtxRun run(kPtx, launch(members));
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
  return {};
}

TEST(StructArgument, MembersLieAsCLaysThem) {
  const PtxRun run(kPtx, launch(std::string("{ scalar = 7, type = \"u8\" },\n") + kIn +
                                "{ scalar = 3, type = \"u16\" },\n{ " + kOut));
  EXPECT_EQ(run.end().outcome, RunOutcome::quiescent);
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(StructArgument, MembersAreStructures) {
  const PtxRun run(kPtx, launch("{ scalar = 7, type = \"u8\" },\n{ struct = [\n" + std::string(kIn) +
                                "{ struct = [{ scalar = 3, type = \"u16\" }] }] },\n{ " + kOut));
  EXPECT_EQ(run.end().checks, 1U);
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(StructArgument, OrWhereTheySay) {
  const PtxRun run(kPtx, launch("{ bytes = \"00\", at = 0 },\n" + std::string("{ at = 8, ") + (kIn + 2) +
                                "{ scalar = 3, type = \"u16\", at = 16 },\n{ at = 24, " + kOut));
  EXPECT_EQ(run.end().failures, std::vector<std::string>{});
}

TEST(StructArgument, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(refusal(kIn), HasSubstr("argument 1 is a structure of 8 bytes; parameter \"s\" has 32"));
  EXPECT_THAT(refusal(std::string("{ bytes = \"00 11 22\" },\n{ scalar = 3, type = \"u16\", at = 2 },\n")),
              HasSubstr("at: the member before it ends at byte 3"));
  EXPECT_THAT(refusal("{ struct = [ { scalar = 1, type = \"u8\" } ] },\n"),
              HasSubstr("argument 1 is a structure of 1 byte; parameter \"s\" has 32"));
  EXPECT_THAT(refusal("{ scalar = 1, struct = [ { scalar = 1, type = \"u8\" } ] },\n"),
              HasSubstr("struct must say exactly one of buffer, scalar, bytes, texture, surface, address, "
                        "bus, tensor_map, multimem, struct"));
  EXPECT_THAT(refusal(""), HasSubstr("struct: has no members"));
}

}  // namespace struct_argument_test
}  // namespace warpline::test
