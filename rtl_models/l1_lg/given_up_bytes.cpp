#include "rtl_models/l1_lg/given_up_bytes.h"

namespace warpline {

void GivenUpBytes::keep(std::uint64_t number, ByteMask bytes, const std::uint8_t* line) {
  Kept& kept = lines_[number];
  kept.mask = kept.mask | bytes;
  if (poison_) {
    kept.bytes.fill(kPoison);
  } else {
    copy_masked(kept.bytes.data(), line, bytes);
  }
}

void GivenUpBytes::forget(std::uint64_t number, ByteMask bytes) {
  const auto at = lines_.find(number);
  if (at == lines_.end()) return;
  at->second.mask = at->second.mask & ~bytes;
  if (!at->second.mask.any()) lines_.erase(at);
}

ByteMask GivenUpBytes::lay_over(std::uint64_t number, ByteMask among, std::uint8_t* line) const {
  const auto at = lines_.find(number);
  if (at == lines_.end()) return {};
  const ByteMask bytes = at->second.mask & among;
  copy_masked(line, at->second.bytes.data(), bytes);
  return bytes;
}

}  // namespace warpline
