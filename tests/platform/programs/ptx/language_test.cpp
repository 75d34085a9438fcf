// What CUDA C++ becomes in PTX (samples/language.cu), run and compared with C++.

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>

#include "rtl_models/base/random.h"
#include "tests/platform/programs/ptx/harness.h"
#include "tests/platform/programs/ptx/samples.h"

namespace warpline::ptx::test {
namespace language_test {

class Language : public ::testing::TestWithParam<const char*> {
 protected:
  Language() { machine_.load(sample(GetParam())); }
  Machine machine_{3};
};

std::vector<std::int32_t> small_integers(std::size_t n, std::int32_t below) {
  std::vector<std::int32_t> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<std::int32_t>(splitmix64(i + 77) % static_cast<unsigned>(below));
  return v;
}

std::uint32_t ackermann(std::uint32_t m, std::uint32_t n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST_P(Language, Recursion) {
  const auto out = machine_.buffer(std::vector<std::uint32_t>(64));
  machine_.launch("recursion", {1, 1, 1}, {64, 1, 1}, 0, out);
  const auto got = machine_.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], ackermann(i % 3, i % 4)) << i;
}

int spread(int depth, int seed) {
  int trail[4];
  for (int i = 0; i < 4; ++i) trail[i] = seed + i * depth;
  if (depth == 0) return trail[seed & 3];
  const int below = spread(depth - 1, seed + 1);
  return below + trail[(below + depth) & 3];
}

TEST_P(Language, RecursionWithArraysOnTheStack) {
  const auto out = machine_.buffer(std::vector<std::int32_t>(40));
  machine_.launch("stack_frames", {1, 1, 1}, {40, 1, 1}, 0, out);
  const auto got = machine_.read<std::int32_t>(out, 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], spread(i % 6, i)) << i;
}

TEST_P(Language, StructuresByValue) {
  std::vector<float> data(4 * 32);
  std::iota(data.begin(), data.end(), 0.5F);
  const auto p = machine_.buffer(data);
  std::vector<std::uint8_t> parameters(32);
  const std::array<float, 4> add = {1, 2, 3, 4};
  std::memcpy(parameters.data(), &p, 8);
  const std::size_t at = machine_.module().entries().front().name.empty() ? 0 : [&] {
    for (const programs::Entry& e : machine_.module().entries())
      if (e.name == "by_value") return std::size_t{e.parameters[1].offset};
    return std::size_t{0};
  }();
  parameters.resize(at + 16);
  std::memcpy(&parameters[at], add.data(), 16);
  machine_.run("by_value", {1, 1, 1}, {32, 1, 1}, 0, parameters);
  const auto got = machine_.read<float>(p, data.size());
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(got[i], data[i] * 2 + add[i % 4]);
}

TEST_P(Language, PointersToFunctions) {
  const auto pick = small_integers(32, 9);
  const auto p = machine_.buffer(pick);
  const auto out = machine_.buffer(std::vector<std::int32_t>(32));
  machine_.launch("pointers_to_functions", {1, 1, 1}, {32, 1, 1}, 0, p, out);
  const auto got = machine_.read<std::int32_t>(out, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[static_cast<std::size_t>(i)], (pick[static_cast<std::size_t>(i)] & 1) != 0 ? i * 2 : i + 1);
}

TEST_P(Language, ModuleVariables) {
  const auto out = machine_.buffer(std::vector<std::int32_t>(8));
  machine_.launch("variables", {1, 1, 1}, {8, 1, 1}, 0, out, 1);
  const int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto got = machine_.read<std::int32_t>(out, 8);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(got[i], weights[i] + 40 * 1000 + 30 * 100000 - 7 + 40 + 'e' + 3);
}

TEST_P(Language, Switches) {
  const auto in = small_integers(32, 9);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<std::int32_t>(32));
  machine_.launch("switches", {1, 1, 1}, {32, 1, 1}, 0, p, out, 100);
  const auto got = machine_.read<std::int32_t>(out, 32);
  for (std::size_t i = 0; i < 32; ++i) {
    const int cases[7] = {103, 500, 100 ^ in[7], 91, in[1] != 0 ? 100 / in[1] : -1, 100 % 7, 100 >> 3};
    EXPECT_EQ(got[i], in[i] < 7 ? cases[in[i]] : in[100 & 31]) << i;
  }
}

TEST_P(Language, LanesOfAWarpTakeALockInTurn) {
  const auto lock = machine_.buffer(std::vector<std::int32_t>(1));
  const auto count = machine_.buffer(std::vector<std::int32_t>(1));
  machine_.launch("spin_lock", {1, 1, 1}, {64, 1, 1}, 0, lock, count);
  EXPECT_EQ(machine_.read<std::int32_t>(count, 1)[0], 64);
}

