#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "platform/cuda/allocations.h"

namespace warpline::cuda {

/// Where memory lies, or is to lie (CUDA Runtime API, "cudaMemLocation").
struct Location {
  enum class Kind : std::uint8_t { none, device, host, host_node };
  Kind kind = Kind::none;
  int id = 0;  ///< of a GPU, or of a node of the host
  friend bool operator==(const Location& a, const Location& b) {
    return a.kind == b.kind && (a.id == b.id || a.kind == Kind::none || a.kind == Kind::host);
  }
};

/// What a program has advised of managed memory, page by page (CUDA Runtime API, "cudaMemAdvise"): it is kept
/// to be asked for, and moves nothing.
class MemoryAdvice {
 public:
  static constexpr int kHost = -1;  ///< the processor among those that access memory: cudaCpuDeviceId
  struct Of {
    bool read_mostly = false;
    Location preferred, prefetched;
    std::set<int> accessed_by;  ///< GPUs, or kHost
    friend bool operator==(const Of& a, const Of& b) {
      return a.read_mostly == b.read_mostly && a.preferred == b.preferred && a.prefetched == b.prefetched &&
             a.accessed_by == b.accessed_by;
    }
  };

  /// Changes what holds for all pages that a range touches. Pre: it has bytes.
  template <class F>
  void change(std::uint64_t address, std::uint64_t bytes, F&& f) {
    const std::uint64_t first = address / kPage, end = (address + bytes - 1) / kPage + 1;
    split(first);
    split(end);
    for (auto at = from_.lower_bound(first); at->first < end; ++at) f(at->second);
  }
  /// What holds for all pages of a range: of a single thing nothing if they differ. Pre: it has bytes.
  [[nodiscard]] Of common(std::uint64_t address, std::uint64_t bytes) const;
  /// Nothing is known any more of what lay there.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// Likewise of managed memory that is given back, but for pages that others of it, those left, lie in, too.
  void forget(const Allocation& gone, const Allocations& left);

 private:
  static constexpr std::uint64_t kPage = 4096;
  /// Has a run begin at a page.
  void split(std::uint64_t page);

  /// By the number of its first page, each run of pages alike, up to where the next begins.
  std::map<std::uint64_t, Of> from_{{0, {}}};
};

}  // namespace warpline::cuda
