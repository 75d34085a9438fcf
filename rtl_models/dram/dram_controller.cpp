#include "rtl_models/dram/dram_controller.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {

DramController::DramController(const DramParameters& parameters)
    : core_(parameters),
      queue_(parameters.queue),
      scheduler_(make_dram_scheduler(parameters, queue_)),
      row_policy_(make_dram_row_policy(parameters)),
      refresh_(make_dram_refresh(parameters)),
      banks_(parameters.banks),
      refresh_due_(refresh_->next_due(0)) {
  openings_.reserve(parameters.banks);
  for (std::uint32_t i = 0; i < parameters.queue; ++i) queue_.push(free_, i);
}

std::uint32_t DramController::accept(std::uint64_t t, PhysicalAddress line, unsigned sectors, bool is_write) {
  WARPLINE_EXPECT(!free_.empty(), "a channel takes a request only if its queue has room");
  advance(t);
  const std::uint32_t index = queue_.pop(free_);
  ++held_;
  DramQueue::Request& r = queue_[index];
  r.place = core_.place_of(line);
  r.came = t;
  r.number = came_++;
  r.sectors = sectors;
  r.is_write = is_write;
  Bank& bank = banks_[r.place.bank];
  if (bank.ready == 0) close_unused(t, r.place.bank);
  if (core_.is_open(r.place) &&
      (bank.waiting.empty() || scheduler_->may_pass(t - queue_[bank.waiting.head].came))) {
    ++counters_.row_hits;
    ++bank.ready;
    bank.column_at <= t ? make_ready(index) : queue_.push(bank.opening, index);
    return index;
  }
  queue_.push(bank.waiting, index);
  if (bank.ready == 0) open_row(t, r.place.bank);
  return index;
}

void DramController::count(RowOutcome outcome) {
  switch (outcome) {
    case RowOutcome::hit: ++counters_.row_hits; break;
    case RowOutcome::miss: ++counters_.row_misses; break;
    case RowOutcome::conflict: ++counters_.row_conflicts; break;
  }
}

/// Sectors go over the data bus.
void DramController::move(bool is_write, unsigned sectors) {
  if (bus_used_ && is_write != bus_writes_) ++counters_.turnarounds;
  bus_used_ = true;
  bus_writes_ = is_write;
  ++(is_write ? counters_.writes : counters_.reads);
  (is_write ? counters_.bytes_written : counters_.bytes_read) += std::uint64_t{kSectorBytes} * sectors;
  counters_.busy_cycles += core_.bus_cycles(sectors);
}

std::uint64_t DramController::serve_alone(std::uint64_t t, PhysicalAddress line, unsigned sectors,
                                          bool is_write) {
  advance(t);
  const DramPlace place = core_.place_of(line);
  if (row_policy_->close_at(t) != kNone) core_.close(place.bank);
  const RowOutcome outcome = core_.open(place);
  count(outcome);
  move(is_write, sectors);
  return std::max(t, refresh_until_) - t + core_.row_cycles(outcome) + core_.parameters().column +
         core_.bus_cycles(sectors);
}

void DramController::restart() {
  WARPLINE_EXPECT(held_ == 0, "a channel restarts at rest");
  core_.close_all();
  for (Bank& bank : banks_) bank.column_at = bank.free_from = 0;
  bus_free_ = 0;
  bus_used_ = bus_writes_ = false;
}

void DramController::open_row(std::uint64_t t, std::uint32_t number) {
  Bank& bank = banks_[number];
  const DramPlace place = queue_[bank.waiting.head].place;
  const RowOutcome outcome = core_.open(place);
  count(outcome);
  DramQueue::List left;
  while (!bank.waiting.empty()) {
    const std::uint32_t index = queue_.pop(bank.waiting);
    const bool goes_along =
        queue_[index].place.row == place.row && (left.empty() || scheduler_->gathers_row());
    queue_.push(goes_along ? bank.opening : left, index);
    if (goes_along && bank.ready++ != 0) ++counters_.row_hits;
  }
  bank.waiting = left;
  open_at(std::max(t, bank.free_from) + core_.row_cycles(outcome), number);
}

