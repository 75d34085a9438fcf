#include "rtl_models/dram/dram_core.h"

#include <gtest/gtest.h>

#include <map>

namespace warpline {
namespace dram_core_test {

PhysicalAddress line_at(std::uint64_t number) {
  return physical(Aperture::vidmem, number * kLineBytes);
}

TEST(DramCore, EveryRowHasAPlaceOfItsOwn) {
  for (const unsigned banks : {1U, 3U, 16U, 48U}) {
    DramParameters p;
    p.channels = 3;
    p.banks = banks;
    p.row_bytes = 384;
    const DramCore core(p);
    std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> rows;
    for (std::uint64_t n = 0; n < 60000; ++n) {
      const std::uint64_t row = n / p.channels / (p.row_bytes / kLineBytes);
      const DramPlace place = core.place_of(line_at(n));
      ASSERT_LT(place.bank, banks);
      const auto [it, first] = rows.try_emplace({place.bank, place.row}, row);
      ASSERT_EQ(it->second, row) << banks << " banks, line " << n;
    }
    EXPECT_EQ(rows.size(), (60000U + 8) / 9);
  }
}

TEST(DramCore, ConsecutiveLinesTakeTurnsOverBankGroupsThatFillTheBusTogether) {
  DramParameters p;
  p.channels = 1;
  p.bank_groups = 4;
  p.banks = 12;
  p.column_interval_group = 3;  // of slots of one cycle
  ASSERT_EQ(p.rows_abreast(), 3U);
  const DramCore core(p);
  std::map<std::pair<unsigned, std::uint64_t>, unsigned> lines;
  for (std::uint64_t n = 0; n < 12000; ++n) {
    const DramPlace place = core.place_of(line_at(n));
    ASSERT_LT(place.bank, 12U);
    ++lines[{place.bank, place.row}];
    if (n % 3 != 0) {
      EXPECT_NE(place.bank % 4, core.place_of(line_at(n - 1)).bank % 4);
    }
  }
  EXPECT_EQ(lines.size(), 750U);
  for (const auto& [row, count] : lines) EXPECT_EQ(count, p.row_bytes / 128);
}

TEST(DramCore, ConsecutiveRowsLieInDifferentBanks) {
  DramParameters p;
  p.channels = 1;
  const DramCore core(p);
  const unsigned lines = p.row_bytes / kLineBytes;
  for (std::uint64_t first = 0; first < 64; first += p.banks) {
    std::uint32_t seen = 0;
    for (std::uint64_t r = first; r < first + p.banks; ++r)
      seen |= 1U << core.place_of(line_at(r * lines)).bank;
    EXPECT_EQ(seen, 0xFFFFU);
  }
}

TEST(DramCore, AStrideOfAllBanksSpreadsToo) {
  DramParameters p;
  p.channels = 1;
  const DramCore core(p);
  std::uint32_t seen = 0;
  for (std::uint64_t i = 0; i < 16; ++i)
    seen |= 1U << core.place_of(line_at(i * p.banks * (p.row_bytes / kLineBytes))).bank;
  EXPECT_EQ(seen, 0xFFFFU);
}

TEST(DramCore, RowsStayOpenUntilAnotherIsWanted) {
  DramCore core(DramParameters{});
  EXPECT_FALSE(core.is_open({3, 7}));
  EXPECT_EQ(core.open({3, 7}), RowOutcome::miss);
  EXPECT_TRUE(core.is_open({3, 7}));
  EXPECT_EQ(core.open({3, 7}), RowOutcome::hit);
  EXPECT_EQ(core.open({3, 8}), RowOutcome::conflict);
  EXPECT_FALSE(core.is_open({3, 7}));
  EXPECT_EQ(core.open({4, 8}), RowOutcome::miss);
}

TEST(DramCore, CostOfARow) {
  DramParameters p;
  p.activate = 5;
  p.precharge = 7;
  p.column = 11;
  p.sector_cycles = 3;
  const DramCore core(p);
  EXPECT_EQ(core.row_cycles(RowOutcome::hit), 0U);
  EXPECT_EQ(core.row_cycles(RowOutcome::miss), 5U);
  EXPECT_EQ(core.row_cycles(RowOutcome::conflict), 12U);
  EXPECT_EQ(core.idle_read_cycles(1), 5U + 11 + 3);
  EXPECT_EQ(core.idle_read_cycles(4), 5U + 11 + 12);
}

TEST(DramParameters, EveryFaultAtOnce) {
  DramParameters p;
  EXPECT_TRUE(p.problems("dram").empty());
  p.channels = 0;
  p.row_bytes = 100;
  p.column = 0;
  p.queue = 2000;
  p.age_limit = 2000000;
  std::vector<std::string> paths;
  for (const Problem& problem : p.problems("dram")) paths.push_back(problem.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"dram.channels", "dram.row_bytes", "dram.queue", "dram.column",
                                             "dram.age_limit"}));
}

}  // namespace dram_core_test
}  // namespace warpline
