#pragma once

#include <cstdint>

namespace warpline {

/// What went over a PCIe link. requests = reads + writes + atomics.
struct PcieCounters {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t flushes = 0;
  std::uint64_t peer_requests = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tlp_bytes = 0;
  std::uint64_t cas_loops = 0;
  std::uint64_t cas_retries = 0;
  std::uint64_t unsupported_atomics = 0;
  std::uint64_t address_errors = 0;

  template <class F>
  void visit(F&& f) const {
    f("requests", requests, "requests", "taken from L2");
    f("reads", reads, "requests", "reads of system or peer memory, flushes included");
    f("writes", writes, "requests", "writes of system or peer memory");
    f("atomics", atomics, "requests", "atomics and reductions on system or peer memory");
    f("flushes", flushes, "requests", "reads of no byte, behind writes that must have arrived");
    f("peer_requests", peer_requests, "requests", "of all those, the ones to the peer's memory");
    f("bytes_up", bytes_up, "bytes", "payload away from the GPU");
    f("bytes_down", bytes_down, "bytes", "payload to the GPU");
    f("tlp_bytes", tlp_bytes, "bytes", "of packets both ways, overhead included");
    f("cas_loops", cas_loops, "requests", "atomics done by compare-and-swap for want of an AtomicOp");
    f("cas_retries", cas_retries, "round trips", "of such loops, because a word had changed meanwhile");
    f("unsupported_atomics", unsupported_atomics, "requests", "atomics that are atomic among this GPU only");
    f("address_errors", address_errors, "requests", "for no line of system memory or the peer's");
  }
};

}  // namespace warpline
