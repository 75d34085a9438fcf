#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// The translation look-aside buffers (TLBs) between SMs and the L2 slices: the SMs of a TPC share a first
/// one, all of a GPU a second. They take time; which page lies where is the address space's affair. A level
/// of up to 16 pages is fully associative, a larger one has sets of 8 ways (Zhang et al., CCS 2023).
///
/// A page that neither has is walked for. A walk takes a fixed time, and then reads its entries of the page
/// tables from L2, one after the other, as each says where the next lies.
struct WARPLINE_PUBLIC TranslationParameters {
  static constexpr unsigned kWays = 8, kMostFullyAssociative = 16;
  static constexpr unsigned kMostReads = 5, kMostWalkers = 4096;
  unsigned page_bytes = 1U << 21U;
  unsigned first_pages = 0;   ///< 0: there is no TLB, and translation takes no time
  unsigned first_miss = 0;    ///< cycles of the crossbar that a look-up in the second takes
  unsigned second_pages = 0;  ///< 0: the second holds all pages
  unsigned walk = 0;          ///< cycles of the crossbar that a walk takes beside its reads
  unsigned walk_reads = 0;    ///< entries of page tables that a walk reads from L2
  unsigned walkers = 64;      ///< walks that read at once; further ones wait in order

  [[nodiscard]] bool present() const { return first_pages != 0; }
  /// Whether walks read page tables.
  [[nodiscard]] bool reads() const { return present() && second_pages != 0 && walk_reads != 0; }
  [[nodiscard]] Problems problems(const std::string& path) const {
    constexpr unsigned kLeastPage = 4096, kMostPage = 1U << 30U, kMostCycles = 100000;
    constexpr unsigned kMostFirst = 1U << 16U, kMostSecond = 1U << 22U;
    Rules rules(path);
    rules.need(is_power_of_two(page_bytes) && page_bytes >= kLeastPage && page_bytes <= kMostPage,
               "page_bytes", "must be a power of two from 4096 (4 KiB) to 1073741824 (1 GiB)");
    const auto need_pages = [&](unsigned pages, const char* key, unsigned most) {
      rules.need(pages <= kMostFullyAssociative || (pages % kWays == 0 && pages <= most), key,
                 "must be at most 16, or a multiple of 8 up to " + std::to_string(most));
    };
    need_pages(first_pages, "first_pages", kMostFirst);
    need_pages(second_pages, "second_pages", kMostSecond);
    rules.need(first_miss <= kMostCycles, "first_miss", "must be at most 100000 cycles");
    rules.need(walk <= kMostCycles, "walk", "must be at most 100000 cycles");
    rules.need(walk_reads <= kMostReads, "walk_reads", "must be at most 5 reads, one for each level");
    rules.need(walkers >= 1 && walkers <= kMostWalkers, "walkers", "must be 1 to 4096 walks");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("page_bytes", page_bytes, "bytes of a page");
    f("first_pages", first_pages,
      "pages in the TLB of a TPC; 0: there is none, and translation takes no time");
    f("first_miss", first_miss, "cycles of the crossbar that a request whose page is not there takes longer");
    f("second_pages", second_pages, "pages in the second TLB, which all SMs share; 0: all that there are");
    f("walk", walk,
      "cycles of the crossbar that a walk through the page tables takes further, beside its reads");
    f("walk_reads", walk_reads,
      "entries of page tables that a walk reads from L2, one after the other; 0: none");
    f("walkers", walkers, "walks that read page tables at once; further ones wait in order");
  }
};

}  // namespace warpline
