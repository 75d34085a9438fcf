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
      bus_(parameters),
      activates_(parameters),
      group_(parameters.banks),
      refresh_due_(due_after(0)) {
  openings_.reserve(parameters.banks);
  for (std::uint32_t b = 0; b < parameters.banks; ++b) group_[b] = b % parameters.bank_groups;
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
  r.group = group_[r.place.bank];
  Bank& bank = banks_[r.place.bank];
  if (bank.ready == 0) close_unused(t, r.place.bank);
  if (core_.is_open(r.place) && !bank.refresh_owed &&
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
  if (bus_.used() && is_write != bus_.writes()) ++counters_.turnarounds;
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
  bus_.turn_to(is_write);
  changed_ = true;
  return std::max({t, refresh_until_, banks_[place.bank].refresh_until}) - t + core_.row_cycles(outcome) +
         core_.parameters().column_latency(is_write) + core_.burst_cycles(sectors);
}

void DramController::restart(std::uint64_t t) {
  WARPLINE_EXPECT(held_ == 0, "a channel restarts at rest");
  core_.close_all();
  for (Bank& bank : banks_) bank.column_at = bank.free_from = bank.may_close = bank.refresh_until = 0;
  bus_.restart();
  activates_.restart();
  // Refreshes are counted from here on, so that what comes does not depend on what was.
  refresh_from_ = t;
  refresh_due_ = due_after(t);
  refresh_until_ = 0;
  changed_ = true;
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
  if (const std::uint64_t until = std::max(refresh_until_, bank.refresh_until); until > t) {
    bank.refresh_waited += until - t;
    bank.waited = true;
  }
  const bool closes = outcome == RowOutcome::conflict;
  activate(std::max(t, bank.free_from) + (closes ? core_.parameters().precharge : 0), number);
}

void DramController::activate(std::uint64_t from, std::uint32_t number) {
  changed_ = true;
  if (!activates_.matter()) return open_at(from + core_.parameters().activate, number);
  banks_[number].column_at = kNone;
  activates_.want(from, number);
}

void DramController::give_activates(std::uint64_t t) {
  changed_ = true;
  while (activates_.next() <= t) {
    const DramActivates::Activate given = activates_.give();
    Bank& bank = banks_[given.bank];
    bank.activate_waited = given.waited;
    bank.window_waited = given.waited_window;
    bank.waited |= given.waited != 0;
    if (core_.parameters().row_active != 0)
      bank.may_close = bank.free_from = given.at + core_.parameters().row_active;
    open_at(given.at + core_.parameters().activate, given.bank);
  }
}

void DramController::open_at(std::uint64_t column_at, std::uint32_t number) {
  banks_[number].column_at = column_at;
  const Opening opening{column_at, number};
  const auto later = [](const Opening& a, const Opening& b) { return a.at > b.at; };
  // Ahead of its equals: of rows that are open at the same time, the first decided is served first.
  openings_.insert(std::lower_bound(openings_.begin(), openings_.end(), opening, later), opening);
}

/// Of several refreshes of all banks that are due, as after a long rest, the last one counts; of one bank the
/// last two, as the first of them closes its row.
void DramController::refresh(std::uint64_t t) {
  std::uint64_t due = refresh_due_;
  const bool all = refresh_->bank(due - refresh_from_) == DramRefresh::kAllBanks;
  const std::uint64_t interval = core_.parameters().refresh_interval;
  if (!all && t - due > 2 * interval) due = due_after(t - 2 * interval);
  for (;; due = refresh_due_) {
    refresh_due_ = due_after(due);
    const bool last = refresh_due_ > t;
    if (!all) {
      const std::uint32_t number = refresh_->bank(due - refresh_from_);
      if (banks_[number].ready == 0) {
        refresh_bank(due, number);
      } else {
        banks_[number].refresh_owed = true;
      }
    } else if (last) {
      refresh_all(due);
    }
    if (last) return;
  }
}

void DramController::refresh_all(std::uint64_t due) {
  const DramParameters& p = core_.parameters();
  if (due != 0) give_activates(due - 1);
  std::uint64_t from = std::max(due, bus_.data_until());
  for (const Bank& bank : banks_) from = std::max(from, bank.may_close);
  refresh_until_ = from + p.precharge + p.refresh_cycles;
  core_.close_all();
  openings_.clear();
  changed_ = true;
  activates_.forget();
  const std::vector<std::uint32_t> ready = scheduler_->ready();
  scheduler_->clear();
  ready_ = 0;
  chosen_ = false;
  for (const std::uint32_t index : ready) queue_.push(banks_[queue_[index].place.bank].opening, index);
  for (std::uint32_t number = 0; number < banks_.size(); ++number) {
    Bank& bank = banks_[number];
    bank.free_from = refresh_until_;
    if (bank.ready == 0) continue;
    core_.open(queue_[bank.opening.head].place);
    bank.refresh_waited += refresh_until_ - due;
    bank.waited = bank.reopened = true;
    activate(refresh_until_, number);
  }
}

/// Pre: no request is ready in that bank.
void DramController::refresh_bank(std::uint64_t t, std::uint32_t number) {
  close_unused(t, number);
  const DramParameters& p = core_.parameters();
  Bank& bank = banks_[number];
  const std::uint64_t from = std::max(t, bank.free_from) + (core_.has_open_row(number) ? p.precharge : 0);
  core_.close(number);
  bank.refresh_owed = false;
  bank.refresh_until = bank.free_from = from + p.refresh_bank_cycles;
}

void DramController::count_waits(Bank& bank) {
  counters_.activate_wait_cycles += bank.activate_waited;
  counters_.activate_window_cycles += bank.window_waited;
  counters_.refresh_wait_cycles += bank.refresh_waited;
  counters_.reopened_rows += bank.reopened ? 1 : 0;
  bank.activate_waited = bank.window_waited = bank.refresh_waited = 0;
  bank.waited = bank.reopened = false;
}

void DramController::close_unused(std::uint64_t t, std::uint32_t number) {
  Bank& bank = banks_[number];
  const std::uint64_t at = row_policy_->close_at(bank.free_from);
  if (at > t || !core_.has_open_row(number)) return;
  core_.close(number);
  bank.free_from = at + core_.parameters().precharge;
}

bool DramController::issue(std::uint64_t t, Burst& burst) {
  advance(t);
  if (ready_ == 0) return false;
  const DramScheduler::Choice& first = choice(t);
  if (first.entry == DramQueue::kNone || first.from > t) return false;
  const std::uint32_t index = first.entry;
  chosen_ = false;
  changed_ = true;
  const DramQueue::Request& r = queue_[index];
  scheduler_->serve(index);
  --ready_;
  move(r.is_write, r.sectors);
  const std::uint64_t moved = bus_.take(t, r);
  burst = {index, moved};
  const std::uint32_t number = r.place.bank;
  Bank& bank = banks_[number];
  const DramParameters& p = core_.parameters();
  std::uint64_t may_close = moved + (r.is_write ? p.write_recovery : 0);
  if (!r.is_write && p.read_to_precharge != 0) may_close = bus_.last_command(t, r) + p.read_to_precharge;
  bank.may_close = bank.free_from = std::max(bank.may_close, may_close);
  if (bank.waited) count_waits(bank);
  queue_.push(free_, index);
  --held_;
  if (--bank.ready != 0) return true;
  if (bank.refresh_owed) refresh_bank(t, number);
  if (!bank.waiting.empty()) open_row(t, number);
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
  changed_ = false;
  std::uint64_t at = openings_.empty() ? kNone : openings_.back().at;
  if (activates_.next() != kNone) at = std::min(at, activates_.next() + core_.parameters().activate);
  // A row that opens while the bus cannot take a command yet needs no visit of its own.
  if (at != kNone) at = std::max(at, bus_.idle_from());
  if (ready_ == 0) return at == kNone ? kNone : std::max(at, t + 1);
  const DramScheduler::Choice& first = choice(t);
  if (first.entry != DramQueue::kNone) at = std::min({at, first.from, first.otherwise});
  return at == kNone ? kNone : std::max(at, t + 1);
}

}  // namespace warpline
