// What the parameters choose: the order of requests, when unused rows close, and refresh; against a channel
// that is stepped edge by edge and looks through all its requests in each.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "rtl_models/base/random.h"
#include "rtl_models/dram/dram_controller.h"
#include "tests/support/environment.h"

namespace warpline {
namespace dram_policies_test {

struct Arrival {
  std::uint64_t came = 0;
  PhysicalAddress line{};
  unsigned sectors = 1;
  bool is_write = false;
};

/// Keeps all commands that were given, and looks through them for each that might be: as far back as a rule
/// may reach.
class NaiveChannel {
 public:
  explicit NaiveChannel(const DramParameters& parameters)
      : p_(parameters), map_(parameters), banks_(parameters.banks) {}

  [[nodiscard]] std::size_t held() const { return held_.size(); }
  /// Edge `t` begins.
  void begin(std::uint64_t t) {
    if (p_.refresh == "all_bank" && t != 0 && t % p_.refresh_interval == 0) refresh_all(t);
    for (; p_.refresh == "per_bank" && refresh_ * p_.refresh_interval / p_.banks <= t; ++refresh_) {
      const auto number = static_cast<std::uint32_t>(refresh_ % p_.banks);
      close_if_unused(t, number);
      banks_[number].owes_refresh = true;
      if (!goes(number)) refresh_bank(t, number);
    }
    for (std::uint32_t b = 0; b < banks_.size(); ++b) close_if_unused(t, b);
    activate_banks(t);
  }
  void accept(std::uint64_t t, std::size_t number, const Arrival& a) {
    Request r{number, t, map_.place_of(a.line), a.sectors, a.is_write};
    const Bank& bank = banks_[r.place.bank];
    const Request* waits = oldest_waiting(r.place.bank);
    const bool passes = waits == nullptr || (p_.scheduler == "fr_fcfs" && t - waits->came <= p_.age_limit);
    r.goes = bank.open && bank.row == r.place.row && passes && !bank.owes_refresh;
    r.turn = {std::max(t, bank.column_at), bank.column_at > t ? bank.decided : ++decisions_};
    held_.push_back(r);
    turn_banks(t);
    activate_banks(t);
  }
  /// The number of the request whose command is given, with the edge at which its data has moved.
  std::pair<std::size_t, std::uint64_t> issue(std::uint64_t t) {
    const Request* chosen = nullptr;
    if (p_.scheduler == "fcfs") {
      if (!held_.empty() && ready(held_.front(), t) && fits(held_.front(), t)) chosen = &held_.front();
    } else {
      chosen = first_ready(t);
    }
    if (chosen == nullptr) return {kNobody, 0};
    const Request r = *chosen;
    passes_ = oldest_ready(r.is_write, t) == chosen ? 0 : passes_ + 1;
    for (unsigned i = 0; i < r.sectors; ++i) {
      const std::uint64_t command = t + i * step();
      columns_.push_back({command, command + latency(r.is_write), r.place.bank, r.is_write});
    }
    const Column last = columns_.back();
    const std::uint64_t moved = last.data + p_.sector_cycles;
    Bank& bank = banks_[r.place.bank];
    const std::uint64_t closes = r.is_write                  ? moved + p_.write_recovery
                                 : p_.read_to_precharge != 0 ? last.command + p_.read_to_precharge
                                                             : moved;
    bank.may_close = std::max(bank.may_close, closes);
    bank.free_from = bank.may_close;
    held_.erase(held_.begin() + (chosen - held_.data()));
    const auto writes = std::count_if(held_.begin(), held_.end(),
                                      [&](const Request& w) { return w.is_write && ready(w, t); });
    ready_writes_ = static_cast<std::size_t>(writes);
    drains_ = r.is_write && ready_writes_ > p_.write_low;
    if (!goes(r.place.bank) && bank.owes_refresh) refresh_bank(t, r.place.bank);
    turn_banks(t);
    return {r.number, moved};
  }
  /// Every pair of commands that were given, against every rule of the device.
  void check() const {
    for (std::size_t i = 0; i < activates_.size(); ++i) {
      const Activate& a = activates_[i];
      if (i >= 4) {
        EXPECT_GE(a.at, activates_[i - 4].at + p_.four_activates) << "tFAW";
      }
      for (std::size_t k = recent(activates_, i); k < i; ++k) {
        const Activate& b = activates_[k];
        ASSERT_LE(b.at, a.at);
        const unsigned apart = a.bank % p_.bank_groups == b.bank % p_.bank_groups
                                   ? std::max(p_.activate_interval, p_.activate_interval_group)
                                   : p_.activate_interval;
        EXPECT_GE(a.at, b.at + apart) << "tRRD";
        if (a.bank == b.bank) {
          EXPECT_GE(a.at, b.at + p_.row_active + p_.precharge) << "tRAS + tRP";
        }
      }
    }
    for (const Column& c : columns_)
      for (const Activate& a : activates_)
        if (a.bank == c.bank && a.at <= c.command) {
          if (c.command < a.at + p_.activate) ADD_FAILURE() << "tRCD";
        } else if (a.bank == c.bank) {
          const std::uint64_t closed = a.at - p_.precharge;
          const std::uint64_t moved = c.data + p_.sector_cycles;
          if (c.is_write && closed < moved + p_.write_recovery) ADD_FAILURE() << "tWR";
          if (!c.is_write && closed < (p_.read_to_precharge != 0 ? c.command + p_.read_to_precharge : moved))
            ADD_FAILURE() << "tRTP";
        }
    for (std::size_t i = 0; i < columns_.size(); ++i)
      for (std::size_t k = recent(columns_, i); k < i; ++k) check_columns(columns_[k], columns_[i]);
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
    bool open = false;   ///< or opens
    bool wants = false;  ///< an activate, from wants_from on
    bool owes_refresh = false;
    std::uint64_t row = 0, column_at = 0, free_from = 0, may_close = 0, decided = 0, wants_from = 0,
                  asked = 0;
  };
  struct Activate {
    std::uint64_t at;
    std::uint32_t bank;
  };
  struct Column {
    std::uint64_t command, data;
    std::uint32_t bank;
    bool is_write;
  };
  static constexpr std::uint64_t kNotYet = ~std::uint64_t{0};
  static constexpr std::size_t kReach = 40;  ///< commands that a rule may reach back at most

