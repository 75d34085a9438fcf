#include "warpline/dram/dram_parameters.h"

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
  return rules.take();
}

}  // namespace warpline
