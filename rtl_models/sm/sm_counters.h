#pragma once

#include <array>
#include <cstdint>

namespace warpline {

/// Cycles that warps have stood still for the sake of order, each warp's counted: from the moment in which
/// its fence, release or acquire had to wait for something to the one in which the warp could go on. An
/// acquire's own latency is part of it.
struct OrderingCounters {
  static constexpr std::uint8_t kProxyFences = 5;        ///< behind the scopes
  std::array<std::uint64_t, kProxyFences + 1> cycles{};  ///< by Scope

  template <class F>
  void visit(F&& f) const {
    constexpr const char* kNames[] = {nullptr,
                                      "ordering_cycles_cta",
                                      "ordering_cycles_cluster",
                                      "ordering_cycles_gpu",
                                      "ordering_cycles_sys",
                                      "ordering_cycles_proxy"};
    for (std::size_t n = 1; n < cycles.size(); ++n)
      f(kNames[n], cycles[n], "cycles",
        n == kProxyFences ? "warps stood still for proxy fences"
                          : "warps stood still for fences, releases and acquires of this scope");
  }
};

/// Counters of an SM beside those of its load/store unit.
struct SmCounters {
  std::uint64_t instructions = 0, thread_instructions = 0, ctas = 0, warps = 0, barriers = 0,
                program_faults = 0;
  std::uint64_t calls = 0, returns = 0, stack_spills = 0, stack_refills = 0;
  std::uint64_t matrix_products = 0, matrix_multiply_adds = 0, tensor_cycles = 0;
  std::uint64_t pipe_cycles = 0, pipe_wait_cycles = 0;
  OrderingCounters ordering;

  template <class F>
  void visit(F&& f) const {
    f("instructions", instructions, "instructions", "warp instructions issued");
    f("thread_instructions", thread_instructions, "instructions", "the same, counted per active lane");
    f("ctas", ctas, "CTAs", "CTAs finished");
    f("warps", warps, "warps", "warps finished");
    f("barriers", barriers, "instructions", "barrier instructions issued");
    ordering.visit(f);
    f("calls", calls, "instructions", "calls, with at least one active lane");
    f("returns", returns, "instructions", "returns, likewise");
    f("stack_spills", stack_spills, "tokens", "of call-return stacks, written to local memory");
    f("stack_refills", stack_refills, "tokens", "of call-return stacks, read from local memory");
    f("matrix_products", matrix_products, "instructions", "products of matrices issued");
    f("matrix_multiply_adds", matrix_multiply_adds, "multiply-adds", "of these");
    f("tensor_cycles", tensor_cycles, "cycles", "that they took tensor pipes, each partition's counted");
    f("pipe_cycles", pipe_cycles, "cycles",
      "that instructions took arithmetic pipes of limited width, each pipe's counted");
    f("pipe_wait_cycles", pipe_wait_cycles, "cycles",
      "of these, in which the warp that the pipe took in next could have issued already");
    f("program_faults", program_faults, "faults",
      "warps that ended themselves: traps and calls too deep, and code that cannot be read");
  }
};

/// Counters of an SM with a network to others.
struct ClusterCounters {
  std::uint64_t barriers = 0, signals = 0;
  std::uint64_t requests = 0, sectors = 0, mbarrier_requests = 0, bulk_requests = 0;
  std::uint64_t served_requests = 0, served_passes = 0;

  template <class F>
  void visit(F&& f) const {
    f("barriers", barriers, "instructions", "arrivals at barriers of clusters issued");
    f("signals", signals, "requests", "arrivals and exits of CTAs told to others of their cluster");
    f("requests", requests, "lines", "128-byte lines of other CTAs' shared memory asked for");
    f("sectors", sectors, "sectors", "32-byte sectors of them");
    f("mbarrier_requests", mbarrier_requests, "requests",
      "on mbarriers of other CTAs, by arrivals and by stores that tell them");
    f("bulk_requests", bulk_requests, "requests",
      "of bulk copies, on other CTAs' shared memory and mbarriers");
    f("served_requests", served_requests, "requests",
      "on this SM's shared memory and its mbarriers, by CTAs of clusters");
    f("served_passes", served_passes, "passes", "over the banks that these took");
  }
};

}  // namespace warpline
