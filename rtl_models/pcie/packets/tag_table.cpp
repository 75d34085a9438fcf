#include "rtl_models/pcie/packets/tag_table.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {

TagTable::TagTable(const LinkParameters& parameters, const ConfigSpace& config)
    : config_(config), timeout_(parameters.completion_timeout), entries_(parameters.tags) {
  reset();
}

bool TagTable::has_free() const {
  return std::any_of(free_.begin(), free_.end(), [this](std::uint16_t tag) { return usable(tag); });
}

void TagTable::give(Tlp& request, Cycle now) {
  const auto at = std::find_if(free_.begin(), free_.end(), [this](std::uint16_t tag) { return usable(tag); });
  WARPLINE_EXPECT(at != free_.end(), "a tag that is free is given");
  request.tag = *at;
  free_.erase(at);
  entries_[request.tag] = {
      Entry::State::under_way, request.cookie, request.address, request.bytes, now, made_++};
  ++in_flight_;
  take_back(now);
}

void TagTable::sent(const Tlp& request, Cycle now) {
  Entry& entry = entries_[request.tag];
  if (entry.state == Entry::State::free) return;
  entry.sent = std::max(entry.sent, now);
  if (entry.state == Entry::State::under_way) by_age_.push_back({request.tag, entry.number});
}

void TagTable::end(Entry& entry, bool may_come) {
  in_flight_ -= entry.state == Entry::State::under_way;
  entry.state = Entry::State::given_up;
  if (!may_come) free(static_cast<std::uint16_t>(&entry - entries_.data()));
  // Only one under way may be first, as it says when the next is given up.
  while (!by_age_.empty()) {
    const Entry& first = entries_[by_age_.front().tag];
    if (first.state == Entry::State::under_way && first.number == by_age_.front().number) break;
    by_age_.pop_front();
  }
}

/// Of the tags that are given up, the one whose request was made first, if there is no other to be had.
std::optional<std::uint16_t> TagTable::first_lost() const {
  std::optional<std::uint16_t> first;
  if (given_up() == 0 || timeout() == 0 || has_free()) return first;
  for (std::uint16_t tag = 0; tag < entries_.size(); ++tag) {
    if (entries_[tag].state != Entry::State::given_up || !usable(tag)) continue;
    if (!first || entries_[tag].number < entries_[*first].number) first = tag;
  }
  return first;
}

Cycle TagTable::next_expiry() const {
  Cycle next = kNever;
  if (!by_age_.empty() && timeout() != 0) next = entries_[by_age_.front().tag].sent + timeout();
  if (const auto tag = first_lost()) next = std::min(next, lost_at(entries_[*tag]));
  return next;
}

void TagTable::give_up_all() {
  for (Entry& entry : entries_)
    if (entry.state == Entry::State::under_way) entry.state = Entry::State::given_up;
  by_age_.clear();
  in_flight_ = 0;
}

}  // namespace warpline
