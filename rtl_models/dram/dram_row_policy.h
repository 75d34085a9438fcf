#pragma once

#include <cstdint>
#include <memory>

#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// When a bank closes a row that no request of the channel wants.
class DramRowPolicy {
 public:
  virtual ~DramRowPolicy() = default;
  /// The edge from which on such a row is closed if it is not wanted before, or kNever. `data_until`: when
  /// its last data has moved and the bank lets it close, which is the earliest.
  [[nodiscard]] virtual std::uint64_t close_at(std::uint64_t data_until) const = 0;
};

/// What DramParameters::row_policy names.
[[nodiscard]] std::unique_ptr<DramRowPolicy> make_dram_row_policy(const DramParameters& parameters);

}  // namespace warpline
