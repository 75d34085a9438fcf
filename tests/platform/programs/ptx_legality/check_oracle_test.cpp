// The assembler's own verdicts (../shared/oracles/ptxas) against ours, row by row.

#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/programs/ptx/judge_table.h"
#include "tests/support/environment.h"

namespace warpline::ptx::test {
namespace check_oracle_test {

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

std::string unpacked(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  std::string out;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) return out;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  std::vector<std::uint8_t> buffer(1U << 20U);
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK) {
    stream.next_out = buffer.data();
    stream.avail_out = buffer.size();
    state = lzma_code(&stream, LZMA_FINISH);
    out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
  }
  lzma_end(&stream);
  return out;
}

std::vector<Row> rows_of(const std::string& table) {
  std::vector<Row> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#' || line.rfind("ptx_version", 0) == 0) continue;
    Row row;
    std::istringstream cells(line);
    for (std::string& cell : row) std::getline(cells, cell, '\t');
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(CheckOracle, AgreesWithTheAssembler) {
  const std::string table = unpacked(WARPLINE_SOURCE_DIR "/../shared/oracles/ptxas/verdicts.tsv.xz");
  if (table.empty()) GTEST_SKIP() << "../shared is absent";
  std::vector<Row> rows = rows_of(table);
  ASSERT_GT(rows.size(), 80000U);
  if (!every_seed()) {  // every third one, and the seeds' own examples
    std::size_t n = 0;
    const auto left_out = [&](const Row& r) { return n++ % 3 != 0 && r[6].rfind("seed:", 0) != 0; };
    rows.erase(std::remove_if(rows.begin(), rows.end(), left_out), rows.end());
  }
  std::string input;
  for (const Row& r : rows) input += r[0] + "\t" + r[1] + "\t" + r[2] + "\t" + r[3] + "\n";
  std::istringstream verdicts(judge_table(input, [](double, std::uint64_t) {}));

  std::map<std::string, std::vector<std::string>> wrong;
  std::size_t count = 0;
  std::size_t judged = 0;
  std::string verdict;
  for (const Row& r : rows) {
    ASSERT_TRUE(std::getline(verdicts, verdict)) << "one line per row";
    if (r[4] == "unreliable") continue;  // the assembler dies, or not, at random
    ++judged;
    if (verdict.substr(0, verdict.find('\t')) == r[4]) continue;
    ++count;
    wrong[r[6]].push_back(r[0] + " " + r[1] + " " + r[2] + " (" + r[3] + ") assembler: " + r[4] + " " + r[5] +
                          "; here: " + verdict);
  }
  EXPECT_FALSE(std::getline(verdicts, verdict)) << "one line per row";
  for (const auto& [group, list] : wrong) {
    std::printf("%zu disagreements in group %s\n", list.size(), group.c_str());
    for (std::size_t n = 0; n < list.size() && n < 5; ++n) std::printf("  %s\n", list[n].c_str());
  }
  EXPECT_LE(count * 1000, judged) << "of " << judged << " rows";
  for (const auto& [group, list] : wrong)
    EXPECT_NE(group.rfind("seed:", 0), 0U) << "the seeds' own examples are all right: " << list[0];
}

TEST(CheckOracle, SinceWhenIsThePublishedMinimum) {
  std::ifstream file(WARPLINE_SOURCE_DIR "/../shared/oracles/ptxas/ptxas_feature_minima.tsv");
  if (!file) GTEST_SKIP() << "../shared is absent";
  // Each form is right from exactly this version and target on.
  const std::vector<std::pair<std::string, std::string>> below = {
      {"6.3", "6.2"},     {"7.0", "6.5"},     {"7.4", "7.3"},     {"7.5", "7.4"},     {"7.7", "7.6"},
      {"7.8", "7.7"},     {"8.0", "7.8"},     {"8.1", "8.0"},     {"8.2", "8.1"},     {"8.3", "8.2"},
      {"8.4", "8.3"},     {"8.6", "8.5"},     {"8.7", "8.6"},     {"8.8", "8.7"},     {"6.2", "6.1"},
      {"sm_60", "sm_50"}, {"sm_70", "sm_60"}, {"sm_75", "sm_70"}, {"sm_80", "sm_75"}, {"sm_90", "sm_89"},
      {"sm_100", "sm_90"}};
  const auto before = [&](const std::string& x) {
    for (const auto& [at, earlier] : below)
      if (at == x) return earlier;
    return std::string{};
  };
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::string instruction, version, target;
    std::getline(cells, instruction, '\t');
    std::getline(cells, version, '\t');
    std::getline(cells, target, '\t');
    const auto verdict = [&](const std::string& v, const std::string& t) {
      return judge_table(v + "\t" + t + "\t" + instruction, [](double, std::uint64_t) {}).substr(0, 6);
    };
    if (version == "none") {
      EXPECT_EQ(verdict("9.0", "sm_100"), "reject") << line;
      continue;
    }
    EXPECT_EQ(verdict("9.0", target), "accept") << line;
    const std::string earlier_target = before(target);
    const std::string earlier_version = before(version);
    if (!earlier_target.empty()) {
      EXPECT_EQ(verdict("9.0", earlier_target), "reject") << line;
    }
    if (!earlier_version.empty()) {
      EXPECT_EQ(verdict(earlier_version, target), "reject") << line;
    }
  }
}

}  // namespace check_oracle_test
}  // namespace warpline::ptx::test
