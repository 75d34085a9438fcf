#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/nvme/nvme_command.h"
#include "rtl_models/nvme/nvme_namespace.h"
#include "rtl_models/nvme/nvme_parameters.h"

namespace warpline {

/// The pages that Identify returns, of 4096 bytes each (NVM Express base specification 1.4, Identify
/// command).
class NvmePages {
 public:
  static constexpr std::uint32_t kBytes = 4096;
  /// Asynchronous Event Requests, Aborts and error log entries at once.
  static constexpr unsigned kEventRequests = 4, kAborts = 4, kErrors = 64;

  /// `controller`: which of the system it is. `vendor`: of its configuration space.
  NvmePages(const NvmeParameters& parameters, unsigned controller, std::uint16_t vendor)
      : parameters_(parameters), controller_(controller), vendor_(vendor) {}

  [[nodiscard]] std::vector<std::uint8_t> controller() const;
  /// `space` null: no active namespace, of which all is 0.
  [[nodiscard]] std::vector<std::uint8_t> name_space(NvmeNamespace* space, std::uint32_t nsid) const;
  /// The identifiers of a namespace.
  [[nodiscard]] std::vector<std::uint8_t> descriptors(std::uint32_t nsid) const;
  /// The numbers of active namespaces above `after`.
  [[nodiscard]] static std::vector<std::uint8_t> active(const std::vector<NvmeNamespace>& spaces,
                                                        std::uint32_t after);

 private:
  [[nodiscard]] std::uint64_t identifier(std::uint32_t nsid, unsigned part) const;
  NvmeParameters parameters_;
  unsigned controller_;
  std::uint16_t vendor_;
};

}  // namespace warpline
