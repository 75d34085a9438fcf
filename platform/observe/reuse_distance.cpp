#include "platform/observe/reuse_distance.h"

#include <algorithm>

namespace warpline {

void ReuseDistance::renumber() {
  std::vector<std::pair<std::size_t, std::uint64_t>> order;
  order.reserve(last_.size());
  for (const auto& [line, at] : last_) order.emplace_back(at, line);
  std::sort(order.begin(), order.end());
  ones_.assign(std::max(kLeast, 2 * order.size()), 0);
  next_ = 0;
  for (const auto& [at, line] : order) {
    last_[line] = next_;
    add(next_, 1);
    ++next_;
  }
}

}  // namespace warpline
