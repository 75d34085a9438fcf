// The tests of tests/litmus say their verdict themselves.
#include <gtest/gtest.h>

#include <filesystem>

#include "platform/consistency/checker.h"
#include "tests/platform/consistency/files.h"

namespace warpline::litmus {
namespace own_tests_test {

TEST(OwnLitmusTests, HaveTheVerdictThatTheySay) {
  unsigned seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLINE_SOURCE_DIR "/tests/litmus")) {
    if (entry.path().extension() != ".litmus") continue;
    const Result<litmus::Test> test =
        warpline::test::parse_file(entry.path(), entry.path().filename().string());
    ASSERT_TRUE(test.ok()) << test.faults().front().text();
    EXPECT_EQ(test.value().name, entry.path().stem().string());
    const std::string& said = test.value().description;
    const bool allowed = said.rfind("Allowed: ", 0) == 0;
    EXPECT_TRUE(allowed || said.rfind("Forbidden: ", 0) == 0) << entry.path();
    const Verdict v = check(test.value());
    EXPECT_EQ(v.allowed, allowed) << entry.path() << ' ' << v.axiom;
    EXPECT_FALSE(v.bounded);
    const bool exists = test.value().condition.kind == Condition::Kind::exists;
    EXPECT_EQ(exists, allowed) << "~exists says that an outcome is forbidden";
    ++seen;
  }
  EXPECT_GE(seen, 30U);
}

}  // namespace own_tests_test
}  // namespace warpline::litmus
