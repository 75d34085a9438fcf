#include "rtl_models/dram/dram_controller.h"

#include <gtest/gtest.h>

#include <map>

#include "rtl_models/base/random.h"

namespace warpline {
namespace dram_controller_test {

/// Row `row`, line `line` of it, for parameters with one bank or rows in turn over the banks.
PhysicalAddress place(const DramParameters& p, std::uint64_t row, std::uint64_t line = 0) {
  return physical(Aperture::vidmem, row * p.row_bytes + line * kLineBytes);
}

DramParameters one_channel() {
  DramParameters p;
  p.channels = 1;
  p.activate = 10;
  p.precharge = 7;
  p.column = 5;
  p.sector_cycles = 2;
  p.write_to_read = 6;
  p.read_to_write = 3;
  return p;
}

/// Expects that no burst is issued before edge `at`, and one then. Returns it.
DramController::Burst issued_at(DramController& s, std::uint64_t from, std::uint64_t at) {
  DramController::Burst burst;
  for (std::uint64_t t = from; t < at; ++t) EXPECT_FALSE(s.issue(t, burst)) << "too early, at " << t;
  EXPECT_TRUE(s.issue(at, burst)) << "not issued at " << at;
  return burst;
}

TEST(DramController, AReadOfAClosedBankWaitsForItsRow) {
  const DramParameters p = one_channel();
  DramController s(p);
  s.accept(100, place(p, 0), 3, false);
  EXPECT_EQ(s.next(100), 110U);
  EXPECT_EQ(issued_at(s, 100, 110).end, 100U + s.core().idle_read_cycles(3));
  EXPECT_EQ(s.next(110), DramController::kNone);
}

TEST(DramController, AnOpenRowIsReadAtOnce) {
  const DramParameters p = one_channel();
  DramController s(p);
  s.accept(0, place(p, 0), 1, false);
  issued_at(s, 0, 10);
  s.accept(100, place(p, 0, 1), 4, false);
  EXPECT_EQ(issued_at(s, 100, 100).end, 100U + 5 + 8);
  EXPECT_EQ(s.counters().row_hits, 1U);
  EXPECT_EQ(s.counters().row_misses, 1U);
}

TEST(DramController, AnotherRowOfTheBankIsClosedFirst) {
  DramParameters p = one_channel();
  p.banks = 1;
  DramController s(p);
  s.accept(0, place(p, 0), 1, false);
  EXPECT_EQ(issued_at(s, 0, 10).end, 17U);
  s.accept(11, place(p, 1), 1, false);
  // The row closes when its last data has moved, at 17.
  EXPECT_EQ(issued_at(s, 11, 17 + 7 + 10).end, 34U + 5 + 2);
  EXPECT_EQ(s.counters().row_conflicts, 1U);
}

TEST(DramController, BanksWorkWhileTheBusMovesDataOfOthers) {
  const DramParameters p = one_channel();
  DramController s(p);
  s.accept(0, place(p, 0), 4, false);
  s.accept(1, place(p, 1), 4, false);
  EXPECT_EQ(issued_at(s, 1, 10).end, 23U);
  // Its own row is open at 11; its data follow those of the first without a gap.
  EXPECT_EQ(issued_at(s, 11, 18).end, 31U);
}

TEST(DramController, OpenRowsFillTheBus) {
  const DramParameters p = one_channel();
  DramController s(p);
  DramController::Burst burst;
  std::uint64_t lines = 0, end = 0;
  for (std::uint64_t t = 0; lines < 16 || s.held() != 0; ++t) {
    if (lines < 16) s.accept(t, place(p, 0, lines++), 1, false);
    if (!s.issue(t, burst)) continue;
    if (end != 0) {
      EXPECT_EQ(burst.end, end + p.sector_cycles);
    }
    end = burst.end;
  }
  EXPECT_EQ(s.counters().busy_cycles, 16U * 2);
  EXPECT_EQ(end, 10U + 5 + 16 * 2);
}

TEST(DramController, TheBusTurns) {
  const DramParameters p = one_channel();
  for (const bool first_writes : {false, true}) {
    DramController s(p);
    s.accept(0, place(p, 0), 1, first_writes);
    const std::uint64_t end = issued_at(s, 0, 10).end;
    s.accept(10, place(p, 0, 1), 1, !first_writes);
    const std::uint64_t turn = first_writes ? p.write_to_read : p.read_to_write;
    EXPECT_EQ(s.next(10), end + turn - p.column);
    EXPECT_EQ(issued_at(s, 10, end + turn - p.column).end, end + turn + 2);
    EXPECT_EQ(s.counters().turnarounds, 1U);
  }
}

TEST(DramController, TheBusKeepsItsDirectionWhileItCan) {
  const DramParameters p = one_channel();
  DramController s(p);
  std::vector<std::uint32_t> entries;
  for (unsigned i = 0; i < 6; ++i) entries.push_back(s.accept(0, place(p, 0, i), 1, i % 2 != 0));
  std::vector<std::uint32_t> order;
  DramController::Burst burst;
  for (std::uint64_t t = 0; s.held() != 0; ++t)
    if (s.issue(t, burst)) order.push_back(burst.entry);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{entries[0], entries[2], entries[4], entries[1], entries[3],
                                               entries[5]}));
  EXPECT_EQ(s.counters().turnarounds, 1U);
}

