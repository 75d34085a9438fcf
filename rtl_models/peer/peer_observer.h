#pragma once

#include <cstdint>

#include "warpline/base/types.h"
#include "warpline/mmio/access_log.h"
#include "warpline/peer/command.h"

namespace warpline {

/// Hears what a peer does, as it does it. Commands of a queue have numbers from 0 on, in the order in which
/// they were submitted since the queue was made.
class PeerObserver {
 public:
  virtual ~PeerObserver() = default;
  virtual void accessed(const LoggedAccess& access) = 0;
  /// A doorbell has told of `count` commands, of which `first` is the oldest.
  virtual void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) = 0;
  virtual void completed(unsigned queue, std::uint64_t number, const PeerCommand& command, unsigned status,
                         Cycle now) = 0;
  /// A queue was made, or is no more: what it has not completed is lost.
  virtual void forgotten(unsigned queue, Cycle now) = 0;
  /// A vector was raised, masked or not.
  virtual void raised(unsigned vector, Cycle now) = 0;
};

}  // namespace warpline
