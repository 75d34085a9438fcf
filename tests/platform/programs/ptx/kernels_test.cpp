// The compiled kernels of ../shared/inputs/kernels against C++, to the bit.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "rtl_models/base/random.h"
#include "tests/platform/programs/ptx/harness.h"

namespace warpline::ptx::test {
namespace kernels_test {

class CompiledKernels : public ::testing::TestWithParam<const char*> {
 protected:
  /// False, with the test skipped, where the folder is absent.
  void open(const std::string& name) {
    const std::string path =
        std::string(WARPLINE_SOURCE_DIR) + "/../shared/inputs/kernels/" + name + "." + GetParam() + ".ptx";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    machine_.load_file(path);
  }
  Machine machine_{7};
};

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(splitmix64(seed + i) >> 40) / 16777216.0F - 0.25F;
  return v;
}

TEST_P(CompiledKernels, VectorAdd) {
  open("k01_vecadd");
  if (IsSkipped()) return;
  const std::uint32_t n = 1000;
  const auto a = random_floats(n, 1);
  const auto b = random_floats(n, 2);
  const auto pa = machine_.buffer(a), pb = machine_.buffer(b), pc = machine_.buffer(std::vector<float>(n));
  machine_.launch("vecadd", {4, 1, 1}, {256, 1, 1}, 0, pa, pb, pc, n);
  auto c = machine_.read<float>(pc, n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]);
  const auto pd = machine_.buffer(std::vector<float>(n));
  machine_.launch("vecadd4", {2, 1, 1}, {64, 1, 1}, 0, pa, pb, pd, n / 4);
  c = machine_.read<float>(pd, n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]);
}

TEST_P(CompiledKernels, PointerChase) {
  open("k02_pchase");
  if (IsSkipped()) return;
  std::vector<std::uint32_t> next(64);
  for (std::uint32_t i = 0; i < 64; ++i) next[i] = (i * 5 + 3) % 64;
  std::uint32_t want = 9;
  for (int k = 0; k < 37; ++k) want = next[want];
  const auto p = machine_.buffer(next);
  for (const char* kernel : {"pchase_ca", "pchase_cg", "pchase_nc"}) {
    const auto out = machine_.buffer(std::vector<std::uint32_t>(1));
    const auto cycles = machine_.buffer(std::vector<std::int64_t>(1));
    machine_.launch(kernel, {1, 1, 1}, {1, 1, 1}, 0, p, 9U, 37U, out, cycles);
    EXPECT_EQ(machine_.read<std::uint32_t>(out, 1)[0], want);
    EXPECT_GT(machine_.read<std::int64_t>(cycles, 1)[0], 37);
  }
  const auto out = machine_.buffer(std::vector<std::uint32_t>(1));
  machine_.launch("pchase_cv", {1, 1, 1}, {1, 1, 1}, 0, p, 9U, 37U, out);
  EXPECT_EQ(machine_.read<std::uint32_t>(out, 1)[0], want);
}

TEST_P(CompiledKernels, Transpose) {
  open("k03_transpose");
  if (IsSkipped()) return;
  const std::int32_t w = 70, h = 45;
  std::vector<std::int32_t> in(static_cast<std::size_t>(w * h));
  std::iota(in.begin(), in.end(), 100);
  const auto p = machine_.buffer(in);
  for (const char* kernel : {"transpose_naive", "transpose_tiled"}) {
    const auto out = machine_.buffer(std::vector<std::int32_t>(in.size()));
    machine_.launch(kernel, {3, 2, 1}, {32, 8, 1}, 0, p, out, w, h);
    const auto got = machine_.read<std::int32_t>(out, in.size());
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        ASSERT_EQ(got[static_cast<std::size_t>(x * h + y)], in[static_cast<std::size_t>(y * w + x)])
            << kernel;
  }
}

