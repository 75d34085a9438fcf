#include "platform/programs/sass_trace/packed_warp.h"

#include <algorithm>
#include <cstring>

namespace warpline::sass {

void PackedCursor::begin(PackedBytes& from, WarpPlace place) {
  const std::size_t size = std::min<std::uint64_t>(place.bytes, kWindow) + PackedWarp::kMostBytes;
  if (window_.size() < size) window_.resize(size);
  at_ = end_ = window_.data();
  offset_ = place.offset;
  left_ = place.bytes;
  entry_ = next_entry_ = 0;
  mask_ = 0;
  immediate_ = 0;
  has_addresses_ = false;
  address_ = 0;
  if (left_ != 0) refill(from);
}

void PackedCursor::skip_addresses() {
  read_addresses(
      at_, address_, [](std::uint64_t, std::int64_t) { return true; },
      [](unsigned, std::uint64_t) { return true; });
}

void PackedCursor::refill(PackedBytes& from) {
  const std::size_t held = end_ > at_ ? static_cast<std::size_t>(end_ - at_) : 0;
  std::memmove(window_.data(), at_, held);
  const std::size_t room = window_.size() - PackedWarp::kMostBytes - held;
  const std::size_t more = std::min<std::uint64_t>(left_, room);
  from.read(offset_, window_.data() + held, more);
  offset_ += more;
  left_ -= more;
  at_ = window_.data();
  end_ = window_.data() + held + more;
  if (left_ == 0) std::memset(window_.data() + held + more, 0, PackedWarp::kMostBytes);
}

}  // namespace warpline::sass