/// The position at which a request for another row is served, among requests for the open one
/// that come every other edge.
unsigned served_after(unsigned age_limit) {
  DramParameters p = one_channel();
  p.banks = 1;
  p.age_limit = age_limit;
  DramController s(p);
  DramController::Burst burst;
  s.accept(0, place(p, 0), 1, false);
  std::uint32_t other = ~0U;
  unsigned served = 0;
  for (std::uint64_t t = 1;; ++t) {
    if (t == 11) other = s.accept(t, place(p, 1), 1, false);
    if (t % 2 == 0 && t < 400) s.accept(t, place(p, 0, t % 16), 1, false);
    if (!s.issue(t, burst)) continue;
    if (burst.entry == other && t > 11) return served;
    ++served;
  }
}

TEST(DramController, RowHitsPassOlderRequestsUntilTheAgeLimit) {
  const unsigned soon = served_after(20);
  const unsigned later = served_after(100);
  EXPECT_GE(soon, 10U);
  EXPECT_LE(soon, 22U);
  EXPECT_GE(later, 50U);
  EXPECT_LE(later, 62U);
}

/// A channel of one bank that reads or writes row 0 at edge 0, command at 10 and data until 17, and then
/// wants row 1. Returns the edge of that command.
std::uint64_t other_row_at(DramParameters p, bool first_writes = false) {
  p.banks = 1;
  EXPECT_TRUE(p.problems("").empty());
  DramController s(p);
  s.accept(0, place(p, 0), 1, first_writes);
  issued_at(s, 0, 10);
  s.accept(11, place(p, 1), 1, first_writes);
  DramController::Burst burst;
  for (std::uint64_t t = 11;; ++t)
    if (s.issue(t, burst)) return t;
}

TEST(DramController, ARowStaysOpenForItsTime) {
  DramParameters p = one_channel();
  p.row_active = 40;
  EXPECT_EQ(other_row_at(p), 40U + 7 + 10);
}

TEST(DramController, ARowClosesOnceItsWritesHaveRecovered) {
  DramParameters p = one_channel();
  p.write_recovery = 9;
  EXPECT_EQ(other_row_at(p, true), 17U + 9 + 7 + 10);
  EXPECT_EQ(other_row_at(p, false), 17U + 7 + 10);
}

TEST(DramController, ARowMayCloseBeforeTheDataOfItsLastReadHasMoved) {
  DramParameters p = one_channel();
  p.read_to_precharge = 3;
  EXPECT_EQ(other_row_at(p, false), 10U + 3 + 7 + 10);
  EXPECT_EQ(other_row_at(p, true), 17U + 7 + 10);
}

/// The edges at which rows of these banks are open that are wanted at edge 0, by their first commands.
std::vector<std::uint64_t> opened_at(DramParameters p, const std::vector<std::uint64_t>& banks) {
  p.sector_cycles = 1;
  EXPECT_TRUE(p.problems("").empty());
  DramController s(p);
  std::map<std::uint32_t, std::size_t> which;
  for (std::size_t i = 0; i < banks.size(); ++i) which[s.accept(0, place(p, banks[i]), 1, false)] = i;
  std::vector<std::uint64_t> at(banks.size());
  DramController::Burst burst;
  for (std::uint64_t t = 0; s.held() != 0; ++t)
    if (s.issue(t, burst)) at[which[burst.entry]] = t;
  return at;
}

