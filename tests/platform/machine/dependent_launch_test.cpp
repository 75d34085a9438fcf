// Programmatic dependent launch: a grid that begins before the one it depends on has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace dependent_launch_test {

using testing::HasSubstr;
using testing::IsEmpty;

/// first: each block says when dependents may begin (or does not), sleeps, and stores its number and 1, and
/// when. second: each block stores when it began, looks at what is there, waits, and stores the sum of what
/// is there then and when. third: the same of what the second left.
std::string program(const std::string& trigger) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.const .u32 one = 1;
.visible .entry first(.param .u64 values, .param .u64 clocks, .param .u32 count)
{
.reg .b64 %rd<6>; .reg .b32 %r<8>;
ld.param.u64 %rd1, [values];
ld.param.u64 %rd2, [clocks];
)" + trigger +
         R"(
nanosleep.u32 6000;
mov.u32 %r1, %ctaid.x;
ld.const.u32 %r3, [one];
add.u32 %r2, %r1, %r3;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd1, %rd1, %rd3;
st.global.u32 [%rd1], %r2;
mov.u32 %r3, %clock;
atom.global.max.u32 %r4, [%rd2], %r3;
ret;
}
.visible .entry second(.param .u64 values, .param .u64 clocks, .param .u32 count, .param .u64 sums)
{
.reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .pred %p;
mov.u32 %r1, %clock;
ld.param.u64 %rd1, [values];
ld.param.u64 %rd2, [clocks];
ld.param.u32 %r2, [count];
ld.param.u64 %rd3, [sums];
ld.global.u32 %r9, [%rd1];
mov.u32 %r3, %ctaid.x;
mul.wide.u32 %rd4, %r3, 8;
add.u64 %rd2, %rd2, %rd4;
griddepcontrol.launch_dependents;
griddepcontrol.wait;
mov.u32 %r4, %clock;
st.global.v2.u32 [%rd2+8], {%r1, %r4};
mov.u32 %r5, 0;
mov.u32 %r6, 0;
AGAIN:
ld.global.u32 %r7, [%rd1];
add.u32 %r6, %r6, %r7;
add.u64 %rd1, %rd1, 4;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p, %r5, %r2;
@%p bra AGAIN;
mul.wide.u32 %rd4, %r3, 4;
add.u64 %rd3, %rd3, %rd4;
st.global.u32 [%rd3], %r6;
ret;
}
)";
}
const std::string& triggering() {
  static const std::string kText = program("griddepcontrol.launch_dependents;");
  return kText;
}

struct Clocks {
  std::uint32_t first_ended = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> second;  ///< began, went on
};

/// `primary` blocks, then `secondary` ones.
std::string launches(unsigned primary, unsigned secondary, bool dependent, bool third = false) {
  const std::string one = std::to_string(primary), two = std::to_string(secondary);
  std::string text =
      "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"first\"\ngrid = [" + one +
      "]\nblock = [1]\n[[launch.argument]]\nbuffer = \"values\"\ntype = \"u32\"\ncount = " + one +
      "\n[[launch.argument]]\nbuffer = \"clocks\"\ntype = \"u32\"\ncount = " +
      std::to_string(2 + 2 * secondary) +
      "\n[[launch.argument]]\nscalar = 0\ntype = \"u32\"\n"
      "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"second\"\n" +
      (dependent ? "dependent = true\n" : "") + "grid = [" + two +
      "]\nblock = [1]\n[[launch.argument]]\nbuffer = \"values\"\n[[launch.argument]]\nbuffer = \"clocks\"\n"
      "[[launch.argument]]\nscalar = " +
      one + "\ntype = \"u32\"\n[[launch.argument]]\nbuffer = \"sums\"\ntype = \"u32\"\ncount = " + two +
      "\nexpect = { value = " + std::to_string(primary * (primary + 1) / 2) + " }\n";
  if (third)
    text +=
        "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"second\"\ndependent = true\ngrid = [1]\nblock = [1]\n"
        "[[launch.argument]]\nbuffer = \"sums\"\n[[launch.argument]]\nbuffer = \"last\"\ntype = \"u32\"\n"
        "count = 4\n[[launch.argument]]\nscalar = " +
        two +
        "\ntype = \"u32\"\n[[launch.argument]]\nbuffer = \"total\"\ntype = \"u32\"\ncount = 1\nexpect = { "
        "value = " +
        std::to_string(secondary * primary * (primary + 1) / 2) + " }\n";
  return text;
}

Clocks clocks_of(PtxRun& run, unsigned primary, unsigned secondary) {
  const std::uint64_t at = 0x7F0000120000ULL + (primary * 4 + 255) / 256 * 256;
  std::vector<std::uint32_t> words(2 + 2 * secondary);
  run.gpu().read(at, words.data(), words.size() * 4);
  Clocks out;
  out.first_ended = words[0];
  for (unsigned n = 0; n < secondary; ++n) out.second.emplace_back(words[2 + 2 * n], words[3 + 2 * n]);
  return out;
}

