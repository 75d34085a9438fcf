#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// How physical lines spread over L2 slices.
struct WARPLINE_PUBLIC CrossbarParameters {
  /// Bit i of the hash is the parity of (line number AND mask i). Slice = (line number XOR hash)
  /// mod slices. Masks that cover only bits above the slice number make it a permutation.
  std::vector<std::uint64_t> hash_masks;

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(hash_masks.size() <= 16, "hash_masks", "must be at most 16 masks");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("hash_masks", hash_masks, "slice = (line number XOR parities of these masks) mod slices");
  }
};

/// Widths of the channels that leave a crossbar, bytes per beat: what its beats are counted by.
struct WARPLINE_PUBLIC CrossbarWidths {
  unsigned request = 32;   ///< towards the slices
  unsigned response = 32;  ///< towards the clients
};

}  // namespace warpline
