// Verdicts of others on public litmus tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/consistency/checker.h"
#include "tests/platform/consistency/files.h"

namespace warpline::litmus {
namespace given_tests_test {

const std::string kFolder = WARPLINE_SOURCE_DIR "/../shared/oracles/litmus";

/// A row of expected.tsv: path, and the verdict to match ("allowed", "forbidden" or nothing).
struct Row {
  std::string path, verdict;
};

std::vector<Row> rows() {
  std::vector<Row> out;
  std::ifstream in(kFolder + "/expected.tsv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> cells(10);
    std::stringstream row(line);
    for (std::string& cell : cells) std::getline(row, cell, '\t');
    const std::string said = cells[6].rfind("UNSUP", 0) == 0 ? cells[5] : cells[6];
    const bool allowed = said == "outcome-allowed" || said == "can-fail(negation-allowed)";
    out.push_back({cells[0], said.empty() ? "" : allowed ? "allowed" : "forbidden"});
  }
  return out;
}

TEST(GivenLitmusTests, AreJudgedAsTheirAuthorsJudgeThem) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "../shared is not there";
  unsigned judged = 0;
  for (const Row& row : rows()) {
    const Result<litmus::Test> test = warpline::test::parse_file(kFolder + "/" + row.path, row.path);
    ASSERT_TRUE(test.ok()) << test.faults().front().text();
    const Verdict v = check(test.value());
    if (row.verdict.empty()) continue;
    EXPECT_EQ(v.allowed ? "allowed" : "forbidden", row.verdict) << row.path << ' ' << v.axiom;
    ++judged;
  }
  EXPECT_GT(judged, 150U);
}

}  // namespace given_tests_test
}  // namespace warpline::litmus