TEST(DependentLaunch, BeginsEarlyAndWaitsForWhatItDependsOn) {
  std::optional<Cycle> cycles;
  for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
    RunOptions options;
    options.tick_mode = mode;
    options.max_cycles = 1'000'000;
    PtxRun run(triggering(), launches(1, 3, true), {}, {}, options);
    ASSERT_EQ(run.end().outcome, RunOutcome::quiescent);
    EXPECT_THAT(run.end().failures, IsEmpty());
    EXPECT_TRUE(run.gpu().faults().empty());
    EXPECT_TRUE(run.gpu().unreconciled().empty());
    const Clocks clocks = clocks_of(run, 1, 3);
    EXPECT_GT(clocks.first_ended, 6000U);
    for (const auto& [began, went_on] : clocks.second) {
      EXPECT_LT(began, 3000U);
      EXPECT_GT(went_on, clocks.first_ended);
    }
    if (cycles) {
      EXPECT_EQ(run.gpu().now(), *cycles);
    }
    cycles = run.gpu().now();
  }
}

TEST(DependentLaunch, BeginsWhenAllBlocksHaveEndedWhereTheyDoNotSayEarlier) {
  PtxRun run(program(""), launches(2, 3, true));
  EXPECT_THAT(run.end().failures, IsEmpty());
  for (const auto& [began, went_on] : clocks_of(run, 2, 3).second)
    EXPECT_GT(began, clocks_of(run, 2, 3).first_ended);
}

TEST(DependentLaunch, ManyBlocksAndAChainOfThreeGiveWhatGridsInARowGive) {
  const GpuConfig mini = preset("mini");
  const unsigned many = 3 * mini.sms * mini.sm.cta_slots + 5;
  for (const bool loose : {false, true}) {
    RunOptions options;
    options.loose = loose;
    options.max_cycles = 10'000'000;
    PtxRun run(triggering(), launches(many, 40, true, true), {}, {}, options);
    ASSERT_EQ(run.end().outcome, RunOutcome::quiescent);
    EXPECT_THAT(run.end().failures, IsEmpty());
    EXPECT_TRUE(run.gpu().unreconciled().empty());
    PtxRun row(triggering(), launches(many, 40, false), {}, {}, options);
    EXPECT_THAT(row.end().failures, IsEmpty());
  }
}

TEST(DependentLaunch, SavesTime) {
  PtxRun early(triggering(), launches(1, 3, true)), late(triggering(), launches(1, 3, false));
  EXPECT_LT(early.gpu().now(), late.gpu().now());
}

/// The same, each launch of a kernel with a further line.
std::string with(std::string text, const std::string& first, const std::string& second) {
  for (const auto& [kernel, line] : {std::pair{"first", first}, std::pair{"second", second}}) {
    const std::string name = "kernel = \"" + std::string(kernel) + "\"\n";
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      text.insert(at + name.size(), line);
  }
  return text;
}

TEST(DependentLaunch, GridsOfClustersAndCooperativeOnesOverlapToo) {
  const std::vector<std::string> gpu = {"sm_network.present=true", "sms=6", "gpcs=1"};
  const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
  std::string text = program(meet + "griddepcontrol.launch_dependents;");
  text.insert(text.find("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;"), meet);
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"", "cluster = [2]\n"},
           {"cluster = [2]\n", ""},
           {"cluster = [2]\n", "cluster = [2]\n"},
           {"cooperative = true\n", ""},
           {"", "cooperative = true\n"},
           {"cluster = [2]\ncooperative = true\n", "cluster = [2]\ncooperative = true\n"}}) {
    SCOPED_TRACE(first + "; " + second);
    std::optional<Cycle> cycles;
    for (const TickMode mode : {TickMode::lazy, TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      RunOptions options;
      options.tick_mode = mode;
      options.max_cycles = 1'000'000;
      PtxRun run(text, with(launches(2, 4, true), first, second), gpu, {}, options);
      ASSERT_EQ(run.end().outcome, RunOutcome::quiescent);
      EXPECT_THAT(run.end().failures, IsEmpty());
      EXPECT_TRUE(run.gpu().faults().empty());
      EXPECT_TRUE(run.gpu().unreconciled().empty());
      const Clocks clocks = clocks_of(run, 2, 4);
      for (const auto& [began, went_on] : clocks.second) {
        EXPECT_LT(began, 3000U);
        EXPECT_GT(went_on, clocks.first_ended);
      }
      if (cycles) {
        EXPECT_EQ(run.gpu().now(), *cycles);
      }
      cycles = run.gpu().now();
    }
    // More clusters than fit at once, behind more blocks than fit at once.
    for (const bool loose : {false, true}) {
      RunOptions options;
      options.loose = loose;
      options.max_cycles = 10'000'000;
      const bool together =
          first.find("coop") != std::string::npos || second.find("coop") != std::string::npos;
      PtxRun run(text, with(launches(together ? 64 : 6 * 32 * 2, together ? 64 : 300, true), first, second),
                 gpu, {}, options);
      ASSERT_EQ(run.end().outcome, RunOutcome::quiescent);
      EXPECT_THAT(run.end().failures, IsEmpty());
    }
  }
}

TEST(DependentLaunch, MistakesAreTold) {
  const auto refusal = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    try {
      const PtxRun run(triggering(), text, {"gpus=2"});
    } catch (const std::runtime_error& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  const std::string good = launches(1, 1, true);
  EXPECT_THAT(refusal(good, "dependent = true\n", "dependent = true\ngpu = 1\n"), HasSubstr("runs on GPU 0"));
  EXPECT_THAT(refusal(good, "dependent = true\n", "dependent = true\ninvalidate_l1 = false\n"),
              HasSubstr("invalidate_l1"));
  EXPECT_THAT(refusal(good, "kernel = \"first\"\n", "kernel = \"first\"\ndependent = true\n"),
              HasSubstr("there is no launch before this one"));
}

}  // namespace dependent_launch_test
}  // namespace warpline::test
