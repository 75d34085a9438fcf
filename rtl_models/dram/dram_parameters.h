#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Shape and timing of one DRAM channel; times in cycles of the DRAM clock. Limits that are 0 do not limit,
/// and cost the host nothing.
struct WARPLINE_PUBLIC DramParameters {
  /// What the loader of a GPU's configuration took values from that nobody set: "custom" for none. The model
  /// reads the values only.
  std::string standard = "custom";
  unsigned channels = 2;
  unsigned bus_bits = 0;               ///< of a channel's data bus; 0: as many as two transfers a cycle need
  unsigned banks = 16;                 ///< per channel
  unsigned bank_groups = 1;            ///< bank b is of group b mod bank_groups
  unsigned row_bytes = 2048;           ///< per bank
  unsigned queue = 32;                 ///< requests among which the scheduler chooses
  unsigned activate = 12;              ///< row activate to column command (tRCD)
  unsigned precharge = 12;             ///< precharge to activate (tRP)
  unsigned column = 12;                ///< column command to first data (CL, RL)
  unsigned write_column = 0;           ///< write command to first data (WL, CWL); 0: as column
  unsigned sector_cycles = 1;          ///< data-bus cycles of one 32-byte sector
  unsigned column_interval = 0;        ///< between column commands, each of one sector (tCCD_S)
  unsigned column_interval_group = 0;  ///< of one bank group (tCCD_L)
  unsigned row_active = 0;             ///< activate to precharge of a bank (tRAS)
  unsigned activate_interval = 0;      ///< between activates of two banks (tRRD_S)
  unsigned activate_interval_group = 0;  ///< of two banks of one bank group (tRRD_L)
  unsigned four_activates = 0;           ///< window in which there are at most four activates (tFAW)
  unsigned read_to_precharge = 0;        ///< from a bank's last read command (tRTP); 0: its data moves first
  unsigned write_recovery = 0;           ///< from a bank's last write data to its precharge (tWR)
  unsigned write_to_read = 6;            ///< data bus idle from a write to a read (tWTR_S + CL)
  unsigned write_to_read_group = 0;      ///< the same if both are of one bank group (tWTR_L + CL)
  unsigned read_to_write = 3;            ///< data bus idle from a read to a write (tRTW)
  std::string scheduler = "fr_fcfs";     ///< order of requests: see DramScheduler
  unsigned age_limit = 512;  ///< fr_fcfs: wait after which a request is no longer passed over by younger ones
  unsigned write_high = 0;   ///< fr_fcfs: ready writes from which on they go before reads; 0: no such batches
  unsigned write_low = 0;    ///< down to which they then do
  std::string row_policy = "open";     ///< when unused rows close: see DramRowPolicy
  std::string refresh = "none";        ///< see DramRefresh
  unsigned refresh_interval = 3900;    ///< from one refresh of a bank to the next (tREFI)
  unsigned refresh_cycles = 350;       ///< all_bank: for which the banks are busy (tRFC)
  unsigned refresh_bank_cycles = 160;  ///< per_bank: for which the bank is busy (tRFCpb, tRFCSB)

