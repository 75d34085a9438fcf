// Kernels k01 to k06 of the shared inputs, against plain C++ that adds in the same order.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "tests/integration/compiled_kernel.h"

namespace warpline::test {
namespace given_kernels_test {

constexpr unsigned kWarp = 32;
using WarpValues = std::vector<float>;

/// v += __shfl_down_sync(v, distance) for 16, 8, 4, 2, 1: a lane beyond the last gets its own value back.
WarpValues fold_down(WarpValues v) {
  for (unsigned distance = kWarp / 2; distance != 0; distance /= 2) {
    const WarpValues before = v;
    for (unsigned lane = 0; lane < kWarp; ++lane)
      v[lane] = before[lane] + before[lane + distance < kWarp ? lane + distance : lane];
  }
  return v;
}

/// v += __shfl_xor_sync(v, distance) for 16, 8, 4, 2, 1.
WarpValues fold_across(WarpValues v) {
  for (unsigned distance = kWarp / 2; distance != 0; distance /= 2) {
    const WarpValues before = v;
    for (unsigned lane = 0; lane < kWarp; ++lane) v[lane] = before[lane] + before[lane ^ distance];
  }
  return v;
}

class GivenKernels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(in_source("../shared/inputs/kernels")))
      GTEST_SKIP() << "../shared is absent";
  }
  [[nodiscard]] std::string module(const std::string& name) const {
    return in_source("../shared/inputs/kernels/" + name + "." + GetParam() + ".ptx");
  }
  static void expect_right(const LaunchFile& file) {
    const Finished run = file.run();
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }
  Workspace workspace_;
};

