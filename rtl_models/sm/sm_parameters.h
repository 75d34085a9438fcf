#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/bulk_copy/bulk_copy_parameters.h"

namespace warpline {

/// How fast an SM multiplies matrices: multiply-adds per cycle of each class of types, of all its partitions
/// together. An SM whose GPU lacks a type takes it at the rate named here.
struct WARPLINE_PUBLIC TensorParameters {
  unsigned f16_per_cycle = 512;  ///< f16 and bf16
  unsigned tf32_per_cycle = 256;
  unsigned f8_per_cycle = 1024;  ///< e4m3 and e5m2
  unsigned f64_per_cycle = 32;
  unsigned s8_per_cycle = 1024;  ///< s8 and u8
  unsigned s4_per_cycle = 2048;  ///< s4 and u4
  unsigned b1_per_cycle = 8192;
  unsigned latency = 17;  ///< SM cycles from when the pipe is free again to a result that can be read

  template <class F>
  void visit(F&& f) {
    f("f16_per_cycle", f16_per_cycle, "f16 and bf16: multiply-adds per SM cycle");
    f("tf32_per_cycle", tf32_per_cycle, "tf32, likewise");
    f("f8_per_cycle", f8_per_cycle, "e4m3 and e5m2, likewise");
    f("f64_per_cycle", f64_per_cycle, "f64, likewise");
    f("s8_per_cycle", s8_per_cycle, "s8 and u8, likewise");
    f("s4_per_cycle", s4_per_cycle, "s4 and u4, likewise");
    f("b1_per_cycle", b1_per_cycle, "single bits, likewise");
    f("latency", latency,
      "of a product of matrices, from when its partition's pipe is free again to a readable register, SM "
      "cycles");
  }
};

/// How fast an SM computes, by class of arithmetic: lanes that its partitions together take in per cycle (0:
/// every partition a warp), and SM cycles from issue to a result that can be read (0: those that the program
/// assumes). A partition cannot issue to a pipe that is still taking in a warp's lanes.
struct WARPLINE_PUBLIC PipeParameters {
  unsigned f32_per_cycle = 0, f32_latency = 0;
  unsigned integer_per_cycle = 0, integer_latency = 0;
  unsigned multiply_per_cycle = 0, multiply_latency = 0;
  unsigned f16_per_cycle = 0, f16_latency = 0;
  unsigned f64_per_cycle = 0, f64_latency = 0;
  unsigned special_per_cycle = 0, special_latency = 0;
  unsigned shuffle_per_cycle = 0, shuffle_latency = 0;

