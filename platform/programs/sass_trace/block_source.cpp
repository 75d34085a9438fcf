#include "platform/programs/sass_trace/block_source.h"

#include "rtl_models/base/contract.h"

namespace warpline::sass {

WarpPlace BlockQueue::take(std::uint64_t ordinal, unsigned warp) {
  while (blocks_read_ <= ordinal) {
    TraceBlock block = source_->next();
    waiting_[blocks_read_++] = {std::move(block), warps_per_block_};
    if (blocks_read_ == blocks_) source_->end();
  }
  const auto found = waiting_.find(ordinal);
  WARPLINE_EXPECT(found != waiting_.end(), "each warp of a CTA starts once");
  const WarpPlace place = found->second.block.warps[warp];
  if (--found->second.takers == 0) waiting_.erase(found);
  return place;
}

}  // namespace warpline::sass