  template <class T>
  [[nodiscard]] static std::size_t recent(const std::vector<T>& commands, std::size_t end) {
    return end < kReach ? 0 : std::min(commands.size(), end - kReach);
  }
  [[nodiscard]] unsigned group(std::uint32_t bank) const { return bank % p_.bank_groups; }
  [[nodiscard]] unsigned latency(bool is_write) const {
    return is_write && p_.write_column != 0 ? p_.write_column : p_.column;
  }
  [[nodiscard]] unsigned slot() const {
    unsigned slot = std::max(p_.sector_cycles, p_.column_interval);
    if (p_.bank_groups == 1) slot = std::max(slot, p_.column_interval_group);
    return slot;
  }
  [[nodiscard]] unsigned step() const {
    unsigned step = slot();
    while (step < p_.column_interval_group) step += slot();
    return step;
  }
  /// `b` was chosen after `a`, if not the same.
  void check_columns(const Column& a, const Column& b) const {
    const bool same = a.is_write == b.is_write, grouped = group(a.bank) == group(b.bank);
    const std::uint64_t apart = a.data < b.data ? b.data - a.data : a.data - b.data;
    if (same) {
      EXPECT_GE(apart, std::max(p_.sector_cycles, p_.column_interval)) << "tCCD_S";
      if (grouped) {
        EXPECT_GE(apart, p_.column_interval_group) << "tCCD_L";
      }
      return;
    }
    const std::uint64_t idle = b.is_write ? p_.read_to_write
                               : grouped  ? std::max(p_.write_to_read, p_.write_to_read_group)
                                          : p_.write_to_read;
    EXPECT_GE(b.data, a.data + p_.sector_cycles + idle) << "tWTR or tRTW";
  }
  [[nodiscard]] bool goes(std::uint32_t bank) const {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const Request& r) { return r.place.bank == bank && r.goes; });
  }
  [[nodiscard]] const Request* oldest_waiting(std::uint32_t bank) const {
    for (const Request& r : held_)
      if (r.place.bank == bank && !r.goes) return &r;
    return nullptr;
  }
  [[nodiscard]] bool ready(const Request& r, std::uint64_t t) const {
    return r.goes && banks_[r.place.bank].column_at <= t;
  }
  /// Whether the commands of a request may begin at `t`.
  [[nodiscard]] bool fits(const Request& r, std::uint64_t t) const {
    if (columns_.empty()) return true;
    const bool writes = columns_.back().is_write;
    std::uint64_t moved = 0;
    const std::size_t from = recent(columns_, columns_.size());
    for (std::size_t k = from; k < columns_.size(); ++k)
      moved = std::max(moved, columns_[k].data + p_.sector_cycles);
    for (unsigned i = 0; i < r.sectors; ++i) {
      const std::uint64_t data = t + i * step() + latency(r.is_write);
      if (r.is_write != writes && data < moved + (r.is_write ? p_.read_to_write : p_.write_to_read))
        return false;
      for (std::size_t k = from; k < columns_.size(); ++k) {
        const Column& c = columns_[k];
        const std::uint64_t apart = c.data < data ? data - c.data : c.data - data;
        const bool grouped = group(c.bank) == group(r.place.bank);
        if (c.is_write == r.is_write && r.is_write == writes) {
          if (apart < slot() || (grouped && apart < p_.column_interval_group)) return false;
          // A request goes behind the others of its bank group.
          if (grouped && data < c.data) return false;
        }
        if (c.is_write && !r.is_write && grouped && p_.write_to_read_group > p_.write_to_read &&
            data < c.data + p_.sector_cycles + p_.write_to_read_group)
          return false;
      }
    }
    return true;
  }
  [[nodiscard]] const Request* oldest_ready(bool is_write, std::uint64_t t) const {
    const Request* oldest = nullptr;
    for (const Request& r : held_)
      if (r.is_write == is_write && ready(r, t) && (oldest == nullptr || r.turn < oldest->turn)) oldest = &r;
    return oldest;
  }
  [[nodiscard]] const Request* first_ready(std::uint64_t t) {
    const bool told_apart = step() != slot() || p_.write_to_read_group > p_.write_to_read;
    const Request* first[2] = {};
    std::vector<const Request*> of_group[2];
    for (auto& list : of_group) list.resize(told_apart ? p_.bank_groups : 1);
    std::size_t writes = 0;
    for (const Request& r : held_) {
      if (!ready(r, t)) continue;
      writes += r.is_write ? 1 : 0;
      const Request*& of_all = first[r.is_write];
      const Request*& of_its = of_group[r.is_write][told_apart ? group(r.place.bank) : 0];
      if (of_all == nullptr || r.turn < of_all->turn) of_all = &r;
      if (of_its == nullptr || r.turn < of_its->turn) of_its = &r;
    }
    // Another write that becomes ready makes the batch full.
    if (p_.write_high != 0 && writes >= p_.write_high && writes > ready_writes_) drains_ = true;
    ready_writes_ = writes;
    const bool preferred = p_.write_high != 0 ? drains_ : !columns_.empty() && columns_.back().is_write;
    const Request *same = first[preferred], *other = first[!preferred];
    const bool overdue =
        same != nullptr && other != nullptr && t - other->came > p_.age_limit && other->came < same->came;
    const bool direction = same == nullptr || overdue ? !preferred : preferred;
    const Request* oldest = first[direction];
    if (oldest == nullptr || fits(*oldest, t)) return oldest;
    if (passes_ >= 16) return nullptr;
    const Request* chosen = nullptr;
    for (const Request* r : of_group[direction])
      if (r != nullptr && fits(*r, t) && (chosen == nullptr || r->turn < chosen->turn)) chosen = r;
    return chosen;
  }
  /// Its row opens for those that go with it, once it is closed.
  void open(std::uint64_t from, std::uint32_t number) {
    Bank& bank = banks_[number];
    bank.open = bank.wants = true;
    bank.wants_from = from;
    bank.column_at = kNotYet;
    bank.asked = ++asked_;
    if (keeps_activates()) return;
    // Nobody has to wait: it is known at once when the activate will be.
    activated(from, number);
  }
  [[nodiscard]] bool keeps_activates() const {
    return p_.activate_interval + p_.activate_interval_group + p_.four_activates + p_.row_active != 0;
  }
  void activated(std::uint64_t at, std::uint32_t number) {
    Bank& bank = banks_[number];
    bank.wants = false;
    bank.column_at = at + p_.activate;
    bank.decided = ++decisions_;
    if (p_.row_active != 0) bank.may_close = bank.free_from = at + p_.row_active;
    for (Request& r : held_)
      if (r.place.bank == number && r.goes) r.turn = {bank.column_at, bank.decided};
    if (keeps_activates()) activates_.push_back({at, number});
  }
  void activate_banks(std::uint64_t t) {
    for (;;) {
      const Bank* first = nullptr;
      for (const Bank& bank : banks_) {
        if (!bank.wants || bank.wants_from > t) continue;
        const auto number = static_cast<std::uint32_t>(&bank - banks_.data());
        bool may = true;
        unsigned in_window = 0;
        for (std::size_t k = recent(activates_, activates_.size()); k < activates_.size(); ++k) {
          const Activate& a = activates_[k];
          const bool grouped = group(a.bank) == group(number);
          may &= t >= a.at + p_.activate_interval;
          may &= !grouped || t >= a.at + std::max(p_.activate_interval, p_.activate_interval_group);
          in_window += t < a.at + p_.four_activates ? 1 : 0;
        }
        if (!may || in_window >= 4) continue;
        if (first == nullptr ||
            std::pair(bank.wants_from, bank.asked) < std::pair(first->wants_from, first->asked))
          first = &bank;
      }
      if (first == nullptr) return;
      activated(t, static_cast<std::uint32_t>(first - banks_.data()));
    }
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
      open(std::max(t, banks_[b].free_from) + (banks_[b].open ? p_.precharge : 0), b);
    }
  }
  void close_if_unused(std::uint64_t t, std::uint32_t b) {
    Bank& bank = banks_[b];
    if (p_.row_policy == "open" || !bank.open || goes(b) || t < bank.free_from) return;
    bank.open = false;
    bank.free_from += p_.precharge;
  }
  void refresh_all(std::uint64_t t) {
    passes_ = 0;
    ready_writes_ = 0;
    drains_ = false;
    std::uint64_t from = t;
    for (const Column& c : columns_) from = std::max(from, c.data + p_.sector_cycles);
    for (const Bank& bank : banks_) from = std::max(from, bank.may_close);
    const std::uint64_t until = from + p_.precharge + p_.refresh_cycles;
    for (std::uint32_t b = 0; b < banks_.size(); ++b) {
      banks_[b].open = banks_[b].wants = false;
      banks_[b].free_from = until;
      if (goes(b)) open(until, b);
    }
  }
  void refresh_bank(std::uint64_t t, std::uint32_t b) {
    Bank& bank = banks_[b];
    bank.free_from = std::max(t, bank.free_from) + (bank.open ? p_.precharge : 0) + p_.refresh_bank_cycles;
    bank.open = bank.owes_refresh = false;
  }

  DramParameters p_;
  DramCore map_;
  std::vector<Request> held_;  ///< as they came
  std::vector<Bank> banks_;
  std::vector<Activate> activates_;
  std::vector<Column> columns_;
  std::uint64_t decisions_ = 0, asked_ = 0, refresh_ = 1;
  unsigned passes_ = 0;
  std::size_t ready_writes_ = 0;
  bool drains_ = false;
};

