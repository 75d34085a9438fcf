#include "platform/launch/launch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "platform/launch/element.h"
#include "rtl_models/base/random.h"

namespace warpline {
namespace launch_file_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

/// A folder with a module in it, and launch files beside that.
class LaunchFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("warpline-launch-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    write("k.ptx", "the module");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& bytes) { std::ofstream(folder_ / name) << bytes; }
  Result<LaunchFile> parse(const std::string& text) {
    return parse_launch_file((folder_ / "l.toml").string(), text);
  }
  LaunchFile good(const std::string& text) {
    auto r = parse(text);
    if (r.ok()) return std::move(r.value());
    for (const Diagnostic& d : r.faults()) ADD_FAILURE() << d.text();
    return {};
  }
  /// All faults of a bad file, as printed.
  std::string bad(const std::string& text) {
    const auto r = parse(text);
    EXPECT_FALSE(r.ok()) << text;
    std::string all;
    if (!r.ok())
      for (const Diagnostic& d : r.faults()) all += d.text();
    return all;
  }
  std::filesystem::path folder_;
};

const std::string kHead = "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [64, 1, 1]\nblock = [256]\n";

TEST_F(LaunchFiles, ReadsTensorMaps) {
  const LaunchFile f = good(kHead +
                            "[[argument]]\ntensor_map = { buffer = \"a\", shape = [24, 6, 3], box = [8, 4, "
                            "2], element_strides = [1, 2, 1], "
                            "swizzle = \"32B\", fill = \"nan\" }\ntype = \"f16\"\ncount = 432\n"
                            "[[argument]]\ntensor_map = { buffer = \"b\", shape = [16, 5, 4, 2], strides = "
                            "[64, 320, 1280], interleave = \"none\", "
                            "im2col = { lower = [-1, -1], upper = [0, -2], channels = 16, pixels = 9 } }\n"
                            "[[argument]]\nbuffer = \"b\"\ntype = \"s16\"\ncount = 1280\n");
  ASSERT_THAT(f.tensor_maps, SizeIs(2));
  EXPECT_EQ(f.launches[0].arguments[0].size(), 128U);
  EXPECT_EQ(f.launches[0].arguments[0].alignment(), 64U);
  const TensorMap& a = f.tensor_maps[0].map;
  EXPECT_EQ(a.type, DataType::f16);
  EXPECT_EQ(a.rank, 3U);
  EXPECT_THAT(a.strides, ElementsAre(2, 48, 288, 0, 0));
  EXPECT_EQ(a.taken(1), 2U);
  EXPECT_EQ(a.swizzle, TensorSwizzle::bytes_32);
  EXPECT_EQ(a.fill, TensorFill::nan);
  const TensorMap& b = f.tensor_maps[1].map;
  EXPECT_TRUE(b.im2col);
  EXPECT_EQ(b.type, DataType::u16);
  EXPECT_THAT(b.lower, ElementsAre(-1, -1, 0));
  EXPECT_THAT(b.upper, ElementsAre(0, -2, 0));
  EXPECT_EQ(b.pixels, 9U);
}

TEST_F(LaunchFiles, NamesWhatIsWrongWithATensorMap) {
  const auto fault_of = [&](const std::string& inside) {
    return bad(kHead + "[[argument]]\ntensor_map = { buffer = \"a\"" + inside +
               " }\ntype = \"s32\"\ncount = 400\n");
  };
  EXPECT_THAT(fault_of(""), HasSubstr("shape"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8]"),
              HasSubstr("box: must have as many dimensions as shape"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8, 8], strides = [32, 64]"),
              HasSubstr("strides: must be one fewer"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [7, 8]"),
              HasSubstr("tensor_map.box[0]: must be a multiple of 16 bytes"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8, 8], fill = \"nan\""),
              HasSubstr("must be \"zeros\" for integers"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8, 8], swizzle = \"16B\""),
              HasSubstr("swizzle: must be none, 32B"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8, 8], interleave = \"16B\""),
              HasSubstr("interleave: only \"none\" is modelled"));
  EXPECT_THAT(fault_of(", shape = [64, 8], box = [8, 8]"),
              HasSubstr("the tensor takes 2048 bytes; buffer \"a\" has 1600"));
  EXPECT_THAT(fault_of(", shape = [8, 8], box = [8, 8], pad = 1"), HasSubstr("pad"));
  EXPECT_THAT(bad(kHead + "[[argument]]\ntensor_map = { buffer = \"a\", shape = [8, 8], box = [8, 8] }\n"),
              HasSubstr("buffer \"a\" is not declared"));
}

