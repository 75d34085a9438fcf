#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/base/divider.h"
#include "rtl_models/base/types.h"
#include "rtl_models/cache/cache_geometry.h"
#include "rtl_models/cache/eviction_class.h"

namespace warpline {

/// What every look-up needs of a line beside its tag: eight bytes. Class and age are the high bits
/// (least significant field first), so that the lines of a set compare in victim order as numbers.
struct LineState {
  std::uint64_t valid : 4;      ///< SectorMask of the sectors whose 32 bytes can all be read
  std::uint64_t kind : 2;       ///< LineKind
  std::uint64_t last_use : 1;   ///< its dirty bytes are owed to nobody (`ld.lu`)
  std::uint64_t sysmem : 1;     ///< a copy of system memory
  std::uint64_t has_dirty : 1;  ///< some byte is newer than the level below
  std::uint64_t spare : 5;      ///< 0; without a name it would be whatever the compiler leaves there
  std::uint64_t used : 48;      ///< when it was used last, in look-ups of this array, from 1; 0: never
  std::uint64_t eviction : 2;   ///< EvictionClass

  [[nodiscard]] SectorMask valid_sectors() const { return static_cast<SectorMask>(valid); }
  void add_valid(SectorMask m) { valid = (valid | m) & kAllSectors; }
  template <class Archive>
  void archive(Archive& a) {
    a.bytes(this, sizeof *this);
  }
};

/// Tags of a sectored cache: which lines are present, least recently used order within each
/// eviction class. Holds no data and knows no time; a line is named by an index that data arrays
/// share. Victim order: invalid, first, normal, last; within a class as Replacement says.
///
/// The number of evict_last lines is limited. When the limit is reached, a further one makes an old one
/// normal, which is found as by a clock algorithm: a hand goes round the array, and takes the first
/// evict_last line that has not been used since the hand began the round before its current one. So lines of
/// a finished program give way, and the lines of a hot set that is too large drive each other out. Hardware
/// behaves alike: lines that are not touched lose their persistence in the end (CUDA C++ Programming Guide,
/// "Reset L2 Access to Normal"). Where the limit of a set is reached first, the set's oldest evict_last line
/// becomes normal if it is that old; otherwise the new line is installed as normal, and the others stay.
class TagArray {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;

  explicit TagArray(const CacheGeometry& geometry);
  /// From now on it has so many sets, of those it was made with. Pre: 1 to that many; no line is present.
  void use_sets(std::uint32_t sets);

  /// The index of the line, or kAbsent. `number` is the line number (address / 128), `set_key` the
  /// number that picks the set. Changes nothing.
  [[nodiscard, gnu::always_inline]] std::uint32_t find(std::uint64_t number, std::uint64_t set_key) const {
    const std::uint32_t set = set_of(set_key);
    if (print_words_ != 0) return find_by_print(number, set);
    const std::uint32_t base = set * ways_;
    const std::uint64_t* tags = &tags_[base];
    for (std::uint32_t w = 0; w < ways_; ++w)
      if (tags[w] == number) return base + w;
    return kAbsent;
  }
  /// Has the host fetch what it will read beside the tags of a set, where the set is not in its caches.
  void prefetch_states(std::uint64_t set_key) const {
    constexpr std::uint32_t kStatesPerHostLine = 64 / sizeof(LineState);
    const LineState* states = &states_[set_of(set_key) * ways_];
    for (std::uint32_t w = 0; w < ways_; w += kStatesPerHostLine) __builtin_prefetch(states + w);
  }
  /// Makes a present line the most recently used of its class.
  void touch(std::uint32_t index) { states_[index].used = ++clock_ & kClockMask; }
  /// A present line is accessed with this priority: it takes the class that the priority names, if any, and
  /// becomes the most recently used of its class; `unchanged` leaves both as they are.
  void use(std::uint32_t index, EvictionPriority priority) {
    if (priority == EvictionPriority::none) {
      touch(index);
    } else {
      use_as(index, priority);
    }
  }
  /// A present line takes the class that the priority names, if any; its age stays.
  void give_class(std::uint32_t index, EvictionPriority priority);
  /// The class of a line that is to be installed with this priority. For evict_last, makes room among
  /// the lines of that class: to be called before victim().
  EvictionClass admit(std::uint64_t set_key, EvictionPriority priority) {
    const EvictionClass wanted = class_of(priority);
    return wanted == EvictionClass::last ? admit_last(set_of(set_key) * ways_) : wanted;
  }
  /// The line that a new line of this set would replace (valid or not).
  [[nodiscard]] std::uint32_t victim(std::uint64_t set_key) const {
    const std::uint32_t base = set_of(set_key) * ways_;
    return replacement_ == Replacement::lru ? least_recently_used(base) : victim_by_policy(base);
  }
  /// Puts a line at `index`, most recently used, with a fresh state.
  LineState& install(std::uint32_t index, std::uint64_t number, EvictionClass eviction);
  /// Drops every line, dirty ones too, and forgets who was there.
  void clear();
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(tags_).fixed(states_);
    a(clock_, last_lines_, round_began_, old_before_);
    a.index(hand_, tags_.size());
    std::uint32_t sets = sets_in_use();
    a(sets);
    if (sets == 0 || std::size_t{sets} * ways_ > tags_.size()) a.misfit("has sets that are not there");
    shape(sets);
    for (std::size_t i = 0; !a.saves() && i < tags_.size(); ++i)
      keep_print(static_cast<std::uint32_t>(i), tags_[i]);
    for (std::size_t i = 0; i < tags_.size(); ++i)
      if (states_[i].has_dirty) a(written_[i].dirty, written_[i].home);
  }
  /// Marks the line at `index` invalid.
  void drop(std::uint32_t index) {
    last_lines_ -= is_last(index);
    tags_[index] = kNoTag;
    states_[index] = LineState{};
  }

