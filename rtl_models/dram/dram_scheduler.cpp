#include "rtl_models/dram/dram_scheduler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// First ready, first come, first served: in the order in which requests became ready, those of the
/// direction that the data bus has first, to save turnarounds. Where bank groups keep the next request from
/// the bus, the first one of another group that can have it goes. Nothing starves: a request that waited
/// longer than the age limit at its bank lets no younger one become ready there, and on the bus is not passed
/// over by one that came later.
///
/// With write_high, reads go before writes until so many writes are ready, or no reads; then these, until
/// there are write_low. What waited longer than the age limit begins a batch of its kind.
class FrFcfs final : public DramScheduler {
 public:
  FrFcfs(const DramParameters& p, DramQueue& queue)
      : age_limit_(p.age_limit),
        groups_(p.interleaves_groups() || p.write_to_read_group > p.write_to_read ? p.bank_groups : 1),
        write_high_(p.write_high),
        write_low_(p.write_low),
        may_turn_early_(groups_ != 1 || write_high_ != 0 || p.sector_slot() != p.sector_cycles),
        queue_(queue),
        lists_{std::vector<DramQueue::List>(groups_), std::vector<DramQueue::List>(groups_)} {}

  bool may_pass(std::uint64_t waited) const override { return waited <= age_limit_; }
  bool gathers_row() const override { return true; }
  bool add(std::uint32_t entry) override {
    DramQueue::Request& r = queue_[entry];
    r.turn = turns_++;
    const unsigned group = groups_ == 1 ? 0 : r.group;
    DramQueue::List& list = lists_[r.is_write][group];
    const bool is_first = list.empty(), drained = drains_;
    queue_.push(list, entry);
    if (ready_in_[r.is_write] == 0) oldest_[r.is_write] = entry;
    ready_in_[r.is_write] |= 1U << group;
    if (write_high_ != 0 && r.is_write && ++writes_ >= write_high_) drains_ = true;
    return is_first || drains_ != drained;  // only the first of each list is chosen from
  }
  Choice choose(std::uint64_t t, const DramBus& bus) const override {
    const bool first = write_high_ != 0 ? drains_ : bus.writes();
    if (ready_in_[first] == 0) {
      if (ready_in_[!first] == 0) return {};
      return best(t, bus, !first, oldest_[!first]);
    }
    if (ready_in_[!first] == 0) return best(t, bus, first, oldest_[first]);
    const std::uint32_t same = oldest_[first], other = oldest_[!first];
    const std::uint64_t came = queue_[other].came;
    if (came < queue_[same].came) {
      if (t - came > age_limit_) return best(t, bus, !first, other);
      Choice choice = best(t, bus, first, same);
      if (may_turn_early_ && came + age_limit_ + 1 < choice.from)
        choice.otherwise = std::max(came + age_limit_ + 1, best(t, bus, !first, other).from);
      choice.until = came + age_limit_ + 1;
      return choice;
    }
    return best(t, bus, first, same);
  }
  void serve(std::uint32_t entry) override {
    const DramQueue::Request& r = queue_[entry];
    const unsigned group = groups_ == 1 ? 0 : r.group;
    DramQueue::List& list = lists_[r.is_write][group];
    const bool was_oldest = oldest_[r.is_write] == entry;
    if (groups_ != 1) passes_ = was_oldest ? 0 : passes_ + 1;
    queue_.pop(list);
    if (list.empty()) ready_in_[r.is_write] &= ~(1U << group);
    if (was_oldest) oldest_[r.is_write] = find_oldest(r.is_write);
    if (write_high_ != 0) {
      if (r.is_write) --writes_;
      drains_ = r.is_write && writes_ > write_low_;
    }
  }
  std::vector<std::uint32_t> ready() const override {
    std::vector<std::uint32_t> all;
    for (const auto& direction : lists_)
      for (const DramQueue::List& list : direction)
        queue_.for_each(list, [&](std::uint32_t e) { all.push_back(e); });
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(queue_[a].is_write, queue_[a].turn) < std::pair(queue_[b].is_write, queue_[b].turn);
    };
    if (groups_ != 1) std::sort(all.begin(), all.end(), earlier);
    return all;
  }
  void clear() override {
    for (auto& direction : lists_) direction.assign(groups_, {});
    ready_in_ = {};
    writes_ = passes_ = 0;
    drains_ = false;
  }

 private:
  static constexpr unsigned kPasses = 16;

  /// Of that direction, the one that was ready first; kNone if there is none.
  [[nodiscard]] std::uint32_t find_oldest(bool is_write) const {
    const std::vector<DramQueue::List>& lists = lists_[is_write];
    std::uint32_t found = DramQueue::kNone;
    for (std::uint32_t left = ready_in_[is_write]; left != 0; left &= left - 1) {
      const std::uint32_t head = lists[static_cast<unsigned>(__builtin_ctz(left))].head;
      if (found == DramQueue::kNone || queue_[head].turn < queue_[found].turn) found = head;
    }
    return found;
  }
  /// Of the first one of each group the one that can go first; of those that can the one that was ready
  /// first, `oldest` of all.
  [[nodiscard]] Choice best(std::uint64_t t, const DramBus& bus, bool is_write, std::uint32_t oldest) const {
    Choice choice{oldest, bus.command_from(t, queue_[oldest]), kNever, kNever};
    if (choice.from <= t || groups_ == 1 || passes_ >= kPasses) return choice;
    if (bus.idle_from() >= choice.from) return choice;  // none can go earlier
    for (std::uint32_t left = ready_in_[is_write]; left != 0; left &= left - 1) {
      const std::uint32_t head = lists_[is_write][static_cast<unsigned>(__builtin_ctz(left))].head;
      if (head == choice.entry) continue;
      const std::uint64_t from = std::max(bus.command_from(t, queue_[head]), t);
      const bool earlier = queue_[head].turn < queue_[choice.entry].turn;
      if (from < choice.from || (from == choice.from && earlier)) choice = {head, from, kNever, kNever};
    }
    return choice;
  }

  unsigned age_limit_;
  unsigned groups_;  ///< that are told apart
  unsigned write_high_, write_low_;
  bool may_turn_early_;  ///< a request may have to wait longer than one of the other direction
  DramQueue& queue_;
  std::array<std::vector<DramQueue::List>, 2> lists_;  ///< of each group: reads, writes
  std::array<std::uint32_t, 2> ready_in_{};            ///< groups that have some, a bit each
  std::array<std::uint32_t, 2> oldest_{};              ///< of each direction that has some, the first one
  std::uint64_t turns_ = 0;
  unsigned passes_ = 0;  ///< of the oldest by others, the last ones served
  unsigned writes_ = 0;  ///< that are ready, with write_high
  bool drains_ = false;
};

