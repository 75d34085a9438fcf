#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rtl_models/sim/request.h"
#include "rtl_models/translation/page_tables.h"
#include "rtl_models/translation/page_walks.h"
#include "rtl_models/translation/translation_parameters.h"

namespace warpline {

struct TranslationCounters {
  std::uint64_t first_hits = 0, second_hits = 0, walks = 0, merges = 0, walk_reads = 0;
  template <class F>
  void visit(F&& f) const {
    f("first_hits", first_hits, "requests", "whose page the TPC's TLB had");
    f("second_hits", second_hits, "requests", "whose page the second TLB had");
    f("walks", walks, "requests", "that walked through the page tables");
    f("merges", merges, "requests", "that waited for a walk under way for their page");
    f("walk_reads", walk_reads, "sectors", "of page tables, read from L2 by walks");
  }
};

/// Where a look-up finds a page.
enum class PageFound : std::uint8_t { first, second, nowhere };

/// The TLBs of a GPU: how much longer a request takes until its address is translated. Pages are those of
/// virtual addresses. A look-up puts the page into both levels at once, where that of the set which was used
/// least recently makes room: requests that come for the page meanwhile find it, and where walks read page
/// tables, wait until its walk has ended.
class Translation {
 public:
  /// Pre: the parameters have no problems, and present().
  Translation(const TranslationParameters& parameters, unsigned tpcs);

  /// Cycles that the request takes longer than one whose page is in its TPC's TLB. Pre: tpc < tpcs; walks
  /// read nothing.
  unsigned delay(unsigned tpc, const Request& r) {
    const std::uint64_t page = page_of(r);
    if (recent_[tpc] == page + 1) {
      ++counters_.first_hits;
      return 0;
    }
    const PageFound found = look_up(tpc, page);
    count(found);
    return cycles_of(found) + (found == PageFound::nowhere ? walk_ : 0);
  }

  /// What a request has to wait for: so many cycles, and the end of a walk.
  struct Step {
    unsigned cycles = 0;
    PageWalks::Number walk = PageWalks::kNone;
  };
  /// Looks up the page of a request that comes at `edge`. Pre: tpc < tpcs; walks read page tables.
  Step begin(unsigned tpc, const Request& r, std::uint64_t edge);
  /// The same, loosely timed: whether a walk is to read entry() of each level, from the uppermost to 0, when
  /// `cycles` have passed. What comes meanwhile does not wait.
  bool begin_loosely(unsigned tpc, const Request& r, unsigned& cycles);
  [[nodiscard]] unsigned levels() const { return levels_; }
  /// Has a walk read an entry of the page tables.
  PhysicalAddress read_entry(std::uint64_t page, unsigned level) {
    ++counters_.walk_reads;
    return tables_.entry(page, level);
  }
  [[nodiscard]] std::uint64_t page_of(const Request& r) const { return r.virtual_line.value >> page_shift_; }
  /// Null: walks read nothing.
  [[nodiscard]] PageWalks* walks() { return walks_ ? &*walks_ : nullptr; }
  [[nodiscard]] const PageWalks* walks() const { return walks_ ? &*walks_ : nullptr; }
  /// How large video memory is, in which page tables lie; 1 MiB unless told. Pre: nothing is walked for.
  void place_tables(std::uint64_t vidmem_bytes) {
    tables_ = PageTables(vidmem_bytes, std::uint64_t{1} << page_shift_);
  }
  /// Forgets all pages.
  void clear();
  [[nodiscard]] const TranslationCounters& counters() const { return counters_; }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nothing is walked for.
    a(turn_, counters_);
    a.fixed(recent_).fixed(first_).fixed(second_);
  }

 private:
  struct Way {
    std::uint64_t page = 0;  ///< its number and 1; 0: none
    std::uint64_t used = 0;  ///< the turn in which it was last
    template <class Archive>
    void archive(Archive& a) {
      a(page, used);
    }
  };
  /// Where the sets of a level lie.
  struct Shape {
    explicit Shape(unsigned pages)
        : ways(pages <= TranslationParameters::kMostFullyAssociative ? pages : TranslationParameters::kWays),
          sets(pages == 0 ? 0 : pages / ways) {}
    /// Pages that follow each other have different sets, and so have those a multiple of a power of two
    /// apart.
    [[nodiscard]] std::size_t first_of(std::uint64_t page) const {
      return static_cast<std::size_t>((page + page / sets * kStep) % sets) * ways;
    }
    unsigned ways, sets;
    static constexpr std::uint64_t kStep = 5;
  };
  /// Puts the page into both levels.
  PageFound look_up(unsigned tpc, std::uint64_t page);
  [[nodiscard]] unsigned cycles_of(PageFound found) const {
    return found == PageFound::first ? 0 : first_miss_;
  }
  void count(PageFound found);
  /// Whether a level has the page, which it has from now on.
  bool use(Way* set, unsigned ways, std::uint64_t page);

  static constexpr std::uint64_t kLeastMemory = 1U << 20U;
  unsigned page_shift_, first_miss_, walk_, levels_;
  Shape first_shape_, second_shape_;
  std::vector<std::uint64_t> recent_;  ///< of each TPC: the page that it used last, and 1
  std::vector<Way> first_, second_;
  std::uint64_t turn_ = 0;
  PageTables tables_;
  std::optional<PageWalks> walks_;
  TranslationCounters counters_;
};

}  // namespace warpline
