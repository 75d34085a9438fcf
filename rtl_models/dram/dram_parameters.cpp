#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

Problems DramParameters::problems(const std::string& path) const {
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
  rules.need(row_policy == "open" || row_policy == "closed", "row_policy", "must be \"open\" or \"closed\"");
  rules.need(refresh == "none" || refresh == "all_bank", "refresh", "must be \"none\" or \"all_bank\"");
  rules.need(refresh_interval <= 100000000, "refresh_interval", "must be at most 100000000 cycles");
  rules.need(cycles(refresh_cycles), "refresh_cycles", "must be at most 100000 cycles");
  // A request that a refresh held up is served before the next.
  const std::uint64_t held_up = std::uint64_t{refresh_cycles} + precharge + activate + column +
                                4ULL * sector_cycles + write_to_read + read_to_write;
  rules.need(refresh != "all_bank" || refresh_interval > held_up, "refresh_interval",
             "must leave time between refreshes: more than refresh_cycles + precharge + activate + column + "
             "4 * sector_cycles + write_to_read + read_to_write");
  return rules.take();
}

}  // namespace warpline
