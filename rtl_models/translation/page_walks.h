#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "rtl_models/sim/request.h"
#include "rtl_models/translation/translation_parameters.h"

namespace warpline {

/// The walks through page tables that are under way, and who waits for them: what they read, and when. Time
/// is counted in edges of the crossbar's clock. A walk begins when it is ready and a walker is free, takes
/// `walk` edges, and then reads an entry after the other; with the last answer it ends. Those that are ready
/// first begin first. There is one walk for a page at a time.
class PageWalks {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = ~0U;
  explicit PageWalks(const TranslationParameters& parameters)
      : fixed_(parameters.walk), reads_of_walk_(parameters.walk_reads), walkers_(parameters.walkers) {
    for (unsigned w = parameters.walkers; w-- > 0;) free_walkers_.push_back(w);
  }

  /// An entry to be read now.
  struct Read {
    unsigned walker = 0;  ///< to which the answer is told
    unsigned level = 0;   ///< of the tables: 0 is the last one read
    std::uint64_t page = 0;
    RequestHead on_behalf;  ///< of the request that missed
  };

  /// The walk for `page` that is under way; kNone: there is none.
  [[nodiscard]] Number of(std::uint64_t page) const {
    if (by_page_.empty()) return kNone;
    const auto found = by_page_.find(page);
    return found == by_page_.end() ? kNone : found->second;
  }
  /// Walks for `page` from `ready` on, on behalf of `r`. Pre: it is not walked for.
  Number begin(std::uint64_t page, std::uint64_t ready, const Request& r);
  /// One more waits for `walk`, whom its end concerns at `place`.
  void wait(Number walk, std::uint32_t place);
  /// One of them waits no longer. Pre: ended(walk).
  void leave(Number walk);
  [[nodiscard]] bool ended(Number walk) const { return walks_[walk].ended; }

  /// Begins what can begin by `edge`, no earlier than any before, and calls read(Read) for each entry that is
  /// to be read by then, in order.
  template <class F>
  void advance(std::uint64_t edge, F&& read) {
    while (!free_walkers_.empty() && !ready_.empty() && ready_.front().at <= edge) start(edge);
    while (!reads_.empty() && reads_.front().at <= edge) {
      const unsigned walker = reads_.front().number;
      reads_.pop_front();
      Walk& w = walks_[walkers_[walker]];
      read(Read{walker, --w.left, w.page, w.on_behalf});
    }
  }
  /// The next edge at which advance() has something to do, if nothing is answered until then; ~0: there is
  /// none.
  [[nodiscard]] std::uint64_t next() const {
    std::uint64_t next = ~std::uint64_t{0};
    if (!free_walkers_.empty() && !ready_.empty()) next = ready_.front().at;
    if (!reads_.empty()) next = std::min(next, reads_.front().at);
    return next;
  }
  /// The entry that `walker` read is there at `edge`. If it was the walk's last, calls over(place) for each
  /// that waits for it, in the order in which they came; one place may come several times. Each leaves when
  /// it goes on, there or later.
  template <class F>
  void answer(std::uint64_t edge, unsigned walker, F&& over) {
    const Number n = walkers_[walker];
    if (walks_[n].left != 0) return insert(reads_, {edge, walker});
    free_walkers_.push_back(walker);
    for (const std::uint32_t place : end(n)) over(place);
  }

  /// Walks that have a walker, and those that wait for one.
  [[nodiscard]] std::size_t walking() const { return walkers_.size() - free_walkers_.size(); }
  [[nodiscard]] std::size_t waiting() const { return ready_.size(); }
  [[nodiscard]] std::size_t walkers() const { return walkers_.size(); }
  /// The walker of a walk; kNone: it waits for one, or has ended.
  [[nodiscard]] unsigned walker_of(Number walk) const { return walks_[walk].walker; }

 private:
  struct Walk {
    std::uint64_t page = 0;
    RequestHead on_behalf;
    unsigned left = 0;  ///< entries to be read
    unsigned walker = kNone;
    unsigned waiters = 0;
    bool ended = false;
    std::vector<std::uint32_t> places;  ///< of those who wait
  };
  /// What is to happen, and when.
  struct At {
    std::uint64_t at = 0;
    std::uint32_t number = 0;  ///< of a walk, or of a walker
  };
  /// Behind all that are no later.
  static void insert(std::deque<At>& list, const At& what);
  void start(std::uint64_t edge);
  [[nodiscard]] std::vector<std::uint32_t> end(Number n);

  unsigned fixed_, reads_of_walk_;
  std::vector<Walk> walks_;
  std::vector<Number> free_;
  std::unordered_map<std::uint64_t, Number> by_page_;
  std::deque<At> ready_;         ///< walks that have no walker
  std::deque<At> reads_;         ///< walkers, of their next reads
  std::vector<Number> walkers_;  ///< the walk of each
  std::vector<unsigned> free_walkers_;
};

}  // namespace warpline
