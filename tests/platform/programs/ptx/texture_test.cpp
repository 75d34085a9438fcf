// tex, suld and sust as PTX writes them: coordinates, components, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace texture_test {

using ::testing::HasSubstr;

/// A kernel of 32 threads with the arguments `image`, `other` and `out`: %rd1 and %rd2 the handles, %rd3 the
/// thread's 16 bytes of the output, %r1 the thread's number, %f1 the same and a half.
std::string kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 other, .param .u64 out)
{
.reg .b16 %rs<8>;
.reg .b32 %r<12>;
.reg .f32 %f<12>;
.reg .b64 %rd<12>;
.shared .align 16 .b8 tile[64];
ld.param.u64 %rd1, [image];
ld.param.u64 %rd2, [other];
ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 16;
add.s64 %rd3, %rd3, %rd4;
cvt.rn.f32.u32 %f1, %r1;
add.f32 %f1, %f1, 0f3F000000;
and.b32 %r2, %r1, 3;
shr.u32 %r3, %r1, 2;
)" + body +
         "\nret;\n}\n";
}

/// Runs it on two images of 4 x 8 elements of four bytes and returns the output as words.
std::vector<std::uint32_t> run(const std::string& body, const TexelFormat& format, bool surface,
                               std::vector<std::uint32_t>* elements = nullptr) {
  Machine machine;
  machine.load(kernel(body));
  std::vector<std::uint32_t> values(32);
  std::iota(values.begin(), values.end(), 0x4100'0000U);
  const std::uint64_t at = machine.buffer(values);
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(128, 0xEEEE'EEEE));
  const std::array<std::uint64_t, 3> arguments = {machine.images.add({surface, at, 4, 8, format}),
                                                  machine.images.add({surface, at, 32, 1, format}), out};
  std::vector<std::uint8_t> parameters(sizeof arguments);
  std::memcpy(parameters.data(), arguments.data(), sizeof arguments);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, 0, parameters);
  if (elements != nullptr) *elements = machine.read<std::uint32_t>(at, 32);
  return machine.read<std::uint32_t>(out, 128);
}

constexpr TexelFormat kWords{DataType::u32, 1};
constexpr const char* kStoreFloats = "st.global.v4.f32 [%rd3], {%f4, %f5, %f6, %f7};";

/// The first word of each thread's output.
std::vector<std::uint32_t> first_words(const std::string& body, bool surface = false) {
  const auto all = run(body, kWords, surface);
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < all.size(); i += 4) words.push_back(all[i]);
  return words;
}

TEST(PtxTextures, CoordinatesAreIntegersOrTheTexelThatANumberLiesIn) {
  for (const char* body : {"tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1}];",
                           "tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, %r1];",
                           "tex.1d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1}];",
                           "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r2, %r3}];",
                           "cvt.rn.f32.u32 %f2, %r2; cvt.rn.f32.u32 %f3, %r3; add.f32 %f2, %f2, 0f3F7FF000;"
                           "tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%f2, %f3}];"}) {
    const auto got = first_words(std::string(body) + "st.global.u32 [%rd3], %r4;");
    for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(got[i], 0x4100'0000U + i) << body;
  }
}

TEST(PtxTextures, FourComponentsReachFourRegisters) {
  const auto got = run(std::string("tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd2, {%r1}];") + kStoreFloats,
                       {DataType::f32, 1}, false);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(got[4 * i], 0x4100'0000U + i);
}

TEST(PtxTextures, SurfacesCountBytesAndKeepWhatIsWritten) {
  for (const char* body :
       {"shl.b32 %r2, %r2, 2; suld.b.2d.b32.trap %r4, [%rd1, {%r2, %r3}];",
        "shl.b32 %r2, %r2, 2; suld.b.2d.b32.trap {%r4}, [%rd1, {%r2, %r3}];",
        "shl.b32 %r1, %r1, 2; suld.b.1d.cg.v4.b8.zero {%rs1, %rs2, %rs3, %rs4}, [%rd2, {%r1}];"
        "cvt.u32.u16 %r4, %rs1; cvt.u32.u16 %r5, %rs4; shl.b32 %r5, %r5, 24; or.b32 %r4, %r4, %r5;",
        "shl.b32 %r1, %r1, 2; sust.b.1d.wt.v2.b16.clamp [%rd2, {%r1}], {%rs1, %rs2};"
        "sust.b.1d.b32.trap [%rd2, %r1], {%r1}; suld.b.1d.ca.b32.trap %r4, [%rd2, {%r1}]; shr.u32 %r4, %r4, "
        "2;"
        "add.u32 %r4, %r4, 1090519040;"}) {
    const auto got = first_words(std::string(body) + "st.global.u32 [%rd3], %r4;", true);
    for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(got[i], 0x4100'0000U + i) << body;
  }
}

TEST(PtxTextures, AStoreChangesTheElementsAlone) {
  std::vector<std::uint32_t> elements;
  run("shl.b32 %r2, %r2, 2; not.b32 %r4, %r1; sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r4};", kWords, true,
      &elements);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(elements[i], ~i);
}

TEST(PtxTextures, WhatIsNotModelledIsReported) {
  struct Row {
    const char* body;
    const char* message;
  };
  for (const Row& row :
       {Row{"tex.3d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];", "'.3d' is not modelled"},
        Row{"tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %f1, %f1, %f1}];",
            "'.a2d' is not modelled"},
        Row{"tex.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];", "'tex' needs a geometry"},
        Row{"tex.2d.f32.f32 %f1, [%rd1, {%f1, %f1}];", "'tex' needs '.v4'"},
        Row{"tex.2d.v4.f32.u32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1}];",
            "'tex' needs '.s32' in second place"},
        Row{"tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}], %f1;",
            "takes 2 operands, not 3"},
        Row{"tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}];",
            "'.base' is not supported on 'tex'"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];", "takes 2 coordinates, not 1"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "expected coordinates"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f1, %f1}];", "samplers are not modelled"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tile, {%f1, %f1}];", "neither texture nor surface"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f1, %f1}];", "holds no handle"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3}, [%rd1, {%f1, %f1}];", "expected 4 elements, found 3"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%rd1, %r1}];", "the instruction wants .f32"},
        Row{"suld.2d.b32 %r1, [%rd1, {%r1, %r1}];", "PTX has no such form of 'suld'"},
        Row{"sust.p.2d.v4.b32.trap [%rd1, {%r1, %r1}], {%r1, %r2, %r3, %r4};",
            "only unformatted surface accesses"},
        Row{"suld.b.2d.v4.b64 {%rd5, %rd6, %rd7, %rd8}, [%rd1, {%r1, %r1}];",
            "needs a mode for what lies outside"},
        Row{"suld.b.2d.wt.b32 %r1, [%rd1, {%r1, %r1}];", "'suld' takes no '.wt'"},
        Row{"ld.global.u32 %r1, [%rd1, {%r1}];", "this instruction takes no coordinates"}}) {
    const auto result = parse(kernel(row.body), "bad.ptx");
    ASSERT_FALSE(result.ok()) << row.body;
    EXPECT_THAT(result.faults()[0].message, HasSubstr(row.message)) << row.body;
  }
}

}  // namespace texture_test
}  // namespace warpline::ptx::test
