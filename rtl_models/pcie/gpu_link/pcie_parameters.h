#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"

namespace warpline {

/// A PCIe link to system memory; times in cycles of the link clock.
struct PcieParameters {
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

  [[nodiscard]] Problems problems(const std::string& path) const;
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
  }
};

}  // namespace warpline
