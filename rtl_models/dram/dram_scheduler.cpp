#include "warpline/dram/dram_scheduler.h"

#include <algorithm>

#include "warpline/base/contract.h"

namespace warpline {

DramScheduler::DramScheduler(const DramParameters& parameters)
    : core_(parameters), entries_(parameters.queue), banks_(parameters.banks) {
  openings_.reserve(parameters.banks);
  for (std::uint32_t i = 0; i < parameters.queue; ++i) push(free_, i);
}

void DramScheduler::push(List& list, std::uint32_t entry) {
  entries_[entry].next = kNil;
  (list.empty() ? list.head : entries_[list.tail].next) = entry;
  list.tail = entry;
}

std::uint32_t DramScheduler::pop(List& list) {
  const std::uint32_t entry = list.head;
  list.head = entries_[entry].next;
  return entry;
}

std::uint32_t DramScheduler::accept(std::uint64_t t, PhysicalAddress line, unsigned sectors, bool is_write) {
  WARPLINE_EXPECT(!free_.empty(), "a channel takes a request only if its queue has room");
  rows_opened(t);
  const std::uint32_t index = pop(free_);
  ++held_;
  Entry& e = entries_[index];
  e.place = core_.place_of(line);
  e.came = t;
  e.sectors = sectors;
  e.is_write = is_write;
  Bank& bank = banks_[e.place.bank];
  const bool yields =
      !bank.waiting.empty() && t - entries_[bank.waiting.head].came > core_.parameters().age_limit;
  if (core_.is_open(e.place) && !yields) {
    ++counters_.row_hits;
    ++bank.ready;
    push(bank.column_at <= t ? ready_[is_write] : bank.opening, index);
    return index;
  }
  push(bank.waiting, index);
  if (bank.ready == 0) open_row(t, e.place.bank);
  return index;
}

void DramScheduler::count(RowOutcome outcome) {
  switch (outcome) {
    case RowOutcome::hit: ++counters_.row_hits; break;
    case RowOutcome::miss: ++counters_.row_misses; break;
    case RowOutcome::conflict: ++counters_.row_conflicts; break;
  }
}

/// Sectors go over the data bus.
void DramScheduler::move(bool is_write, unsigned sectors) {
  if (bus_used_ && is_write != bus_writes_) ++counters_.turnarounds;
  bus_used_ = true;
  bus_writes_ = is_write;
  ++(is_write ? counters_.writes : counters_.reads);
  (is_write ? counters_.bytes_written : counters_.bytes_read) += std::uint64_t{kSectorBytes} * sectors;
  counters_.busy_cycles += core_.bus_cycles(sectors);
}

unsigned DramScheduler::serve_alone(PhysicalAddress line, unsigned sectors, bool is_write) {
  const RowOutcome outcome = core_.open(core_.place_of(line));
  count(outcome);
  move(is_write, sectors);
  return core_.row_cycles(outcome) + core_.parameters().column + core_.bus_cycles(sectors);
}

void DramScheduler::restart() {
  WARPLINE_EXPECT(held_ == 0, "a channel restarts at rest");
  core_.close_all();
  for (Bank& bank : banks_) bank.column_at = bank.data_until = 0;
  bus_free_ = 0;
  bus_used_ = bus_writes_ = false;
}

void DramScheduler::open_row(std::uint64_t t, std::uint32_t number) {
  Bank& bank = banks_[number];
  const DramPlace place = entries_[bank.waiting.head].place;
  const RowOutcome outcome = core_.open(place);
  bank.column_at = std::max(t, bank.data_until) + core_.row_cycles(outcome);
  count(outcome);
  List left;
  while (!bank.waiting.empty()) {
    const std::uint32_t index = pop(bank.waiting);
    if (entries_[index].place.row != place.row) {
      push(left, index);
      continue;
    }
    push(bank.opening, index);
    if (bank.ready++ != 0) ++counters_.row_hits;
  }
  bank.waiting = left;
  const Opening opening{bank.column_at, number};
  const auto later = [](const Opening& a, const Opening& b) { return a.at > b.at; };
  // Ahead of its equals: of rows that are open at the same time, the first decided is served first.
  openings_.insert(std::lower_bound(openings_.begin(), openings_.end(), opening, later), opening);
}

void DramScheduler::rows_opened(std::uint64_t t) {
  while (!openings_.empty() && openings_.back().at <= t) {
    Bank& bank = banks_[openings_.back().bank];
    openings_.pop_back();
    while (!bank.opening.empty()) {
      const std::uint32_t index = pop(bank.opening);
      push(ready_[entries_[index].is_write], index);
    }
  }
}

bool DramScheduler::choose_write(std::uint64_t t) const {
  const List& same = ready_[bus_writes_];
  const List& other = ready_[!bus_writes_];
  if (same.empty()) return !bus_writes_;
  if (other.empty()) return bus_writes_;
  const std::uint64_t came = entries_[other.head].came;
  const bool overdue = t - came > core_.parameters().age_limit && came < entries_[same.head].came;
  return overdue ? !bus_writes_ : bus_writes_;
}

std::uint64_t DramScheduler::command_from(bool is_write) const {
  if (!bus_used_) return 0;
  const DramParameters& p = core_.parameters();
  const unsigned turn = is_write == bus_writes_ ? 0 : is_write ? p.read_to_write : p.write_to_read;
  const std::uint64_t data_from = bus_free_ + turn;
  return data_from > p.column ? data_from - p.column : 0;
}

bool DramScheduler::issue(std::uint64_t t, Burst& burst) {
  rows_opened(t);
  if (ready_[0].empty() && ready_[1].empty()) return false;
  const bool is_write = choose_write(t);
  if (command_from(is_write) > t) return false;
  const std::uint32_t index = pop(ready_[is_write]);
  const Entry& e = entries_[index];
  move(is_write, e.sectors);
  bus_free_ = t + core_.parameters().column + core_.bus_cycles(e.sectors);
  burst = {index, bus_free_};
  const std::uint32_t number = e.place.bank;
  Bank& bank = banks_[number];
  bank.data_until = bus_free_;
  push(free_, index);
  --held_;
  if (--bank.ready == 0 && !bank.waiting.empty()) open_row(t, number);
  return true;
}

void DramScheduler::for_each_held(const std::function<void(std::uint32_t, const std::string&)>& visit) const {
  const auto all = [&](const List& list, const std::string& why) {
    for (std::uint32_t e = list.head; e != kNil; e = entries_[e].next) {
      visit(e, why);
      if (e == list.tail) return;
    }
  };
  all(ready_[0], "the data bus");
  all(ready_[1], "the data bus");
  for (std::size_t b = 0; b < banks_.size(); ++b) {
    const std::string bank = "bank " + std::to_string(b);
    all(banks_[b].opening, bank + " to open its row");
    all(banks_[b].waiting, bank + ", which has another row open");
  }
}

std::uint64_t DramScheduler::next(std::uint64_t t) const {
  // A row that opens while the bus cannot take a command yet needs no visit of its own.
  std::uint64_t at = openings_.empty() ? kNone : std::max(openings_.back().at, command_from(bus_writes_));
  if (!ready_[0].empty() || !ready_[1].empty()) at = std::min(at, command_from(choose_write(t)));
  return at == kNone ? kNone : std::max(at, t + 1);
}

}  // namespace warpline
