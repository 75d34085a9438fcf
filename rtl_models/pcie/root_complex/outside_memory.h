#pragma once

#include <cstdint>
#include <optional>

#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// The memory of a machine outside of the model, such as a guest's of an emulator. For functions behind the
/// root complex it takes the place of system memory and IOMMU: what they name are that machine's addresses.
class OutsideMemory {
 public:
  /// Where a request leads.
  struct Place {
    enum class In : std::uint8_t {
      memory,  ///< of that machine
      bus,     ///< a function here, at `address`
      nobody,
    };
    In in = In::nobody;
    std::uint64_t address = 0;
  };
  /// Asked when a request arrives at the root complex.
  [[nodiscard]] virtual Place find(const Tlp& request) = 0;
  /// Performs a request that leads to memory, as RootComplexCore::perform() does. Nothing: it is under way,
  /// and RootComplex::finish_outside() ends it; only where `may_wait`. By then the memory may be gone:
  /// that is an unsupported request. `request.epoch`: how often the link that it came over had been down when
  /// it arrived (RootComplexCore::downs()). While a posted write is under way, nothing that came later over
  /// the same link is asked for.
  [[nodiscard]] virtual std::optional<CompletionStatus> perform(Tlp& request, bool may_wait) = 0;

 protected:
  ~OutsideMemory() = default;
};

}  // namespace warpline