  /// Calls f(per_cycle, latency) of each class, in this order.
  template <class F>
  void each(F&& f) const {
    f(f32_per_cycle, f32_latency);
    f(integer_per_cycle, integer_latency);
    f(multiply_per_cycle, multiply_latency);
    f(f16_per_cycle, f16_latency);
    f(f64_per_cycle, f64_latency);
    f(special_per_cycle, special_latency);
    f(shuffle_per_cycle, shuffle_latency);
  }
  template <class F>
  void visit(F&& f) {
    f("f32_per_cycle", f32_per_cycle,
      "f32 add, multiply and multiply-add: lanes per SM cycle; 0: as many as are issued");
    f("f32_latency", f32_latency,
      "of these, from issue to a readable register, SM cycles; 0: what the program assumes");
    f("integer_per_cycle", integer_per_cycle,
      "integer add, logic, shift, compare, minimum, select and permute, comparisons of f32, likewise");
    f("integer_latency", integer_latency, "of these, likewise");
    f("multiply_per_cycle", multiply_per_cycle, "integer multiply and multiply-add, likewise");
    f("multiply_latency", multiply_latency, "of these, likewise");
    f("f16_per_cycle", f16_per_cycle, "f16 and bf16, a pair in a lane, likewise");
    f("f16_latency", f16_latency, "of these, likewise");
    f("f64_per_cycle", f64_per_cycle, "f64, likewise");
    f("f64_latency", f64_latency, "of these, likewise");
    f("special_per_cycle", special_per_cycle, "special functions, conversions and bit counts, likewise");
    f("special_latency", special_latency, "of these, likewise");
    f("shuffle_per_cycle", shuffle_per_cycle, "shuffles, likewise");
    f("shuffle_latency", shuffle_latency, "of these, likewise");
  }
};

/// Sizes and latencies of a streaming multiprocessor; latencies in SM cycles.
struct WARPLINE_PUBLIC SmParameters {
  unsigned warp_slots = 64;
  unsigned cta_slots = 32;
  unsigned partitions = 4;            ///< issue partitions; warp slot n belongs to n % partitions
  unsigned registers = 65536;         ///< of 32 bits, of all resident threads
  unsigned shared_bytes = 98304;      ///< shared memory of all resident CTAs
  unsigned shared_banks = 32;         ///< banks of 4 bytes
  unsigned shared_latency = 19;       ///< from issue to a register that can be read, where no lanes conflict
  unsigned shared_part_cycles = 1;    ///< in which shared memory moves 128 bytes
  unsigned shared_pass_cycles = 2;    ///< of each further pass that lanes in conflict need
  unsigned shared_atomic_cycles = 0;  ///< by which an atomic in shared memory takes longer than a load
  unsigned shared_swap_cycles = 0;    ///< by which a compare-and-swap takes longer than other atomics there
  /// From the last pass of an atomic in shared memory until the next one of its warp may begin.
  unsigned shared_atomic_interval = 0;
  unsigned atomic_cycles = 0;           ///< in which the atomics of 32 lanes on global memory leave the SM
  unsigned fence_latency = 0;           ///< that a fence of GPU or system scope takes at least
  unsigned barrier_latency = 0;         ///< from the last arrival at a barrier of a CTA until its warps go on
  unsigned barrier_arrival_cycles = 0;  ///< between two arrivals of warps of a CTA that are taken
  unsigned cta_launch_latency = 0;      ///< from the launch of a CTA to its first instruction
  unsigned issue_latency = 4;           ///< from issue to the load/store unit
  unsigned writeback_latency = 2;       ///< from a response to a register that can be read
  bool unified_l1 = false;              ///< L1 serves `.nc` and textures; false: a cache of their own does
  unsigned l1_bytes_per_cycle = 128;    ///< that L1 reads for one SM, where it has several ports
  unsigned l1_pass_cycles = 1;          ///< of a pass over L1's banks, where it has several ports
  unsigned l1_ports = 1;                ///< to L1, each for a line of a warp's access per cycle
  unsigned texture_latency = 0;         ///< of texture loads beyond that of other loads
  unsigned clock_latency = 0;           ///< of %clock to a readable register; 0: as the program assumes
  unsigned clock_cycles = 1;            ///< from reading %clock until the warp issues again
  unsigned lsu_entries = 64;            ///< memory instructions in flight
  unsigned lsu_queue = 16;              ///< of these, instructions whose lines are not all sent yet
  unsigned mbarrier_try_wait_cycles = 20000;  ///< after which mbarrier.try_wait without a time gives up
  unsigned stack_entries = 16;                ///< tokens in a warp's top-of-stack cache
  unsigned stack_depth = 4096;                ///< tokens on a warp's call-return stack, at most
  bool fetch_instructions = true;             ///< false: every instruction is there when its turn comes
  unsigned instruction_buffer_lines = 96;     ///< of 128 bytes: 8 instructions of 16 bytes
  unsigned instruction_prefetch_lines = 1;    ///< after that of a warp which are fetched, too
  TensorParameters tensor;
  PipeParameters pipes;
  BulkCopyParameters bulk_copy;

  /// Bytes of local memory per thread in which a warp's call-return stack lies.
  [[nodiscard]] std::uint32_t stack_bytes_per_thread() const { return stack_depth * 8 / 32; }

