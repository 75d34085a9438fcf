#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpline/base/byte_mask.h"
#include "warpline/base/problem.h"
#include "warpline/base/types.h"
#include "warpline/fabric/request.h"

namespace warpline {

/// Shape of a sectored, set-associative cache of 128-byte lines. Any number of sets works.
struct CacheGeometry {
  unsigned sets = 64;
  unsigned ways = 4;
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("sets", sets, "number of sets");
    f("ways", ways, "lines per set");
  }
};

/// What a cache knows of one line beside its tag.
struct LineState {
  SectorMask valid = 0;   ///< sectors whose 32 bytes can all be read
  EvictionClass eviction = EvictionClass::normal;
  bool local = false;     ///< a line of local memory
  bool sysmem = false;    ///< a copy of system memory
  ByteMask dirty;         ///< bytes newer than the level below
  PhysicalAddress home;   ///< where dirty bytes go back to
};

/// Tags of a sectored cache: which lines are present, least recently used order within each
/// eviction class. Holds no data and knows no time; a line is named by an index that data arrays
/// share. Victim order: invalid, first, normal, last; least recently used within a class.
class TagArray {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;

  explicit TagArray(const CacheGeometry& geometry);

  /// The index of the line, or kAbsent. `number` is the line number (address / 128), `set_key` the
  /// number that picks the set. Changes nothing.
  [[nodiscard]] std::uint32_t find(std::uint64_t number, std::uint64_t set_key) const {
    const std::uint32_t base = set_of(set_key) * ways_;
    const std::uint64_t* tags = &tags_[base];
    for (std::uint32_t w = 0; w < ways_; ++w)
      if (tags[w] == number) return base + w;
    return kAbsent;
  }
  /// Makes a present line the most recently used of its class.
  void touch(std::uint32_t index) { used_[index] = ++clock_; }
  /// The line that a new line of this set would replace (valid or not).
  [[nodiscard]] std::uint32_t victim(std::uint64_t set_key) const;
  /// Puts a line at `index`, most recently used, with a fresh state.
  LineState& install(std::uint32_t index, std::uint64_t number, EvictionClass eviction);
  /// Marks the line at `index` invalid.
  void drop(std::uint32_t index) { tags_[index] = kNoTag; }

  [[nodiscard]] bool present(std::uint32_t index) const { return tags_[index] != kNoTag; }
  [[nodiscard]] std::uint64_t number(std::uint32_t index) const { return tags_[index]; }
  [[nodiscard]] LineState& state(std::uint32_t index) { return states_[index]; }
  [[nodiscard]] const LineState& state(std::uint32_t index) const { return states_[index]; }
  [[nodiscard]] std::uint32_t lines() const { return static_cast<std::uint32_t>(tags_.size()); }

 private:
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};
  [[nodiscard]] std::uint32_t set_of(std::uint64_t key) const {
    return static_cast<std::uint32_t>(mask_ != 0 ? key & mask_ : key % sets_);
  }
  std::uint32_t sets_, ways_;
  std::uint64_t mask_;  ///< sets - 1 where that is a usable mask, else 0
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint64_t> used_;
  std::vector<LineState> states_;
  std::uint64_t clock_ = 0;
};

}  // namespace warpline