void DramController::open_at(std::uint64_t column_at, std::uint32_t number) {
  banks_[number].column_at = column_at;
  const Opening opening{column_at, number};
  const auto later = [](const Opening& a, const Opening& b) { return a.at > b.at; };
  // Ahead of its equals: of rows that are open at the same time, the first decided is served first.
  openings_.insert(std::lower_bound(openings_.begin(), openings_.end(), opening, later), opening);
}

/// Of several that are due, as after a long rest, the last one counts.
void DramController::refresh(std::uint64_t t) {
  std::uint64_t due = refresh_due_;
  while ((refresh_due_ = refresh_->next_due(due)) <= t) due = refresh_due_;
  refresh_until_ =
      std::max(due, bus_free_) + core_.parameters().precharge + core_.parameters().refresh_cycles;
  core_.close_all();
  openings_.clear();
  const std::vector<std::uint32_t> ready = scheduler_->ready();
  scheduler_->clear();
  ready_ = 0;
  for (const std::uint32_t index : ready) queue_.push(banks_[queue_[index].place.bank].opening, index);
  for (std::uint32_t number = 0; number < banks_.size(); ++number) {
    Bank& bank = banks_[number];
    bank.free_from = refresh_until_;
    if (bank.ready != 0)
      open_at(refresh_until_ + core_.row_cycles(core_.open(queue_[bank.opening.head].place)), number);
  }
}

void DramController::close_unused(std::uint64_t t, std::uint32_t number) {
  Bank& bank = banks_[number];
  const std::uint64_t at = row_policy_->close_at(bank.free_from);
  if (at > t || !core_.has_open_row(number)) return;
  core_.close(number);
  bank.free_from = at + core_.parameters().precharge;
}

std::uint64_t DramController::command_from(bool is_write) const {
  if (!bus_used_) return 0;
  const DramParameters& p = core_.parameters();
  const unsigned turn = is_write == bus_writes_ ? 0 : is_write ? p.read_to_write : p.write_to_read;
  const std::uint64_t data_from = bus_free_ + turn;
  return data_from > p.column ? data_from - p.column : 0;
}

bool DramController::issue(std::uint64_t t, Burst& burst) {
  advance(t);
  const std::uint32_t index = ready_ == 0 ? DramQueue::kNone : scheduler_->choose(t, bus_writes_);
  if (index == DramQueue::kNone) return false;
  const DramQueue::Request& r = queue_[index];
  if (command_from(r.is_write) > t) return false;
  scheduler_->serve(index);
  --ready_;
  move(r.is_write, r.sectors);
  bus_free_ = t + core_.parameters().column + core_.bus_cycles(r.sectors);
  burst = {index, bus_free_};
  const std::uint32_t number = r.place.bank;
  Bank& bank = banks_[number];
  bank.free_from = bus_free_;
  queue_.push(free_, index);
  --held_;
  if (--bank.ready == 0 && !bank.waiting.empty()) open_row(t, number);
  return true;
}

std::vector<std::pair<std::uint32_t, std::string>> DramController::waits() const {
  std::vector<std::pair<std::uint32_t, std::string>> all;
  for (const std::uint32_t entry : scheduler_->ready()) all.emplace_back(entry, "the data bus");
  for (std::size_t b = 0; b < banks_.size(); ++b) {
    const std::string bank = "bank " + std::to_string(b);
    queue_.for_each(banks_[b].opening, [&](auto e) { all.emplace_back(e, bank + " to open its row"); });
    queue_.for_each(banks_[b].waiting,
                    [&](auto e) { all.emplace_back(e, bank + ", which has another row open"); });
  }
  return all;
}

std::uint64_t DramController::next(std::uint64_t t) const {
  // A row that opens while the bus cannot take a command yet needs no visit of its own.
  std::uint64_t at = openings_.empty() ? kNone : std::max(openings_.back().at, command_from(bus_writes_));
  if (ready_ != 0)
    if (const std::uint32_t chosen = scheduler_->choose(t, bus_writes_); chosen != DramQueue::kNone)
      at = std::min(at, command_from(queue_[chosen].is_write));
  return at == kNone ? kNone : std::max(at, t + 1);
}

}  // namespace warpline
