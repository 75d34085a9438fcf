#pragma once

#include <functional>
#include <utility>

#include "rtl_models/registers/bus_access.h"

namespace warpline {

/// A device at the far end of GPUs' PCIe links, in the `peer` aperture of their address spaces. There are two
/// kinds: memory, plain bytes that the links themselves read and write (MemoryDevice); and functions behind a
/// root complex, with registers, queues and memory of their own (QueueDevice).
class FarDevice {
 public:
  /// From now on `observer` is told of every access, in the order of arrival, when it has been performed. An
  /// access of bytes that do not all lie side by side is told of run by run. One observer at most.
  void watch(std::function<void(const BusAccess&)> observer) { observer_ = std::move(observer); }
  [[nodiscard]] bool is_watched() const { return observer_ != nullptr; }
  /// The model's: an access has been performed. Pre: it is watched.
  void arrived(const BusAccess& access) const { observer_(access); }

 protected:
  FarDevice() = default;
  ~FarDevice() = default;

 private:
  std::function<void(const BusAccess&)> observer_;
};

}  // namespace warpline