using Ends = std::vector<std::uint64_t>;

/// `checked`: its commands are held against the rules one by one.
Ends naive_ends(const DramParameters& p, const std::vector<Arrival>& arrivals, bool checked = false) {
  NaiveChannel channel(p);
  Ends ends(arrivals.size());
  std::size_t next = 0;
  for (std::uint64_t t = 0; next < arrivals.size() || channel.held() != 0; ++t) {
    channel.begin(t);
    for (; next < arrivals.size() && arrivals[next].came <= t && channel.held() < p.queue; ++next)
      channel.accept(t, next, arrivals[next]);
    if (const auto [number, end] = channel.issue(t); number != NaiveChannel::kNobody) ends[number] = end;
  }
  if (checked) channel.check();
  return ends;
}

/// When a controller is asked: at every edge; when it said that there is work, or something comes; as a
/// channel does it that ticks at every edge (DramController::changed()).
enum class Asked { every_edge, when_due, when_changed };

/// The same of the controller.
Ends ends_of(const DramParameters& p, const std::vector<Arrival>& arrivals, Asked asked = Asked::when_due,
             DramCounters* counters = nullptr) {
  DramController controller(p);
  Ends ends(arrivals.size());
  std::vector<std::size_t> number(p.queue);
  std::size_t next = 0;
  std::uint64_t due = 0;
  for (std::uint64_t t = 0; next < arrivals.size() || controller.held() != 0;) {
    for (; next < arrivals.size() && arrivals[next].came <= t && controller.held() < p.queue; ++next) {
      const Arrival& a = arrivals[next];
      number[controller.accept(t, a.line, a.sectors, a.is_write)] = next;
    }
    DramController::Burst burst;
    if (asked != Asked::when_changed || controller.changed() || t >= due) {
      if (controller.issue(t, burst)) ends[number[burst.entry]] = burst.end;
      if (asked != Asked::every_edge) due = controller.next(t);
    }
    const bool room = next < arrivals.size() && controller.held() < p.queue;
    const std::uint64_t soon = room ? std::max(t + 1, arrivals[next].came) : DramController::kNone;
    t = asked == Asked::when_due ? std::min(due, soon) : t + 1;
  }
  if (counters != nullptr) *counters = controller.counters();
  return ends;
}

