// The checker against one that prunes nothing.
#include "tests/platform/consistency/naive_checker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/consistency/checker.h"
#include "platform/consistency/parser.h"
#include "tests/support/environment.h"

namespace warpline::litmus::test {
namespace naive_checker_test {

/// To one memory.
std::size_t most_writes(const litmus::Test& test) {
  std::vector<std::size_t> writes(test.memories.size());
  for (const Thread& t : test.threads)
    for (const Instruction& i : t.code)
      if (i.kind == InstructionKind::memory) {
        if (i.op.writes()) ++writes[test.locations[i.location].memory];
        if (i.copies()) ++writes[test.locations[i.copy_to].memory];
      }
  return *std::max_element(writes.begin(), writes.end());
}

/// About how many choices there are of what reads read.
double choices(const litmus::Test& test) {
  std::vector<double> writes(test.memories.size(), 1);
  for (const Thread& t : test.threads)
    for (const Instruction& i : t.code)
      if (i.kind == InstructionKind::memory) {
        if (i.op.writes()) ++writes[test.locations[i.location].memory];
        if (i.copies()) ++writes[test.locations[i.copy_to].memory];
      }
  double out = 1;
  for (const Thread& t : test.threads)
    for (const Instruction& i : t.code)
      if (i.kind == InstructionKind::memory && (i.op.reads() || i.op.is_atomic() || i.copies()))
        out *= writes[test.locations[i.location].memory];
  return out;
}

TEST(NaiveChecker, AgreesOnRandomTests) {
  const std::uint64_t count = from_environment("WARPLINE_LITMUS_TESTS", 400);
  std::uint64_t allowed = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(splitmix64(seed));
    const std::string text = random_test(random);
    const Result<litmus::Test> test = parse(text, "random");
    ASSERT_TRUE(test.ok()) << test.faults().front().text() << text;
    // There may be more orders and choices than anybody can look through.
    if (most_writes(test.value()) > 4 || choices(test.value()) > 500) continue;
    const bool expected = naively_allowed(test.value());
    const Verdict verdict = check(test.value());
    ASSERT_EQ(verdict.allowed, expected) << "seed " << seed << '\n' << text;
    EXPECT_FALSE(verdict.bounded);
    allowed += expected;
  }
  EXPECT_GT(allowed, count / 10);
  EXPECT_LT(allowed, count * 9 / 10);
}

}  // namespace naive_checker_test
}  // namespace warpline::litmus::test
