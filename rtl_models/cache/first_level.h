#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// A small level in front of a cache that is only read. It has tags alone: its data is the cache's.
struct WARPLINE_PUBLIC FirstLevelParameters {
  unsigned bytes = 0;         ///< 0: there is none
  unsigned block_bytes = 64;  ///< of its lines, which are fetched whole
  unsigned next_latency = 0;  ///< cycles that a look-up takes longer which goes on to the cache behind it

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    const bool whole = block_bytes == 32 || block_bytes == 64 || block_bytes == 128;
    rules.need(whole, "block_bytes", "must be 32, 64 or 128");
    rules.need(bytes <= 65536 && (!whole || bytes % block_bytes == 0), "bytes",
               "must be a multiple of block_bytes, at most 65536");
    rules.need(next_latency <= 10000, "next_latency", "must be at most 10000 cycles");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("bytes", bytes,
      "size of the first level, fully associative, of which the least recently used block makes room; 0: "
      "there is none");
    f("block_bytes", block_bytes, "bytes of a block of it, which is fetched whole");
    f("next_latency", next_latency,
      "by which a look-up takes longer that goes on to the level behind it, SM cycles");
  }
};

/// Which blocks the first level has, the most recently used first.
class FirstLevel {
 public:
  explicit FirstLevel(const FirstLevelParameters& parameters)
      : blocks_per_line_(kLineBytes / parameters.block_bytes),
        sectors_per_block_(parameters.block_bytes / kSectorBytes),
        blocks_(parameters.bytes / parameters.block_bytes, kNone) {}

  [[nodiscard]] bool exists() const { return !blocks_.empty(); }
  /// Whether it has all blocks of the request's sectors.
  [[nodiscard]] bool has(const Request& r) const {
    bool all = true;
    for_each_block(r, [&](std::uint64_t block) {
      all = all && std::find(blocks_.begin(), blocks_.end(), block) != blocks_.end();
    });
    return all;
  }
  /// Has the blocks of the request's sectors from now on, as the most recently used.
  void take(const Request& r) {
    for_each_block(r, [&](std::uint64_t block) {
      const auto at = std::find(blocks_.begin(), blocks_.end(), block);
      use(at != blocks_.end() ? at : blocks_.end() - 1, block);
    });
  }
  void clear() { std::fill(blocks_.begin(), blocks_.end(), kNone); }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(blocks_);
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  template <class F>
  void for_each_block(const Request& r, F&& visit) const {
    const std::uint64_t first = r.virtual_line.value / kLineBytes * blocks_per_line_;
    const auto of_one = static_cast<SectorMask>((1U << sectors_per_block_) - 1);
    for (unsigned n = 0; n < blocks_per_line_; ++n)
      if ((r.sectors >> (n * sectors_per_block_) & of_one) != 0) visit(first + n);
  }
  void use(std::vector<std::uint64_t>::iterator at, std::uint64_t block) {
    std::move_backward(blocks_.begin(), at, at + 1);
    blocks_.front() = block;
  }

  unsigned blocks_per_line_, sectors_per_block_;
  std::vector<std::uint64_t> blocks_;
};

}  // namespace warpline
