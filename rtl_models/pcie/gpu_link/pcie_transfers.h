#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "rtl_models/pcie/gpu_link/pcie_core.h"
#include "rtl_models/pcie/gpu_link/pcie_counters.h"
#include "rtl_models/pcie/packets/timed_queue.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/request_pool.h"

namespace warpline {

/// Lists the transfers of a queue of `link`: each is at `place`, and waits "WHY in cycle" in which it is due.
/// Without those that are posted, unless `posted` is asked for: these are listed while they are owed an
/// answer.
void list_timed(std::vector<InFlight>& rows, const Component& link, const TimedQueue<PcieTransfer*>& queue,
                const std::string& place, const std::string& why, bool posted = false);

/// The transfers of a link: which requests may become some, and what leg comes next.
///
/// A read needs a tag, and an atomic one for each lane (at most all there are), until it is answered. What is
/// for devices takes tags of the function there instead, so that none of other GPUs' or devices' requests can
/// make system memory's wait. What follows an atomic of several round trips on its line follows it in memory,
/// and so stays behind it; likewise a request for devices behind one on its line that it may overtake, as
/// packets that are not posted may be overtaken.
class PcieTransfers {
 public:
  /// Core and counters outlive it. `with_data`: whether anybody knows the bytes of memory.
  PcieTransfers(const PcieCore& core, PcieCounters& counters, bool with_data)
      : core_(core), counters_(counters), with_data_(with_data) {}

  /// Whether a request may be taken now.
  [[nodiscard]] bool fits(const Request& r, bool to_devices) const {
    return tags_ + tags_of(r, to_devices) <= core_.parameters().tags && !waits_for_line(r);
  }
  /// Whether a request has to stay behind one on its line that is not answered.
  [[nodiscard]] bool waits_for_line(const Request& r) const;
  /// Takes a request, which came by `port`. It stays where it is until it is released.
  PcieTransfer& begin(Request& r, unsigned port, bool to_devices, bool reaches);
  /// A leg is answered. Whether another one has to go up; if not, the request is done.
  [[nodiscard]] bool next_leg(PcieTransfer& transfer);
  /// The request that is owed is answered, and its line is free; its writes may still be on their way.
  [[nodiscard]] Request* answer(PcieTransfer& transfer);
  void release(PcieTransfer& transfer);

  [[nodiscard]] PcieTransfer& operator[](std::uint32_t number) { return transfers_[number]; }
  [[nodiscard]] std::size_t under_way() const { return transfers_.size() - free_.size(); }
  /// Tags in use.
  [[nodiscard]] unsigned tags() const { return tags_; }
  /// Those that devices are asked for.
  [[nodiscard]] const std::vector<const PcieTransfer*>& asking() const { return asking_; }

 private:
  [[nodiscard]] unsigned tags_of(const Request& r, bool to_devices) const;
  void begin_leg(PcieTransfer& transfer);
  void post(PcieTransfer& transfer, PcieLeg leg, const ByteMask& bytes,
            const std::array<std::uint8_t, kLineBytes>& data);

  RequestPool writes_;  ///< for the copies of posted legs, which do not count among the engine's requests
  const PcieCore& core_;
  PcieCounters& counters_;
  bool with_data_;
  std::deque<PcieTransfer> transfers_;
  std::vector<PcieTransfer*> free_;
  std::vector<PhysicalAddress> looping_;  ///< lines on which atomics of several round trips are at work
  std::vector<const PcieTransfer*> asking_;
  unsigned tags_ = 0;
};

}  // namespace warpline
