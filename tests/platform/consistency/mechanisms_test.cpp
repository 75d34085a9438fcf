// Each weak behaviour of the hardware is shown by a test of tests/litmus, and is gone without the mechanism
// that it comes from.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/platform/consistency/bench.h"
#include "tests/platform/consistency/files.h"
#include "tests/platform/consistency/seen.h"

namespace warpline::test {
namespace mechanisms_test {

std::string text_of_own(const std::string& name) {
  return read_file(WARPLINE_SOURCE_DIR "/tests/litmus/" + name + ".litmus").value();
}

TEST(LitmusMechanisms, WhatIsAllowedOfTheNamedBehavioursIsSeenIn20000Runs) {
  for (const char* name : {"SB+weak", "MP+stale", "MP+relaxed", "2+2W+relaxed", "LB+relaxed", "IRIW+relaxed",
                           "MP+cta", "MP+texture", "MP+surface", "MP+surface-store", "MP+constant",
                           "CoWR+alias", "CoWR+surface", "Count+volatile"}) {
    const auto test = litmus::parse(text_of_own(name), name);
    ASSERT_TRUE(test.ok()) << name;
    EXPECT_TRUE(is_seen(test.value(), {}, 20000)) << name;
  }
}

/// What a test depends on, and how that is taken away: by keys of the GPU, or by words of the test.
struct Row {
  const char* name;
  const char* mechanism;
  std::vector<std::string> with, without;
  const char* word = "";
  const char* instead = "";
};

TEST(LitmusMechanisms, NothingWeakIsSeenWithoutTheMechanismThatItComesFrom) {
  const std::vector<std::string> one_slice = {{"l2.slices=1"}}, one_sm = {{"sms=1"}};
  const std::string past_l1 = "CCTL.IVALL ;\n | suld.weak";
  const std::vector<Row> rows = {
      {"MP+relaxed", "slices have queues of their own", {}, one_slice},
      {"2+2W+relaxed", "slices have queues of their own", {}, one_slice},
      {"LB+relaxed", "slices have queues of their own", {}, one_slice},
      {"IRIW+relaxed", "slices have queues of their own", {}, one_slice},
      {"SB+weak", "SMs have paths of their own to L2", {}, one_sm},
      {"MP+cta", "a cta's point of coherence is its SM's L1", {}, one_sm},
      {"MP+stale", "SMs have an L1 of their own", one_slice, {{"l2.slices=1"}, {"sms=1"}}},
      {"MP+stale", "a weak load may hit L1", one_slice, one_slice, "ld.weak", "ld.weak.cg"},
      {"MP+surface", "surface lines outlive acquires", {}, {}, "suld.weak", past_l1.c_str()},
      {"CoWR+alias", "L1 goes by virtual addresses", {}, {}, "ld.weak", "ld.weak.cg"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.name) + ": " + row.mechanism);
    std::string text = text_of_own(row.name);
    const auto whole = litmus::parse(text, row.name);
    ASSERT_TRUE(whole.ok());
    EXPECT_TRUE(is_seen(whole.value(), row.with, 20000));
    const std::string word = row.word;
    if (!word.empty()) text.replace(text.rfind(word), word.size(), row.instead);
    const auto changed = litmus::parse(text, row.name);
    ASSERT_TRUE(changed.ok()) << changed.faults().front().text();
    EXPECT_FALSE(is_seen(changed.value(), row.without, 2000));
  }
}

}  // namespace mechanisms_test
}  // namespace warpline::test
