// Clocks count cycles, timers and sleeps nanoseconds.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "platform/programs/ptx/module.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::ptx::test {
namespace timers_test {

constexpr const char* kText = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %globaltimer;
  mov.u32 %r3, %globaltimer_lo;
  mov.u32 %r4, %globaltimer_hi;
  mov.u64 %rd5, %clock64;
  nanosleep.u32 1000;
  st.global.u64 [%rd1], %rd2;
  st.global.u32 [%rd1], %r3;
  st.global.u32 [%rd1], %r4;
  st.global.u64 [%rd1], %rd5;
  nanosleep.u32 2000000;
  ret;
}
)";

struct Seen {
  std::vector<std::uint64_t> stored;
  std::vector<std::uint64_t> slept;
};

/// What a warp stores and sleeps on an SM of `mhz` MHz, each instruction in cycle `clock`.
Seen run(unsigned mhz, std::uint64_t clock) {
  auto module = parse(kText, "timers.ptx");
  EXPECT_TRUE(module.ok());
  const auto kernel =
      module.value()->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, std::vector<std::uint8_t>(8));
  const auto source = kernel->make_source({0, 1, mhz});
  source->begin_warp(0, {0, 0, 0}, 0, ~LaneMask{0});
  Seen seen;
  while (source->state(0) == WarpState::runnable) {
    const Instruction& i = source->next(0);
    MemoryAccess access;
    Issue issue;
    issue.clock = clock;
    issue.access = &access;
    source->execute(0, issue);
    if (i.kind == InstructionKind::sleep) seen.slept.push_back(issue.sleep_cycles);
    if (i.kind != InstructionKind::memory) continue;
    if (i.mem.kind == MemKind::store) {
      std::uint64_t value = 0;
      std::memcpy(&value, access.lane_data(7), i.mem.bytes_per_lane());
      seen.stored.push_back(value);
    }
    source->complete(0, i, access, true);
  }
  return seen;
}

TEST(Timers, TheGlobalTimerCountsNanoseconds) {
  const std::uint64_t cycles = 13'800'000'000'007;
  const std::uint64_t nanoseconds = 10'000'000'000'005;  // 7 cycles of 1380 MHz take 5.07 ns
  EXPECT_EQ(run(1380, cycles).stored,
            (std::vector<std::uint64_t>{nanoseconds, nanoseconds & 0xFFFF'FFFF, nanoseconds >> 32U, cycles}));
  EXPECT_EQ(run(1000, 77).stored, (std::vector<std::uint64_t>{77, 77, 0, 77}));
  EXPECT_EQ(run(500, 77).stored, (std::vector<std::uint64_t>{154, 154, 0, 77}));
}

TEST(Timers, SleepsAskForNanosecondsAndLastAMillisecondAtMost) {
  EXPECT_EQ(run(1000, 0).slept, (std::vector<std::uint64_t>{1000, 1'000'000}));
  EXPECT_EQ(run(1380, 0).slept, (std::vector<std::uint64_t>{1380, 1'380'000}));
  EXPECT_EQ(run(333, 0).slept, (std::vector<std::uint64_t>{333, 333'000}));
}

}  // namespace timers_test
}  // namespace warpline::ptx::test
