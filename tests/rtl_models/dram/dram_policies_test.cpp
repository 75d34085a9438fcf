// What the parameters choose: the order of requests, when unused rows close, and refresh; against a channel
// that is stepped edge by edge and looks through all its requests in each.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "rtl_models/base/random.h"
#include "rtl_models/dram/dram_controller.h"

namespace warpline {
namespace dram_policies_test {

struct Arrival {
  std::uint64_t came = 0;
  PhysicalAddress line{};
  unsigned sectors = 1;
  bool is_write = false;
};

class NaiveChannel {
 public:
  explicit NaiveChannel(const DramParameters& parameters)
      : p_(parameters), map_(parameters), banks_(parameters.banks) {}

  [[nodiscard]] std::size_t held() const { return held_.size(); }
  void refresh(std::uint64_t t) {
    if (p_.refresh == "none" || t == 0 || t % p_.refresh_interval != 0) return;
    const std::uint64_t until = std::max(t, bus_until_) + p_.precharge + p_.refresh_cycles;
    for (std::uint32_t b = 0; b < banks_.size(); ++b) {
      banks_[b].open = false;
      banks_[b].free_from = until;
      if (goes(b)) open(t, b);
    }
  }
  void close_rows(std::uint64_t t) {
    for (std::uint32_t b = 0; b < banks_.size(); ++b) {
      Bank& bank = banks_[b];
      if (p_.row_policy == "open" || !bank.open || goes(b) || t < bank.free_from) continue;
      bank.open = false;
      bank.free_from += p_.precharge;
    }
  }
  void accept(std::uint64_t t, std::size_t number, const Arrival& a) {
    Request r{number, t, map_.place_of(a.line), a.sectors, a.is_write};
    const Bank& bank = banks_[r.place.bank];
    const Request* waits = oldest_waiting(r.place.bank);
    const bool passes = waits == nullptr || (p_.scheduler == "fr_fcfs" && t - waits->came <= p_.age_limit);
    r.goes = bank.open && bank.row == r.place.row && passes;
    r.turn = {std::max(t, bank.column_at), bank.column_at > t ? bank.decided : ++decisions_};
    held_.push_back(r);
    turn_banks(t);
  }
  /// The number of the request whose command is given, with the edge at which its data has moved.
  std::pair<std::size_t, std::uint64_t> issue(std::uint64_t t) {
    const auto ready = [&](const Request& r) { return r.goes && banks_[r.place.bank].column_at <= t; };
    const Request* chosen = nullptr;
    if (p_.scheduler == "fcfs") {
      if (!held_.empty() && ready(held_.front())) chosen = &held_.front();
    } else {
      const Request* first[2] = {};
      for (const Request& r : held_)
        if (ready(r) && (first[r.is_write] == nullptr || r.turn < first[r.is_write]->turn))
          first[r.is_write] = &r;
      const Request *same = first[bus_writes_], *other = first[!bus_writes_];
      const bool overdue =
          same != nullptr && other != nullptr && t - other->came > p_.age_limit && other->came < same->came;
      chosen = same == nullptr || overdue ? other : same;
    }
    if (chosen == nullptr) return {kNobody, 0};
    std::uint64_t data_from = bus_until_;
    if (bus_used_ && chosen->is_write != bus_writes_)
      data_from += chosen->is_write ? p_.read_to_write : p_.write_to_read;
    if (bus_used_ && t + p_.column < data_from) return {kNobody, 0};
    bus_used_ = true;
    bus_writes_ = chosen->is_write;
    bus_until_ = t + p_.column + chosen->sectors * p_.sector_cycles;
    banks_[chosen->place.bank].free_from = bus_until_;
    const std::size_t number = chosen->number;
    held_.erase(held_.begin() + (chosen - held_.data()));
    turn_banks(t);
    return {number, bus_until_};
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};