  /// CTAs of so many warps whose threads' registers fit at once. A warp has its own from its partition's, in
  /// units of 256 (CUDA C++ Programming Guide, compute capability 7.0 to 9.0).
  [[nodiscard]] unsigned ctas_by_registers(unsigned per_thread, unsigned warps) const {
    constexpr unsigned kUnit = 256;
    const unsigned of_warp = (per_thread * 32 + kUnit - 1) / kUnit * kUnit;
    return registers / partitions / std::max(1U, of_warp) * partitions / std::max(1U, warps);
  }

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(warp_slots >= 1 && warp_slots <= 64, "warp_slots", "must be 1 to 64");
    rules.need(cta_slots >= 1 && cta_slots <= 64, "cta_slots", "must be 1 to 64");
    rules.need(partitions >= 1 && partitions <= 16, "partitions", "must be 1 to 16");
    rules.need(registers >= 1024 && registers <= (1U << 24), "registers", "must be 1024 to 16777216");
    rules.need(shared_bytes <= (1U << 24), "shared_bytes", "must be at most 16777216");
    rules.need(shared_banks >= 1 && shared_banks <= 1024, "shared_banks", "must be 1 to 1024");
    rules.need(cta_launch_latency <= 100000, "cta_launch_latency", "must be at most 100000 cycles");
    rules.need(issue_latency >= 1 && issue_latency <= 10000, "issue_latency", "must be 1 to 10000 cycles");
    rules.need(shared_latency > issue_latency && shared_latency <= 20000, "shared_latency",
               "must be above issue_latency, and at most 20000 cycles");
    rules.need(shared_pass_cycles >= 1 && shared_pass_cycles <= 1000, "shared_pass_cycles",
               "must be 1 to 1000 cycles");
    rules.need(shared_part_cycles >= 1 && shared_part_cycles <= 1000, "shared_part_cycles",
               "must be 1 to 1000 cycles");
    rules.need(shared_atomic_cycles <= 10000, "shared_atomic_cycles", "must be at most 10000 cycles");
    rules.need(shared_swap_cycles <= 10000, "shared_swap_cycles", "must be at most 10000 cycles");
    rules.need(shared_atomic_interval <= 10000, "shared_atomic_interval", "must be at most 10000 cycles");
    rules.need(atomic_cycles <= 10000, "atomic_cycles", "must be at most 10000 cycles");
    rules.need(fence_latency <= 100000, "fence_latency", "must be at most 100000 cycles");
    rules.need(barrier_latency <= 10000, "barrier_latency", "must be at most 10000 cycles");
    rules.need(barrier_arrival_cycles <= 1000, "barrier_arrival_cycles", "must be at most 1000 cycles");
    rules.need(writeback_latency <= 10000, "writeback_latency", "must be at most 10000 cycles");
    rules.need(l1_bytes_per_cycle >= 8 && l1_bytes_per_cycle <= 4096, "l1_bytes_per_cycle",
               "must be 8 to 4096");
    rules.need(l1_pass_cycles >= 1 && l1_pass_cycles <= 1000, "l1_pass_cycles", "must be 1 to 1000 cycles");
    rules.need(l1_ports == 1 || l1_ports == 2 || l1_ports == 4 || l1_ports == 8, "l1_ports",
               "must be 1, 2, 4 or 8");
    rules.need(texture_latency <= 10000, "texture_latency", "must be at most 10000 cycles");
    rules.need(clock_latency <= 10000, "clock_latency", "must be at most 10000 cycles");
    rules.need(clock_cycles >= 1 && clock_cycles <= 10000, "clock_cycles", "must be 1 to 10000 cycles");
    rules.need(lsu_entries >= 1 && lsu_entries <= 4096, "lsu_entries", "must be 1 to 4096");
    rules.need(stack_entries >= 8 && stack_entries <= 1024 && stack_entries % 4 == 0, "stack_entries",
               "must be a multiple of 4, 8 to 1024");
    rules.need(stack_depth >= stack_entries && stack_depth <= (1U << 20) && stack_depth % 16 == 0,
               "stack_depth", "must be a multiple of 16, stack_entries to 1048576");
    rules.need(lsu_queue >= 1 && lsu_queue <= lsu_entries, "lsu_queue", "must be 1 to lsu_entries");
    rules.need(mbarrier_try_wait_cycles >= 1 && mbarrier_try_wait_cycles <= 1000000000,
               "mbarrier_try_wait_cycles", "must be 1 to 1000000000 cycles");
    rules.need(instruction_buffer_lines >= 1 && instruction_buffer_lines <= 65536, "instruction_buffer_lines",
               "must be 1 to 65536");
    rules.need(instruction_prefetch_lines <= 64, "instruction_prefetch_lines", "must be at most 64");
    const auto rate = [&rules](unsigned value, const char* key) {
      rules.need(value >= 1 && value <= 65536, key, "must be 1 to 65536");
    };
    rate(tensor.f16_per_cycle, "tensor.f16_per_cycle");
    rate(tensor.tf32_per_cycle, "tensor.tf32_per_cycle");
    rate(tensor.f8_per_cycle, "tensor.f8_per_cycle");
    rate(tensor.f64_per_cycle, "tensor.f64_per_cycle");
    rate(tensor.s8_per_cycle, "tensor.s8_per_cycle");
    rate(tensor.s4_per_cycle, "tensor.s4_per_cycle");
    rate(tensor.b1_per_cycle, "tensor.b1_per_cycle");
    rules.need(tensor.latency >= 1 && tensor.latency <= 10000, "tensor.latency", "must be 1 to 10000 cycles");
    PipeParameters copy = pipes;
    copy.visit([&rules](const char* key, unsigned value, const char*) {
      const std::string name = std::string("pipes.") + key;
      const bool latency = name.find("latency") != std::string::npos;
      rules.need(value <= (latency ? 255U : 65536U), name.c_str(),
                 latency ? "must be at most 255 cycles" : "must be at most 65536");
    });
    rules.add(bulk_copy.problems(path + ".bulk_copy"));
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("warp_slots", warp_slots, "warps resident at once, 1 to 64");
    f("cta_slots", cta_slots, "CTAs resident at once");
    f("partitions", partitions, "issue partitions; each issues one instruction per cycle");
    f("registers", registers,
      "registers of 32 bits; they limit the CTAs that are resident, and what setmaxnreg moves between warps");
    f("shared_bytes", shared_bytes, "shared memory of all resident CTAs, bytes");
    f("shared_banks", shared_banks, "shared-memory banks of 4 bytes");
    f("shared_latency", shared_latency,
      "of shared memory without bank conflicts, from issue to a readable register, SM cycles");
    f("shared_pass_cycles", shared_pass_cycles,
      "what each pass over the banks of shared memory takes that lanes in conflict need beyond the first, SM "
      "cycles");
    f("shared_part_cycles", shared_part_cycles,
      "in which shared memory moves 128 bytes of a warp, where no lanes conflict, SM cycles");
    f("shared_atomic_cycles", shared_atomic_cycles,
      "by which an atomic in shared memory takes longer than a load from there, SM cycles");
    f("shared_swap_cycles", shared_swap_cycles,
      "by which a compare-and-swap in shared memory takes longer than other atomics there, SM cycles");
    f("shared_atomic_interval", shared_atomic_interval,
      "from the last pass of an atomic in shared memory until the next one of the same warp begins, SM "
      "cycles");
    f("atomic_cycles", atomic_cycles,
      "in which the atomics and reductions of 32 lanes on global memory leave the SM, which fewer lanes take "
      "their share of; 0: as its lines do, SM cycles");
    f("fence_latency", fence_latency,
      "that a fence of GPU or system scope takes at least, besides what it waits for, SM cycles");
    f("barrier_latency", barrier_latency,
      "from the last arrival at a barrier of a CTA until its warps can issue again, SM cycles");
    f("barrier_arrival_cycles", barrier_arrival_cycles,
      "from one arrival of a warp of a CTA at a barrier until the next one is taken, SM cycles");
    f("cta_launch_latency", cta_launch_latency,
      "from the launch of a CTA, which takes the place of one that is done, to its first instruction, SM "
      "cycles");
    f("issue_latency", issue_latency, "from issue to the load/store unit, SM cycles");
    f("writeback_latency", writeback_latency, "from a response to a readable register, SM cycles");
    f("unified_l1", unified_l1,
      "whether L1 serves ld.global.nc and texture loads, too; if not, a texture cache does");
    f("l1_bytes_per_cycle", l1_bytes_per_cycle,
      "bytes of loads that L1 reads per SM cycle, where it has several ports");
    f("l1_pass_cycles", l1_pass_cycles,
      "that a pass over the banks of L1 takes, of which lanes in conflict need several, where it has several "
      "ports, SM cycles");
    f("l1_ports", l1_ports,
      "lines of one warp's access that go to L1 in a cycle, by ports that divide all lines among them; "
      "with more than one, lanes also take turns at 16 banks of 8 bytes");
    f("texture_latency", texture_latency,
      "of a texture load, for what its pipe does before and behind the cache, beyond the latency of another "
      "load, SM cycles");
    f("clock_latency", clock_latency,
      "of the 32 bits of %clock, from issue to a readable register, SM cycles; 0: what the program assumes");
    f("clock_cycles", clock_cycles,
      "from an instruction that reads the 32 bits of %clock until its warp issues again, where clock_latency "
      "is not 0, SM cycles");
    f("lsu_entries", lsu_entries, "memory instructions in flight");
    f("lsu_queue", lsu_queue, "memory instructions issued and not yet worked off by the load/store unit");
    f("mbarrier_try_wait_cycles", mbarrier_try_wait_cycles,
      "after which mbarrier.try_wait that names no time answers that the phase is not complete, SM cycles");
    f("stack_entries", stack_entries, "tokens of a warp's call-return stack held in the SM");
    f("stack_depth", stack_depth,
      "tokens on a warp's call-return stack, at most; 8 bytes of local memory each");
    f("fetch_instructions", fetch_instructions,
      "whether warps wait for code that is not there; without, no code is fetched");
    f("instruction_buffer_lines", instruction_buffer_lines,
      "lines of 128 bytes (8 instructions) in the SM's instruction buffer");
    f("instruction_prefetch_lines", instruction_prefetch_lines,
      "lines after that which a warp comes to that are fetched, too");
    f("tensor", tensor, "tensor cores");
    f("pipes", pipes, "arithmetic pipes");
    f("bulk_copy", bulk_copy, "the unit for bulk copies (TMA)");
  }
};

}  // namespace warpline
