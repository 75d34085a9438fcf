#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/registers/access_log.h"

namespace warpline {

/// A command of a device's queue, as it is shown.
struct ObservedCommand {
  std::string_view name;                                       ///< what it does: "READ"
  std::vector<std::pair<const char*, std::uint64_t>> details;  ///< its identifier, status and so on
};

/// Hears what a device does, as it does it. Commands of a queue have numbers from 0 on, in the order in which
/// they were submitted since the queue was made.
class DeviceObserver {
 public:
  virtual ~DeviceObserver() = default;
  virtual void accessed(const BusAccess& access) = 0;
  /// A doorbell has told of `count` commands, of which `first` is the oldest.
  virtual void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) = 0;
  /// A command has come to a step of its execution, which lasts until the next one or its completion.
  virtual void entered(unsigned queue, std::uint64_t number, const char* step, Cycle now) = 0;
  virtual void completed(unsigned queue, std::uint64_t number, const ObservedCommand& command, Cycle now) = 0;
  /// A queue was made, or is no more: what it has not completed is lost.
  virtual void forgotten(unsigned queue, Cycle now) = 0;
  /// A vector was raised, masked or not.
  virtual void raised(unsigned vector, Cycle now) = 0;
};

}  // namespace warpline
