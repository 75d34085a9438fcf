// Makes the files of sw/kernels/expected: the inputs and results that a launch file cannot state as an
// expression.
//
//   kernel_files --write FOLDER   writes them
//   kernel_files --check FOLDER   compares them with the files there; exit status 1 where one differs
//
// The arithmetic is that of the CUDA sources, operation by operation, so the results are exact to the bit.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "warpline/base/random.h"

namespace {

using warpline::splitmix64;

struct File {
  std::string name;
  std::vector<std::uint32_t> words;
};

/// `init = { random = { seed } }` of a launch file, type f32: the top 24 bits of a draw, over 2^24.
std::vector<float> random_floats(std::uint64_t seed, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(splitmix64(seed + i) >> 40U) * 0x1p-24F);
  return values;
}

/// C of matmul.toml: 128 x 128, one fused multiply-add per step, k ascending.
File matmul_product() {
  constexpr std::size_t kSide = 128;
  const auto a = random_floats(9000000, kSide * kSide);
  const auto b = random_floats(10000000, kSide * kSide);
  File file{"matmul.c.f32", {}};
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t column = 0; column < kSide; ++column) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < kSide; ++k) sum = std::fma(a[row * kSide + k], b[k * kSide + column], sum);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &sum, sizeof bits);
      file.words.push_back(bits);
    }
  }
  return file;
}

/// Row pointers of spmv.toml: 200 rows of 0 to 31 entries.
File row_pointers() {
  File file{"spmv.row_begin.u32", {0}};
  for (std::uint64_t row = 0; row < 200; ++row)
    file.words.push_back(file.words.back() + static_cast<std::uint32_t>(splitmix64(row) % 32U));
  return file;
}

std::string little_endian(const File& file) {
  std::string bytes;
  for (std::uint32_t word : file.words)
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((word >> shift) & 0xFFU);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode != "--write" && mode != "--check") {
    std::cerr << "usage: kernel_files --write|--check FOLDER\n";
    return 2;
  }
  int status = 0;
  for (const File& file : {matmul_product(), row_pointers()}) {
    const std::string path = std::string(argv[2]) + "/" + file.name;
    const std::string bytes = little_endian(file);
    if (mode == "--write") {
      std::ofstream out(path, std::ios::binary);
      if (!(out << bytes).flush()) {
        std::cerr << path << ": cannot be written\n";
        return 2;
      }
      continue;
    }
    std::ifstream in(path, std::ios::binary);
    if (std::string(std::istreambuf_iterator<char>(in), {}) != bytes) {
      std::cerr << path << ": is not what its kernel's arithmetic gives\n";
      status = 1;
    }
  }
  return status;
}
