#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/nvme/nvme_core.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {

/// An NVMe controller (NvmeCore) at the end of a link.
class NvmeDevice final : public EndpointDevice {
 public:
  /// `mhz`: of the fastest clock, in whose cycles time is told. `controller`, `stores`: as NvmeCore has them.
  /// The pool outlives it. Pre: no parameters have problems.
  NvmeDevice(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, FunctionId id,
             const NvmeParameters& parameters, unsigned controller,
             std::vector<std::unique_ptr<BlockStore>> stores, const LinkParameters& link, unsigned mhz);

  [[nodiscard]] NvmeCore& core() { return core_; }
  [[nodiscard]] const NvmeCore& core() const { return core_; }
  /// NvmeCore::set_active(), from outside the engine, which goes on in cycle `from`. Pre: that is not in the
  /// past.
  void set_active(std::uint32_t nsid, bool active, Cycle from) {
    core_.set_active(nsid, active);
    wake(from);
  }

 private:
  NvmeCore core_;
};

}  // namespace warpline