class DramPolicies : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(All, DramPolicies,
                         testing::Combine(testing::Values("fr_fcfs", "fcfs"),
                                          testing::Values("open", "closed"),
                                          testing::Values("none", "all_bank", "per_bank")),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param) + "_" +
                                  std::get<2>(p.param);
                         });

template <class Pick>
void add_limits(DramParameters& p, Pick&& pick) {
  const auto some = [&](unsigned high) { return pick(0, 2) == 0 ? 0 : pick(1, high); };
  p.bank_groups = pick(1, 4);
  p.banks = p.bank_groups * pick(1, 3);
  p.write_column = some(p.column);
  p.write_to_read = p.column + pick(0, 5) - std::min(p.column, p.write_column);
  p.read_to_write += p.write_column > p.column ? p.write_column - p.column : 0;
  p.column_interval = some(3);
  p.column_interval_group = some(7);
  p.row_active = some(40);
  p.activate_interval = some(8);
  p.activate_interval_group = some(12);
  p.four_activates = some(50);
  p.read_to_precharge = some(12);
  p.write_recovery = some(20);
  p.write_to_read_group = some(24);
  p.write_high = p.scheduler == "fr_fcfs" ? std::min(p.queue, some(12)) : 0;
  p.write_low = p.write_high == 0 ? 0 : pick(0, p.write_high - 1);
  p.refresh_interval += p.banks * 12 + p.banks / 4 * 50 + 120;
}