TEST_F(LaunchFiles, ReadsModulesThatAreLinked) {
  write("b.ptx", "another");
  const std::string rest = "kernel = \"k\"\ngrid = [1]\nblock = [1]\n";
  const LaunchFile f =
      good("[[launch]]\nmodules = [\"k.ptx\", \"b.ptx\"]\n" + rest + "[[launch]]\nmodule = \"k.ptx\"\n" +
           rest + "[[launch]]\nmodules = [\"k.ptx\", \"b.ptx\"]\n" + rest);
  ASSERT_THAT(f.modules, SizeIs(2));
  ASSERT_THAT(f.modules[0].parts, SizeIs(2));
  EXPECT_EQ(f.modules[0].parts[1].text, "another");
  EXPECT_THAT(f.modules[1].parts, SizeIs(0));
  EXPECT_EQ(f.launches[0].module, 0U);
  EXPECT_EQ(f.launches[1].module, 1U);
  EXPECT_EQ(f.launches[2].module, 0U);
  const auto told = [&](const std::string& modules) { return bad(modules + "\n" + rest); };
  EXPECT_THAT(told("modules = []"), HasSubstr("modules: must be an array of paths, one at least"));
  EXPECT_THAT(told("modules = [1]"), HasSubstr("modules: must be an array of paths"));
  EXPECT_THAT(told("modules = [\"k.ptx\", \"k.ptx\"]"), HasSubstr("stands here twice"));
  EXPECT_THAT(told("modules = [\"k.ptx\", \"p.wls\"]"), HasSubstr("is no PTX"));
  EXPECT_THAT(told("modules = [\"lost.ptx\"]"), HasSubstr("modules: "));
  EXPECT_THAT(told("module = \"k.ptx\"\nmodules = [\"b.ptx\"]"), HasSubstr("both are here"));
}

TEST_F(LaunchFiles, SaysWhereBuffersBegin) {
  const auto with = [](const std::string& align) {
    return kHead + "[[argument]]\nbuffer = \"paged\"\ntype = \"u32\"\ncount = 3\nalign = " + align + "\n";
  };
  EXPECT_EQ(good(with("4096")).buffers.back().align, 4096U);
  EXPECT_THAT(bad(with("48")), HasSubstr("align: must be a power of two"));
  EXPECT_THAT(bad(with("0")), HasSubstr("align: must be 1 to 4096"));
  EXPECT_THAT(bad(with("8192")), HasSubstr("align: must be 1 to 4096"));
  EXPECT_THAT(bad(with("1024") + "[[argument]]\nbuffer = \"paged\"\nalign = 1024\n"),
              HasSubstr("later arguments only name it"));
}

TEST_F(LaunchFiles, SaysHowMuchMemoryTheDeviceLibraryHas) {
  const LaunchFile usual = good(kHead);
  EXPECT_EQ(usual.device_memory.printf_bytes, 1048576U);
  EXPECT_EQ(usual.device_memory.heap_bytes, 8388608U);
  const LaunchFile f = good("printf_bytes = 2001\nheap_bytes = 2001\n[[launch]]\n" + kHead);
  EXPECT_EQ(f.device_memory.printf_bytes, 2008U);
  EXPECT_EQ(f.device_memory.heap_bytes, 2016U);
  EXPECT_THAT(bad("printf_bytes = 100\n" + kHead), HasSubstr("printf_bytes: must be 1024 to"));
  EXPECT_EQ(usual.schedule, std::nullopt);
  EXPECT_EQ(good("schedule = \"ptx\"\n[[launch]]\n" + kHead).schedule, ptx::Schedule::ptx);
  EXPECT_EQ(good("schedule = \"assembler\"\n" + kHead).schedule, ptx::Schedule::assembler);
  EXPECT_THAT(bad("schedule = \"ptxx\"\n" + kHead),
              HasSubstr("schedule: \"ptxx\" is none of ptx, assembler"));
  EXPECT_THAT(bad("[[launch]]\nschedule = \"ptx\"\n" + kHead), HasSubstr("unknown key \"schedule\""));
  EXPECT_EQ(usual.launches.front().registers, 0U);
  EXPECT_EQ(good("registers = 40\n" + kHead).launches.front().registers, 40U);
  EXPECT_THAT(bad("registers = 256\n" + kHead), HasSubstr("registers: must be 1 to 255"));
  EXPECT_THAT(bad("heap_bytes = -1\n" + kHead), HasSubstr("heap_bytes: must be 1024 to"));
  EXPECT_THAT(bad("[[launch]]\nheap_bytes = 2048\n" + kHead), HasSubstr("unknown key \"heap_bytes\""));
  EXPECT_THAT(bad("cooperative = 1\n" + kHead), HasSubstr("cooperative: must be"));
  EXPECT_THAT(bad("cooperative = true\ngenerator = \"stream\"\nfootprint = 4096\naccesses = 1\n"),
              HasSubstr("cooperative: is for modules"));
}

