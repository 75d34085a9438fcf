#include "platform/sweep/difference.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace difference_test {

class Differences : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  ScratchFolder scratch_;
  std::string folder_ = scratch_.path();
};

std::string run_of(unsigned cycles, unsigned slices, unsigned waits, unsigned hits) {
  return R"({"warpline": "0.1.0", "gpu": "mini", "transport": "fast", "outcome": "finished", "cycles": )" +
         std::to_string(cycles) + R"(, "configuration": {"l2.slices": )" + std::to_string(slices) +
         R"(, "sms": 4}, "counters": {"l2.waits": {"value": )" + std::to_string(waits) +
         R"(, "unit": "cycles"}, "dram.waits": {"value": 10, "unit": "cycles"}, "l2.hits": {"value": )" +
         std::to_string(hits) + R"(, "unit": "sectors"}, "l2[0].hits": {"value": )" + std::to_string(hits) +
         R"(, "unit": "sectors"}}})";
}

TEST_F(Differences, AreSaidConfigurationsFirstAndThenWhatChangedMost) {
  const std::string a = file("a.json", run_of(2000, 2, 1500, 100)),
                    b = file("b.json", run_of(1500, 4, 300, 99));
  const Result<std::string> text = difference_of(a, b, {});
  ASSERT_TRUE(text.ok()) << text.faults().front().text();
  const std::string& t = text.value();
  EXPECT_NE(t.find("-500"), std::string::npos) << t;
  EXPECT_NE(t.find("-25.0%"), std::string::npos) << t;
  const std::size_t settings = t.find("  l2.slices"), waits = t.find("  l2.waits"),
                    hits = t.find("  l2.hits");
  ASSERT_NE(hits, std::string::npos) << t;
  EXPECT_LT(settings, waits);
  EXPECT_LT(waits, hits);
  EXPECT_EQ(t.find("sms"), std::string::npos) << "what is the same is left out: " << t;
  EXPECT_EQ(t.find("dram.waits"), std::string::npos) << t;
  EXPECT_EQ(t.find("l2[0]"), std::string::npos) << t;
  EXPECT_NE(difference_of(a, b, {1, true}).value().find("l2[0].hits"), std::string::npos);
  EXPECT_EQ(difference_of(a, b, {2, false}).value().find("l2.hits"), std::string::npos)
      << "below the threshold";
}

TEST_F(Differences, OfBlocksNeedCountersOfBlocks) {
  const std::string a = file("a.json", run_of(2000, 2, 1500, 100));
  const std::string totals = file(
      "b.json", R"({"stats_counters": "totals", "cycles": 2000, "configuration": {"l2.slices": 2, "sms": 4},
      "counters": {"l2.waits": {"value": 1500, "unit": "cycles"}}})");
  for (const auto& [first, second] : {std::pair(a, totals), std::pair(totals, a)}) {
    const Result<std::string> text = difference_of(first, second, {1, true});
    ASSERT_FALSE(text.ok()) << text.value();
    EXPECT_NE(text.faults().front().text().find("no counters of single blocks"), std::string::npos);
    EXPECT_TRUE(difference_of(first, second, {}).ok());
  }
}

TEST_F(Differences, OfTheSameRunAreNone) {
  const std::string a = file("a.json", run_of(2000, 2, 1500, 100));
  const std::string text = difference_of(a, a, {}).value();
  EXPECT_NE(text.find("configurations, options and files are the same\n\nno counter differs by 1% or more\n"),
            std::string::npos)
      << text;
}

TEST_F(Differences, OfWhatAreNoStatisticsAreRefused) {
  const std::string a = file("a.json", run_of(1, 1, 1, 1));
  for (const char* text :
       {"", "[]", "{}", R"({"counters": {"a": 1}, "configuration": {}, "cycles": 1})",
        R"({"counters": {}, "configuration": {}, "cycles": -1})",
        R"({"counters": {"a": {"value": 2, "unit": 3}}, "configuration": {}, "cycles": 1})",
        R"({"counters": {}, "configuration": {}, "cycles": 1, "files": [1]})"})
    EXPECT_FALSE(difference_of(a, file("b.json", text), {}).ok()) << text;
  EXPECT_EQ(difference_of(folder_ + "/none", folder_ + "/nothing", {}).faults().size(), 2U);
}

}  // namespace difference_test
}  // namespace warpline::sweep