TEST_P(CompiledKernels, Histogram) {
  open("k04_histogram");
  if (IsSkipped()) return;
  const std::uint32_t n = 3001;
  std::vector<std::uint8_t> data(n);
  std::vector<std::uint32_t> want(256);
  for (std::uint32_t i = 0; i < n; ++i) ++want[data[i] = static_cast<std::uint8_t>(splitmix64(i) % 50)];
  const auto p = machine_.buffer(data);
  const auto bins = machine_.buffer(std::vector<std::uint32_t>(256));
  machine_.launch("hist_shared", {3, 1, 1}, {128, 1, 1}, 0, p, n, bins);
  EXPECT_EQ(machine_.read<std::uint32_t>(bins, 256), want);
  const auto wide = machine_.buffer(std::vector<std::uint64_t>(256));
  machine_.launch("hist_global", {2, 1, 1}, {96, 1, 1}, 0, p, n, wide);
  const auto got = machine_.read<std::uint64_t>(wide, 256);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(got[i], want[i]);
}

TEST_P(CompiledKernels, Reduction) {
  open("k05_reduce");
  if (IsSkipped()) return;
  const std::uint32_t n = 5000, blocks = 5, threads = 128;
  const auto in = random_floats(n, 3);
  const auto p = machine_.buffer(in);
  const auto part = machine_.buffer(std::vector<float>(blocks));
  const auto out = machine_.buffer(std::vector<float>(1));
  machine_.launch("reduce_sum", {blocks, 1, 1}, {threads, 1, 1}, 0, p, n, part, out);
  float total = 0;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    std::vector<float> v(threads);
    for (std::uint32_t t = 0; t < threads; ++t)
      for (std::uint32_t i = b * threads + t; i < n; i += blocks * threads) v[t] += in[i];
    std::vector<float> warp(32);
    for (std::uint32_t w = 0; w < threads / 32; ++w) {
      for (std::uint32_t o = 16; o != 0; o /= 2) {
        std::vector<float> s(v.begin() + w * 32, v.begin() + w * 32 + 32);
        for (std::uint32_t l = 0; l < 32; ++l) v[w * 32 + l] += s[l + o < 32 ? l + o : l];
      }
      warp[w] = v[w * 32];
    }
    for (std::uint32_t o = 16; o != 0; o /= 2) {
      const std::vector<float> s = warp;
      for (std::uint32_t l = 0; l < 32; ++l) warp[l] += s[l ^ o];
    }
    total += warp[0];
  }
  EXPECT_EQ(machine_.read<float>(out, 1)[0], total);
  EXPECT_EQ(machine_.symbol<std::uint32_t>("g_done"), 0U);
}

TEST_P(CompiledKernels, SparseMatrixVector) {
  open("k06_spmv");
  if (IsSkipped()) return;
  const std::int32_t rows = 40;
  std::vector<std::int32_t> start = {0};
  std::vector<std::int32_t> column;
  for (std::int32_t r = 0; r < rows; ++r) {
    const auto length = static_cast<std::int32_t>(splitmix64(static_cast<std::uint64_t>(r)) % 330);
    for (std::int32_t k = 0; k < length; ++k)
      column.push_back(static_cast<std::int32_t>(splitmix64(column.size()) % 100));
    start.push_back(static_cast<std::int32_t>(column.size()));
  }
  const auto value = random_floats(column.size(), 5);
  const auto x = random_floats(100, 6);
  const auto prp = machine_.buffer(start), pci = machine_.buffer(column), pva = machine_.buffer(value),
             px = machine_.buffer(x);
  const auto py = machine_.buffer(std::vector<float>(static_cast<std::size_t>(rows)));
  machine_.launch("spmv_csr", {10, 1, 1}, {128, 1, 1}, 0, prp, pci, pva, px, py, rows);
  const auto y = machine_.read<float>(py, static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < y.size(); ++r) {
    std::vector<float> s(32);
    for (std::size_t l = 0; l < 32; ++l)
      for (auto k = static_cast<std::size_t>(start[r]) + l; k < static_cast<std::size_t>(start[r + 1]);
           k += 32)
        s[l] = std::fma(value[k], x[static_cast<std::size_t>(column[k])], s[l]);
    for (std::size_t o = 16; o != 0; o /= 2) {
      const std::vector<float> t = s;
      for (std::size_t l = 0; l < 32; ++l) s[l] += t[l + o < 32 ? l + o : l];
    }
    ASSERT_EQ(y[r], s[0]) << "row " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CompiledKernels, ::testing::Values("sm_80", "sm_90"));

}  // namespace kernels_test
}  // namespace warpline::ptx::test