TEST_F(LaunchFiles, ReadsTheDocumentedExample) {
  const LaunchFile f =
      good(kHead +
           "[[argument]]\nbuffer = \"a\"\ntype = \"f32\"\ncount = 16384\n"
           "init = { iota = { start = 0, step = 1 } }\n"
           "[[argument]]\nbuffer = \"c\"\ntype = \"f32\"\ncount = 16384\n"
           "expect = { expression = \"a[i] + c[i]\" }\naperture = \"sysmem\"\ndump = \"c.bin\"\n"
           "[[argument]]\nscalar = 16384\ntype = \"u32\"\n"
           "[[argument]]\nbytes = \"01 02_fF\"\n");
  ASSERT_THAT(f.launches, SizeIs(1));
  const Launch& l = f.launches[0];
  EXPECT_EQ(f.modules[l.module].text, "the module");
  EXPECT_EQ(l.kernel, "k");
  EXPECT_EQ(l.grid, (Dim3{64, 1, 1}));
  EXPECT_EQ(l.block, (Dim3{256, 1, 1}));
  EXPECT_TRUE(l.invalidate_l1);
  ASSERT_THAT(f.buffers, SizeIs(2));
  EXPECT_EQ(f.buffers[0].initial.kind, InitialContent::Kind::iota);
  EXPECT_EQ(f.buffers[1].aperture, Aperture::sysmem);
  EXPECT_EQ(f.buffers[1].dump, (folder_ / "c.bin").string());
  ASSERT_TRUE(f.buffers[1].expect.has_value());
  EXPECT_TRUE(f.buffers[1].expect->expression.uses(0));
  ASSERT_THAT(l.arguments, SizeIs(4));
  EXPECT_THAT(l.arguments[2].bytes, ElementsAre(0, 0x40, 0, 0));
  EXPECT_THAT(l.arguments[3].bytes, ElementsAre(1, 2, 255));
}

/// With time that grows with their square, this would take minutes under the sanitizers.
TEST_F(LaunchFiles, TwentyThousandBuffersAreFoundByTheirNames) {
  constexpr unsigned kBuffers = 20000;
  std::string text = kHead;
  for (unsigned n = 0; n < kBuffers; ++n)
    text += "[[argument]]\nbuffer = \"b" + std::to_string(n) +
            "\"\ntype = \"u8\"\ncount = 1\nexpect = { "
            "expression = \"b" +
            std::to_string(kBuffers - 1 - n) + "[i]\" }\n";
  const LaunchFile f = good(text);
  ASSERT_EQ(f.buffers.size(), kBuffers);
  EXPECT_EQ(f.buffer_number("b12345"), 12345U);
  EXPECT_EQ(f.buffer_number("none"), kBuffers);
  EXPECT_TRUE(f.buffers[1].expect->expression.uses(kBuffers - 2));
}

TEST_F(LaunchFiles, SeveralLaunchesShareBuffersAndModules) {
  const LaunchFile f = good(
      "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"first\"\ngrid = [1]\nblock = [32]\ninvalidate_l1 = false\n"
      "[[launch.argument]]\nbuffer = \"a\"\ntype = \"u8\"\ncount = 3\n"
      "[[launch]]\nmodule = \"./k.ptx\"\nkernel = \"second\"\ngrid = [2, 3, 4]\nblock = [32, 2, "
      "2]\nshared_bytes = 1024\n"
      "[[launch.argument]]\nbuffer = \"a\"\n[[launch.argument]]\nbuffer = \"a\"\n"
      "[[symbol]]\nname = \"table\"\ntype = \"u32\"\ninit = { value = 3 }\n");
  ASSERT_THAT(f.launches, SizeIs(2));
  EXPECT_THAT(f.modules, SizeIs(1));
  EXPECT_THAT(f.buffers, SizeIs(1));
  EXPECT_FALSE(f.launches[0].invalidate_l1);
  EXPECT_EQ(f.launches[1].shared_bytes, 1024U);
  EXPECT_THAT(f.launches[1].arguments, SizeIs(2));
  EXPECT_THAT(f.symbols, SizeIs(1));
  EXPECT_EQ(f.arrays.all().back().name, "table");
}

TEST_F(LaunchFiles, GeneratorsNeedNoModule) {
  const LaunchFile f =
      good("generator = \"chase\"\nfootprint = 65536\nstride = 128\naccesses = 1000\nseed = 5\n");
  ASSERT_TRUE(f.launches.at(0).generator.has_value());
  EXPECT_EQ(f.launches[0].generator->footprint, 65536U);
  EXPECT_EQ(f.launches[0].generator->seed, 5U);
  EXPECT_EQ(f.launches[0].block, (Dim3{32, 1, 1}));
  const std::string all = bad("generator = \"chsae\"\nfootprint = 0\nmodule = \"k.ptx\"\n");
  EXPECT_THAT(all, HasSubstr("did you mean \"chase\"?"));
  EXPECT_THAT(all, HasSubstr("footprint: must be 4 to"));
  EXPECT_THAT(all, HasSubstr("lacks \"accesses\""));
  EXPECT_THAT(all, HasSubstr("module: is for modules"));
}

