#pragma once

#include <memory>
#include <string>
#include <utility>

#include "platform/cli/run_request.h"
#include "rtl_models/sim/exchange.h"

namespace warpline {

/// The processes that run one platform together (`warpline run --mpi`), as one of them sees them. All do the
/// same; the first alone prints, and writes files. Where there are no others, nothing here does anything.
class RunRanks {
 public:
  /// `exchange`: null: there are no others.
  explicit RunRanks(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  /// Null: there are no others.
  [[nodiscard]] const std::shared_ptr<Exchange>& exchange() const { return exchange_; }
  [[nodiscard]] bool is_first() const { return exchange_ == nullptr || exchange_->rank() == 0; }
  [[nodiscard]] unsigned count() const { return exchange_ == nullptr ? 1 : exchange_->ranks(); }
  /// Whether it is so on any.
  [[nodiscard]] bool any(const char* what, bool here) const;
  /// All have come as far as `where`: kDone, or the exit status of the first one that cannot go on, which has
  /// said why; none does then.
  [[nodiscard]] int agreed(const char* where, int status) const;

 private:
  std::shared_ptr<Exchange> exchange_;
};

/// Why a run of this request cannot be spread over so many ranks, a sentence; empty: it can, as far as
/// options tell (see also GpuPlatform::why_no_ranks).
[[nodiscard]] std::string why_not_on_ranks(const RunRequest& request, unsigned ranks);

}  // namespace warpline