TEST(DramController, ActivatesKeepTheirDistance) {
  DramParameters p = one_channel();
  EXPECT_EQ(opened_at(p, {0, 1, 2}), (std::vector<std::uint64_t>{10, 11, 12}));
  p.activate_interval = 4;
  EXPECT_EQ(opened_at(p, {0, 1, 2}), (std::vector<std::uint64_t>{10, 14, 18}));
  p.bank_groups = 2;
  p.activate_interval_group = 9;
  EXPECT_EQ(opened_at(p, {0, 2, 4}), (std::vector<std::uint64_t>{10, 19, 28}));
  // Bank 1 is of another group, and does not wait for bank 2.
  EXPECT_EQ(opened_at(p, {0, 2, 1}), (std::vector<std::uint64_t>{10, 19, 14}));
}

TEST(DramController, FourActivatesFillTheirWindow) {
  DramParameters p = one_channel();
  p.activate_interval = 4;
  p.four_activates = 30;
  EXPECT_EQ(opened_at(p, {0, 1, 2, 3, 4, 5}), (std::vector<std::uint64_t>{10, 14, 18, 22, 40, 44}));
  DramController s(p);
  for (const std::uint64_t bank : {0, 1, 2, 3, 4}) s.accept(0, place(p, bank), 1, false);
  DramController::Burst burst;
  for (std::uint64_t t = 0; s.held() != 0; ++t) s.issue(t, burst);
  EXPECT_EQ(s.counters().activate_wait_cycles, 4U + 8 + 12 + 30);
  EXPECT_EQ(s.counters().activate_window_cycles, 30U - 16);
}

TEST(DramController, ColumnCommandsOfABankGroupKeepTheirDistance) {
  DramParameters p = one_channel();
  p.bank_groups = 2;
  p.column_interval_group = 5;
  DramController s(p);
  EXPECT_EQ(p.sector_step(), 6U);
  for (const std::uint64_t line : {0, 1}) s.accept(0, place(p, 0, line), 2, false);
  EXPECT_EQ(issued_at(s, 0, 10).end, 10U + 5 + 6 + 2);
  s.accept(11, place(p, 1), 3, false);
  // Sectors of the first bank are on the bus from 15, 21, 26 and 32 on, those of the other between them.
  EXPECT_EQ(issued_at(s, 11, 21).end, 21U + 5 + 6 + 2);
  EXPECT_EQ(issued_at(s, 22, 23).end, 23U + 5 + 12 + 2);
}

TEST(DramController, BankGroupsThatTakeTurnsFillTheBus) {
  DramParameters p = one_channel();
  p.bank_groups = 2;
  p.column_interval_group = 4;
  p.row_bytes = 4096;
  DramController s(p);
  DramController::Burst burst;
  std::uint64_t end = 0;
  for (std::uint64_t line = 0; line < 16; ++line)
    for (const std::uint64_t bank : {0, 1}) s.accept(0, place(p, bank, line), 4, false);
  for (std::uint64_t t = 0; s.held() != 0; ++t)
    if (s.issue(t, burst)) end = std::max(end, burst.end);
  EXPECT_EQ(end, 10U + 5 + 32 * 4 * 2);
}

TEST(DramController, AReadWaitsLongerForTheWritesOfItsBankGroup) {
  DramParameters p = one_channel();
  p.bank_groups = 2;
  p.write_to_read_group = 20;
  for (const std::uint64_t bank : {0, 1}) {
    DramController s(p);
    s.accept(0, place(p, 0), 1, true);
    s.accept(1, place(p, bank, 1), 1, bank == 0);
    const std::uint64_t end = issued_at(s, 1, 10).end + (bank == 0 ? 2 : 0);
    if (bank == 0) {
      issued_at(s, 11, 12);
      s.accept(12, place(p, 0, 2), 1, false);
    }
    issued_at(s, 13, end + (bank == 0 ? 20 : 6) - p.column);
  }
}