 private:
  struct Request {
    std::size_t number = 0;
    std::uint64_t came = 0;
    DramPlace place;
    unsigned sectors = 0;
    bool is_write = false;
    bool goes = false;  ///< with the row that is open or opens
    std::pair<std::uint64_t, std::uint64_t> turn{};
  };
  struct Bank {
    bool open = false;  ///< or opens
    std::uint64_t row = 0, column_at = 0, free_from = 0, decided = 0;
  };
  [[nodiscard]] bool goes(std::uint32_t bank) const {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const Request& r) { return r.place.bank == bank && r.goes; });
  }
  [[nodiscard]] const Request* oldest_waiting(std::uint32_t bank) const {
    for (const Request& r : held_)
      if (r.place.bank == bank && !r.goes) return &r;
    return nullptr;
  }
  /// Its row opens for those that go with it.
  void open(std::uint64_t t, std::uint32_t number) {
    Bank& bank = banks_[number];
    bank.column_at = std::max(t, bank.free_from) + (bank.open ? p_.precharge : 0) + p_.activate;
    bank.open = true;
    bank.decided = ++decisions_;
    for (Request& r : held_)
      if (r.place.bank == number && r.goes) r.turn = {bank.column_at, bank.decided};
  }
  /// Banks that nothing goes with turn to the row that has been waited for longest.
  void turn_banks(std::uint64_t t) {
    for (std::uint32_t b = 0; b < banks_.size(); ++b) {
      const Request* first = oldest_waiting(b);
      if (goes(b) || first == nullptr) continue;
      const std::uint64_t row = banks_[b].row = first->place.row;
      for (Request& r : held_) {
        if (r.place.bank != b) continue;
        if (r.place.row == row) r.goes = true;
        if (r.place.row != row && p_.scheduler == "fcfs") break;
      }
      open(t, b);
    }
  }

  DramParameters p_;
  DramCore map_;
  std::vector<Request> held_;  ///< as they came
  std::vector<Bank> banks_;
  std::uint64_t bus_until_ = 0, decisions_ = 0;
  bool bus_used_ = false, bus_writes_ = false;
};

using Ends = std::vector<std::uint64_t>;

Ends naive_ends(const DramParameters& p, const std::vector<Arrival>& arrivals) {
  NaiveChannel channel(p);
  Ends ends(arrivals.size());
  std::size_t next = 0;
  for (std::uint64_t t = 0; next < arrivals.size() || channel.held() != 0; ++t) {
    channel.refresh(t);
    channel.close_rows(t);
    for (; next < arrivals.size() && arrivals[next].came <= t && channel.held() < p.queue; ++next)
      channel.accept(t, next, arrivals[next]);
    if (const auto [number, end] = channel.issue(t); number != NaiveChannel::kNobody) ends[number] = end;
  }
  return ends;
}

/// The same of the controller, asked at every edge, or only when there is work.
Ends ends_of(const DramParameters& p, const std::vector<Arrival>& arrivals, bool every_edge,
             DramCounters* counters = nullptr) {
  DramController controller(p);
  Ends ends(arrivals.size());
  std::vector<std::size_t> number(p.queue);
  std::size_t next = 0;
  for (std::uint64_t t = 0; next < arrivals.size() || controller.held() != 0;) {
    for (; next < arrivals.size() && arrivals[next].came <= t && controller.held() < p.queue; ++next) {
      const Arrival& a = arrivals[next];
      number[controller.accept(t, a.line, a.sectors, a.is_write)] = next;
    }
    DramController::Burst burst;
    if (controller.issue(t, burst)) ends[number[burst.entry]] = burst.end;
    const bool room = next < arrivals.size() && controller.held() < p.queue;
    const std::uint64_t soon = room ? std::max(t + 1, arrivals[next].came) : DramController::kNone;
    t = every_edge ? t + 1 : std::min(controller.next(t), soon);
  }
  if (counters != nullptr) *counters = controller.counters();
  return ends;
}

class DramPolicies : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(All, DramPolicies,
                         testing::Combine(testing::Values("fr_fcfs", "fcfs"),
                                          testing::Values("open", "closed"),
                                          testing::Values("none", "all_bank")),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param) + "_" +
                                  std::get<2>(p.param);
                         });

TEST_P(DramPolicies, ServeEveryRequestWhenANaiveChannelDoes) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 77);
    const auto pick = [&](std::uint64_t low, std::uint64_t high) {
      return static_cast<unsigned>(low + random.below(high - low + 1));
    };
    DramParameters p;
    std::tie(p.scheduler, p.row_policy, p.refresh) = GetParam();
    p.channels = 1;
    p.banks = pick(1, 6);
    p.row_bytes = 128 * pick(1, 8);
    p.queue = pick(1, 24);
    p.activate = pick(0, 20);
    p.precharge = pick(0, 20);
    p.column = pick(1, 20);
    p.sector_cycles = pick(1, 3);
    p.write_to_read = pick(0, 10);
    p.read_to_write = pick(0, 10);
    p.age_limit = pick(0, 200);
    p.refresh_cycles = pick(0, 60);
    p.refresh_interval = 153 + pick(0, 500);
    ASSERT_TRUE(p.problems("dram").empty());
    const unsigned gap = pick(0, 60);
    std::vector<Arrival> arrivals;
    std::uint64_t t = 0;
    for (unsigned i = 0; i < 300; ++i) {
      t += random.below(4) == 0 ? pick(0, 8U * gap) : pick(0, gap / 4);
      arrivals.push_back(
          {t, physical(Aperture::vidmem, random.below(p.banks * 4ULL * (p.row_bytes / 128)) * 128),
           pick(1, 4), random.below(3) == 0});
    }
    const Ends expected = naive_ends(p, arrivals);
    DramCounters counters;
    ASSERT_EQ(ends_of(p, arrivals, true), expected);
    ASSERT_EQ(ends_of(p, arrivals, false, &counters), expected);
    EXPECT_EQ(counters.row_hits + counters.row_misses + counters.row_conflicts, arrivals.size());
  }
}

