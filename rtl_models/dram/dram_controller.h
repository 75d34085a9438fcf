#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/dram/dram_activates.h"
#include "rtl_models/dram/dram_bus.h"
#include "rtl_models/dram/dram_refresh.h"
#include "rtl_models/dram/dram_row_policy.h"
#include "rtl_models/dram/dram_scheduler.h"

namespace warpline {

/// What a DRAM channel did. bytes_* move whole sectors, 32 bytes each, whatever their byte mask.
/// At quiescence row_hits + row_misses + row_conflicts = reads + writes.
struct DramCounters {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_misses = 0;
  std::uint64_t row_conflicts = 0;
  std::uint64_t busy_cycles = 0;
  std::uint64_t turnarounds = 0;
  std::uint64_t activate_wait_cycles = 0;
  std::uint64_t activate_window_cycles = 0;
  std::uint64_t refresh_wait_cycles = 0;
  std::uint64_t reopened_rows = 0;

  template <class F>
  void visit(F&& f) const {
    f("reads", reads, "requests", "reads served");
    f("writes", writes, "requests", "writes served");
    f("bytes_read", bytes_read, "bytes", "moved from memory, in whole sectors");
    f("bytes_written", bytes_written, "bytes", "moved to memory, in whole sectors");
    f("row_hits", row_hits, "requests", "served from a row opened for another");
    f("row_misses", row_misses, "requests", "that opened a row of an idle bank");
    f("row_conflicts", row_conflicts, "requests", "that closed a row and opened another");
    f("busy_cycles", busy_cycles, "DRAM cycles", "of the data bus moving data");
    f("turnarounds", turnarounds, "turns", "of the data bus between reading and writing");
    f("activate_wait_cycles", activate_wait_cycles, "DRAM cycles",
      "that activates of precharged banks waited for others (tRRD, tFAW), summed over banks");
    f("activate_window_cycles", activate_window_cycles, "DRAM cycles",
      "of these, for the window of four activates alone (tFAW)");
    f("refresh_wait_cycles", refresh_wait_cycles, "DRAM cycles",
      "that rows that were wanted waited for the refresh of their bank, summed over banks");
    f("reopened_rows", reopened_rows, "rows",
      "closed by a refresh before all that they were opened for was done");
  }
};

/// Banks, data bus and commands of one channel. In which order requests are served, when unused rows close,
/// and when banks are refreshed is up to three policies, which the parameters name.
///
/// - A request whose row is open, or being opened, is ready when the row is. Others wait at their
///   bank. A bank with waiting requests and no ready ones left closes its row, once its last data
///   has moved, and opens that of the request that waited longest.
/// - A row closes no earlier than row_active after its activate, read_to_precharge after its last read
///   command and write_recovery after its last write data. Activates of banks keep their distances
///   (DramActivates).
/// - The data bus moves sectors of one request, or of several of different bank groups (DramBus). A column
///   command is given column or write_column cycles before its data, so banks work while the bus moves data
///   of others, and requests of open rows use every cycle of the bus.
/// - Commands have buses of their own, for rows and for columns, as those of HBM: the distances above leave
///   room for each on them, and they are no limit of their own. An activate takes one cycle.
/// - A refresh of all banks begins when it is due, the data under way has moved and rows may close, takes
///   precharge + refresh_cycles, and leaves all rows closed: those with requests are opened anew.
/// - A refresh of one bank lets those go first that are ready there, or will be when its row is open; all
///   that come later wait. It closes the row, takes refresh_bank_cycles, and counts as no activate.
///
/// Times are edges of the DRAM clock. Calls have non-decreasing times. Decisions depend on the
/// times at which requests came and bursts were issued, not on how often it was asked.
class DramController {
 public:
  explicit DramController(const DramParameters& parameters);

  /// A burst on the data bus.
  struct Burst {
    std::uint32_t entry = 0;  ///< as accept() returned it
    std::uint64_t end = 0;    ///< the edge at which its last data has moved
  };
  static constexpr std::uint64_t kNone = kNever;

  /// Takes a request at edge `t`. Pre: fewer than parameters.queue are held.
  std::uint32_t accept(std::uint64_t t, PhysicalAddress line, unsigned sectors, bool is_write);
  /// Issues the request whose first column command is due at edge `t`, if any: at most one is.
  bool issue(std::uint64_t t, Burst& burst);
  /// Serves a request that comes at edge `t` at once, as if the channel had nothing else to do; an unused row
  /// has had the time to close. Returns the cycles from its arrival to its answer.
  std::uint64_t serve_alone(std::uint64_t t, PhysicalAddress line, unsigned sectors, bool is_write);
  /// Closes all rows, and forgets what the bus did. Pre: nothing is held.
  /// At edge `t`.
  void restart(std::uint64_t t);
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing is held. How many requests came matters to those that are held only.
    a(core_);
    for (Bank& b : banks_) a(b.column_at, b.free_from, b.may_close, b.refresh_until);
    a(bus_, activates_, refresh_from_, refresh_due_, refresh_until_, counters_);
    if (a.saves()) return;
    openings_.clear();
    changed_ = true;
  }
  /// The next edge after `t` at which issue() has work if nothing is accepted, or kNone.
  [[nodiscard]] std::uint64_t next(std::uint64_t t) const;
  /// Whether next() may say another thing than when it was asked last. If not, issue() has no work before the
  /// edge that it said.
  [[nodiscard]] bool changed() const { return changed_; }
  /// Requests accepted and not yet issued.
  [[nodiscard]] unsigned held() const { return held_; }
  /// Each of them, with what it waits for.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string>> waits() const;