TEST(DramController, WritesHaveALatencyOfTheirOwn) {
  DramParameters p = one_channel();
  p.write_column = 2;
  DramController s(p);
  s.accept(0, place(p, 0), 1, true);
  EXPECT_EQ(issued_at(s, 0, 10).end, 10U + 2 + 2);
  EXPECT_EQ(s.serve_alone(100, place(p, 0, 1), 1, true), 2U + 2);
  EXPECT_EQ(s.serve_alone(200, place(p, 0, 1), 1, false), 5U + 2);
}

/// The order in which five reads and so many writes of an open row are served that come at once.
std::string order_of(unsigned writes) {
  DramParameters p = one_channel();
  p.write_high = 4;
  p.write_low = 1;
  DramController s(p);
  s.accept(0, place(p, 0), 1, false);
  issued_at(s, 0, 10);
  std::map<std::uint32_t, char> kind;
  for (unsigned n = 0; n < writes; ++n) kind[s.accept(20, place(p, 0, n), 1, true)] = 'w';
  for (unsigned n = 0; n < 5; ++n) kind[s.accept(20, place(p, 0, n), 1, false)] = 'r';
  std::string order;
  DramController::Burst burst;
  for (std::uint64_t t = 20; s.held() != 0; ++t)
    if (s.issue(t, burst)) order += kind[burst.entry];
  return order;
}

TEST(DramController, WritesGoInBatches) {
  EXPECT_EQ(order_of(3), "rrrrrwww");
  EXPECT_EQ(order_of(4), "wwwrrrrrw");
  EXPECT_EQ(order_of(7), "wwwwwwrrrrrw");
}

TEST(DramController, ARefreshOfOneBankLeavesTheOthersAlone) {
  DramParameters p = one_channel();
  p.banks = 4;
  p.refresh = "per_bank";
  p.refresh_interval = 4000;  // of bank 1 at 1000, of bank 2 at 2000
  p.refresh_bank_cycles = 100;
  ASSERT_TRUE(p.problems("").empty());
  DramController s(p);
  for (const std::uint64_t bank : {0, 1}) s.accept(900, place(p, bank), 1, false);
  issued_at(s, 900, 910);
  issued_at(s, 911, 912);
  s.accept(1000, place(p, 1, 1), 1, false);
  s.accept(1000, place(p, 0, 1), 1, false);
  issued_at(s, 1000, 1000);
  issued_at(s, 1001, 1000 + 7 + 100 + 10);
  EXPECT_EQ(s.counters().refresh_wait_cycles, 107U);
  EXPECT_EQ(s.counters().reopened_rows, 0U);
}

TEST(DramController, ARefreshOfABankWaitsForThoseThatAreReadyThere) {
  DramParameters p = one_channel();
  p.banks = 4;
  p.refresh = "per_bank";
  p.refresh_interval = 4000;
  p.refresh_bank_cycles = 100;
  DramController s(p);
  for (const std::uint64_t line : {0, 1, 2}) s.accept(990, place(p, 1, line), 4, false);
  EXPECT_EQ(issued_at(s, 990, 1000).end, 1013U);
  const std::uint32_t later = s.accept(1001, place(p, 1, 3), 1, false);
  EXPECT_EQ(issued_at(s, 1001, 1008).end, 1021U);
  EXPECT_EQ(issued_at(s, 1009, 1016).end, 1029U);
  EXPECT_EQ(issued_at(s, 1017, 1029 + 7 + 100 + 10).entry, later);
}

TEST(DramController, ARefreshOfAllBanksWaitsUntilTheirRowsMayClose) {
  DramParameters p = one_channel();
  p.refresh = "all_bank";
  p.refresh_interval = 1000;
  p.refresh_cycles = 50;
  p.row_active = 60;
  DramController s(p);
  s.accept(980, place(p, 0), 1, false);
  issued_at(s, 980, 990);
  s.accept(1000, place(p, 0, 1), 1, false);
  issued_at(s, 1000, 980 + 60 + 7 + 50 + 10);
}

