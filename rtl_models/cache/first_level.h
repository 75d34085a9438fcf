#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/cache/first_level_parameters.h"
#include "rtl_models/sim/request.h"

namespace warpline {

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
