#pragma once

#include <cstdint>

namespace warpline {

/// Counters of an SM's unit for bulk copies.
struct BulkCopyCounters {
  std::uint64_t copies = 0, tensor_copies = 0, requests = 0;
  std::uint64_t read_sectors = 0, written_sectors = 0, reduced_sectors = 0, prefetched_sectors = 0;
  std::uint64_t bytes_to_shared = 0, bytes_to_global = 0, bytes_to_cluster = 0, filled_bytes = 0;
  std::uint64_t tensor_map_reads = 0, tensor_map_hits = 0;

  template <class F>
  void visit(F&& f) const {
    f("copies", copies, "copies", "bulk copies, reductions and prefetches: one for each active lane");
    f("tensor_copies", tensor_copies, "copies", "of them, those of tensors");
    f("requests", requests, "requests", "sent past L1: one for each line, or part of it, of each copy");
    f("read_sectors", read_sectors, "sectors", "read into shared memory, and of tensor maps");
    f("written_sectors", written_sectors, "sectors", "written from shared memory");
    f("reduced_sectors", reduced_sectors, "sectors", "combined from shared memory");
    f("prefetched_sectors", prefetched_sectors, "sectors", "named by prefetches into L2");
    f("bytes_to_shared", bytes_to_shared, "bytes", "that copies wrote to shared memory from global memory");
    f("bytes_to_global", bytes_to_global, "bytes", "that copies and reductions took from shared memory");
    f("bytes_to_cluster", bytes_to_cluster, "bytes",
      "that copies sent to the shared memory of other CTAs, each CTA's counted");
    f("filled_bytes", filled_bytes, "bytes", "written to shared memory where a tensor is not");
    f("tensor_map_reads", tensor_map_reads, "descriptors", "read from memory");
    f("tensor_map_hits", tensor_map_hits, "descriptors", "that the unit still held");
  }
};

}  // namespace warpline