TEST_F(LaunchFiles, ClustersArePartsOfTheGrid) {
  const Launch four = good(kHead + "cluster = [4]\n").launches[0];
  EXPECT_TRUE(four.cluster.given);
  EXPECT_EQ(four.cluster.size, (Dim3{4, 1, 1}));
  EXPECT_FALSE(good(kHead).launches[0].cluster.given);
  EXPECT_EQ(good(kHead + "cluster = [16]\nnon_portable_cluster = true\n").launches[0].cluster.size.count(),
            16U);
  EXPECT_THAT(bad(kHead + "cluster = [3]\n"), HasSubstr("cluster: the grid's x, 64, is no multiple of 3"));
  EXPECT_THAT(bad(kHead + "cluster = [1, 2]\n"), HasSubstr("cluster: the grid's y, 1, is no multiple of 2"));
  EXPECT_THAT(bad(kHead + "cluster = [16]\n"),
              AllOf(HasSubstr("cluster: has 16 CTAs; at most 8 are portable"),
                    HasSubstr("up to 16 are possible with non_portable_cluster = true")));
  EXPECT_THAT(bad(kHead + "cluster = [16, 16]\nnon_portable_cluster = true\n"),
              HasSubstr("cluster: has 256 CTAs; at most 16"));
  EXPECT_THAT(bad(kHead + "cluster = [0]\n"), HasSubstr("cluster"));
  EXPECT_THAT(bad(kHead + "non_portable_cluster = true\n"),
              HasSubstr("non_portable_cluster: is for launches with a cluster"));
  EXPECT_THAT(bad("generator = \"stream\"\nfootprint = 64\naccesses = 1\ncluster = [2]\n"),
              HasSubstr("cluster: is for modules, and this launch has a generator"));
}

TEST_F(LaunchFiles, EveryFaultAtOnceInTheOrderOfTheFile) {
  const std::string all =
      bad("modul = \"k.ptx\"\nkernel = 3\ngrid = [0, 1, 70000]\nblock = [1024, 2]\n"
          "[[argument]]\nbuffer = \"a\"\ntype = \"f23\"\ncount = -1\n"
          "[[argument]]\nscalar = 300\ntype = \"u8\"\n"
          "[[argument]]\nbuffer = \"b\"\n"
          "[[argument]]\nbuffer = \"a\"\ncount = 4\n"
          "[[argument]]\nscalar = 1\nbuffer = \"c\"\n"
          "[[argument]]\nbytes = \"abc\"\n");
  EXPECT_THAT(all, HasSubstr(":1:1: error: unknown key \"modul\" in the launch file"));
  EXPECT_THAT(all, HasSubstr("did you mean \"module\"?"));
  EXPECT_THAT(all, HasSubstr("lacks \"module\""));
  EXPECT_THAT(all, HasSubstr(":2:10: error: kernel: must be a string, not an integer"));
  EXPECT_THAT(all, HasSubstr(":3:9: error: grid: x must be an integer from 1 to 2147483647"));
  EXPECT_THAT(all, HasSubstr(":3:15: error: grid: z must be an integer from 1 to 65535"));
  EXPECT_THAT(all, HasSubstr("block: has 2048 threads"));
  EXPECT_THAT(all, HasSubstr(":7:8: error: type: \"f23\" is none of"));
  EXPECT_THAT(all, HasSubstr("did you mean \"f32\"?"));
  EXPECT_THAT(all, HasSubstr(":8:9: error: count: must be 1 to"));
  EXPECT_THAT(all, HasSubstr("scalar: 300 is not a value of type u8"));
  EXPECT_THAT(all, HasSubstr("buffer \"b\" is not declared"));
  EXPECT_THAT(all, HasSubstr("buffer \"a\" was declared on line 6"));
  EXPECT_THAT(all, HasSubstr("exactly one of buffer, scalar, bytes"));
  EXPECT_THAT(all, HasSubstr("even number of hexadecimal digits"));
}

TEST_F(LaunchFiles, LaunchesNameTheirGpuAndBuffersLieThere) {
  const std::string head = "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n";
  const std::string tail = "type = \"u8\"\ncount = 1\n";
  const LaunchFile f =
      good(head + "gpu = 3\n[[launch.argument]]\nbuffer = \"a\"\n" + tail +
           "[[launch.argument]]\nbuffer = \"p\"\n" + tail + "aperture = \"peer\"\n" + head +
           "[[launch.argument]]\nbuffer = \"p\"\n[[launch.argument]]\nbuffer = \"b\"\n" + tail);
  EXPECT_EQ(f.launches[0].gpu, 3U);
  EXPECT_EQ(f.launches[1].gpu, 0U);
  EXPECT_EQ(f.buffers[0].gpu, 3U);
  EXPECT_EQ(f.buffers[1].aperture, Aperture::peer);
  EXPECT_EQ(f.buffers[2].gpu, 0U);
  const std::string all = bad(head + "gpu = 8\n[[launch.argument]]\nbuffer = \"a\"\n" + tail + head +
                              "[[launch.argument]]\nbuffer = \"a\"\n");
  EXPECT_THAT(all, HasSubstr("gpu: "));
  EXPECT_THAT(all, HasSubstr("7"));
  const std::string apart = bad(head + "gpu = 1\n[[launch.argument]]\nbuffer = \"a\"\n" + tail + head +
                                "[[launch.argument]]\nbuffer = \"a\"\n");
  EXPECT_THAT(apart, HasSubstr("buffer \"a\" lies in the video memory of GPU 1, which GPU 0 does not reach"));
}