/// Checks every burst of random traffic against the rules of the device, from what went in.
void check_random(std::uint64_t seed) {
  Random random(seed * 31);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  DramParameters p;
  p.channels = 1;
  p.banks = pick(1, 8);
  p.row_bytes = 128 * pick(1, 8);
  p.queue = pick(1, 40);
  p.activate = pick(0, 20);
  p.precharge = pick(0, 20);
  p.column = pick(1, 20);
  p.sector_cycles = pick(1, 3);
  p.write_to_read = pick(0, 10);
  p.read_to_write = pick(0, 10);
  p.age_limit = pick(0, 1) != 0 ? 600 : pick(0, 200);
  const DramCore map(p);
  DramController s(p);
  struct In {
    DramPlace place;
    std::uint64_t came = 0;
    unsigned sectors = 0;
    bool is_write = false;
  };
  struct Bank {
    std::uint64_t row = ~0ULL, until = 0;
  };
  std::map<std::uint32_t, In> in;
  std::map<unsigned, Bank> banks;
  std::uint64_t bus_until = 0, announced = 0;
  bool bus_writes = false, bus_used = false;
  unsigned accepted = 0, served = 0;
  constexpr unsigned kTotal = 600;
  const unsigned density = pick(1, 30);
  for (std::uint64_t t = 1; served < kTotal; ++t) {
    bool came_now = false;
    if (accepted < kTotal && s.held() < p.queue && random.below(density) == 0) {
      const PhysicalAddress line =
          physical(Aperture::vidmem, random.below(p.banks * 4ULL * (p.row_bytes / 128)) * 128);
      const In request{map.place_of(line), t, pick(1, 4), random.below(3) == 0};
      in[s.accept(t, line, request.sectors, request.is_write)] = request;
      ++accepted;
      came_now = true;
    }
    DramController::Burst burst;
    if (s.issue(t, burst)) {
      ASSERT_TRUE(came_now || announced <= t) << "a burst that next() did not announce, seed " << seed;
      ASSERT_EQ(in.count(burst.entry), 1U);
      const In r = in[burst.entry];
      in.erase(burst.entry);
      const std::uint64_t start = burst.end - r.sectors * p.sector_cycles;
      ASSERT_GE(start, t + p.column);
      ASSERT_GE(start, r.came + p.column);
      std::uint64_t bus_from = bus_until;
      if (bus_used && r.is_write != bus_writes) bus_from += r.is_write ? p.read_to_write : p.write_to_read;
      if (bus_used) {
        ASSERT_GE(start, bus_from) << "two bursts at once, seed " << seed;
      }
      Bank& bank = banks[r.place.bank];
      if (bank.row != r.place.row) {
        const unsigned close = bank.row == ~0ULL ? 0 : p.precharge;
        ASSERT_GE(start, bank.until + close + p.activate + p.column) << "seed " << seed;
        // It was opened for one that still waits, if not for this one.
        std::uint64_t first = r.came;
        for (const auto& [entry, other] : in)
          if (other.place.bank == r.place.bank && other.place.row == r.place.row)
            first = std::min(first, other.came);
        ASSERT_GE(start, first + close + p.activate + p.column);
      }
      bank = {r.place.row, burst.end};
      bus_until = burst.end;
      bus_writes = r.is_write;
      bus_used = true;
      ++served;
      // Nobody waits for ever: all of a full queue may go first, each with a row of its own and a turn.
      const std::uint64_t each = p.precharge + p.activate + p.column + 12 + p.write_to_read + p.read_to_write;
      ASSERT_LE(t - r.came, 2 * (p.age_limit + (p.queue + 2) * each)) << "starved, seed " << seed;
    }
    announced = s.next(t);
    ASSERT_TRUE(s.held() == 0 || announced != DramController::kNone)
        << "would never be served, seed " << seed;
  }
  const DramCounters& c = s.counters();
  EXPECT_EQ(c.reads + c.writes, kTotal);
  EXPECT_EQ(c.row_hits + c.row_misses + c.row_conflicts, kTotal);
  EXPECT_EQ(c.busy_cycles * kSectorBytes, (c.bytes_read + c.bytes_written) * p.sector_cycles);
}

TEST(DramController, RandomTrafficKeepsTheRulesOfTheDevice) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) check_random(seed);
}

}  // namespace dram_controller_test
}  // namespace warpline
