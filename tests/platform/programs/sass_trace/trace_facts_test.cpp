// Replays every trace that is given with the project's inputs, and compares with what an independent
// reader counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/platform/programs/sass_trace/trace_player.h"

namespace warpline::test {
namespace trace_facts_test {

const std::string kFolder = WARPLINE_SOURCE_DIR "/../shared/inputs/traces";

struct Row {
  std::string file;
  std::uint64_t blocks = 0, warps = 0, instructions = 0, loads = 0, stores = 0, copies = 0, lanes = 0,
                sectors = 0, lines = 0, distinct = 0;
};

std::vector<Row> read_facts() {
  std::ifstream in(kFolder + "/facts.tsv");
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::istringstream s(line);
    Row r;
    std::string kernel;
    s >> r.file >> kernel >> r.blocks >> r.warps >> r.instructions >> r.loads >> r.stores >> r.copies >>
        r.lanes >> r.sectors >> r.lines >> r.distinct;
    rows.push_back(r);
  }
  return rows;
}

TEST(TraceFacts, EveryGivenTraceCountsAsTheIndependentReaderDid) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no given traces at " << kFolder;
  const std::vector<Row> rows = read_facts();
  ASSERT_FALSE(rows.empty());
  for (const Row& r : rows) {
    SCOPED_TRACE(r.file);
    auto kernel = sass::open_trace(kFolder + "/" + r.file);
    ASSERT_TRUE(kernel.ok()) << kernel.faults().front().text();
    const KernelInfo& info = kernel.value()->info();
    EXPECT_EQ(info.grid.count(), r.blocks);
    EXPECT_EQ(info.grid.count() * info.warps_per_cta(), r.warps);
    Player player(*kernel.value());
    const Totals t = player.run();
    EXPECT_EQ(t.instructions, r.instructions);
    EXPECT_EQ(t.loads, r.loads);
    EXPECT_EQ(t.stores, r.stores);
    EXPECT_EQ(t.copies, r.copies);
    EXPECT_EQ(t.lanes, r.lanes);
    EXPECT_EQ(t.sectors, r.sectors);
    EXPECT_EQ(t.lines, r.lines);
    EXPECT_EQ(t.distinct_lines.size(), r.distinct);
    EXPECT_TRUE(kernel.value()->unknown_opcodes().empty()) << kernel.value()->unknown_opcodes().front();
  }
}

TEST(TraceFacts, ReplayingAgainReplaysTheSame) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no given traces at " << kFolder;
  auto kernel = sass::open_trace(kFolder + "/vectoradd/kernel-1.traceg.xz");
  ASSERT_TRUE(kernel.ok());
  for (int launch = 0; launch < 2; ++launch) {
    Player player(*kernel.value());
    EXPECT_EQ(player.run().sectors, 18750U) << "launch " << launch;
  }
}

TEST(TraceFacts, GivenListsAreRead) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no given traces at " << kFolder;
  std::vector<std::string> warnings;
  const auto list = sass::read_list(kFolder + "/vectoradd/kernelslist.g", warnings);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list.value().size(), 3U);
  EXPECT_TRUE(list.value()[0].is_copy);
  EXPECT_EQ(list.value()[0].address, 0x7fb0fc400000U);
  EXPECT_EQ(list.value()[0].bytes, 200000U);
  EXPECT_EQ(list.value()[2].path, kFolder + "/vectoradd/kernel-1.traceg.xz");
  EXPECT_TRUE(warnings.empty());
}

}  // namespace trace_facts_test
}  // namespace warpline::test