/// Random channels of each policy: WARPLINE_DRAM_SEEDS, or a short slice.
std::uint64_t seeds() {
  return from_environment("WARPLINE_DRAM_SEEDS", 16);
}

TEST_P(DramPolicies, ServeEveryRequestWhenANaiveChannelDoes) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
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
    p.refresh_bank_cycles = pick(0, 60);
    p.refresh_interval = 153 + pick(0, 500);
    // Most have limits, each with some chance.
    if (seed % 4 != 0) add_limits(p, pick);
    ASSERT_TRUE(p.problems("dram").empty()) << p.problems("dram").front().message;
    const unsigned gap = pick(0, 60);
    std::vector<Arrival> arrivals;
    std::uint64_t t = 0;
    for (unsigned i = 0; i < 300; ++i) {
      t += random.below(4) == 0 ? pick(0, 8U * gap) : pick(0, gap / 4);
      arrivals.push_back(
          {t, physical(Aperture::vidmem, random.below(p.banks * 4ULL * (p.row_bytes / 128)) * 128),
           pick(1, 4), random.below(3) == 0});
    }
    const Ends expected = naive_ends(p, arrivals, seed % 6 == 0);
    DramCounters counters;
    ASSERT_EQ(ends_of(p, arrivals, Asked::every_edge), expected);
    ASSERT_EQ(ends_of(p, arrivals, Asked::when_changed), expected);
    ASSERT_EQ(ends_of(p, arrivals, Asked::when_due, &counters), expected);
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
  const Ends first_ready = ends_of(p, arrivals);
  EXPECT_LT(first_ready[2], first_ready[1]);
  p.scheduler = "fcfs";
  const Ends in_order = ends_of(p, arrivals);
  EXPECT_EQ(in_order, (Ends{17, 17 + 7 + 10 + 7, 41 + 7 + 10 + 7}));
}

