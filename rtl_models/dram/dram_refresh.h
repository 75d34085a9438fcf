#pragma once

#include <cstdint>
#include <memory>

#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// When the banks of a channel are refreshed, all at once: no request is served and no row is open then.
class DramRefresh {
 public:
  virtual ~DramRefresh() = default;
  /// The first edge after `t` at which a refresh is due, or kNever.
  [[nodiscard]] virtual std::uint64_t next_due(std::uint64_t t) const = 0;
};

/// What DramParameters::refresh names.
[[nodiscard]] std::unique_ptr<DramRefresh> make_dram_refresh(const DramParameters& parameters);

}  // namespace warpline
