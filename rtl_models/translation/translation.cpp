#include "rtl_models/translation/translation.h"

#include <algorithm>

namespace warpline {

Translation::Translation(const TranslationParameters& parameters, unsigned tpcs)
    : page_shift_(static_cast<unsigned>(__builtin_ctz(parameters.page_bytes))),
      first_miss_(parameters.first_miss),
      walk_(parameters.walk),
      levels_(parameters.walk_reads),
      first_shape_(parameters.first_pages),
      second_shape_(parameters.second_pages),
      recent_(tpcs),
      first_(std::size_t{tpcs} * parameters.first_pages),
      second_(parameters.second_pages),
      tables_(kLeastMemory, parameters.page_bytes) {
  if (parameters.reads()) walks_.emplace(parameters);
}

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

PageFound Translation::look_up(unsigned tpc, std::uint64_t page) {
  ++turn_;
  recent_[tpc] = page + 1;
  Way* const own = first_.data() + std::size_t{tpc} * first_shape_.sets * first_shape_.ways;
  if (use(own + first_shape_.first_of(page), first_shape_.ways, page)) return PageFound::first;
  if (second_.empty() || use(second_.data() + second_shape_.first_of(page), second_shape_.ways, page))
    return PageFound::second;
  return PageFound::nowhere;
}

void Translation::count(PageFound found) {
  switch (found) {
    case PageFound::first: ++counters_.first_hits; break;
    case PageFound::second: ++counters_.second_hits; break;
    case PageFound::nowhere: ++counters_.walks; break;
  }
}

Translation::Step Translation::begin(unsigned tpc, const Request& r, std::uint64_t edge) {
  const std::uint64_t page = page_of(r);
  const PageFound found = look_up(tpc, page);
  Step step{cycles_of(found), walks_->of(page)};
  if (step.walk != PageWalks::kNone) {
    ++counters_.merges;
    return step;
  }
  count(found);
  if (found == PageFound::nowhere) step.walk = walks_->begin(page, edge + step.cycles, r);
  return step;
}

bool Translation::begin_loosely(unsigned tpc, const Request& r, unsigned& cycles) {
  const PageFound found = look_up(tpc, page_of(r));
  count(found);
  cycles = cycles_of(found) + (found == PageFound::nowhere ? walk_ : 0);
  return found == PageFound::nowhere;
}

void Translation::clear() {
  turn_ = 0;
  std::fill(recent_.begin(), recent_.end(), 0);
  std::fill(first_.begin(), first_.end(), Way{});
  std::fill(second_.begin(), second_.end(), Way{});
}

}  // namespace warpline
