// Kernels that nobody looked at while the PTX reader was written, as the compiler made them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/integration/compiled_kernel.h"

namespace warpline::test {
namespace unseen_kernels_test {

using Words = std::vector<std::uint32_t>;
using DoubleWords = std::vector<std::uint64_t>;

class UnseenKernels : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string module(const std::string& name) const {
    return in_source("tests/integration/data/" + name + "." + GetParam() + ".ptx");
  }
  static void expect_right(const LaunchFile& file) {
    const Finished run = file.run();
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }
  Workspace workspace_;
};

INSTANTIATE_TEST_SUITE_P(Targets, UnseenKernels, testing::Values("sm_80", "sm_90"),
                         [](const auto& p) { return std::string(p.param); });

/// The value that folding `f` over t = 0 .. threads-1 leaves, from `start`.
template <class T, class F>
T fold(unsigned threads, T start, F f) {
  for (unsigned t = 0; t < threads; ++t) start = f(start, t);
  return start;
}

std::uint32_t increment(std::uint32_t v, std::uint32_t limit) {
  return v >= limit ? 0 : v + 1;
}
std::uint32_t decrement(std::uint32_t v, std::uint32_t limit) {
  return v == 0 || v > limit ? limit : v - 1;
}
std::uint32_t scatter(unsigned t) {
  return t * 2654435761U;
}
std::uint64_t wide(unsigned t) {
  return t * 0x9E3779B97F4A7C15ULL;
}

TEST_P(UnseenKernels, Stencil3d) {
  constexpr std::size_t kX = 21, kY = 13, kZ = 9, kStep = kX * kY;
  const auto in = generate(
      kStep * kZ, [](std::size_t i) { return static_cast<double>(splitmix64(i) >> 11U) * 0x1p-53 - 0.5; });
  std::vector<double> out(in.size(), 0.0);
  for (std::size_t z = 1; z < kZ - 1; ++z) {
    for (std::size_t y = 1; y < kY - 1; ++y) {
      for (std::size_t x = 1; x < kX - 1; ++x) {
        const std::size_t i = z * kStep + y * kX + x;
        double sum = 0.5 * in[i];
        sum = std::fma(0.125, in[i - 1] + in[i + 1], sum);
        sum = std::fma(0.0625, in[i - kX] + in[i + kX], sum);
        out[i] = std::fma(0.03125, in[i - kStep] + in[i + kStep], sum);
      }
    }
  }
  LaunchFile file(workspace_, module("stencil3d"));
  file.launch("stencil3d", "[3, 2, 1]", "[8, 8, 1]");
  file.input("in", "f64", in);
  file.output("out", "f64", out);
  file.scalar("s32", kX);
  file.scalar("s32", kY);
  file.scalar("s32", kZ);
  expect_right(file);
}

TEST_P(UnseenKernels, GlobalAtomics) {
  constexpr unsigned kThreads = 6 * 96;
  const Words i32_before{0, 0, 0, 0}, u32_before{~0U, 0, ~0U, 0, 0, 0, 0};
  const DoubleWords u64_before{0, ~0ULL, 0, ~0ULL, 0, 0, 0, 0};
  const auto as_signed = [](std::uint32_t v) { return static_cast<std::int32_t>(v); };
  const std::uint32_t sum = fold(kThreads, 0U, [](auto v, unsigned t) { return v + scatter(t); });
  const Words i32{sum, 0U - sum,
                  static_cast<std::uint32_t>(fold(
                      kThreads, 0, [&](auto v, unsigned t) { return std::min(v, as_signed(scatter(t))); })),
                  static_cast<std::uint32_t>(fold(
                      kThreads, 0, [&](auto v, unsigned t) { return std::max(v, as_signed(scatter(t))); }))};
  const Words u32{fold(kThreads, ~0U, [](auto v, unsigned t) { return std::min(v, scatter(t)); }),
                  fold(kThreads, 0U, [](auto v, unsigned t) { return std::max(v, scatter(t)); }),
                  fold(kThreads, ~0U, [](auto v, unsigned t) { return v & ~(1U << (t % 31)); }),
                  fold(kThreads, 0U, [](auto v, unsigned t) { return v | (1U << (t % 29)); }),
                  fold(kThreads, 0U, [](auto v, unsigned t) { return v ^ t; }),
                  fold(kThreads, 0U, [](auto v, unsigned) { return increment(v, 99); }),
                  fold(kThreads, 0U, [](auto v, unsigned) { return decrement(v, 99); })};
  const DoubleWords u64{
      fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return v + wide(t); }),
      0,  // thread 0 brings the least
      fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return std::max(v, wide(t)); }),
      fold(kThreads, ~std::uint64_t{0}, [](auto v, unsigned t) { return v & ~(1ULL << (t % 61)); }),
      fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return v | (1ULL << (t % 59)); }),
      fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return v ^ wide(t); }),
      static_cast<std::uint64_t>(
          fold(kThreads, std::int64_t{0},
               [](auto v, unsigned t) { return std::min(v, static_cast<std::int64_t>(wide(t))); })),
      static_cast<std::uint64_t>(fold(kThreads, std::int64_t{0}, [](auto v, unsigned t) {
        return std::max(v, static_cast<std::int64_t>(wide(t)));
      }))};
  LaunchFile file(workspace_, module("atomics"));
  file.launch("atomics_global", "[6, 1, 1]", "[96, 1, 1]");
  file.changed("i32", "s32", i32_before, i32);
  file.changed("u32", "u32", u32_before, u32);
  file.changed("u64", "u64", u64_before, u64);
  file.output("f32", "f32", std::vector<float>{fold(kThreads, 0.0F, [](auto v, unsigned t) {
                return v + static_cast<float>(t % 8);
              })});
  file.output("f64", "f64",
              std::vector<double>{fold(kThreads, 0.0, [](auto v, unsigned t) { return v + t % 16; })});
  expect_right(file);
}