  [[nodiscard]] unsigned column_latency(bool is_write) const {
    return is_write && write_column != 0 ? write_column : column;
  }
  /// Edges from a sector on the data bus to the next one.
  [[nodiscard]] unsigned sector_slot() const {
    return std::max({1U, sector_cycles, column_interval, bank_groups == 1 ? column_interval_group : 0U});
  }
  /// From a sector of a request to the next one of it: whole slots, as a bank group may have to let others go
  /// in between.
  [[nodiscard]] unsigned sector_step() const {
    const unsigned slot = sector_slot();
    return column_interval_group <= slot ? slot : (column_interval_group + slot - 1) / slot * slot;
  }
  /// Whether requests of other bank groups may use slots between a request's sectors.
  [[nodiscard]] bool interleaves_groups() const { return sector_step() != sector_slot(); }
  /// Rows, each of a bank of another group, over which consecutive lines are spread to fill the bus.
  [[nodiscard]] unsigned rows_abreast() const {
    const unsigned wanted = sector_step() / sector_slot();
    return wanted <= bank_groups && banks % wanted == 0 ? wanted : 1;
  }
  static constexpr unsigned kMostInterleaved = 16;  ///< sector_step() then

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    const auto cycles = [](unsigned c) { return c <= 100000; };
    rules.need(standard == "custom" || standard == "HBM2" || standard == "HBM2E" || standard == "HBM3" ||
                   standard == "GDDR6" || standard == "GDDR6X",
               "standard", "must be \"custom\", \"HBM2\", \"HBM2E\", \"HBM3\", \"GDDR6\" or \"GDDR6X\"");
    rules.need(channels >= 1 && channels <= 4096, "channels", "must be 1 to 4096");
    rules.need(banks >= 1 && banks <= 1024, "banks", "must be 1 to 1024");
    rules.need(bus_bits <= 4096, "bus_bits", "must be at most 4096 bits");
    rules.need(bank_groups >= 1 && bank_groups <= 32 && banks % bank_groups == 0, "bank_groups",
               "must be 1 to 32, and divide banks");
    rules.need(row_bytes >= 128 && row_bytes <= (1U << 20) && row_bytes % 128 == 0, "row_bytes",
               "must be a multiple of 128 up to 1048576");
    rules.need(queue >= 1 && queue <= 1024, "queue", "must be 1 to 1024");
    rules.need(cycles(activate), "activate", "must be at most 100000 cycles");
    rules.need(cycles(precharge), "precharge", "must be at most 100000 cycles");
    rules.need(column >= 1 && cycles(column), "column", "must be 1 to 100000 cycles");
    rules.need(sector_cycles >= 1 && cycles(sector_cycles), "sector_cycles", "must be 1 to 100000 cycles");
    rules.need(cycles(write_column), "write_column", "must be at most 100000 cycles");
    rules.need(cycles(column_interval), "column_interval", "must be at most 100000 cycles");
    rules.need(cycles(column_interval_group), "column_interval_group", "must be at most 100000 cycles");
    if (cycles(column_interval_group) && bank_groups > 1 && interleaves_groups())
      rules.need(sector_step() <= kMostInterleaved, "column_interval_group",
                 "must be at most 16 cycles where it is above column_interval and sector_cycles, rounded up "
                 "to a multiple of the greater of these");
    rules.need(cycles(row_active), "row_active", "must be at most 100000 cycles");
    rules.need(cycles(activate_interval), "activate_interval", "must be at most 100000 cycles");
    rules.need(cycles(activate_interval_group), "activate_interval_group", "must be at most 100000 cycles");
    rules.need(cycles(four_activates), "four_activates", "must be at most 100000 cycles");
    rules.need(cycles(read_to_precharge), "read_to_precharge", "must be at most 100000 cycles");
    rules.need(cycles(write_recovery), "write_recovery", "must be at most 100000 cycles");
    rules.need(cycles(write_to_read), "write_to_read", "must be at most 100000 cycles");
    rules.need(cycles(write_to_read_group), "write_to_read_group", "must be at most 100000 cycles");
    rules.need(cycles(read_to_write), "read_to_write", "must be at most 100000 cycles");
    // Column commands are given in the order of their data.
    rules.need(write_to_read + std::uint64_t{column_latency(true)} >= column, "write_to_read",
               "must be at least column - write_column");
    rules.need(read_to_write + std::uint64_t{column} >= column_latency(true), "read_to_write",
               "must be at least write_column - column");
    rules.need(age_limit <= 1000000, "age_limit", "must be at most 1000000 cycles");
    rules.need(write_high <= queue, "write_high", "must be at most queue");
    rules.need(write_high == 0 || write_low < write_high, "write_low", "must be below write_high");
    rules.need(scheduler == "fr_fcfs" || scheduler == "fcfs", "scheduler", "must be \"fr_fcfs\" or \"fcfs\"");
    rules.need(row_policy == "open" || row_policy == "closed", "row_policy",
               "must be \"open\" or \"closed\"");
    rules.need(refresh == "none" || refresh == "all_bank" || refresh == "per_bank", "refresh",
               "must be \"none\", \"all_bank\" or \"per_bank\"");
    rules.need(refresh_interval <= 100000000, "refresh_interval", "must be at most 100000000 cycles");
    rules.need(cycles(refresh_cycles), "refresh_cycles", "must be at most 100000 cycles");
    rules.need(cycles(refresh_bank_cycles), "refresh_bank_cycles", "must be at most 100000 cycles");
    // Whoever a refresh held up is served before the next, with all the rows that open at once then.
    const std::uint64_t opening =
        std::uint64_t{banks} * std::max(activate_interval, activate_interval_group) +
        (std::uint64_t{banks} / 4) * four_activates + precharge + activate;
    const std::uint64_t moving = std::uint64_t{std::max(column, write_column)} + 4ULL * sector_step() +
                                 std::max(write_to_read, write_to_read_group) + read_to_write;
    const std::uint64_t closing = std::uint64_t{row_active} + read_to_precharge + write_recovery;
    rules.need(
        refresh != "all_bank" || refresh_interval > refresh_cycles + opening + moving + closing,
        "refresh_interval",
        "must leave time between refreshes: more than refresh_cycles + precharge + activate + column + "
        "4 * sector_cycles + write_to_read + read_to_write, and the limits of banks and activates");
    rules.need(refresh != "per_bank" || refresh_interval >= banks, "refresh_interval",
               "must be at least banks, as each bank has a refresh of its own");
    rules.need(
        refresh != "per_bank" || refresh_interval > refresh_bank_cycles + opening + moving + closing,
        "refresh_interval",
        "must leave a bank time between refreshes: more than refresh_bank_cycles + precharge + activate + "
        "column + 4 * sector_cycles + write_to_read + read_to_write, and the limits of banks and "
        "activates");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("standard", standard,
      "where keys come from that nobody set: HBM2, HBM2E, HBM3, GDDR6 or GDDR6X, or custom: each is set");
    f("channels", channels, "number of DRAM channels");
    f("bus_bits", bus_bits,
      "data bits of a channel, as many pseudo channels side by side as that is; 0: those that move a "
      "sector in sector_cycles at double data rate");
    f("banks", banks, "banks per channel");
    f("bank_groups", bank_groups, "bank groups of a channel; bank b is of group b mod bank_groups");
    f("row_bytes", row_bytes, "bytes of a row of one bank (page)");
    f("queue", queue, "requests among which the scheduler of a channel chooses");
    f("activate", activate, "row activate to column command, DRAM cycles (tRCD)");
    f("precharge", precharge, "precharge to activate, DRAM cycles (tRP)");
    f("column", column, "column command to first data, DRAM cycles (CL, RL)");
    f("write_column", write_column, "write command to first data, DRAM cycles (WL, CWL); 0: as column");
    f("sector_cycles", sector_cycles, "data-bus cycles of one 32-byte sector");
    f("column_interval", column_interval,
      "between column commands, each of one sector, DRAM cycles (tCCD_S); 0: sector_cycles alone limit");
    f("column_interval_group", column_interval_group,
      "between column commands of one bank group, DRAM cycles (tCCD_L); 0: as of different ones");
    f("row_active", row_active, "activate to precharge, DRAM cycles (tRAS); 0: no limit");
    f("activate_interval", activate_interval,
      "between activates of two banks, DRAM cycles (tRRD_S); 0: no limit");
    f("activate_interval_group", activate_interval_group,
      "between activates of two banks of one bank group, DRAM cycles (tRRD_L); 0: as of different ones");
    f("four_activates", four_activates,
      "any five activates take at least so long, DRAM cycles (tFAW); 0: no limit");
    f("read_to_precharge", read_to_precharge,
      "last read command to precharge, DRAM cycles (tRTP); 0: when its data has moved");
    f("write_recovery", write_recovery, "last write data to precharge, DRAM cycles (tWR)");
    f("write_to_read", write_to_read, "bus idle from a write to a read, DRAM cycles (tWTR_S + CL)");
    f("write_to_read_group", write_to_read_group,
      "bus idle from a write to a read of the same bank group, DRAM cycles (tWTR_L + CL); 0: as of different "
      "ones");
    f("read_to_write", read_to_write, "bus idle from a read to a write, DRAM cycles (tRTW)");
    f("scheduler", scheduler, "order of requests: fr_fcfs, rows that are open first, or fcfs, as they came");
    f("age_limit", age_limit,
      "with fr_fcfs, wait after which a request is not passed over any more, DRAM cycles");
    f("write_high", write_high,
      "with fr_fcfs, writes of open rows from which on they go before reads; 0: the bus turns when one "
      "kind has run out");
    f("write_low", write_low, "with write_high, writes down to which they then do");
    f("row_policy", row_policy, "rows stay open until another is wanted, or are closed once unused");
    f("refresh", refresh,
      "none, all_bank: all banks of a channel at once, or per_bank: one after the other, while others work");
    f("refresh_interval", refresh_interval, "from one refresh of a bank to its next, DRAM cycles (tREFI)");
    f("refresh_cycles", refresh_cycles, "with all_bank, busy with one refresh, DRAM cycles (tRFC)");
    f("refresh_bank_cycles", refresh_bank_cycles,
      "with per_bank, the bank busy with its refresh, DRAM cycles (tRFCpb, tRFCSB)");
  }
};

}  // namespace warpline
