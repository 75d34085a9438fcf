#include "rtl_models/crossbar/crossbar_core.h"

#include "rtl_models/base/contract.h"

namespace warpline {

CrossbarCore::CrossbarCore(const CrossbarParameters& parameters, unsigned slices, unsigned switches)
    : slices_(slices), shift_(parameters.slice_shift), switches_(switches), hash_(parameters.hash_masks) {
  WARPLINE_EXPECT(parameters.hash_masks.size() <= 16, "crossbar parameters are checked before they are used");
}

std::uint16_t CrossbarCore::begin_maintenance(Request* original) {
  if (free_.empty()) {
    WARPLINE_EXPECT(maintenance_.size() < 65536, "at most 65536 maintenance requests are under way");
    free_.push_back(static_cast<std::uint16_t>(maintenance_.size()));
    maintenance_.emplace_back();
  }
  const std::uint16_t number = free_.back();
  free_.pop_back();
  maintenance_[number] = {original, static_cast<unsigned>(slices_.divisor())};
  return number;
}

Request* CrossbarCore::make_child(std::uint16_t number, RequestPool& pool, const void* maker) const {
  const Request& original = *maintenance_[number].original;
  Request* child = pool.allocate_child(original, maker);
  child->command = Command::maintain;
  child->maintenance = original.maintenance;
  child->token = number;
  return child;
}

Request* CrossbarCore::end_child(const Request& child) {
  Maintenance& m = maintenance_[child.token];
  WARPLINE_EXPECT(m.awaited > 0, "a slice answers each maintenance request once");
  if (child.status != Status::ok) m.original->status = child.status;
  if (--m.awaited != 0) return nullptr;
  free_.push_back(child.token);
  return m.original;
}

}  // namespace warpline