DramParameters one_channel() {
  DramParameters p;
  p.channels = 1;
  p.banks = 1;
  p.activate = 10;
  p.precharge = 7;
  p.column = 5;
  p.sector_cycles = 2;
  return p;
}

PhysicalAddress row(const DramParameters& p, std::uint64_t number) {
  return physical(Aperture::vidmem, number * p.row_bytes);
}

TEST(DramPolicy, FirstComeFirstServedLetsNoRowHitPass) {
  DramParameters p = one_channel();
  const std::vector<Arrival> arrivals{{0, row(p, 0)}, {1, row(p, 1)}, {2, row(p, 0)}};
  const Ends first_ready = ends_of(p, arrivals, false);
  EXPECT_LT(first_ready[2], first_ready[1]);
  p.scheduler = "fcfs";
  const Ends in_order = ends_of(p, arrivals, false);
  EXPECT_EQ(in_order, (Ends{17, 17 + 7 + 10 + 7, 41 + 7 + 10 + 7}));
}

TEST(DramPolicy, AClosedPageSavesThePrechargeOfTheNextRowAndLosesTheHit) {
  for (const std::uint64_t next : {0, 1}) {
    DramParameters p = one_channel();
    const std::vector<Arrival> arrivals{{0, row(p, 0)}, {100, row(p, next)}};
    const unsigned open = next == 0 ? 0 : p.precharge + p.activate;
    EXPECT_EQ(ends_of(p, arrivals, false)[1], 100U + open + 5 + 2);
    p.row_policy = "closed";
    DramCounters counters;
    EXPECT_EQ(ends_of(p, arrivals, false, &counters)[1], 100U + p.activate + 5 + 2);
    EXPECT_EQ(counters.row_misses, 2U);
  }
}

TEST(DramPolicy, AClosedPageIsHitUntilItsLastDataHasMoved) {
  DramParameters p = one_channel();
  p.row_policy = "closed";
  EXPECT_EQ(ends_of(p, {{0, row(p, 0)}, {16, row(p, 0)}}, false)[1], 16U + 5 + 2);
  EXPECT_EQ(ends_of(p, {{0, row(p, 0)}, {17, row(p, 0)}}, false)[1], 17U + 7 + 10 + 5 + 2);
}

TEST(DramPolicy, ARefreshHoldsRequestsUpAndClosesTheirRow) {
  DramParameters p = one_channel();
  p.refresh = "all_bank";
  p.refresh_interval = 1000;
  p.refresh_cycles = 50;
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {999, row(p, 0)}}, false)[1], 999U + 5 + 2);
  // Data under way moves first.
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {999, row(p, 0)}, {1000, row(p, 0)}}, false)[2],
            1006U + 7 + 50 + 10 + 5 + 2);
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {1057, row(p, 0)}}, false)[1], 1057U + 10 + 5 + 2);
}

TEST(DramPolicy, AnUnknownNameIsRefusedWithThoseThatAreKnown) {
  DramParameters p;
  p.scheduler = "frfcfs";
  p.row_policy = "";
  p.refresh = "per_bank";
  const Problems problems = p.problems("gpu.dram");
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].path, "gpu.dram.scheduler");
  EXPECT_EQ(problems[0].message, "must be \"fr_fcfs\" or \"fcfs\"");
  EXPECT_EQ(problems[1].message, "must be \"open\" or \"closed\"");
  EXPECT_EQ(problems[2].message, "must be \"none\" or \"all_bank\"");
}

TEST(DramPolicy, ARefreshThatWouldLeaveNoTimeIsRefused) {
  DramParameters p;
  p.refresh = "all_bank";
  p.refresh_interval = 12 + 350 + 12 + 12 + 4 + 6 + 3;
  EXPECT_EQ(p.problems("").size(), 1U);
  ++p.refresh_interval;
  EXPECT_TRUE(p.problems("").empty());
}

}  // namespace dram_policies_test
}  // namespace warpline
