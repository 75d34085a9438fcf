#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"

namespace warpline {

/// Shape and timing of one DRAM channel; times in cycles of the DRAM clock.
struct DramParameters {
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

  [[nodiscard]] Problems problems(const std::string& path) const;
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
