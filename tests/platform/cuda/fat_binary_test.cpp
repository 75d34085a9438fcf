#include "platform/cuda/fat_binary.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/support/environment.h"
#include "tests/support/fat_binary_writer.h"

namespace warpline::cuda {
namespace {

using testing::HasSubstr;
using Packed = FatBinaryWriter::Packed;

std::string ptx_for(unsigned architecture, std::size_t lines = 200) {
  std::string text = ".version 8.0\n.target sm_" + std::to_string(architecture) + "\n.address_size 64\n";
  for (std::size_t i = 0; i < lines; ++i) text += "// line " + std::to_string(i) + "\n";
  return text;
}

/// The PTX that a GPU gets of a fat binary, or the first fault.
std::string chosen(const std::string& bytes, unsigned compute_capability) {
  const Result<FatBinary> read = FatBinary::read(bytes, "app");
  if (!read.ok()) return read.faults().front().text();
  const FatBinaryEntry* best = read.value().best_ptx(compute_capability);
  if (best == nullptr) return read.value().why_not(compute_capability);
  const Result<std::string> text = read.value().text(*best);
  return text.ok() ? text.value() : text.faults().front().text();
}

TEST(FatBinary, EveryCompressionGivesTheSameText) {
  for (const Packed packed : {Packed::no, Packed::lz4, Packed::zstd}) {
    FatBinaryWriter writer;
    writer.add_elf(80, "not looked at");
    writer.add_ptx(80, ptx_for(80), packed, 0, "saxpy.cu");
    EXPECT_EQ(chosen(writer.bytes(), 80), ptx_for(80));
    const std::string bytes = writer.bytes();
    const FatBinary read = FatBinary::read(bytes, "app").value();
    ASSERT_EQ(read.entries().size(), 2u);
    EXPECT_EQ(read.entries()[0].kind, FatBinaryEntry::Kind::elf);
    EXPECT_EQ(read.entries()[1].source, "saxpy.cu");
    EXPECT_EQ(read.entries()[1].text_bytes,
              ptx_for(80).size() + (packed == Packed::no ? 7 - (ptx_for(80).size() + 7) % 8 : 0));
  }
}

TEST(FatBinary, WhatFollowsItIsSomebodyElses) {
  FatBinaryWriter writer;
  writer.add_ptx(70, ptx_for(70));
  EXPECT_EQ(chosen(writer.bytes() + "the next section", 80), ptx_for(70));
}

TEST(FatBinary, TheNewestThatRunsIsChosen) {
  FatBinaryWriter writer;
  for (const unsigned architecture : {90u, 70u, 80u, 120u})
    writer.add_ptx(architecture, ptx_for(architecture));
  writer.add_ptx(90, ptx_for(90) + "a", Packed::no, FatBinaryWriter::kArchitectureSpecific);
  writer.add_ptx(100, ptx_for(100) + "f", Packed::no, FatBinaryWriter::kFamilySpecific);
  EXPECT_EQ(chosen(writer.bytes(), 70), ptx_for(70));
  EXPECT_EQ(chosen(writer.bytes(), 75), ptx_for(70));
  EXPECT_EQ(chosen(writer.bytes(), 86), ptx_for(80));
  EXPECT_EQ(chosen(writer.bytes(), 90), ptx_for(90) + "a");
  EXPECT_EQ(chosen(writer.bytes(), 103), ptx_for(100) + "f");
  EXPECT_EQ(chosen(writer.bytes(), 110), ptx_for(90))
      << "neither the code of one GPU nor that of another family";
  EXPECT_EQ(chosen(writer.bytes(), 120), ptx_for(120));
}

TEST(FatBinary, WhatHasNoPtxNamesTheFlag) {
  FatBinaryWriter code_only;
  code_only.add_elf(80, "code");
  EXPECT_EQ(chosen(code_only.bytes(), 80),
            "it has machine code for sm_80 and no PTX: compile with `-arch=sm_80`, or add "
            "`-gencode arch=compute_80,code=compute_80`");
  FatBinaryWriter newer;
  newer.add_ptx(90, ptx_for(90));
  newer.add_ptx(100, ptx_for(100), Packed::no, FatBinaryWriter::kArchitectureSpecific);
  EXPECT_EQ(chosen(newer.bytes(), 80),
            "its PTX is for sm_100a, sm_90, and this GPU is sm_80: compile with `-arch=sm_80`, or choose "
            "another GPU");
  EXPECT_EQ(chosen(FatBinaryWriter().bytes(), 80), "it has no code at all");
}

TEST(FatBinary, DamageIsNamed) {
  FatBinaryWriter writer;
  writer.add_ptx(80, ptx_for(80), Packed::zstd);
  const std::string good = writer.bytes();
  const auto with = [&](std::size_t offset, std::string_view bytes) {
    std::string bad = good;
    return bad.replace(offset, bytes.size(), bytes);
  };
  EXPECT_THAT(chosen("", 80), HasSubstr("this is no fat binary"));
  EXPECT_THAT(chosen(with(0, "ELF"), 80), HasSubstr("one begins with the bytes 50 ed 55 ba"));
  EXPECT_THAT(chosen(with(4, "\7"), 80), HasSubstr("a fat binary of version 7"));
  EXPECT_THAT(chosen(with(7, "\7"), 80), HasSubstr("its header says that it has 1808 bytes"));
  EXPECT_THAT(chosen(good.substr(0, good.size() - 9), 80), HasSubstr("bytes of the"));
  EXPECT_THAT(chosen(with(16 + 4, std::string_view("\x3f", 1)), 80), HasSubstr("entry 1 leads out of it"));
  EXPECT_THAT(chosen(with(16 + 0x0c, "\1"), 80), HasSubstr("entry 1 leads out of it"));
  EXPECT_THAT(chosen(with(16 + 0x13, "\1"), 80), HasSubstr("longer compressed than it is stored"));
  EXPECT_THAT(chosen(with(16 + 0x28, std::string_view("\x11\0", 2)), 80),
              HasSubstr("in a way that is not known (flags 0x11)"));
  EXPECT_THAT(chosen(with(16 + 0x38, "\1"), 80), HasSubstr("zstd says"));
  EXPECT_THAT(chosen(with(16 + 0x3f, "\1"), 80), HasSubstr("the most is 1073741824"));
  EXPECT_THAT(chosen(with(16 + 0x3b, "\x3f"), 80), HasSubstr("cannot become"));
  EXPECT_THAT(chosen(with(16 + 0x50, "damaged!"), 80), HasSubstr("zstd says"));
}

/// Fat binaries with some bytes changed and ends cut off: read or refused, and nothing outside is touched,
/// which the sanitizer sees as each lies in memory of its own.
TEST(FatBinary, DamagedOnesAreReadOrRefused) {
  const std::uint64_t rounds = from_environment("WARPLINE_FAT_BINARIES", 1000);
  std::mt19937_64 random(7);
  unsigned refused = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    FatBinaryWriter writer;
    const std::uint64_t entries = 1 + random() % 3;
    for (std::uint64_t i = 0; i < entries; ++i)
      writer.add_ptx(static_cast<unsigned>(70 + 10 * (random() % 3)), ptx_for(70, random() % 40),
                     static_cast<Packed>(random() % 3),
                     random() % 4 == 0 ? std::uint64_t{FatBinaryWriter::kArchitectureSpecific} : 0,
                     random() % 2 == 0 ? "a.cu" : "");
    std::string bytes = writer.bytes();
    for (std::uint64_t i = random() % 6; i-- > 0;)
      bytes[random() % std::min<std::size_t>(bytes.size(), 0x100)] ^= static_cast<char>(1u << random() % 8);
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const std::vector<char> own(bytes.begin(), bytes.end());
    const Result<FatBinary> read = FatBinary::read({own.data(), own.size()}, "app");
    if (!read.ok()) {
      ++refused;
      EXPECT_FALSE(read.faults().front().message.empty());
      continue;
    }
    for (const FatBinaryEntry& entry : read.value().entries()) {
      const Result<std::string> text = read.value().text(entry);
      if (!text.ok()) ++refused;
    }
    for (const unsigned capability : {70u, 90u, 120u}) {
      if (read.value().best_ptx(capability) == nullptr) {
        EXPECT_NE(read.value().why_not(capability), "");
      }
    }
  }
  EXPECT_GT(refused, rounds / 10);
}

/// What nvcc of this machine makes, where there is one.
TEST(FatBinary, ReadsWhatNvccMakes) {
  namespace fs = std::filesystem;
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (!fs::exists(nvcc)) GTEST_SKIP() << "no nvcc";
  const fs::path folder = fs::temp_directory_path() / ("warpline_fat_binary_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "scale.cu") << "__global__ void scale(float* a) { a[threadIdx.x] *= 2; }\n";
  for (const std::string mode : {"none", "speed", "size"}) {
    const std::string out = (folder / (mode + ".fatbin")).string();
    const std::string command = nvcc + " -arch=sm_80 -fatbin --compress-mode=" + mode + " " +
                                (folder / "scale.cu").string() + " -o " + out;
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ostringstream bytes;
    bytes << std::ifstream(out, std::ios::binary).rdbuf();
    EXPECT_THAT(chosen(bytes.str(), 80), HasSubstr(".entry _Z5scalePf")) << mode;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace warpline::cuda