TEST_P(UnseenKernels, AtomicsThatReturn) {
  constexpr unsigned kThreads = 4 * 80;  // the last warp of a block is half empty
  // Every token but one has come back when all is done; which one stays behind depends on the order. A last
  // thread alone, in a launch of its own, fetches it: its id is 0, so it leaves token 1.
  const std::uint32_t all_tokens = fold(kThreads, 0U, [](auto v, unsigned t) { return v + t + 1; });
  const std::uint32_t product =
      fold(kThreads, 1U, [](auto v, unsigned t) { return t % 2 == 1 ? v * (2 * t + 1) : v; });
  Words taken(kThreads + 1, 2);
  LaunchFile file(workspace_, module("atomics"));
  file.launch("atomics_returning", "[4, 1, 1]", "[80, 1, 1]");
  file.output("next_ticket", "u32", Words{kThreads + 1});
  file.output("taken", "u32", taken);
  file.output("token", "u32", Words{1});
  file.output("token_sum", "u32", Words{all_tokens});
  file.changed("product", "u32", Words{1}, Words{product});
  file.output("next_ticket64", "u64", DoubleWords{kThreads + 1});
  file.launch("atomics_returning", "[1, 1, 1]", "[1, 1, 1]");
  for (const char* name : {"next_ticket", "taken", "token", "token_sum", "product", "next_ticket64"})
    file.again(name);
  expect_right(file);
}

TEST_P(UnseenKernels, SharedAtomics) {
  constexpr unsigned kThreads = 200;
  Words out(16);
  out[0] = fold(kThreads, 0U, [](auto v, unsigned t) { return v + t; });
  out[1] = fold(kThreads, 0U, [](auto v, unsigned t) { return std::max(v, scatter(t)); });
  out[2] = fold(kThreads, ~0U, [](auto v, unsigned t) { return std::min(v, scatter(t) + 1); });
  out[3] = fold(kThreads, 0U, [](auto v, unsigned t) { return v | (1U << (t % 29)); });
  out[4] = fold(kThreads, ~0U, [](auto v, unsigned t) { return v & ~(1U << (t % 31)); });
  out[5] = fold(kThreads, 0U, [](auto v, unsigned t) { return v ^ (t * 40503U); });
  out[6] = fold(kThreads, 0U, [](auto v, unsigned) { return increment(v, 9); });
  out[7] = fold(kThreads, 0U, [](auto v, unsigned) { return decrement(v, 9); });
  out[8] = fold(kThreads, 0U, [](auto v, unsigned t) { return v + t + 1; });
  out[10] = kThreads - 1 - 100;
  out[11] = 3 * kThreads;
  const std::uint64_t sum = fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return v + wide(t); });
  const std::uint64_t most =
      fold(kThreads, std::uint64_t{0}, [](auto v, unsigned t) { return std::max(v, wide(t)); });
  out[12] = static_cast<std::uint32_t>(sum);
  out[13] = static_cast<std::uint32_t>(sum >> 32U);
  out[14] = static_cast<std::uint32_t>(most);
  out[15] = static_cast<std::uint32_t>(most >> 32U);
  LaunchFile file(workspace_, module("atomics"));
  file.launch("atomics_shared", "[1, 1, 1]", "[200, 1, 1]");
  file.output("out", "u32", out);
  expect_right(file);
}

}  // namespace unseen_kernels_test
}  // namespace warpline::test
