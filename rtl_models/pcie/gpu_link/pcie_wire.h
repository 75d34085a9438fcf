#pragma once

#include <algorithm>
#include <cstdint>

#include "rtl_models/pcie/gpu_link/pcie_core.h"
#include "rtl_models/pcie/gpu_link/pcie_counters.h"

namespace warpline {

/// The wires of a link, one for each direction, which carry one packet at a time; and what went over them.
/// Times are edges of the link clock.
class PcieWire {
 public:
  /// Both outlive it.
  PcieWire(const PcieCore& core, PcieCounters& counters) : core_(core), counters_(counters) {}

  /// From when on the wire upward is free.
  [[nodiscard]] std::uint64_t up_free() const { return up_free_; }
  /// Puts packets on the wire upward, which is free. Returns when the last of them is on it; it is at the far
  /// end a latency later.
  std::uint64_t send_up(std::uint64_t t, const PcieTrain& train) { return up_free_ = t + count_up(train); }
  /// Puts packets on the wire downward at `t`, or as soon after that as it is free: so answers come down in
  /// the order in which they get here. Returns when the last of them is at the GPU.
  std::uint64_t send_down(std::uint64_t t, const PcieTrain& train) {
    down_free_ = std::max(t, down_free_) + count_down(train);
    return down_free_ + core_.parameters().latency;
  }
  /// Counts packets that cross an idle wire, loosely timed. Returns how long they are on it.
  unsigned count_up(const PcieTrain& train) { return count(train, counters_.bytes_up); }
  unsigned count_down(const PcieTrain& train) { return count(train, counters_.bytes_down); }
  template <class Archive>
  void archive(Archive& a) {
    // The counters are the owner's.
    a(up_free_, down_free_);
  }

 private:
  unsigned count(const PcieTrain& train, std::uint64_t& payload) {
    payload += train.payload;
    counters_.tlp_bytes += train.payload + std::uint64_t{train.packets} * core_.parameters().tlp_overhead;
    return train.cycles;
  }

  const PcieCore& core_;
  PcieCounters& counters_;
  std::uint64_t up_free_ = 0;
  std::uint64_t down_free_ = 0;
};

}  // namespace warpline
