#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Shape and timing of one DRAM channel; times in cycles of the DRAM clock.
struct WARPLINE_PUBLIC DramParameters {
  unsigned channels = 2;
  unsigned banks = 16;                ///< per channel
  unsigned row_bytes = 2048;          ///< per bank
  unsigned queue = 32;                ///< requests among which the scheduler chooses
  unsigned activate = 12;             ///< row activate to column command (tRCD)
  unsigned precharge = 12;            ///< precharge to activate (tRP)
  unsigned column = 12;               ///< column command to first data (CL)
  unsigned sector_cycles = 1;         ///< data-bus cycles of one 32-byte sector
  unsigned write_to_read = 6;         ///< data bus idle from a write to a read (tWTR)
  unsigned read_to_write = 3;         ///< data bus idle from a read to a write (tRTW)
  std::string scheduler = "fr_fcfs";  ///< order of requests: see DramScheduler
  unsigned age_limit = 512;  ///< fr_fcfs: wait after which a request is no longer passed over by younger ones
  std::string row_policy = "open";   ///< when unused rows close: see DramRowPolicy
  std::string refresh = "none";      ///< see DramRefresh
  unsigned refresh_interval = 3900;  ///< all_bank: from one refresh to the next (tREFI)
  unsigned refresh_cycles = 350;     ///< all_bank: for which the banks are busy (tRFC)

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    const auto cycles = [](unsigned c) { return c <= 100000; };
    rules.need(channels >= 1 && channels <= 4096, "channels", "must be 1 to 4096");
    rules.need(banks >= 1 && banks <= 1024, "banks", "must be 1 to 1024");
    rules.need(row_bytes >= 128 && row_bytes <= (1U << 20) && row_bytes % 128 == 0, "row_bytes",
               "must be a multiple of 128 up to 1048576");
    rules.need(queue >= 1 && queue <= 1024, "queue", "must be 1 to 1024");
    rules.need(cycles(activate), "activate", "must be at most 100000 cycles");
    rules.need(cycles(precharge), "precharge", "must be at most 100000 cycles");
    rules.need(column >= 1 && cycles(column), "column", "must be 1 to 100000 cycles");
    rules.need(sector_cycles >= 1 && cycles(sector_cycles), "sector_cycles", "must be 1 to 100000 cycles");
    rules.need(cycles(write_to_read), "write_to_read", "must be at most 100000 cycles");
    rules.need(cycles(read_to_write), "read_to_write", "must be at most 100000 cycles");
    rules.need(age_limit <= 1000000, "age_limit", "must be at most 1000000 cycles");
    rules.need(scheduler == "fr_fcfs" || scheduler == "fcfs", "scheduler", "must be \"fr_fcfs\" or \"fcfs\"");
    rules.need(row_policy == "open" || row_policy == "closed", "row_policy",
               "must be \"open\" or \"closed\"");
    rules.need(refresh == "none" || refresh == "all_bank", "refresh", "must be \"none\" or \"all_bank\"");
    rules.need(refresh_interval <= 100000000, "refresh_interval", "must be at most 100000000 cycles");
    rules.need(cycles(refresh_cycles), "refresh_cycles", "must be at most 100000 cycles");
    // A request that a refresh held up is served before the next.
    const std::uint64_t held_up = std::uint64_t{refresh_cycles} + precharge + activate + column +
                                  4ULL * sector_cycles + write_to_read + read_to_write;
    rules.need(
        refresh != "all_bank" || refresh_interval > held_up, "refresh_interval",
        "must leave time between refreshes: more than refresh_cycles + precharge + activate + column + "
        "4 * sector_cycles + write_to_read + read_to_write");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("channels", channels, "number of DRAM channels");
    f("banks", banks, "banks per channel");
    f("row_bytes", row_bytes, "bytes of a row of one bank");
    f("queue", queue, "requests among which the scheduler of a channel chooses");
    f("activate", activate, "row activate to column command, DRAM cycles (tRCD)");
    f("precharge", precharge, "precharge to activate, DRAM cycles (tRP)");
    f("column", column, "column command to first data, DRAM cycles (CL)");
    f("sector_cycles", sector_cycles, "data-bus cycles of one 32-byte sector");
    f("write_to_read", write_to_read, "bus idle from a write to a read, DRAM cycles (tWTR)");
    f("read_to_write", read_to_write, "bus idle from a read to a write, DRAM cycles (tRTW)");
    f("scheduler", scheduler, "order of requests: fr_fcfs, rows that are open first, or fcfs, as they came");
    f("age_limit", age_limit,
      "with fr_fcfs, wait after which a request is not passed over any more, DRAM cycles");
    f("row_policy", row_policy, "rows stay open until another is wanted, or are closed once unused");
    f("refresh", refresh, "none, or all_bank: all banks of a channel at once");
    f("refresh_interval", refresh_interval,
      "with all_bank, from one refresh to the next, DRAM cycles (tREFI)");
    f("refresh_cycles", refresh_cycles, "with all_bank, busy with one refresh, DRAM cycles (tRFC)");
  }
};

}  // namespace warpline
