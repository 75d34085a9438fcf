#pragma once

#include <cstdint>
#include <memory>

#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// When the banks of a channel are refreshed, and which: no request of such a bank is served and its row is
/// not open then.
class DramRefresh {
 public:
  static constexpr std::uint32_t kAllBanks = ~0U;
  virtual ~DramRefresh() = default;
  /// The first edge after `t` at which a refresh is due, or kNever.
  [[nodiscard]] virtual std::uint64_t next_due(std::uint64_t t) const = 0;
  /// The bank whose refresh is due at `due`, as next_due() returned it, or kAllBanks.
  [[nodiscard]] virtual std::uint32_t bank(std::uint64_t due) const = 0;
};

/// What DramParameters::refresh names.
[[nodiscard]] std::unique_ptr<DramRefresh> make_dram_refresh(const DramParameters& parameters);

}  // namespace warpline