TEST_F(LaunchFiles, TexturesAndSurfacesAreElementsOfABuffer) {
  const auto parsed = parse_launch_file(
      "p.toml",
      "module = \"/dev/null\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"
      "[[argument]]\nsurface = { buffer = \"later\", width = 8, height = 2, format = \"u8x4\" }\n"
      "[[argument]]\ntexture = { buffer = \"own\", width = 3, format = \"f16x2\" }\ninit = { value = 7 }\n"
      "[[argument]]\nsurface = { buffer = \"inside\", width = 2, format = \"s16\", type = \"u8\", count = 9 "
      "}\n"
      "[[argument]]\nbuffer = \"later\"\ntype = \"u32\"\ncount = 17\n"
      "[[argument]]\ntexture = { buffer = \"own\", width = 1, height = 3, format = \"s32\" }\n");
  ASSERT_TRUE(parsed.ok()) << parsed.faults()[0].text();
  const LaunchFile& file = parsed.value();
  ASSERT_EQ(file.buffers.size(), 3U);
  EXPECT_EQ(file.buffers[0].name, "own");
  EXPECT_EQ(file.buffers[0].type, DataType::u16);
  EXPECT_EQ(file.buffers[0].count, 6U);
  EXPECT_EQ(file.buffers[0].initial.value, 7U);
  EXPECT_EQ(file.buffers[1].type, DataType::u8);
  EXPECT_EQ(file.buffers[1].count, 9U);
  ASSERT_EQ(file.images.size(), 4U);
  EXPECT_TRUE(file.images[0].image.is_surface);
  EXPECT_EQ(file.images[0].buffer, 2U);
  EXPECT_EQ(file.images[0].image.width, 8U);
  EXPECT_EQ(file.images[0].image.height, 2U);
  EXPECT_EQ(file.images[0].image.format.bytes(), 4U);
  EXPECT_FALSE(file.images[1].image.is_surface);
  EXPECT_EQ(file.images[1].image.height, 1U);
  EXPECT_EQ(file.images[3].buffer, 0U);
  ASSERT_EQ(file.launches[0].arguments.size(), 5U);
  EXPECT_EQ(file.launches[0].arguments[4].kind, Argument::Kind::image);
  EXPECT_EQ(file.launches[0].arguments[4].number, 3U);
}

TEST_F(LaunchFiles, MistakesInTexturesAreReportedWhereTheyStand) {
  const std::string all =
      bad(kHead +
          "[[argument]]\nbuffer = \"a\"\ntype = \"u8\"\ncount = 100\n"
          "[[argument]]\ntexture = { buffer = \"a\", width = 13, height = 2, format = \"u8x4\" }\n"
          "[[argument]]\ntexture = { buffer = \"aa\", width = 1, format = \"u8\" }\n"
          "[[argument]]\nsurface = { buffer = \"a\", width = 0, height = 1, format = \"f31\", stride = 4 }\n"
          "[[argument]]\nsurface = { buffer = \"a\", width = 1, format = \"u8\" }\ntype = \"u8\"\n"
          "[[argument]]\nsurface = 3\n"
          "[[argument]]\nsurface = { buffer = \"b\", width = 1, format = \"u8\", count = 1 }\ntype = \"u8\"\n"
          "[[argument]]\nsurface = { }\n"
          "[[argument]]\nbuffer = \"a\"\ntexture = { buffer = \"a\", width = 1, format = \"u8\" }\n");
  EXPECT_THAT(all, HasSubstr("13 x 2 elements take 104 bytes; buffer \"a\" has 100"));
  EXPECT_THAT(all, HasSubstr("buffer \"aa\" is not declared: say type, count or init here"));
  EXPECT_THAT(all, HasSubstr("did you mean \"a\"?"));
  EXPECT_THAT(all, HasSubstr("width: must be 1 to 268435456, not 0"));
  EXPECT_THAT(all, HasSubstr("format: \"f31\" is no type of u8, s8"));
  EXPECT_THAT(all, HasSubstr("did you mean \"f32\"?"));
  EXPECT_THAT(all, HasSubstr("unknown key \"stride\" in surface"));
  EXPECT_THAT(all, HasSubstr("buffer \"a\" was declared on line 6; later arguments only name it"));
  EXPECT_THAT(all, HasSubstr("surface: must be { buffer, width, height, format }"));
  EXPECT_THAT(all, HasSubstr("declare the buffer inside the braces or beside them"));
  EXPECT_THAT(all, HasSubstr("surface lacks \"buffer\""));
  EXPECT_THAT(all, HasSubstr("exactly one of buffer, scalar, bytes, texture, surface"));
}

