#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/sim/request.h"
#include "rtl_models/translation/translation_parameters.h"

namespace warpline {

struct TranslationCounters {
  std::uint64_t first_hits = 0, second_hits = 0, walks = 0;
  template <class F>
  void visit(F&& f) const {
    f("first_hits", first_hits, "requests", "whose page the TPC's TLB had");
    f("second_hits", second_hits, "requests", "whose page the second TLB had");
    f("walks", walks, "requests", "that walked through the page tables");
  }
};

/// The TLBs of a GPU: how much longer a request takes until its address is translated. Pages are those of
/// virtual addresses. A look-up puts the page into both levels at once, where that of the set which was used
/// least recently makes room: requests that come for the page meanwhile find it.
class Translation {
 public:
  /// Pre: the parameters have no problems, and present().
  Translation(const TranslationParameters& parameters, unsigned tpcs);

  /// Cycles that the request takes longer than one whose page is in its TPC's TLB. Pre: tpc < tpcs.
  unsigned delay(unsigned tpc, const Request& r) {
    const std::uint64_t page = r.virtual_line.value >> page_shift_;
    if (recent_[tpc] == page + 1) {
      ++counters_.first_hits;
      return 0;
    }
    return look_up(tpc, page);
  }
  /// Forgets all pages.
  void clear();
  [[nodiscard]] const TranslationCounters& counters() const { return counters_; }
  template <class Archive>
  void archive(Archive& a) {
    a(turn_, counters_.first_hits, counters_.second_hits, counters_.walks);
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
  unsigned look_up(unsigned tpc, std::uint64_t page);
  /// Whether a level has the page, which it has from now on.
  bool use(Way* set, unsigned ways, std::uint64_t page);

  unsigned page_shift_, first_miss_, walk_;
  Shape first_shape_, second_shape_;
  std::vector<std::uint64_t> recent_;  ///< of each TPC: the page that it used last, and 1
  std::vector<Way> first_, second_;
  std::uint64_t turn_ = 0;
  TranslationCounters counters_;
};

}  // namespace warpline
