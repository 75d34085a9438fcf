#include "rtl_models/sm/texel_lines.h"

namespace warpline {

void TexelLines::start(const ResolvedAccess& access) {
  access_ = &access;
  lanes_ = of_image_ = 0;
  for_each_lane(access.texels().lanes(), [&](unsigned lane) {
    const TexelPlan& plan = access.plan(lane);
    unsigned left = 0;
    for (unsigned k = 0; k < plan.count; ++k)
      if (plan.offset[k] != TexelPlan::kBorder) left |= 1U << k;
    left_[lane] = static_cast<std::uint16_t>(left);
    if (left != 0) lanes_ |= LaneMask{1} << lane;
  });
}

LineAccess TexelLines::next() {
  LineAccess out;
  out.space = Space::texture;
  if (of_image_ == 0) {
    const Image& image = access_->image(first_lane(lanes_));
    for_each_lane(lanes_, [&](unsigned lane) {
      if (&access_->image(lane) == &image) of_image_ |= LaneMask{1} << lane;
    });
  }
  const unsigned first = first_lane(of_image_);
  out.line = line_of(access_->texel(first, static_cast<unsigned>(__builtin_ctz(left_[first]))));
  const unsigned bytes = access_->image(first).format.bytes();
  for_each_lane(of_image_, [&](unsigned lane) {
    for (unsigned m = left_[lane]; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const VirtualAddress at = access_->texel(lane, k);
      if (line_of(at) != out.line) continue;
      out.lanes |= LaneMask{1} << lane;
      out.sectors |= sectors_between(at.value, at.value + bytes - 1);
      left_[lane] = static_cast<std::uint16_t>(left_[lane] & ~(1U << k));
    }
    if (left_[lane] == 0) {
      lanes_ &= ~(LaneMask{1} << lane);
      of_image_ &= ~(LaneMask{1} << lane);
    }
  });
  return out;
}

}  // namespace warpline
