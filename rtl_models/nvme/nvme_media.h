#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// What an access to the media is.
enum class NvmeMediaAccess : std::uint8_t { none, read, write, write_through, flush };

/// How long accesses to the media take: channels, each with one at a time.
class NvmeMedia {
 public:
  /// `cycles_per_us`: of the clock in which it is told the time.
  NvmeMedia(const NvmeParameters& parameters, unsigned cycles_per_us)
      : parameters_(parameters), cycles_per_us_(cycles_per_us), free_(parameters.channels, 0) {}

  /// Begins one in cycle `now`, on the channel that is free first. Returns when it is over.
  [[nodiscard]] Cycle begin(NvmeMediaAccess access, std::uint64_t bytes, Cycle now) {
    if (access == NvmeMediaAccess::none) return now;
    const auto channel = std::min_element(free_.begin(), free_.end());
    *channel = std::max(*channel, now) + cycles_of(access, bytes);
    return *channel;
  }
  void restart() { std::fill(free_.begin(), free_.end(), 0); }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(free_);
  }

 private:
  [[nodiscard]] Cycle cycles_of(NvmeMediaAccess access, std::uint64_t bytes) const {
    std::uint64_t ns = 0;
    switch (access) {
      case NvmeMediaAccess::none: return 0;
      case NvmeMediaAccess::read: ns = parameters_.read_ns; break;
      case NvmeMediaAccess::write: ns = parameters_.write_ns; break;
      case NvmeMediaAccess::write_through:
        ns = std::uint64_t{parameters_.write_ns} + parameters_.flush_ns;
        break;
      case NvmeMediaAccess::flush: ns = parameters_.flush_ns; break;
    }
    // A byte at 1 MB/s takes 1000 ns.
    ns += bytes * 1000 / parameters_.channel_mb_per_s;
    return (ns * cycles_per_us_ + 999) / 1000;
  }
  NvmeParameters parameters_;
  unsigned cycles_per_us_;
  std::vector<Cycle> free_;  ///< of each channel: when it is
};

}  // namespace warpline
