#include "rtl_models/translation/translation.h"

#include <algorithm>

namespace warpline {

Translation::Translation(const TranslationParameters& parameters, unsigned tpcs)
    : page_shift_(static_cast<unsigned>(__builtin_ctz(parameters.page_bytes))),
      first_miss_(parameters.first_miss),
      walk_(parameters.walk),
      first_shape_(parameters.first_pages),
      second_shape_(parameters.second_pages),
      recent_(tpcs),
      first_(std::size_t{tpcs} * parameters.first_pages),
      second_(parameters.second_pages) {}

bool Translation::use(Way* set, unsigned ways, std::uint64_t page) {
  Way* oldest = set;
  for (Way* w = set; w != set + ways; ++w) {
    if (w->page == page + 1) {
      w->used = turn_;
      return true;
    }
    if (w->used < oldest->used) oldest = w;
  }
  *oldest = {page + 1, turn_};
  return false;
}

unsigned Translation::look_up(unsigned tpc, std::uint64_t page) {
  ++turn_;
  recent_[tpc] = page + 1;
  Way* const own = first_.data() + std::size_t{tpc} * first_shape_.sets * first_shape_.ways;
  if (use(own + first_shape_.first_of(page), first_shape_.ways, page)) {
    ++counters_.first_hits;
    return 0;
  }
  if (second_.empty() || use(second_.data() + second_shape_.first_of(page), second_shape_.ways, page)) {
    ++counters_.second_hits;
    return first_miss_;
  }
  ++counters_.walks;
  return first_miss_ + walk_;
}

void Translation::clear() {
  turn_ = 0;
  std::fill(recent_.begin(), recent_.end(), 0);
  std::fill(first_.begin(), first_.end(), Way{});
  std::fill(second_.begin(), second_.end(), Way{});
}

}  // namespace warpline