  [[nodiscard]] bool present(std::uint32_t index) const { return tags_[index] != kNoTag; }
  [[nodiscard]] std::uint64_t number(std::uint32_t index) const { return tags_[index]; }
  [[nodiscard]] LineState& state(std::uint32_t index) { return states_[index]; }
  [[nodiscard]] const LineState& state(std::uint32_t index) const { return states_[index]; }
  /// Bytes of a line that are newer than the level below.
  [[nodiscard]] ByteMask dirty(std::uint32_t index) const {
    return states_[index].has_dirty ? written_[index].dirty : ByteMask{};
  }
  /// Where dirty bytes go back to. Pre: the line has some.
  [[nodiscard]] PhysicalAddress home(std::uint32_t index) const { return written_[index].home; }
  /// Bytes `more` of the line are newer than the level below, at `home`. Sectors that are written whole
  /// become valid. What a last use gave up is owed again.
  void mark_dirty(std::uint32_t index, ByteMask more, PhysicalAddress home);
  /// The level below has the line's bytes now.
  void mark_clean(std::uint32_t index) { states_[index].has_dirty = 0; }
  /// Of the sets in use.
  [[nodiscard]] std::uint32_t lines() const { return sets_in_use() * ways_; }

 private:
  /// Eight bits of a line number, by which most lines that are not looked for are told at once.
  [[nodiscard]] static std::uint8_t print_of(std::uint64_t number) {
    return static_cast<std::uint8_t>(number * 0x9E3779B97F4A7C15ULL >> 56U);
  }
  [[nodiscard, gnu::noinline]] std::uint32_t find_by_print(std::uint64_t number, std::uint32_t set) const {
    constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101, kHighs = 0x8080'8080'8080'8080;
    const std::uint64_t wanted = kOnes * print_of(number);
    const std::uint64_t* const words = &prints_[std::size_t{set} * print_words_];
    for (std::uint32_t i = 0; i < print_words_; ++i) {
      // The bytes that are zero have their highest bits set; so may others above them.
      const std::uint64_t differs = words[i] ^ wanted;
      for (std::uint64_t m = (differs - kOnes) & ~differs & kHighs; m != 0; m &= m - 1) {
        const std::uint32_t w = i * 8 + static_cast<std::uint32_t>(__builtin_ctzll(m)) / 8;
        if (w < ways_ && tags_[set * ways_ + w] == number) return set * ways_ + w;
      }
    }
    return kAbsent;
  }
  void keep_print(std::uint32_t index, std::uint64_t number) {
    if (print_words_ == 0) return;
    const std::uint32_t set = index / ways_, way = index % ways_;
    std::uint64_t& word = prints_[std::size_t{set} * print_words_ + way / 8];
    const unsigned shift = way % 8 * 8;
    word = (word & ~(std::uint64_t{0xFF} << shift)) | std::uint64_t{print_of(number)} << shift;
  }
  [[nodiscard]] std::uint32_t sets_in_use() const { return static_cast<std::uint32_t>(sets_.divisor()); }
  void shape(std::uint32_t sets);
  [[nodiscard]] std::uint32_t least_recently_used(std::uint32_t base) const;
  [[nodiscard]] std::uint32_t victim_by_policy(std::uint32_t base) const;
  void use_as(std::uint32_t index, EvictionPriority priority);
  EvictionClass admit_last(std::uint32_t base);
  [[nodiscard]] bool is_last(std::uint32_t index) const {
    return states_[index].eviction == static_cast<std::uint64_t>(EvictionClass::last);
  }
  [[nodiscard]] bool is_old(std::uint32_t index) const { return states_[index].used < old_before_; }
  /// Makes a line that is evict_last normal.
  void demote(std::uint32_t index) {
    states_[index].eviction = static_cast<std::uint64_t>(EvictionClass::normal) & 3U;
    --last_lines_;
  }
  /// Looks at the next line, and makes it normal if it is evict_last and old; whether it did.
  bool sweep_one();
  static constexpr std::uint64_t kClockMask = (std::uint64_t{1} << 48U) - 1;
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};
  [[nodiscard]] std::uint32_t set_of(std::uint64_t key) const {
    return static_cast<std::uint32_t>(mask_ != 0 ? key & mask_ : sets_.remainder(key));
  }
  Divider sets_;
  std::uint32_t ways_;
  std::uint64_t mask_;  ///< sets - 1 where that is a usable mask, else 0
  struct Written {
    ByteMask dirty;
    PhysicalAddress home;
  };
  std::vector<std::uint64_t> tags_;
  std::uint32_t print_words_;          ///< of a set in prints_; 0: few ways are compared one by one
  std::vector<std::uint64_t> prints_;  ///< print_of() each tag, eight in a word; what has no tag may have any
  std::vector<LineState> states_;
  std::vector<Written> written_;  ///< touched for lines with dirty bytes only
  std::uint64_t clock_ = 0;
  Replacement replacement_;
  unsigned last_percent_;          ///< of the lines in use, at most, that evict_last may hold
  std::uint32_t most_last_lines_;  ///< of all lines in use
  std::uint32_t most_last_ways_;   ///< of one set
  std::uint32_t last_lines_ = 0;   ///< lines that are evict_last
  std::uint32_t hand_ = 0;         ///< the line that is looked at next
  std::uint64_t round_began_ = 0;  ///< clock_ at the start of the hand's round
  std::uint64_t old_before_ = 0;   ///< and of the round before
};

}  // namespace warpline