TEST(DramPolicy, AClosedPageSavesThePrechargeOfTheNextRowAndLosesTheHit) {
  for (const std::uint64_t next : {0, 1}) {
    DramParameters p = one_channel();
    const std::vector<Arrival> arrivals{{0, row(p, 0)}, {100, row(p, next)}};
    const unsigned open = next == 0 ? 0 : p.precharge + p.activate;
    EXPECT_EQ(ends_of(p, arrivals)[1], 100U + open + 5 + 2);
    p.row_policy = "closed";
    DramCounters counters;
    EXPECT_EQ(ends_of(p, arrivals, Asked::when_due, &counters)[1], 100U + p.activate + 5 + 2);
    EXPECT_EQ(counters.row_misses, 2U);
  }
}

TEST(DramPolicy, AClosedPageIsHitUntilItsLastDataHasMoved) {
  DramParameters p = one_channel();
  p.row_policy = "closed";
  EXPECT_EQ(ends_of(p, {{0, row(p, 0)}, {16, row(p, 0)}})[1], 16U + 5 + 2);
  EXPECT_EQ(ends_of(p, {{0, row(p, 0)}, {17, row(p, 0)}})[1], 17U + 7 + 10 + 5 + 2);
}

TEST(DramPolicy, ARefreshHoldsRequestsUpAndClosesTheirRow) {
  DramParameters p = one_channel();
  p.refresh = "all_bank";
  p.refresh_interval = 1000;
  p.refresh_cycles = 50;
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {999, row(p, 0)}})[1], 999U + 5 + 2);
  // Data under way moves first.
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {999, row(p, 0)}, {1000, row(p, 0)}})[2],
            1006U + 7 + 50 + 10 + 5 + 2);
  EXPECT_EQ(ends_of(p, {{900, row(p, 0)}, {1057, row(p, 0)}})[1], 1057U + 10 + 5 + 2);
}

TEST(DramPolicy, AnUnknownNameIsRefusedWithThoseThatAreKnown) {
  DramParameters p;
  p.scheduler = "frfcfs";
  p.row_policy = "";
  p.refresh = "per_row";
  const Problems problems = p.problems("gpu.dram");
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].path, "gpu.dram.scheduler");
  EXPECT_EQ(problems[0].message, "must be \"fr_fcfs\" or \"fcfs\"");
  EXPECT_EQ(problems[1].message, "must be \"open\" or \"closed\"");
  EXPECT_EQ(problems[2].message, "must be \"none\", \"all_bank\" or \"per_bank\"");
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
