#include "rtl_models/dram/dram_refresh.h"

#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"

namespace warpline {
namespace {

class NoRefresh final : public DramRefresh {
 public:
  std::uint64_t next_due(std::uint64_t) const override { return kNever; }
  std::uint32_t bank(std::uint64_t) const override { return kAllBanks; }
};

/// Every so many edges.
class AllBankRefresh final : public DramRefresh {
 public:
  explicit AllBankRefresh(unsigned interval) : interval_(interval) {}
  std::uint64_t next_due(std::uint64_t t) const override { return (t / interval_ + 1) * interval_; }
  std::uint32_t bank(std::uint64_t) const override { return kAllBanks; }

 private:
  unsigned interval_;
};

/// Each bank every so many edges, in turn at even distances: refresh n, from 1 on, is due at the edge
/// n * interval / banks, rounded down.
class PerBankRefresh final : public DramRefresh {
 public:
  PerBankRefresh(unsigned interval, unsigned banks) : interval_(interval), banks_(banks) {}
  std::uint64_t next_due(std::uint64_t t) const override { return first_from(t + 1) * interval_ / banks_; }
  std::uint32_t bank(std::uint64_t due) const override {
    return static_cast<std::uint32_t>(first_from(due) % banks_);
  }

 private:
  /// The first refresh that is due at `t` or later.
  [[nodiscard]] std::uint64_t first_from(std::uint64_t t) const {
    return (t * banks_ + interval_ - 1) / interval_;
  }
  std::uint64_t interval_, banks_;
};

}  // namespace

std::unique_ptr<DramRefresh> make_dram_refresh(const DramParameters& parameters) {
  if (parameters.refresh == "all_bank") return std::make_unique<AllBankRefresh>(parameters.refresh_interval);
  if (parameters.refresh == "per_bank")
    return std::make_unique<PerBankRefresh>(parameters.refresh_interval, parameters.banks);
  WARPLINE_EXPECT(parameters.refresh == "none", "DRAM parameters are checked before they are used");
  return std::make_unique<NoRefresh>();
}

}  // namespace warpline
