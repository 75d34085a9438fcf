#include "rtl_models/sm/call_return_stack.h"

#include <algorithm>

namespace warpline {
namespace {

/// The first token of the group that `token` is in.
constexpr std::uint32_t group_of(std::uint32_t token) {
  return token & ~(CallReturnStack::kGroup - 1);
}

}  // namespace

CallReturnStack::Tokens CallReturnStack::tokens(std::uint32_t first, std::uint32_t end) const {
  Tokens out;
  out.first = first;
  out.count = end - first;
  for (std::uint32_t n = first; n < end; ++n) out.value[n - first] = cache_[n % entries_];
  return out;
}

void CallReturnStack::pop_to(std::uint32_t depth) {
  WARPLINE_EXPECT(depth <= depth_, "a stack is popped, not pushed");
  depth_ = depth;
  clean_ = std::min(clean_, depth);
  low_ = std::min(low_, depth);
}

CallReturnStack::Tokens CallReturnStack::evict() {
  WARPLINE_EXPECT(full(), "tokens leave for want of room");
  const std::uint32_t end = group_of(low_) + kGroup;
  const std::uint32_t first = std::clamp(clean_, low_, end);
  const Tokens out = tokens(first, end);
  low_ = end;
  clean_ = std::max(clean_, end);
  return out;
}

CallReturnStack::Tokens CallReturnStack::write_back() {
  WARPLINE_EXPECT(!is_clean(), "some token is not in the backing store");
  const Tokens out = tokens(clean_, std::min(depth_, group_of(clean_) + kGroup));
  clean_ += out.count;
  return out;
}

CallReturnStack::Tokens CallReturnStack::wanted() const {
  WARPLINE_EXPECT(!has_top() && depth_ > 0, "the top is to be fetched");
  Tokens out;
  out.first = group_of(depth_ - 1);
  out.count = depth_ - out.first;
  return out;
}

void CallReturnStack::refill(const Tokens& tokens) {
  WARPLINE_EXPECT(!has_top() && tokens.first + tokens.count == depth_, "what was wanted comes");
  low_ = tokens.first;
  clean_ = depth_;
  for (unsigned n = 0; n < tokens.count; ++n) entry(low_ + n) = tokens.value[n];
}

}  // namespace warpline
