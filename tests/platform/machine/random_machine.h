#pragma once

#include <algorithm>

#include "rtl_models/base/random.h"
#include "tests/platform/machine/harness.h"
#include "tests/support/random_pipes.h"

namespace warpline::test {

/// A small GPU of odd sizes, clock ratios and channels.
inline GpuConfig random_machine(Random& random) {
  GpuConfig c = preset("mini");
  const auto pick = [&random](std::initializer_list<unsigned> list) {
    return *(list.begin() + random.below(list.size()));
  };
  c.sms = pick({1, 2, 3, 5});
  c.l2.slices = pick({1, 2, 3, 4, 7});
  c.dram.channels = pick({1, 2, 3, 5, 8});
  c.l1_lg.geometry = {pick({1, 3, 8}), pick({1, 2, 4})};
  c.l1_lg.miss_registers = pick({1, 2, 16});
  c.texture.miss_registers = pick({1, 4});
  c.sm.unified_l1 = random.below(2) == 0;
  c.sm.l1_ports = pick({1, 2, 4});
  c.l1_lg.geometry.replacement = pick({0, 1}) == 0 ? "random" : "pseudo_lru";
  c.instruction.geometry = {pick({1, 3, 8}), pick({1, 2})};
  c.instruction.miss_registers = pick({1, 2, 16});
  c.sm.instruction_buffer_lines = pick({1, 3, 96});
  c.sm.instruction_prefetch_lines = pick({0, 1, 8});
  draw_pipes(random, c.sm.pipes);
  c.l2.geometry = {pick({1, 5, 16}), pick({1, 2, 8})};
  c.l2.miss_registers = pick({1, 3, 32});
  c.sm.lsu_entries = pick({1, 2, 32});
  c.sm.lsu_queue = std::min(c.sm.lsu_entries, pick({1, 4, 16}));
  c.clocks = {pick({700, 1000, 1380}), pick({500, 1000, 1380}), pick({333, 877, 1600}), pick({250, 1000})};
  // Where nothing crosses in one cycle, the engine runs its clusters ahead of each other.
  const unsigned more = pick({0, 7});
  HopsParameters& h = c.hops;
  for (HopParameters* hop :
       {&h.sm_l1_lg, &h.sm_instruction, &h.l1_lg_crossbar, &h.texture_crossbar, &h.constant_crossbar,
        &h.instruction_crossbar, &h.crossbar_l2, &h.l2_dram, &h.l2_pcie}) {
    hop->request = {pick({8, 32, 128}), more + pick({1, 2, 9}), pick({1, 2, 16}), more + pick({1, 3})};
    hop->response = {pick({8, 32, 128}), more + pick({1, 2, 9}), pick({1, 2, 16}), more + pick({1, 3})};
  }
  return c;
}

}  // namespace warpline::test
