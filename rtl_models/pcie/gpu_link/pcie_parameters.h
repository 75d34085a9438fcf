#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A PCIe link to system memory; times in cycles of the link clock.
struct WARPLINE_PUBLIC PcieParameters {
  unsigned latency = 250;         ///< one way, root complex and host memory included in the reply
  unsigned peer_latency = 100;    ///< one way, that a peer's memory is farther away
  unsigned bytes_per_cycle = 16;  ///< of one direction
  unsigned tlp_overhead = 24;     ///< framing, header and CRC of one packet, bytes
  unsigned max_payload = 256;     ///< of one packet, bytes
  unsigned tags = 256;            ///< non-posted requests in flight
  bool atomic_ops = true;         ///< whether the link carries AtomicOps
  /// Behind a root complex: size of the BAR through which hosts and devices reach video memory, bytes. What
  /// of it lies beyond the end of video memory answers nothing. 0: there is none.
  std::uint64_t bar_bytes = std::uint64_t{1} << 30U;
  /// Behind a root complex, and there is one then: whether a GPU has registers (sw/regs/gpu.toml), by which a
  /// machine's software runs kernels.
  bool registers = false;
  /// With registers: how long a kernel may run for a machine's software before a fault ends it, microseconds
  /// of model time. 0: for ever.
  std::uint64_t launch_limit_us = 0;

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(latency >= 1 && latency <= 1000000, "latency", "must be 1 to 1000000 cycles");
    rules.need(peer_latency <= 1000000, "peer_latency", "must be at most 1000000 cycles");
    rules.need(bytes_per_cycle >= 1 && bytes_per_cycle <= 4096, "bytes_per_cycle", "must be 1 to 4096");
    rules.need(tlp_overhead <= 1024, "tlp_overhead", "must be at most 1024 bytes");
    rules.need(max_payload >= 32 && max_payload <= 4096, "max_payload", "must be 32 to 4096 bytes");
    constexpr std::uint64_t kSmallest = std::uint64_t{1} << 12U, kLargest = std::uint64_t{1} << 40U;
    rules.need(
        bar_bytes == 0 || (bar_bytes >= kSmallest && bar_bytes <= kLargest && is_power_of_two(bar_bytes)),
        "bar_bytes", "must be 0, or a power of two from 4096 to 1099511627776 (1 TiB)");
    rules.need(
        !registers || bar_bytes != 0, "registers",
        "must be false where there is no BAR onto video memory (bar_bytes), which they are nothing without");
    rules.need(launch_limit_us <= 1'000'000'000'000, "launch_limit_us",
               "must be at most 1000000000000 microseconds");
    rules.need(tags >= 1 && tags <= 65535, "tags", "must be 1 to 65535");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("latency", latency, "one way, link cycles");
    f("peer_latency", peer_latency, "what a peer's memory is farther away, one way, link cycles");
    f("bytes_per_cycle", bytes_per_cycle, "bandwidth of one direction, bytes per link cycle");
    f("tlp_overhead", tlp_overhead, "framing, header and CRC of one packet, bytes");
    f("max_payload", max_payload, "largest payload of one packet, bytes");
    f("tags", tags, "non-posted requests in flight");
    f("atomic_ops", atomic_ops, "whether the link carries AtomicOps");
    f("bar_bytes", bar_bytes, "BAR onto video memory of a GPU behind a root complex, bytes; 0: none");
    f("registers", registers,
      "whether a GPU has registers by which a machine's software runs kernels; with them there is a root "
      "complex");
    f("launch_limit_us", launch_limit_us,
      "what a kernel may run for a machine's software before a fault ends it, microseconds; 0: for ever");
  }
};

}  // namespace warpline
