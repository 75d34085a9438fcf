#include "rtl_models/cache/tag_array.h"

#include <algorithm>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/random.h"

namespace warpline {

TagArray::TagArray(const CacheGeometry& geometry)
    : sets_(geometry.sets),
      ways_(geometry.ways),
      mask_((geometry.sets & (geometry.sets - 1)) == 0 ? geometry.sets - 1 : 0),
      tags_(std::size_t{geometry.sets} * geometry.ways, kNoTag),
      print_words_(geometry.ways >= 8 ? (geometry.ways + 7) / 8 : 0),
      prints_(std::size_t{geometry.sets} * print_words_),
      states_(tags_.size()),
      written_(tags_.size()),
      replacement_(replacement_named(geometry.replacement).value_or(Replacement::lru)),
      last_percent_(geometry.evict_last_percent),
      most_last_lines_(geometry.last_lines()),
      most_last_ways_(geometry.ways_for_last()) {}

void TagArray::shape(std::uint32_t sets) {
  const CacheGeometry geometry{sets, ways_, last_percent_};
  sets_ = Divider(sets);
  mask_ = (sets & (sets - 1)) == 0 ? sets - 1 : 0;
  most_last_lines_ = geometry.last_lines();
}

void TagArray::use_sets(std::uint32_t sets) {
  WARPLINE_EXPECT(sets >= 1 && std::size_t{sets} * ways_ <= tags_.size() && last_lines_ == 0,
                  "an array keeps within the sets it was made with, and is empty when their number changes");
  shape(sets);
  hand_ = 0;
}

std::uint32_t TagArray::least_recently_used(std::uint32_t base) const {
  // An invalid line's state is all zero, which no valid line's is.
  const LineState* const states = &states_[base];
  std::uint32_t best = 0;
  std::uint64_t best_rank = ~std::uint64_t{0};
  const auto look = [&](std::uint32_t w) {
    std::uint64_t rank = 0;
    static_assert(sizeof rank == sizeof(LineState));
    __builtin_memcpy(&rank, states + w, sizeof rank);
    best = rank < best_rank ? w : best;
    best_rank = std::min(rank, best_rank);
  };
  std::uint32_t w = 0;
  for (; w + 4 <= ways_; w += 4) {
    look(w);
    look(w + 1);
    look(w + 2);
    look(w + 3);
  }
  for (; w < ways_; ++w) look(w);
  return base + best;
}

/// Looks at the ways one by one: for policies that a set's order as numbers does not give.
std::uint32_t TagArray::victim_by_policy(std::uint32_t base) const {
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint32_t count = 0;
  for (std::uint32_t i = base; i < base + ways_; ++i) {
    if (!present(i)) return i;
    count = states_[i].eviction < lowest ? 1 : count + (states_[i].eviction == lowest);
    lowest = std::min<std::uint64_t>(lowest, states_[i].eviction);
  }
  const auto may_go = [&](std::uint32_t i) { return states_[i].eviction == lowest; };
  if (replacement_ == Replacement::random) {
    std::uint64_t skip = splitmix64(clock_ ^ std::uint64_t{base} << 48U) % count;
    std::uint32_t i = base;
    while (!may_go(i) || skip-- != 0) ++i;
    return i;
  }
  // A tree of bits, each of which points to the half that was not used last, says no more than the times do.
  std::uint32_t first = base, end = base + ways_;
  while (end - first > 1) {
    const std::uint32_t middle = first + (end - first + 1) / 2;
    const auto newest = [&](std::uint32_t from, std::uint32_t to) {
      std::uint64_t used = 0;
      bool any = false;
      for (std::uint32_t i = from; i < to; ++i) {
        used = std::max<std::uint64_t>(used, states_[i].used);
        any = any || may_go(i);
      }
      return any ? used : ~std::uint64_t{0};
    };
    if (newest(first, middle) < newest(middle, end)) {
      end = middle;
    } else {
      first = middle;
    }
  }
  return first;
}

LineState& TagArray::install(std::uint32_t index, std::uint64_t number, EvictionClass eviction) {
  // Seldom: most lines come and go as others.
  if (const bool last = eviction == EvictionClass::last; last != is_last(index))
    last_lines_ += last ? 1 : static_cast<std::uint32_t>(-1);
  tags_[index] = number;
  keep_print(index, number);
  LineState fresh{};
  fresh.used = ++clock_ & kClockMask;
  fresh.eviction = static_cast<std::uint64_t>(eviction) & 3U;
  return states_[index] = fresh;
}

void TagArray::clear() {
  if (clock_ == 0) return;  // nothing was installed
  std::fill(tags_.begin(), tags_.end(), kNoTag);
  std::fill(states_.begin(), states_.end(), LineState{});
  clock_ = round_began_ = old_before_ = 0;
  last_lines_ = hand_ = 0;
}

void TagArray::give_class(std::uint32_t index, EvictionPriority priority) {
  LineState& state = states_[index];
  EvictionClass wanted = class_of(priority);
  if (!names_class(priority) || state.eviction == static_cast<std::uint64_t>(wanted)) return;
  if (wanted == EvictionClass::last) {
    wanted = admit_last(index / ways_ * ways_);
    last_lines_ += wanted == EvictionClass::last;
  } else {
    last_lines_ -= is_last(index);
  }
  state.eviction = static_cast<std::uint64_t>(wanted) & 3U;
}

void TagArray::use_as(std::uint32_t index, EvictionPriority priority) {
  if (priority == EvictionPriority::unchanged) return;
  give_class(index, priority);
  touch(index);
}

bool TagArray::sweep_one() {
  const std::uint32_t at = hand_;
  const bool takes = is_last(at) && is_old(at);
  if (takes) demote(at);
  if (++hand_ == lines()) {
    hand_ = 0;
    old_before_ = round_began_;
    round_began_ = clock_ + 1;
  }
  return takes;
}

EvictionClass TagArray::admit_last(std::uint32_t base) {
  if (most_last_lines_ == 0) return EvictionClass::normal;
  std::uint32_t held = 0, oldest = kAbsent;
  for (std::uint32_t i = base; i < base + ways_; ++i) {
    if (!is_last(i)) continue;
    if (held++ == 0 || states_[i].used < states_[oldest].used) oldest = i;
  }
  if (held == most_last_ways_) {
    if (!is_old(oldest)) {
      sweep_one();  // so that no old line keeps its class for ever
      return EvictionClass::normal;
    }
    demote(oldest);
  }
  // Ends: in its third round the hand takes the first such line, for none has been used meanwhile. A use buys
  // a line two steps of the hand at most, and the other lines of a round are few for each that is evict_last.
  while (last_lines_ >= most_last_lines_) sweep_one();
  return EvictionClass::last;
}

void TagArray::mark_dirty(std::uint32_t index, ByteMask more, PhysicalAddress home) {
  LineState& state = states_[index];
  Written& written = written_[index];
  written.dirty = state.has_dirty ? written.dirty | more : more;
  written.home = home;
  state.has_dirty = 1;
  state.last_use = 0;
  state.add_valid(written.dirty.full_sectors());
}

}  // namespace warpline
