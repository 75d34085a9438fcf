#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

Problems SmParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(warp_slots >= 1 && warp_slots <= 64, "warp_slots", "must be 1 to 64");
  rules.need(cta_slots >= 1 && cta_slots <= 64, "cta_slots", "must be 1 to 64");
  rules.need(partitions >= 1 && partitions <= 16, "partitions", "must be 1 to 16");
  rules.need(shared_bytes <= (1U << 24), "shared_bytes", "must be at most 16777216");
  rules.need(shared_banks >= 1 && shared_banks <= 1024, "shared_banks", "must be 1 to 1024");
  rules.need(shared_latency >= 1 && shared_latency <= 10000, "shared_latency", "must be 1 to 10000 cycles");
  rules.need(issue_latency >= 1 && issue_latency <= 10000, "issue_latency", "must be 1 to 10000 cycles");
  rules.need(writeback_latency <= 10000, "writeback_latency", "must be at most 10000 cycles");
  rules.need(lsu_entries >= 1 && lsu_entries <= 4096, "lsu_entries", "must be 1 to 4096");
  rules.need(stack_entries >= 8 && stack_entries <= 1024 && stack_entries % 4 == 0, "stack_entries",
             "must be a multiple of 4, 8 to 1024");
  rules.need(stack_depth >= stack_entries && stack_depth <= (1U << 20) && stack_depth % 16 == 0,
             "stack_depth", "must be a multiple of 16, stack_entries to 1048576");
  rules.need(lsu_queue >= 1 && lsu_queue <= lsu_entries, "lsu_queue", "must be 1 to lsu_entries");
  rules.need(instruction_buffer_lines >= 1 && instruction_buffer_lines <= 65536, "instruction_buffer_lines",
             "must be 1 to 65536");
  return rules.take();
}

}  // namespace warpline
