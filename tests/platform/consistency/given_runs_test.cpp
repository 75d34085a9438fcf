// The given litmus tests on the platform: nothing forbidden is seen, and what terminates does.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "platform/consistency/checker.h"
#include "tests/platform/consistency/bench.h"
#include "tests/platform/consistency/files.h"

namespace warpline::test {
namespace given_runs_test {

namespace fs = std::filesystem;

/// By path: whether the published verdict is that the test may not end.
std::map<std::string, std::string> liveness(const fs::path& table) {
  constexpr std::size_t kLiveness = 8;
  std::map<std::string, std::string> out;
  std::ifstream rows(table);
  for (std::string row; std::getline(rows, row);) {
    std::istringstream columns(row);
    std::vector<std::string> words;
    for (std::string word; std::getline(columns, word, '\t');) words.push_back(word);
    if (words.size() > kLiveness) out[words[0]] = words[kLiveness];
  }
  return out;
}

TEST(GivenLitmusTests, ShowNothingForbiddenAndEnd) {
  const fs::path folder = fs::path(WARPLINE_SOURCE_DIR) / "../shared/oracles/litmus";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "there is no " << folder;
  const auto ends = liveness(folder / "expected.tsv");
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".litmus") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  litmus::Machine machine(litmus_gpu());
  unsigned ran = 0;
  for (const fs::path& file : files) {
    const std::string name = fs::relative(file, folder).string();
    const auto test = parse_file(file, name);
    ASSERT_TRUE(test.ok()) << name;
    if (!machine.refusals(test.value()).empty()) continue;
    ++ran;
    const litmus::RunReport report = litmus::run(machine, test.value(), {100, 1});
    EXPECT_TRUE(report.in_question == 0 || litmus::check(test.value()).allowed) << name;
    const auto known = ends.find(name);
    const bool terminates = known != ends.end() && known->second == "terminates";
    EXPECT_TRUE(report.stuck == 0 || !terminates) << name;
  }
  EXPECT_GE(ran, 200U);
}

TEST(OwnLitmusTests, ShowNothingForbiddenAndEnd) {
  litmus::Machine machine(litmus_gpu());
  unsigned ran = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(WARPLINE_SOURCE_DIR) / "tests/litmus")) {
    if (entry.path().extension() != ".litmus") continue;
    const std::string name = entry.path().filename().string();
    const auto test = parse_file(entry.path(), name);
    ASSERT_TRUE(test.ok()) << name;
    if (!machine.refusals(test.value()).empty()) continue;
    ++ran;
    const litmus::RunReport report = litmus::run(machine, test.value(), {150, 1});
    EXPECT_TRUE(report.in_question == 0 || litmus::check(test.value()).allowed) << name;
    EXPECT_EQ(report.stuck, 0U) << name;
  }
  EXPECT_GE(ran, 20U);
}

}  // namespace given_runs_test
}  // namespace warpline::test
