// Damaged rows and modules: the judge says accept or reject of each, and never crashes or hangs.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"
#include "rtl_models/base/random.h"
#include "tests/platform/programs/ptx/samples.h"
#include "tests/support/environment.h"

namespace warpline::ptx::test {
namespace legality_fuzz_test {

std::size_t mutant_count() {
  return from_environment("WARPLINE_FUZZ_MUTANTS", 300);
}

std::vector<std::string> rows() {
  std::ifstream file(WARPLINE_SOURCE_DIR "/tests/platform/programs/ptx_legality/legality_cases.tsv");
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') out.push_back(line);
  return out;
}

/// Words, operands and characters of one row put into another, lost, doubled, cut.
std::string damaged(const std::vector<std::string>& all, Random& random) {
  std::string row = all[random.below(all.size())];
  for (std::uint64_t n = 1 + random.below(4); n != 0; --n) {
    const std::string& other = all[random.below(all.size())];
    const std::size_t at = random.below(row.size() + 1);
    const std::size_t length = std::min<std::size_t>(random.below(12), row.size() - at);
    const std::size_t from = random.below(other.size());
    switch (random.below(5)) {
      case 0: row.erase(at, length); break;
      case 1: row.insert(at, row.substr(at, length)); break;
      case 2: row.insert(at, other.substr(from, random.below(24))); break;
      case 3: row.replace(at, length, other.substr(from, random.below(12))); break;
      default: row.insert(at, 1, static_cast<char>(random.below(256)));
    }
  }
  std::replace(row.begin(), row.end(), '\n', ' ');
  return row;
}

TEST(LegalityFuzz, EveryDamagedRowGetsOneVerdict) {
  const std::vector<std::string> all = rows();
  ASSERT_FALSE(all.empty());
  for (std::uint64_t seed = 0; seed < mutant_count(); ++seed) {
    Random random(splitmix64(seed));
    const std::string row = damaged(all, random);
    if (row.empty() || row[0] == '#' || row.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string verdict = judge_table(row, [](double, std::uint64_t) {});
    EXPECT_TRUE(verdict == "accept\n" || verdict.rfind("reject\t", 0) == 0) << "seed " << seed << ": " << row;
    EXPECT_EQ(std::count(verdict.begin(), verdict.end(), '\n'), 1) << "seed " << seed << ": " << row;
  }
}

TEST(LegalityFuzz, EveryDamagedModuleIsJudged) {
  const std::vector<std::string> all = rows();
  for (const std::string& sample : sample_modules())
    for (std::uint64_t seed = 0; seed < mutant_count() / 20; ++seed) {
      Random random(splitmix64(seed));
      std::string text = sample;
      for (std::uint64_t n = 1 + random.below(3); n != 0; --n) {
        const std::size_t at = random.below(text.size());
        const std::size_t length = std::min<std::size_t>(random.below(40), text.size() - at);
        text.replace(at, length,
                     random.below(2) == 0 ? damaged(all, random) : text.substr(random.below(at + 1), 20));
      }
      const ModuleLegality j = check_text(text, "damaged.ptx");
      EXPECT_LE(j.rejected, j.instructions) << "seed " << seed;
      EXPECT_TRUE(j.readable || !j.faults.empty()) << "seed " << seed;
      EXPECT_TRUE(j.rejected == 0 || !j.faults.empty()) << "seed " << seed;
    }
}

}  // namespace legality_fuzz_test
}  // namespace warpline::ptx::test
