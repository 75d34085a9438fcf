#include "rtl_models/sm/access_lines.h"

#include <algorithm>

#include "rtl_models/sm/sm_mutations.h"

namespace warpline {

void AccessLines::start(const ResolvedAccess& access) {
  access_ = &access;
  global_ = access.global().lanes();
  constant_ = access.constant().lanes();
  local_ = access.local().lanes();
  // What is asked of others' mbarriers is no access to bytes.
  remote_ = access.op().kind == MemKind::mbarrier ? 0 : access.remote().lanes();
  image_ = access.texels().lanes();
  texels_.clear();
  if (image_ == 0 || access.op().kind != MemKind::texture_load) return;
  texels_.start(access);
  image_ = 0;
}

/// Starts the coalescer on the next space that has lanes left, of surfaces on the next of them; there is a
/// line then. Pre: some lanes are left.
bool AccessLines::next_space() {
  const MemOp& op = access_->op();
  const unsigned bytes = std::max(1U, op.bytes_per_lane());  // a line is controlled by any byte of it
  if (global_ != 0) {
    if (access_->exact() && !mutated(SmMutation::mmio_lanes_merge)) {
      coalescer_.start_each(access_->global(), bytes);
    } else {
      coalescer_.start(access_->global(), bytes);
    }
    global_ = 0;
  } else if (constant_ != 0) {
    coalescer_.start_constant(access_->constant(), bytes);
    constant_ = 0;
  } else if (local_ != 0) {
    coalescer_.start_local(access_->local(), bytes, op.accessed_words(), access_->local_base());
    local_ = 0;
  } else if (remote_ != 0) {
    coalescer_.start_remote(access_->remote(), bytes);
    remote_ = 0;
  } else {
    const Image& image = access_->image(first_lane(image_));
    LaneMask lanes = 0;
    for_each_lane(image_, [&](unsigned lane) {
      if (&access_->image(lane) == &image) lanes |= LaneMask{1} << lane;
    });
    coalescer_.start_elements(access_->texels().only(lanes), access_->element_bytes(first_lane(lanes)));
    image_ &= ~lanes;
  }
  return true;
}

}  // namespace warpline
