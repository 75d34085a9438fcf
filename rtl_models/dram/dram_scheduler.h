#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warpline/base/types.h"
#include "warpline/dram/dram_core.h"

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
  }
};

/// Decides the order of the requests of one channel: first ready, first come, first served.
///
/// - A request whose row is open, or being opened, is ready when the row is. Others wait at their
///   bank. A bank with waiting requests and no ready ones left closes its row, once its last data
///   has moved, and opens that of the request that waited longest; all others of that row go along.
/// - The data bus takes one request at a time, in the order in which they became ready; those of
///   the direction it has come first, to save turnarounds. Its column command is given `column`
///   cycles before its data, so banks work while the bus moves data of others, and requests of
///   open rows use every cycle of the bus. The command bus itself is no limit.
/// - Nothing starves: a request that waited longer than age_limit at its bank lets no younger one
///   become ready there, and on the bus is not passed over by one that came later.
///
/// Times are edges of the DRAM clock. Calls have non-decreasing times. Decisions depend on the
/// times at which requests came and bursts were issued, not on how often it was asked.
class DramScheduler {
 public:
  explicit DramScheduler(const DramParameters& parameters);

  /// A burst on the data bus.
  struct Burst {
    std::uint32_t entry = 0;  ///< as accept() returned it
    std::uint64_t end = 0;    ///< the edge at which its last data has moved
  };
  static constexpr std::uint64_t kNone = kNever;

  /// Takes a request at edge `t`. Pre: fewer than parameters.queue are held.
  std::uint32_t accept(std::uint64_t t, PhysicalAddress line, unsigned sectors, bool is_write);
  /// Issues the column command that is due at edge `t`, if any: at most one is.
  bool issue(std::uint64_t t, Burst& burst);
  /// Serves a request at once, as if the channel had nothing else to do. Returns the cycles from its
  /// arrival to its answer.
  unsigned serve_alone(PhysicalAddress line, unsigned sectors, bool is_write);
  /// Closes all rows, and forgets what the bus did. Pre: nothing is held.
  void restart();
  /// The next edge after `t` at which issue() has work if nothing is accepted, or kNone.
  [[nodiscard]] std::uint64_t next(std::uint64_t t) const;
  /// Requests accepted and not yet issued.
  [[nodiscard]] unsigned held() const { return held_; }
  /// Calls visit(entry, why) for each of them; `why`: what it waits for.
  void for_each_held(const std::function<void(std::uint32_t, const std::string&)>& visit) const;

  [[nodiscard]] const DramCore& core() const { return core_; }
  [[nodiscard]] const DramCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kNil = ~0U;
  struct Entry {
    DramPlace place;
    std::uint64_t came = 0;
    std::uint32_t next = kNil;
    unsigned sectors = 0;
    bool is_write = false;
  };
  struct List {
    std::uint32_t head = kNil;
    std::uint32_t tail = kNil;
    [[nodiscard]] bool empty() const { return head == kNil; }
  };
  struct Bank {
    List waiting;                  ///< for other rows than the open one, as they came
    List opening;                  ///< for the row that opens at column_at
    std::uint64_t column_at = 0;   ///< first column command of the open row
    std::uint64_t data_until = 0;  ///< its last data has moved
    unsigned ready = 0;            ///< requests for the open row, not yet issued
  };
  struct Opening {
    std::uint64_t at = 0;
    std::uint32_t bank = 0;
  };
  void push(List& list, std::uint32_t entry);
  std::uint32_t pop(List& list);
  void count(RowOutcome outcome);
  void move(bool is_write, unsigned sectors);
  void open_row(std::uint64_t t, std::uint32_t bank);
  void rows_opened(std::uint64_t t);
  /// Which direction's first ready request is next on the bus. Pre: one is ready.
  [[nodiscard]] bool choose_write(std::uint64_t t) const;
  /// The first edge at which the column command of a request of that direction may be given.
  [[nodiscard]] std::uint64_t command_from(bool is_write) const;

  DramCore core_;
  std::vector<Entry> entries_;
  List free_;
  std::vector<Bank> banks_;
  std::vector<Opening> openings_;  ///< by time, latest first
  std::array<List, 2> ready_;      ///< reads, writes
  std::uint64_t bus_free_ = 0;
  bool bus_used_ = false;
  bool bus_writes_ = false;  ///< direction of the last burst
  unsigned held_ = 0;
  DramCounters counters_;
};

}  // namespace warpline
