#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/queue_device/queue_device_command.h"
#include "rtl_models/registers/access_log.h"

namespace warpline {

/// Hears what a queue device does, as it does it. Commands of a queue have numbers from 0 on, in the order in
/// which they were submitted since the queue was made.
class QueueDeviceObserver {
 public:
  virtual ~QueueDeviceObserver() = default;
  virtual void accessed(const BusAccess& access) = 0;
  /// A doorbell has told of `count` commands, of which `first` is the oldest.
  virtual void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) = 0;
  virtual void completed(unsigned queue, std::uint64_t number, const QueueDeviceCommand& command,
                         unsigned status, Cycle now) = 0;
  /// A queue was made, or is no more: what it has not completed is lost.
  virtual void forgotten(unsigned queue, Cycle now) = 0;
  /// A vector was raised, masked or not.
  virtual void raised(unsigned vector, Cycle now) = 0;
};

}  // namespace warpline