  [[nodiscard]] const DramCore& core() const { return core_; }
  [[nodiscard]] const DramCounters& counters() const { return counters_; }

 private:
  struct Bank {
    DramQueue::List waiting;      ///< for other rows than the open one, as they came
    DramQueue::List opening;      ///< for the row that opens at column_at
    std::uint64_t column_at = 0;  ///< first column command of the open row; kNever: its activate is not given
    std::uint64_t free_from = 0;  ///< its open row may close; if it was closed since: it is precharged
    std::uint64_t may_close = 0;  ///< the row that was open last
    std::uint64_t refresh_until = 0;    ///< end of its last refresh, with per_bank
    std::uint64_t activate_waited = 0;  ///< of the row that opens, for others
    std::uint64_t window_waited = 0;
    std::uint64_t refresh_waited = 0;
    unsigned ready = 0;         ///< requests for the open row, not yet issued
    bool refresh_owed = false;  ///< once these are
    bool reopened = false;      ///< after a refresh
    bool waited = false;        ///< some of these is not counted yet
  };
  struct Opening {
    std::uint64_t at = 0;
    std::uint32_t bank = 0;
  };
  void count(RowOutcome outcome);
  void move(bool is_write, unsigned sectors);
  void open_row(std::uint64_t t, std::uint32_t bank);
  /// The activate of a bank, which is precharged at `from`, is wanted.
  void activate(std::uint64_t from, std::uint32_t bank);
  void open_at(std::uint64_t column_at, std::uint32_t bank);
  /// Activates that are given by edge `t`.
  void give_activates(std::uint64_t t);
  /// Refreshes that are due and rows that are open by edge `t`.
  void advance(std::uint64_t t) {
    if (t >= refresh_due_) refresh(t);
    if (activates_.next() <= t) give_activates(t);
    while (!openings_.empty() && openings_.back().at <= t) finish_opening();
  }
  void finish_opening() {
    Bank& bank = banks_[openings_.back().bank];
    openings_.pop_back();
    changed_ = true;
    while (!bank.opening.empty()) make_ready(queue_.pop(bank.opening));
  }
  void refresh(std::uint64_t t);
  void refresh_all(std::uint64_t due);
  void refresh_bank(std::uint64_t t, std::uint32_t bank);
  /// What the scheduler says at edge `t`. Pre: some are ready.
  [[nodiscard]] const DramScheduler::Choice& choice(std::uint64_t t) const {
    if (!chosen_ || t >= choice_.until) {
      choice_ = scheduler_->choose(t, bus_);
      chosen_ = true;
    }
    return choice_;
  }
  /// What the row of a bank waited for, once something of it is served.
  void count_waits(Bank& bank);
  void make_ready(std::uint32_t entry) {
    if (scheduler_->add(entry)) {
      chosen_ = false;
      changed_ = true;
    }
    ++ready_;
  }
  /// Closes the row of a bank without ready requests if its time has come.
  void close_unused(std::uint64_t t, std::uint32_t bank);

  DramCore core_;
  DramQueue queue_;
  DramQueue::List free_;
  std::unique_ptr<DramScheduler> scheduler_;
  std::unique_ptr<DramRowPolicy> row_policy_;
  std::unique_ptr<DramRefresh> refresh_;
  std::vector<Bank> banks_;
  std::vector<Opening> openings_;  ///< by time, latest first
  DramBus bus_;
  DramActivates activates_;
  std::vector<std::uint32_t> group_;  ///< of each bank
  unsigned held_ = 0;
  unsigned ready_ = 0;      ///< of them, those that the scheduler holds
  std::uint64_t came_ = 0;  ///< requests that came
  /// The first refresh that is due after edge `t`.
  [[nodiscard]] std::uint64_t due_after(std::uint64_t t) const {
    const std::uint64_t due = refresh_->next_due(t - refresh_from_);
    return due == kNever ? kNever : refresh_from_ + due;
  }
  std::uint64_t refresh_from_ = 0;        ///< since when refreshes are counted
  std::uint64_t refresh_due_;             ///< the next refresh
  mutable DramScheduler::Choice choice_;  ///< the last one, if `chosen_`: nothing that could be it became
                                          ///< ready since, and none was served
  mutable bool chosen_ = false;
  mutable bool changed_ = true;      ///< see changed()
  std::uint64_t refresh_until_ = 0;  ///< no row of any bank opens before
  DramCounters counters_;
};

}  // namespace warpline