// Functions lie behind the kernel that calls them: lanes that wait where the caller goes on must not run
// before those that are in the function.
TEST(Divergence, LanesMeetAgainBehindACallThatSomeMake) {
  Machine machine;
  machine.load(R"(
.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 r) work(.param .b32 a)
{
  .reg .b32 %r<3>;
  .reg .pred %p;
  ld.param.b32 %r1, [a];
  mov.u32 %r2, 0;
MORE:
  add.u32 %r2, %r2, %r1;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra MORE;
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry meet(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  .reg .pred %p<3>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
ROUND:
  setp.ne.u32 %p1, %r1, %r2;
  @%p1 bra JOIN;
  {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], 5;
    call.uni (r0), work, (a0);
    ld.param.b32 %r4, [r0];
  }
JOIN:
  activemask.b32 %r5;
  setp.eq.u32 %p2, %r5, 0xFFFFFFFF;
  @%p2 add.u32 %r3, %r3, 1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 32;
  @%p2 bra ROUND;
  ld.param.u64 %d1, [out];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  mad.lo.u32 %r3, %r4, 1000, %r3;
  st.global.u32 [%d3], %r3;
  ret;
}
)");
  const auto out = machine.buffer(std::vector<std::uint32_t>(32));
  machine.launch("meet", {1, 1, 1}, {32, 1, 1}, 0, out);
  for (const std::uint32_t rounds : machine.read<std::uint32_t>(out, 32)) EXPECT_EQ(rounds, 15032U);
}

TEST_P(Language, LanesWaitForEachOther) {
  const auto flags = machine_.buffer(std::vector<std::int32_t>(32));
  machine_.launch("chain", {1, 1, 1}, {32, 1, 1}, 0, flags);
  EXPECT_EQ(machine_.read<std::int32_t>(flags, 32)[31], 32);
}

TEST_P(Language, VotesOfABlock) {
  auto in = small_integers(96, 50);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<std::int32_t>(96));
  machine_.launch("block_votes", {1, 1, 1}, {96, 1, 1}, 0, p, out, 20);
  const auto count = std::count_if(in.begin(), in.end(), [](int v) { return v > 20; });
  const bool all = std::find(in.begin(), in.end(), 0) == in.end();
  const bool any = std::find(in.begin(), in.end(), 20) != in.end();
  for (const int v : machine_.read<std::int32_t>(out, 96))
    EXPECT_EQ(v, count * 100 + (all ? 10 : 0) + (any ? 1 : 0));
}

TEST_P(Language, VotesOfAWarp) {
  const auto in = small_integers(32, 900);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<std::uint32_t>(256));
  machine_.launch("warp_votes", {1, 1, 1}, {32, 1, 1}, 0, p, out);
  const auto got = machine_.read<std::uint32_t>(out, 256);
  std::uint32_t odd = 0;
  for (unsigned i = 0; i < 32; ++i) odd |= static_cast<std::uint32_t>(in[i] & 1) << i;
  const bool five = std::find(in.begin(), in.end(), 5) != in.end();
  const auto sum = static_cast<std::uint32_t>(std::accumulate(in.begin(), in.end(), 0));
  const auto most = static_cast<std::uint32_t>(*std::max_element(in.begin(), in.end()));
  for (unsigned i = 0; i < 32; ++i) {
    std::uint32_t same = 0;
    for (unsigned k = 0; k < 32; ++k) same |= static_cast<std::uint32_t>((in[k] & 3) == (in[i] & 3)) << k;
    const std::uint32_t* o = &got[i * 8U];
    EXPECT_EQ(o[0], odd);
    EXPECT_EQ(o[1], same);
    EXPECT_EQ(o[2], ~0U);
    EXPECT_EQ(o[3], 1U);
    EXPECT_EQ(o[4], five * 2U + 1U);
    EXPECT_EQ(o[5], static_cast<std::uint32_t>(in[i % 8 >= 3 ? i - 3 : i] + in[i / 4 * 4 + 2]));
    EXPECT_EQ(o[6], sum + most);
    EXPECT_EQ(o[7], (i & 4) != 0 ? 0xF0F0F0F0U : ~0x0F0F0F0FU);
  }
}

TEST_P(Language, TilesShuffleInSeparateBranches) {
  const auto in = small_integers(64, 1000);
  const auto p = machine_.buffer(in);
  machine_.launch("tiles", {1, 1, 1}, {64, 1, 1}, 0, p);
  const auto got = machine_.read<std::int32_t>(p, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(i / 8 * 8);
    EXPECT_EQ(got[i],
              (i / 8 & 1) != 0 ? std::accumulate(first, first + 8, 0) : *std::max_element(first, first + 8))
        << i;
  }
}

