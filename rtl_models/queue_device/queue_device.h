#pragma once

#include <string>

#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/queue_device/queue_device_core.h"

namespace warpline {

/// A PCI Express function with a queue-pair engine (QueueDeviceCore), at the end of a link.
class QueueDevice final : public EndpointDevice {
 public:
  /// `mhz`: of the fastest clock, in whose cycles time is told. The pool outlives it. Pre: no parameters have
  /// problems.
  QueueDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
              const QueueDeviceParameters& parameters, const LinkParameters& link, unsigned mhz);

  [[nodiscard]] QueueDeviceCore& core() { return core_; }
  [[nodiscard]] const QueueDeviceCore& core() const { return core_; }

 private:
  QueueDeviceCore core_;
};

}  // namespace warpline
