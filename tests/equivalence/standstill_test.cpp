// Random netlists paused at random cycles: the listing holds every request in flight, once.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/equivalence/netlist.h"

namespace warpline::test {
namespace standstill_test {

/// Requests that clients have sent and are not answered, by a count of our own.
std::set<std::uint64_t> unanswered(const Netlist& netlist) {
  std::set<std::uint64_t> ids;
  std::uint64_t number = 0;
  for (const auto* all : {&netlist.clients, &netlist.askers})
    for (const auto& client : *all) {
      for (std::size_t i = 0; i < client->answers.size(); ++i) {
        const Answer& a = client->answers[i];
        if (a.sent != kNever && a.answered == kNever) ids.insert((number << 32U) + i);
      }
      ++number;
    }
  return ids;
}

class PausedNetlist : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PausedNetlist, ListsEveryRequestInFlightOnce) {
  Random random(GetParam());
  Netlist netlist(Shape(GetParam()), TickMode::lazy, 1);
  std::size_t most = 0;
  for (Cycle at = random.below(20); netlist.engine.run_until(at) == RunOutcome::cycle_limit;
       at += 1 + random.below(300)) {
    const std::vector<InFlight> rows = netlist.engine.in_flight();
    std::map<const Request*, std::string> places;
    std::set<std::uint64_t> ids;
    for (const InFlight& row : rows) {
      EXPECT_TRUE(places.try_emplace(row.request, row.at).second)
          << row.what << " at " << row.at << " and at " << places[row.request];
      EXPECT_FALSE(row.at.empty() || row.holder.empty() || row.wait.what.empty());
      ids.insert(row.id);
    }
    ASSERT_EQ(places.size(), netlist.engine.pool().in_use()) << "cycle " << at;
    // Only the crossbar makes requests of its own: copies, which bear the id of what they are made for.
    ASSERT_EQ(ids, unanswered(netlist)) << "cycle " << at;
    most = std::max(most, rows.size());
  }
  EXPECT_GT(most, 0U);
  EXPECT_TRUE(netlist.engine.in_flight().empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, PausedNetlist, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace standstill_test
}  // namespace warpline::test