TEST_P(Language, DynamicSharedMemory) {
  const auto in = small_integers(100, 1000);
  const auto p = machine_.buffer(in);
  machine_.launch("dynamic_reverse", {1, 1, 1}, {100, 1, 1}, 400, p);
  const auto got = machine_.read<std::int32_t>(p, 100);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i], in[99 - i] + static_cast<int>(i % 3) * 1000);
}

TEST_P(Language, LocalArrays) {
  const auto in = small_integers(32, 1000);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<std::int32_t>(32));
  machine_.launch("local_array", {1, 1, 1}, {32, 1, 1}, 0, p, out, 33);
  const auto got = machine_.read<std::int32_t>(out, 32);
  for (std::size_t t = 0; t < 32; ++t) {
    int a[20];
    for (std::size_t i = 0; i < 20; ++i) a[i] = in[(i + t) & 31];
    for (std::size_t i = 0; i < 33; ++i) a[(i * 7 + t) % 20] += a[i % 20];
    EXPECT_EQ(got[t], a[33 % 20]);
  }
}

TEST_P(Language, GenericPointers) {
  const std::vector<std::int32_t> g = {1, 20, 300, 4000};
  const auto p = machine_.buffer(g);
  const auto out = machine_.buffer(std::vector<std::int32_t>(48));
  machine_.launch("generic_pointers", {1, 1, 1}, {48, 1, 1}, 0, p, out, 5);
  const auto got = machine_.read<std::int32_t>(out, 48);
  for (int i = 0; i < 48; ++i) {
    const int want = i % 3 == 0 ? 4321 + 2000 : i % 3 == 1 ? 60 + 1000 : 6 * i + 20;
    EXPECT_EQ(got[static_cast<std::size_t>(i)], want) << i;
  }
}

TEST_P(Language, Atomics) {
  const auto u = machine_.buffer(std::vector<std::uint32_t>{0, 0, ~0U, 0, 0, 1000, 0});
  const auto s = machine_.buffer(std::vector<std::int32_t>{100});
  const auto f = machine_.buffer(std::vector<float>{1});
  const auto w = machine_.buffer(std::vector<std::uint64_t>{5});
  const auto d = machine_.buffer(std::vector<double>{2});
  machine_.launch("atomics", {2, 1, 1}, {64, 1, 1}, 0, u, s, f, w, d);
  const auto got = machine_.read<std::uint32_t>(u, 7);
  EXPECT_EQ(got, (std::vector<std::uint32_t>{128, 63, 0, 0, 128 % 10, 1000 - 256, 64 * 63 / 2}));
  EXPECT_EQ(machine_.read<std::int32_t>(s, 1)[0], 17 - 63);
  EXPECT_EQ(machine_.read<float>(f, 1)[0], 65);
  EXPECT_EQ(machine_.read<std::uint64_t>(w, 1)[0], 5 + (std::uint64_t{128} << 33U));
  EXPECT_EQ(machine_.read<double>(d, 1)[0], 34);
}

TEST_P(Language, SingleFloats) {
  std::vector<float> in;
  for (int i = 0; i < 64; ++i)
    in.push_back(static_cast<float>(splitmix64(static_cast<std::uint64_t>(i)) >> 40) / 65536.0F - 100.0F);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<float>(32 * 12));
  machine_.launch("single_floats", {1, 1, 1}, {32, 1, 1}, 0, p, out);
  const auto got = machine_.read<float>(out, 32 * 12);
  const auto directed = [](int mode, auto&& operation) {
    std::fesetround(mode);
    volatile float r = operation();
    std::fesetround(FE_TONEAREST);
    return r;
  };
  for (std::size_t i = 0; i < 32; ++i) {
    volatile float a = in[2 * i], b = in[2 * i + 1];
    const float* o = &got[12 * i];
    EXPECT_EQ(o[0], a / b);
    EXPECT_EQ(o[1], std::sqrt(std::fabs(a)));
    EXPECT_EQ(o[2], std::fma(a, b, -a));
    EXPECT_EQ(o[3], directed(FE_TOWARDZERO, [&] { return a + b; }));
    EXPECT_EQ(o[4], directed(FE_UPWARD, [&] { return a * b; }));
    EXPECT_EQ(o[5], directed(FE_DOWNWARD, [&] { return std::fma(a, b, a); }));
    EXPECT_EQ(o[6], directed(FE_TOWARDZERO, [&] { return a / b; }));
    EXPECT_EQ(o[7], std::fmin(a, b) + std::fmax(a, 2.0F));
    EXPECT_EQ(o[8], std::floor(a) + std::ceil(b) + std::trunc(a) + std::rint(b));
    EXPECT_EQ(o[9], static_cast<float>(static_cast<int>(a)) +
                        static_cast<float>(static_cast<unsigned>(std::fabs(b))) +
                        static_cast<float>(static_cast<long long>(a * 1e6F)));
    EXPECT_EQ(o[10], std::copysign(a, b) * (a < b ? 1.0F : -2.0F));
    const float root = directed(FE_DOWNWARD, [&] {
      volatile float x = std::fabs(b);
      return std::sqrt(x);
    });
    const float inverse = directed(FE_UPWARD, [&] { return 1.0F / b; });
    EXPECT_EQ(o[11], std::min(std::max(static_cast<float>(a), 0.0F), 1.0F) + root + inverse);
  }
}