TEST_F(LaunchFiles, ATextureSaysHowItIsRead) {
  const auto parsed = parse_launch_file(
      "p.toml",
      "module = \"/dev/null\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"
      "[[argument]]\ntexture = { buffer = \"a\", width = 8, height = 4, layers = 3, levels = 2, format = "
      "\"u8x4\", "
      "filter = \"linear\", mip_filter = \"linear\", normalized = true, address = [\"wrap\", \"border\"], "
      "border = [1, 0.5], read = \"normalized_float\", srgb = true, level_bias = -1.5, min_level = 1, "
      "max_level = 2 }\n"
      "init = \"zeros\"\n"
      "[[argument]]\nsurface = { buffer = \"b\", width = 3, height = 2, depth = 5, format = \"f16x2\", pitch "
      "= 16 }\n"
      "init = \"zeros\"\n"
      "[[argument]]\ntexture = { buffer = \"c\", width = 4, height = 4, cube = true, layers = 2, format = "
      "\"f32\", "
      "address = \"mirror\" }\ninit = \"zeros\"\n");
  ASSERT_TRUE(parsed.ok()) << parsed.faults()[0].text();
  const LaunchFile& file = parsed.value();
  const Image& a = file.images.at(0).image;
  EXPECT_EQ(a.layers, 3U);
  EXPECT_EQ(a.levels, 2U);
  EXPECT_EQ(a.sampler.filter, TextureFilter::linear);
  EXPECT_EQ(a.sampler.mip_filter, TextureFilter::linear);
  EXPECT_TRUE(a.sampler.normalized_coordinates && a.sampler.reading.normalized && a.sampler.reading.srgb);
  EXPECT_EQ(a.sampler.address, (std::array{AddressMode::wrap, AddressMode::border, AddressMode::clamp}));
  EXPECT_EQ(a.sampler.border, (std::array{1.0F, 0.5F, 0.0F, 0.0F}));
  EXPECT_EQ(a.sampler.level_bias, -1.5F);
  EXPECT_EQ(a.sampler.min_level, 1.0F);
  EXPECT_EQ(a.sampler.max_level, 2.0F);
  EXPECT_EQ(file.buffers.at(0).bytes(), 3 * (32 + 8) * 4U);
  EXPECT_EQ(file.images.at(1).image.depth, 5U);
  EXPECT_EQ(file.buffers.at(1).bytes(), 5 * 2 * 16U);
  EXPECT_TRUE(file.images.at(2).image.cube);
  EXPECT_EQ(file.images.at(2).image.sampler.address[2], AddressMode::mirror);
  EXPECT_EQ(file.buffers.at(2).bytes(), 12 * 16 * 4U);
}

TEST_F(LaunchFiles, WhatNoTextureObjectCanBeIsRefused) {
  const std::string first = "[[argument]]\nbuffer = \"a\"\ntype = \"u8\"\ncount = 4096\n[[argument]]\n";
  for (const auto& [keys, says] : std::vector<std::pair<std::string, std::string>>{
           {"width = 4, format = \"u8\", filter = \"linear\"", "filter: a mean needs floating-point texels"},
           {"width = 4, format = \"u8\", mip_filter = \"linear\"", "mip_filter: a mean needs"},
           {"width = 4, format = \"u32\", read = \"normalized_float\"", "read: integers of 8 and 16 bits"},
           {"width = 4, format = \"u16\", srgb = true", "srgb: needs components of u8"},
           {"width = 4, format = \"f32\", address = \"wrap\"", "address: only normalized coordinates repeat"},
           {"width = 4, format = \"f32\", address = \"warp\", normalized = true", "did you mean \"wrap\"?"},
           {"width = 4, format = \"f32\", address = []", "a list of one for each dimension"},
           {"width = 4, format = \"f32\", levels = 2", "levels: a mipmap is read at normalized coordinates"},
           {"width = 4, format = \"f32\", levels = 4, normalized = true", "has at most 3"},
           {"width = 4, format = \"f32\", depth = 2, layers = 2", "layers: there are no arrays of volumes"},
           {"width = 4, height = 2, format = \"f32\", cube = true", "cube: the faces of a cube are squares"},
           {"width = 4, format = \"f32\", pitch = 12",
            "pitch: must be a multiple of the element's 4 bytes, at least the 16"},
           {"width = 4, format = \"f32\", border = [1, 2, 3, 4, 5]",
            "border: must be a list of up to four numbers"},
           {"width = 4, format = \"f32\", border = [true]", "border: must be a number"},
           {"width = 4, format = \"f32\", min_level = 2, max_level = 1",
            "min_level: must be at most max_level"},
           {"width = 4, format = \"f32\", max_level = \"x\"", "max_level: must be a number"},
           {"width = 268435456, height = 131072, depth = 16384, format = \"f32x4\"",
            "more than any memory holds"},
           {"width = 8, height = 8, layers = 20, format = \"f32\"",
            "8 x 8 elements in 20 layers take 5120 bytes"}})
    EXPECT_THAT(bad(kHead + first + "texture = { buffer = \"a\", " + keys + " }\n"), HasSubstr(says)) << keys;
  EXPECT_THAT(
      bad(kHead + first + "surface = { buffer = \"a\", width = 4, format = \"f32\", filter = \"linear\" }\n"),
      HasSubstr("unknown key \"filter\" in surface"));
}

