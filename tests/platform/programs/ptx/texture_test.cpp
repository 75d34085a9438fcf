// tex, suld and sust as PTX writes them: coordinates, components, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
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
.reg .pred %p<2>;
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

/// 64 elements of four bytes, from 0x41000000 on, as an image of whatever shape. %r8 and %r9 are the thread's
/// second two bits and its fifth.
std::vector<std::uint32_t> run_on(const Image& shape, const std::string& body,
                                  std::vector<std::uint32_t>* elements = nullptr,
                                  std::uint32_t start = 0x4100'0000U) {
  Machine machine;
  machine.load(kernel("and.b32 %r8, %r3, 3; shr.u32 %r9, %r1, 4;" + body));
  std::vector<std::uint32_t> values(64);
  std::iota(values.begin(), values.end(), start);
  Image image = shape;
  image.address = machine.buffer(values);
  Image other = image;
  other.is_surface = !image.is_surface;
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(128, 0xEEEE'EEEE));
  const std::array<std::uint64_t, 3> arguments = {machine.images.add(image), machine.images.add(other), out};
  std::vector<std::uint8_t> parameters(sizeof arguments);
  std::memcpy(parameters.data(), arguments.data(), sizeof arguments);
  machine.run("k", {1, 1, 1}, {32, 1, 1}, 0, parameters);
  if (elements != nullptr) *elements = machine.read<std::uint32_t>(image.address, 64);
  return machine.read<std::uint32_t>(out, 128);
}

Image shape_of(std::uint32_t width, std::uint32_t height, std::uint32_t depth = 1, std::uint32_t layers = 0) {
  Image image;
  image.width = width;
  image.height = height;
  image.depth = depth;
  image.layers = layers;
  image.format = kWords;
  return image;
}

TEST(PtxTextures, EveryShapeHasItsCoordinates) {
  Image levels = shape_of(4, 4);
  levels.levels = 3;
  levels.sampler.normalized_coordinates = true;
  Image cube = shape_of(2, 2);
  cube.cube = true;
  Image cubes = cube;
  cubes.layers = 2;
  const std::string load = "{%r4, %r5, %r6, %r7}, [%rd1, ";
  struct Row {
    Image image;
    std::string body;
    std::function<std::uint32_t(std::uint32_t)> element;
  };
  const auto same = [](std::uint32_t i) { return i; };
  for (const Row& row : {
           Row{shape_of(4, 4, 2), "tex.3d.v4.u32.s32 " + load + "{%r2, %r8, %r9, %r1}];", same},
           Row{shape_of(4, 4, 1, 2), "tex.a2d.v4.u32.s32 " + load + "{%r9, %r2, %r8, %r1}];", same},
           Row{shape_of(4, 1, 1, 8), "tex.a1d.v4.u32.s32 " + load + "{%r3, %r2}];", same},
           Row{shape_of(4, 8), "tex.base.2d.v4.u32.s32 " + load + "{%r2, %r3}];", same},
           Row{levels,
               "mov.u32 %r10, 1; and.b32 %r2, %r1, 1; tex.level.2d.v4.u32.s32 " + load + "{%r2, %r2}], %r10;",
               [](std::uint32_t i) { return 16 + (i & 1U) * 3; }},
           Row{levels, "tex.level.2d.v4.u32.f32 " + load + "{%f1, %f1}], 0f40000000;",
               [](std::uint32_t) { return 20U; }},
           Row{levels,
               "mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f00000000;"
               "tex.grad.2d.v4.u32.f32 " +
                   load + "{%f3, %f3}], {%f2, %f3}, {%f3, %f3};",
               [](std::uint32_t) { return 16U; }},
           // Directions to the lower right of the faces +z and -x.
           Row{cube,
               "mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0fBF000000; mov.f32 %f4, 0f3F800000;"
               "tex.cube.v4.u32.f32 " +
                   load + "{%f2, %f3, %f4, %f4}];",
               [](std::uint32_t) { return 4 * 4 + 3U; }},
           Row{cubes,
               "mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0fBF000000; mov.f32 %f4, 0fBF800000;"
               "tex.acube.v4.u32.f32 " +
                   load + "{%r9, %f4, %f3, %f2}];",
               [](std::uint32_t i) { return (i >> 4U) * 24 + 1 * 4 + 3U; }},
           Row{shape_of(4, 8), "tex.2d.v4.u32.s32 " + load + "{%r2, %r3}], {1, -1};",
               [](std::uint32_t i) { return std::max(i / 4, 1U) * 4 - 4 + std::min(i % 4 + 1, 3U); }},
           Row{shape_of(32, 1), "tex.1d.v4.u32.s32 " + load + "%r1], 3;",
               [](std::uint32_t i) { return std::min(i + 3, 31U); }},
       }) {
    const auto got = run_on(row.image, row.body + "st.global.u32 [%rd3], %r4;");
    for (std::uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(got[4 * std::size_t{i}], 0x4100'0000U + row.element(i)) << row.body << " thread " << i;
  }
}

TEST(PtxTextures, ResultsAreHalvesOrSaySomethingOfResidence) {
  Image image = shape_of(32, 1);
  image.format = {DataType::f32, 1};
  // Element 0 is 8.0.
  auto got = run_on(image,
                    "tex.1d.v4.f16.s32 {%rs1, %rs2, %rs3, %rs4}, [%rd1, {%r1}];"
                    "mov.b32 %r4, {%rs1, %rs4}; st.global.u32 [%rd3], %r4;");
  EXPECT_EQ(got[0], 0x3C00'4800U);
  got = run_on(image, "tex.1d.v2.f16x2.s32 {%r4, %r5}, [%rd1, {%r1}]; st.global.v2.u32 [%rd3], {%r4, %r5};");
  EXPECT_EQ(got[0], 0x4800U);
  EXPECT_EQ(got[1], 0x3C00'0000U);
  got = run_on(image,
               "tex.1d.v4.f32.s32 {%f4, _, _, %f7}|%p1, [%rd1, {%r1}]; selp.u32 %r4, 1, 2, %p1;"
               "st.global.u32 [%rd3], %r4; st.global.f32 [%rd3+4], %f7;");
  EXPECT_EQ(got[0], 1U);
  EXPECT_EQ(got[1], 0x3F80'0000U);
}

TEST(PtxTextures, ComparisonsAndGathers) {
  Image image = shape_of(4, 4);
  image.format = {DataType::f32, 1};
  // 0x4100'0000 is 8; elements rise by the smallest step.
  auto got = run_on(image,
                    "mov.b32 %f2, 0f41000005; mov.f32 %f3, 0f40000000;"
                    "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f1, %f3}], %f2;"
                    "st.global.f32 [%rd3], %f4;");
  for (std::uint32_t i = 0; i < 4; ++i)  // row 2
    EXPECT_EQ(got[4 * std::size_t{i}], 0x3F80'0000U) << i;
  got = run_on(image,
               "mov.b32 %f2, 0f41000005; mov.f32 %f3, 0f40000000;"
               "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f3, %f3}]; " +
                   std::string(kStoreFloats));
  EXPECT_EQ((std::vector<std::uint32_t>(got.begin(), got.begin() + 4)),
            (std::vector<std::uint32_t>{0x4100'0009, 0x4100'000A, 0x4100'0006, 0x4100'0005}));
  got = run_on(image,
               "mov.b32 %f2, 0f41000006; mov.f32 %f3, 0f40000000;"
               "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f3, %f3}], {0, 1}, %f2; " +
                   std::string(kStoreFloats));
  EXPECT_EQ(got[3], 0x3F80'0000U) << "one row down, all are larger";
  got = run_on(shape_of(4, 4),
               "mov.f32 %f3, 0f40000000;"
               "tld4.a.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%f3, %f3}]; "
               "st.global.u32 [%rd3], %r4;");
  EXPECT_EQ(got[0], 1U) << "alpha that is not there";
}

TEST(PtxTextures, QueriesNeedNoMemory) {
  Image image = shape_of(4, 2, 1, 3);
  image.levels = 2;
  image.sampler.normalized_coordinates = true;
  const auto ask = [&](const std::string& query) {
    return run_on(image, query + "st.global.u32 [%rd3], %r4;")[0];
  };
  EXPECT_EQ(ask("txq.width.b32 %r4, [%rd1];"), 4U);
  EXPECT_EQ(ask("txq.height.b32 %r4, [%rd1];"), 2U);
  EXPECT_EQ(ask("txq.level.width.b32 %r4, [%rd1], 1;"), 2U);
  EXPECT_EQ(ask("mov.u32 %r5, 1; txq.level.height.b32 %r4, [%rd1], %r5;"), 1U);
  EXPECT_EQ(ask("txq.array_size.b32 %r4, [%rd1];"), 3U);
  EXPECT_EQ(ask("txq.num_mipmap_levels.b32 %r4, [%rd1];"), 2U);
  EXPECT_EQ(ask("txq.normalized_coords.b32 %r4, [%rd1];"), 1U);
  EXPECT_EQ(ask("txq.addr_mode_2.b32 %r4, [%rd1];"), 3U);
  EXPECT_EQ(ask("txq.channel_data_type.b32 %r4, [%rd1];"), 0x10DCU);
  EXPECT_EQ(ask("suq.channel_order.b32 %r4, [%rd2];"), 0x10B0U);
  EXPECT_EQ(ask("suq.memory_layout.b32 %r4, [%rd2];"), 1U);
  const auto type = [&](const std::string& of, const std::string& handle) {
    return ask("istypep." + of + " %p1, " + handle + "; selp.u32 %r4, 1, 0, %p1;");
  };
  EXPECT_EQ(type("texref", "%rd1"), 1U);
  EXPECT_EQ(type("texref", "%rd2"), 0U);
  EXPECT_EQ(type("surfref", "%rd2"), 1U);
  EXPECT_EQ(type("samplerref", "%rd1"), 0U);
  EXPECT_EQ(type("texref", "%rd3"), 0U) << "an address is no handle";
}

TEST(PtxTextures, SurfacesOfThreeDimensionsAreStoredFormattedAndReduced) {
  std::vector<std::uint32_t> elements;
  Image volume = shape_of(4, 4, 2);
  volume.is_surface = true;
  run_on(volume,
         "shl.b32 %r2, %r2, 2; not.b32 %r4, %r1; sust.b.3d.b32.trap [%rd1, {%r2, %r8, %r9, %r9}], {%r4};",
         &elements);
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(elements[i], ~i);
  Image layers = shape_of(4, 4, 1, 2);
  layers.is_surface = true;
  const auto got = run_on(layers,
                          "shl.b32 %r2, %r2, 2; suld.b.a2d.b32.zero %r4, [%rd1, {%r9, %r2, %r8, %r8}];"
                          "st.global.u32 [%rd3], %r4;");
  for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(got[4 * std::size_t{i}], 0x4100'0000U + i);
  Image bytes = shape_of(4, 8);
  bytes.is_surface = true;
  bytes.format = {DataType::u8, 4};
  run_on(bytes, "mov.u32 %r4, 300; sust.p.2d.v4.b32.trap [%rd1, {%r2, %r3}], {%r1, %r2, %r3, %r4};",
         &elements);
  for (std::uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(elements[i], 0xFF00'0000U | (i / 4) << 16U | (i % 4) << 8U | i);
  Image line = shape_of(32, 1);
  line.is_surface = true;
  run_on(line, "shl.b32 %r2, %r2, 2; sured.b.add.1d.u32.trap [%rd1, {%r2}], %r1;", &elements);
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_EQ(elements[i], 0x4100'0000U + i + 8 * i + 4 * 28);
  run_on(line, "sured.p.max.1d.b32.trap [%rd1, {%r2}], 0x7F000000;", &elements);
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_EQ(elements[i], 0x7F00'0000U);
}

TEST(PtxTextures, WhatIsNotModelledIsReported) {
  struct Row {
    const char* body;
    const char* message;
  };
  for (const Row& row :
       {Row{"tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];",
            "'.2dms' is not modelled"},
        Row{"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}], %f1;",
            "'.3d' takes no comparison"},
        Row{"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}], {1, 2, 3, 0};",
            "a cube takes no offsets"},
        Row{"tld4.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}];",
            "'tld4' needs '.r', '.g', '.b' or '.a'"},
        Row{"tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}];", "takes no '.3d'"},
        Row{"txq.memory_layout.b32 %r1, [%rd1];", "says what it asks for"},
        Row{"suq.filter_mode.b32 %r1, [%rd1];", "'suq' takes no '.filter_mode'"},
        Row{"txq.width.b32 %r1, [tile];", "'tile' is no handle"},
        Row{"sured.b.add.1d.s64.trap [%rd1, {%r1}], %rd5;", "'.add' needs '.u32', '.s32' or '.u64'"},
        Row{"sured.b.xor.1d.b32.trap [%rd1, {%r1}], %r1;", "'sured' takes no '.xor'"},
        Row{"istypep %p1, %rd1;", "'istypep' needs '.texref'"},
        Row{"tex.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];", "'tex' needs a geometry"},
        Row{"tex.2d.f32.f32 %f1, [%rd1, {%f1, %f1}];", "'tex' needs '.v4'"},
        Row{"tex.2d.v4.f32.u32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1}];",
            "'tex' needs '.s32' in second place"},
        Row{"tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1}];",
            "takes 3 to 5 operands here, not 2"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];", "takes 2 coordinates, not 1"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "expected coordinates"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f1, %f1}];", "samplers are not modelled"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tile, {%f1, %f1}];", "neither texture nor surface"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f1, %f1}];", "holds no handle"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3}, [%rd1, {%f1, %f1}];", "expected 4 elements, found 3"},
        Row{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%rd1, %r1}];", "the instruction wants .f32"},
        Row{"suld.2d.b32 %r1, [%rd1, {%r1, %r1}];", "PTX has no such form of 'suld'"},
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
