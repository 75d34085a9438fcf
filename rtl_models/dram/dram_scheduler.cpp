#include "rtl_models/dram/dram_scheduler.h"

#include <array>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// First ready, first come, first served: in the order in which requests became ready, those of the
/// direction that the data bus has first, to save turnarounds. Nothing starves: a request that waited longer
/// than the age limit at its bank lets no younger one become ready there, and on the bus is not passed over
/// by one that came later.
class FrFcfs final : public DramScheduler {
 public:
  FrFcfs(unsigned age_limit, DramQueue& queue) : age_limit_(age_limit), queue_(queue) {}

  bool may_pass(std::uint64_t waited) const override { return waited <= age_limit_; }
  bool gathers_row() const override { return true; }
  void add(std::uint32_t entry) override { queue_.push(ready_[queue_[entry].is_write], entry); }
  std::uint32_t choose(std::uint64_t t, bool bus_writes) const override {
    const DramQueue::List& same = ready_[bus_writes];
    const DramQueue::List& other = ready_[!bus_writes];
    if (same.empty()) return other.head;
    if (other.empty()) return same.head;
    const std::uint64_t came = queue_[other.head].came;
    const bool overdue = t - came > age_limit_ && came < queue_[same.head].came;
    return overdue ? other.head : same.head;
  }
  void serve(std::uint32_t entry) override { queue_.pop(ready_[queue_[entry].is_write]); }
  std::vector<std::uint32_t> ready() const override {
    std::vector<std::uint32_t> all;
    for (const DramQueue::List& list : ready_)
      queue_.for_each(list, [&](std::uint32_t e) { all.push_back(e); });
    return all;
  }
  void clear() override { ready_ = {}; }

 private:
  unsigned age_limit_;
  DramQueue& queue_;
  std::array<DramQueue::List, 2> ready_;  ///< reads, writes
};

/// First come, first served: in the order of arrival, whatever rows and directions that costs. Banks still
/// open their next rows while the bus moves data of others.
class Fcfs final : public DramScheduler {
 public:
  explicit Fcfs(const DramQueue& queue) : queue_(queue), ready_(queue.size(), DramQueue::kNone) {}

  bool may_pass(std::uint64_t) const override { return false; }
  bool gathers_row() const override { return false; }
  void add(std::uint32_t entry) override { ready_[queue_[entry].number % ready_.size()] = entry; }
  std::uint32_t choose(std::uint64_t, bool) const override { return ready_[served_ % ready_.size()]; }
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
  return std::make_unique<FrFcfs>(parameters.age_limit, queue);
}

}  // namespace warpline
