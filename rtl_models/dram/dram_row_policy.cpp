#include "rtl_models/dram/dram_row_policy.h"

#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"

namespace warpline {
namespace {

/// A row stays open until another of its bank is wanted: best where accesses to a row come in groups.
class OpenPage final : public DramRowPolicy {
 public:
  std::uint64_t close_at(std::uint64_t) const override { return kNever; }
};

/// A row closes as soon as its data has moved: saves the precharge where the next access is to another row.
class ClosedPage final : public DramRowPolicy {
 public:
  std::uint64_t close_at(std::uint64_t data_until) const override { return data_until; }
};

}  // namespace

std::unique_ptr<DramRowPolicy> make_dram_row_policy(const DramParameters& parameters) {
  if (parameters.row_policy == "closed") return std::make_unique<ClosedPage>();
  WARPLINE_EXPECT(parameters.row_policy == "open", "DRAM parameters are checked before they are used");
  return std::make_unique<OpenPage>();
}

}  // namespace warpline