/// First come, first served: in the order of arrival, whatever rows and directions that costs. Banks still
/// open their next rows while the bus moves data of others.
class Fcfs final : public DramScheduler {
 public:
  explicit Fcfs(const DramQueue& queue) : queue_(queue), ready_(queue.size(), DramQueue::kNone) {}

  bool may_pass(std::uint64_t) const override { return false; }
  bool gathers_row() const override { return false; }
  bool add(std::uint32_t entry) override {
    ready_[queue_[entry].number % ready_.size()] = entry;
    return queue_[entry].number == served_;
  }
  Choice choose(std::uint64_t t, const DramBus& bus) const override {
    const std::uint32_t entry = ready_[served_ % ready_.size()];
    if (entry == DramQueue::kNone) return {};
    return {entry, bus.command_from(t, queue_[entry]), kNever, kNever};
  }
  void serve(std::uint32_t) override { ready_[served_++ % ready_.size()] = DramQueue::kNone; }
  std::vector<std::uint32_t> ready() const override {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < ready_.size(); ++i)
      if (const std::uint32_t entry = ready_[(served_ + i) % ready_.size()]; entry != DramQueue::kNone)
        all.push_back(entry);
    return all;
  }
  void clear() override { ready_.assign(ready_.size(), DramQueue::kNone); }

 private:
  const DramQueue& queue_;
  /// By number modulo size: what is held has consecutive numbers, from served_ on.
  std::vector<std::uint32_t> ready_;
  std::uint64_t served_ = 0;
};

}  // namespace

std::unique_ptr<DramScheduler> make_dram_scheduler(const DramParameters& parameters, DramQueue& queue) {
  if (parameters.scheduler == "fcfs") return std::make_unique<Fcfs>(queue);
  WARPLINE_EXPECT(parameters.scheduler == "fr_fcfs", "DRAM parameters are checked before they are used");
  return std::make_unique<FrFcfs>(parameters, queue);
}

}  // namespace warpline