TEST_F(LaunchFiles, OnlyMembersOfStructuresHaveAPlace) {
  for (const char* argument :
       {"buffer = \"a\"\ntype = \"u8\"\ncount = 100\nat = 8\n", "buffer = \"a\"\nat = 8\n",
        "scalar = 1\ntype = \"u8\"\nat = 8\n", "struct = [{ scalar = 1, type = \"u8\" }]\nat = 8\n"})
    EXPECT_THAT(bad(kHead + "[[argument]]\n" + argument), HasSubstr("unknown key \"at\" in [[argument]]"))
        << argument;
}

TEST_F(LaunchFiles, StructuresHoldStructures) {
  const LaunchFile file =
      good(kHead +
           "[[argument]]\nstruct = [{ scalar = 1, type = \"u8\" }, { struct = [{ scalar = 2, type "
           "= \"u32\" }, { scalar = 3, type = \"u8\" }] }, { scalar = 4, type = \"u8\" }, { struct "
           "= [{ struct = [{ scalar = 5, type = \"u64\" }] }], at = 24 }]\n");
  ASSERT_THAT(file.launches.at(0).arguments, SizeIs(1));
  const Argument& argument = file.launches[0].arguments[0];
  EXPECT_EQ(argument.size(), 32U);
  EXPECT_EQ(argument.alignment(), 8U);
  std::vector<std::pair<unsigned, unsigned>> parts;  // first byte, value
  argument.for_each_part(
      [&](const Argument& a, std::uint32_t start) { parts.emplace_back(start, a.bytes.at(0)); });
  // As C has it: the structure within ends at its own padding.
  EXPECT_THAT(parts, ElementsAre(Pair(0, 1), Pair(4, 2), Pair(8, 3), Pair(12, 4), Pair(24, 5)));
  EXPECT_THAT(bad(kHead + "[[argument]]\nstruct = [{ struct = [] }]\n"), HasSubstr("struct: has no members"));
  EXPECT_THAT(
      bad(kHead + "[[argument]]\nstruct = [{ struct = [{ scalar = 1, type = \"u8\" }], scalar = 1 }]\n"),
      HasSubstr("exactly one of"));
}

TEST_F(LaunchFiles, ABufferThatIsNamedBeforeItsDeclarationIsOneFault) {
  const std::string late =
      "[[argument]]\nbuffer = \"o\"\ntype = \"u8\"\ncount = 4\nexpect = { expression = \"i\" }\n";
  for (const char* early : {"struct = [{ buffer = \"o\" }]\n", "buffer = \"o\"\n"}) {
    const std::string all = bad(kHead + "[[argument]]\n" + early + late);
    EXPECT_THAT(all, HasSubstr("buffer \"o\" is not declared"));
    EXPECT_THAT(all, Not(HasSubstr("was declared"))) << all;
  }
}

TEST_F(LaunchFiles, LaunchTablesReplaceTheTopLevel) {
  const std::string all =
      bad(kHead + "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nkernal = 3\n");
  EXPECT_THAT(all, HasSubstr("\"module\" belongs into a [[launch]] table"));
  EXPECT_THAT(all, HasSubstr("unknown key \"kernal\" in [[launch]]"));
  EXPECT_THAT(bad("launch = 3\n"), HasSubstr("launch: must be [[launch]] tables"));
}

TEST_F(LaunchFiles, HugeCountsAreFaultsNotAllocations) {
  const auto argument = [](const std::string& count) {
    return kHead + "[[argument]]\nbuffer = \"a\"\ntype = \"f64\"\ncount = " + count +
           "\ninit = { random = { seed = 1 } }\n";
  };
  EXPECT_THAT(bad(argument("9223372036854775807")), HasSubstr("count: must be 1 to 137438953472"));
  EXPECT_THAT(bad(argument("0")), HasSubstr("count: must be"));
  EXPECT_THAT(good(argument("137438953472")).buffers, SizeIs(1));
}

