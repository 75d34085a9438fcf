#include "rtl_models/translation/page_walks.h"

#include <iterator>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {

PageWalks::Number PageWalks::begin(std::uint64_t page, std::uint64_t ready, const Request& r) {
  if (free_.empty()) {
    free_.push_back(static_cast<Number>(walks_.size()));
    walks_.emplace_back();
  }
  const Number n = free_.back();
  free_.pop_back();
  Walk& w = walks_[n];
  w.page = page;
  w.on_behalf = r;
  w.left = reads_of_walk_;
  w.ended = false;
  const bool first = by_page_.emplace(page, n).second;
  WARPLINE_EXPECT(first, "a page is walked for once at a time");
  insert(ready_, {ready, n});
  return n;
}

void PageWalks::wait(Number walk, std::uint32_t place) {
  Walk& w = walks_[walk];
  ++w.waiters;
  if (w.places.empty() || w.places.back() != place) w.places.push_back(place);
}

void PageWalks::leave(Number walk) {
  if (--walks_[walk].waiters == 0) free_.push_back(walk);
}

void PageWalks::insert(std::deque<At>& list, const At& what) {
  auto at = list.end();
  while (at != list.begin() && std::prev(at)->at > what.at) --at;
  list.insert(at, what);
}

void PageWalks::start(std::uint64_t edge) {
  const unsigned walker = free_walkers_.back();
  free_walkers_.pop_back();
  const Number n = ready_.front().number;
  ready_.pop_front();
  walkers_[walker] = n;
  walks_[n].walker = walker;
  insert(reads_, {edge + fixed_, walker});
}

std::vector<std::uint32_t> PageWalks::end(Number n) {
  Walk& w = walks_[n];
  w.ended = true;
  w.walker = kNone;
  by_page_.erase(w.page);
  return std::exchange(w.places, {});
}

}  // namespace warpline