INSTANTIATE_TEST_SUITE_P(Targets, GivenKernels, testing::Values("sm_80", "sm_90"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(GivenKernels, VectorAdd) {
  const auto a = rounding_floats(1, 4096), b = rounding_floats(2, 4096);
  const auto sum = generate(4096, [&](std::size_t i) { return a[i] + b[i]; });
  std::vector<float> tail = sum;
  std::fill(tail.begin() + 1000, tail.end(), 0.0F);  // the guard: threads 1000 to 1023 do nothing
  LaunchFile file(workspace_, module("k01_vecadd"));
  file.launch("vecadd", "[4, 1, 1]", "[256, 1, 1]");
  file.input("a", "f32", a);
  file.input("b", "f32", b);
  file.output("tail", "f32", tail);
  file.scalar("u32", 1000);
  file.launch("vecadd4", "[3, 1, 1]", "[96, 1, 1]");
  file.again("a");
  file.again("b");
  file.output("c", "f32", sum);
  file.scalar("u32", 1024);
  expect_right(file);
}

TEST_P(GivenKernels, PointerChase) {
  constexpr std::uint32_t kNodes = 1024, kHops = 777;
  const auto next =
      generate(kNodes, [](std::size_t i) { return static_cast<std::uint32_t>(i * 421 + 331) % kNodes; });
  std::uint32_t last = 5;
  for (unsigned hop = 0; hop < kHops; ++hop) last = next[last];
  LaunchFile file(workspace_, module("k02_pchase"));
  for (const std::string path : {"ca", "cg", "nc", "cv"}) {
    file.launch("pchase_" + path, "[1, 1, 1]", "[1, 1, 1]");
    if (path == "ca")
      file.input("next", "u32", next);
    else
      file.again("next");
    file.scalar("u32", 5);
    file.scalar("u32", kHops);
    file.output("last_" + path, "u32", std::vector<std::uint32_t>{last});
    if (path != "cv") file.unchecked("cycles_" + path, "s64", 1);
  }
  expect_right(file);
}

TEST_P(GivenKernels, Transpose) {
  constexpr std::size_t kWidth = 70, kHeight = 41;
  const auto in =
      generate(kWidth * kHeight, [](std::size_t i) { return static_cast<std::int32_t>(splitmix64(i)); });
  const auto out = generate(in.size(), [&](std::size_t i) { return in[i % kHeight * kWidth + i / kHeight]; });
  LaunchFile file(workspace_, module("k03_transpose"));
  for (const std::string kind : {"naive", "tiled"}) {
    file.launch("transpose_" + kind, "[3, 2, 1]", "[32, 8, 1]");
    if (kind == "naive")
      file.input("in", "s32", in);
    else
      file.again("in");
    file.output(kind, "s32", out);
    file.scalar("s32", kWidth);
    file.scalar("s32", kHeight);
  }
  expect_right(file);
}

TEST_P(GivenKernels, Histogram) {
  const auto data =
      generate(3000, [](std::size_t i) { return static_cast<std::uint8_t>(splitmix64(i) % 200); });
  std::vector<std::uint32_t> bins(256);
  for (std::uint8_t byte : data) ++bins[byte];
  LaunchFile file(workspace_, module("k04_histogram"));
  file.launch("hist_shared", "[3, 1, 1]", "[256, 1, 1]");
  file.input("data", "u8", data);
  file.scalar("u32", data.size());
  file.output("bins", "u32", bins);
  file.launch("hist_global", "[5, 1, 1]", "[128, 1, 1]");
  file.again("data");
  file.scalar("u32", data.size());
  file.output("wide_bins", "u64", std::vector<std::uint64_t>(bins.begin(), bins.end()));
  expect_right(file);
}

TEST_P(GivenKernels, ReduceLastBlockDone) {
  constexpr unsigned kBlocks = 7, kThreads = 256, kStep = kBlocks * kThreads;
  const auto in = rounding_floats(3, 5000);
  std::vector<float> partial;
  for (unsigned block = 0; block < kBlocks; ++block) {
    WarpValues sums(kWarp, 0.0F);
    for (unsigned warp = 0; warp < kThreads / kWarp; ++warp) {
      WarpValues v(kWarp, 0.0F);
      for (unsigned lane = 0; lane < kWarp; ++lane)
        for (std::size_t i = block * kThreads + warp * kWarp + lane; i < in.size(); i += kStep)
          v[lane] += in[i];
      sums[warp] = fold_down(v)[0];
    }
    partial.push_back(fold_across(sums)[0]);
  }
  const float total = std::accumulate(partial.begin(), partial.end(), 0.0F);
  LaunchFile file(workspace_, module("k05_reduce"));
  file.launch("reduce_sum", "[7, 1, 1]", "[256, 1, 1]");
  file.input("in", "f32", in);
  file.scalar("u32", in.size());
  file.output("partial", "f32", partial);
  file.output("total", "f32", std::vector<float>{total});
  file.symbol("g_done", 0);  // atomicInc wraps at the last block
  expect_right(file);
}

TEST_P(GivenKernels, SparseMatrixVector) {
  constexpr std::size_t kRows = 37;
  std::vector<std::int32_t> row_begin{0};
  for (std::size_t row = 0; row < kRows; ++row)
    row_begin.push_back(row_begin.back() + static_cast<std::int32_t>(splitmix64(row) % 300));
  const auto entries = static_cast<std::size_t>(row_begin.back());
  const auto column =
      generate(entries, [](std::size_t i) { return static_cast<std::int32_t>(splitmix64(i + 99) % 500); });
  const auto value = rounding_floats(4, entries), x = rounding_floats(5, 500);
  std::vector<float> y;
  for (std::size_t row = 0; row < kRows; ++row) {
    WarpValues v(kWarp, 0.0F);
    for (unsigned lane = 0; lane < kWarp; ++lane)
      for (auto k = static_cast<std::size_t>(row_begin[row]) + lane;
           k < static_cast<std::size_t>(row_begin[row + 1]); k += kWarp)
        v[lane] = std::fma(value[k], x[static_cast<std::size_t>(column[k])], v[lane]);
    y.push_back(fold_down(v)[0]);
  }
  LaunchFile file(workspace_, module("k06_spmv"));
  file.launch("spmv_csr", "[5, 1, 1]", "[256, 1, 1]");
  file.input("row_begin", "s32", row_begin);
  file.input("column", "s32", column);
  file.input("value", "f32", value);
  file.input("x", "f32", x);
  file.output("y", "f32", y);
  file.scalar("s32", kRows);
  expect_right(file);
}

}  // namespace given_kernels_test
}  // namespace warpline::test