TEST_P(Language, DoubleFloats) {
  std::vector<double> in;
  for (int i = 0; i < 64; ++i)
    in.push_back(static_cast<double>(splitmix64(static_cast<std::uint64_t>(i)) >> 11U) / 70368744177664.0 -
                 60.0);
  const auto p = machine_.buffer(in);
  const auto out = machine_.buffer(std::vector<double>(32 * 8));
  machine_.launch("double_floats", {1, 1, 1}, {32, 1, 1}, 0, p, out);
  const auto got = machine_.read<double>(out, 32 * 8);
  const auto directed = [](int mode, auto&& operation) {
    std::fesetround(mode);
    volatile double r = operation();
    std::fesetround(FE_TONEAREST);
    return r;
  };
  for (std::size_t i = 0; i < 32; ++i) {
    volatile double a = in[2 * i], b = in[2 * i + 1];
    const double* o = &got[8 * i];
    EXPECT_EQ(o[0], a / b);
    EXPECT_EQ(o[1], std::sqrt(std::fabs(a)));
    EXPECT_EQ(o[2], std::fma(a, b, -a));
    EXPECT_EQ(o[3], directed(FE_TOWARDZERO, [&] { return a + b; }));
    EXPECT_EQ(o[4], directed(FE_UPWARD, [&] { return a * b; }));
    EXPECT_EQ(o[5], static_cast<double>(static_cast<float>(a)) + static_cast<double>(static_cast<int>(b)));
    EXPECT_EQ(o[6], std::rint(a) + std::fmin(a, b));
    EXPECT_EQ(o[7], directed(FE_DOWNWARD, [&] { return a / b; }));
  }
}

TEST_P(Language, LibraryFunctionsAreCloseToTheHosts) {
  std::vector<float> in(32);
  std::vector<double> wide(32);
  for (std::size_t i = 0; i < 32; ++i)
    in[i] = static_cast<float>(wide[i] = static_cast<double>(i) * 0.37 - 5.0);
  const auto p = machine_.buffer(in), q = machine_.buffer(wide);
  const auto out = machine_.buffer(std::vector<float>(32)),
             wide_out = machine_.buffer(std::vector<double>(32));
  machine_.launch("library_functions", {1, 1, 1}, {32, 1, 1}, 0, p, out, q, wide_out);
  const auto got = machine_.read<float>(out, 32);
  const auto wide_got = machine_.read<double>(wide_out, 32);
  for (std::size_t i = 0; i < 32; ++i) {
    const auto a = static_cast<double>(in[i]);
    const double want = std::sin(a) + std::exp(a) + std::log(std::fabs(a) + 1) + std::pow(std::fabs(a), 1.5) +
                        std::tanh(a) + std::atan2(a, 2.0);
    EXPECT_NEAR(static_cast<double>(got[i]), want, 1e-5 * (1 + std::fabs(want))) << i;
    const double d = wide[i];
    const double exact =
        std::sin(d) + std::exp(d) + std::log(std::fabs(d) + 1) + std::pow(std::fabs(d), 1.5) + std::cbrt(d);
    EXPECT_NEAR(wide_got[i], exact, 1e-14 * (1 + std::fabs(exact))) << i;
  }
}

TEST_P(Language, ATrapEndsTheWarp) {
  const auto out = machine_.buffer(std::vector<std::int32_t>(64));
  machine_.launch("traps", {1, 1, 1}, {64, 1, 1}, 0, out, 3);
  ASSERT_EQ(machine_.faults.size(), 1U);
  EXPECT_EQ(machine_.faults[0], "trap");
  const auto got = machine_.read<std::int32_t>(out, 64);
  EXPECT_EQ(std::accumulate(got.begin() + 32, got.end(), 0), 32);
  EXPECT_THROW(machine_.launch("traps", {1, 1, 1}, {65, 1, 1}, 0, out, 3), InputError);
}

INSTANTIATE_TEST_SUITE_P(Targets, Language, ::testing::Values("language.sm_80.ptx", "language.sm_120.ptx"));

}  // namespace language_test
}  // namespace warpline::ptx::test
