#include "rtl_models/dram/dram_refresh.h"

#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"

namespace warpline {
namespace {

class NoRefresh final : public DramRefresh {
 public:
  std::uint64_t next_due(std::uint64_t) const override { return kNever; }
};

/// Every so many edges.
class AllBankRefresh final : public DramRefresh {
 public:
  explicit AllBankRefresh(unsigned interval) : interval_(interval) {}
  std::uint64_t next_due(std::uint64_t t) const override { return (t / interval_ + 1) * interval_; }

 private:
  unsigned interval_;
};

}  // namespace

std::unique_ptr<DramRefresh> make_dram_refresh(const DramParameters& parameters) {
  if (parameters.refresh == "all_bank") return std::make_unique<AllBankRefresh>(parameters.refresh_interval);
  WARPLINE_EXPECT(parameters.refresh == "none", "DRAM parameters are checked before they are used");
  return std::make_unique<NoRefresh>();
}

}  // namespace warpline