TEST_F(LaunchFiles, ContentsAreChecked) {
  const auto buffer = [](const std::string& rest) {
    return kHead + "[[argument]]\nbuffer = \"a\"\ntype = \"u8\"\ncount = 4\n" + rest + "\n";
  };
  EXPECT_THAT(bad(buffer("init = \"zeroes\"")), HasSubstr("did you mean \"zeros\"?"));
  EXPECT_THAT(bad(buffer("init = { value = 1, iota = {} }")), HasSubstr("exactly one of"));
  EXPECT_THAT(bad(buffer("init = { iota = { strat = 1 } }")), HasSubstr("did you mean \"start\"?"));
  EXPECT_THAT(bad(buffer("init = { value = 256 }")), HasSubstr("256 is not a value of type u8"));
  EXPECT_THAT(bad(buffer("init = { random = {} }")), HasSubstr("random lacks \"seed\""));
  EXPECT_THAT(bad(buffer("init = { file = \"none.bin\" }")), HasSubstr("No such file"));
  write("four.bin", "abcd");
  write("five.bin", "abcde");
  EXPECT_THAT(good(buffer("init = { file = \"four.bin\" }")).buffers[0].initial.bytes,
              ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(bad(buffer("expect = { file = \"five.bin\" }")), HasSubstr("has 5 bytes; the buffer has 4"));
  EXPECT_THAT(bad(buffer("expect = { value = 1, tolerance = { abs = -1 } }")),
              HasSubstr("abs: must be finite and at least 0"));
  EXPECT_THAT(bad(buffer("expect = { expression = \"a[i] + bb[i]\" }")),
              HasSubstr("9:33: error: expression: no buffer is called \"bb\""));
  EXPECT_THAT(
      bad(buffer("expect.expression = \"\"\"\na[i] +\n   bb[i]\"\"\"")),
      HasSubstr(":11:4: error: expression: no buffer is called \"bb\"\n  11 |    bb[i]\"\"\"\n     |    ^~"));
  EXPECT_THAT(bad(buffer("expect.expression = \"\"\"bb[i]\"\"\"")),
              HasSubstr(":9:24: error: expression: no buffer"));
  EXPECT_THAT(bad(buffer("dump = \"\"")), HasSubstr("dump: must name a file"));
}

TEST_F(LaunchFiles, MissingFilesAreFaults) {
  EXPECT_THAT(bad("module = \"none.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"),
              HasSubstr(":1:10: error: module: "));
  EXPECT_FALSE(load_launch_file((folder_ / "none.toml").string()).ok());
  EXPECT_THAT(bad("grid = [1,\n"), HasSubstr("error: "));
}

TEST(InitialBytes, AreThoseOfTheInterface) {
  const auto element = [](const std::vector<std::uint8_t>& bytes, DataType type, std::size_t i) {
    return load_element(type, &bytes[i * size_of(type)]);
  };
  InitialContent iota;
  iota.kind = InitialContent::Kind::iota;
  iota.value = 250;
  iota.step = 3;
  EXPECT_THAT(initial_bytes(iota, DataType::u8, 4), ElementsAre(250, 253, 0, 3));
  iota.value = float_bits(DataType::f32, 0.5);
  iota.step = float_bits(DataType::f32, 0.25);
  EXPECT_EQ(element(initial_bytes(iota, DataType::f32, 9), DataType::f32, 8), float_bits(DataType::f32, 2.5));
  InitialContent random;
  random.kind = InitialContent::Kind::random;
  random.seed = 7;
  EXPECT_EQ(element(initial_bytes(random, DataType::u16, 3), DataType::u16, 2), splitmix64(9) & 0xFFFFU);
  const double wanted32 = static_cast<double>(splitmix64(9) >> 40U) / 16777216.0;
  EXPECT_EQ(element(initial_bytes(random, DataType::f32, 3), DataType::f32, 2),
            float_bits(DataType::f32, wanted32));
  const double wanted64 = static_cast<double>(splitmix64(9) >> 11U) / 9007199254740992.0;
  EXPECT_EQ(element(initial_bytes(random, DataType::f64, 3), DataType::f64, 2),
            float_bits(DataType::f64, wanted64));
}

TEST(Element, TextAndBits) {
  std::string why;
  Value v;
  v.kind = Value::Kind::text;
  v.text = "0xFFFFFFFFFFFFFFFF";
  EXPECT_EQ(element_from(v, DataType::u64, why), ~0ULL);
  EXPECT_FALSE(element_from(v, DataType::s64, why).has_value());
  EXPECT_FALSE(element_from(v, DataType::u32, why).has_value());
  v.kind = Value::Kind::integer;
  v.integer = -128;
  EXPECT_EQ(element_text(DataType::s8, element_from(v, DataType::s8, why).value()), "-128");
  EXPECT_FALSE(element_from(v, DataType::u8, why).has_value());
  v.integer = 16777217;
  EXPECT_EQ(element_text(DataType::f32, element_from(v, DataType::f32, why).value()), "16777216");
  EXPECT_TRUE(same_element(DataType::f32, 0x7FC00000, 0xFFC00001));
  EXPECT_FALSE(same_element(DataType::f32, 0x80000000, 0));
}

}  // namespace launch_file_test
}  // namespace warpline
