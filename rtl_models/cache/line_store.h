#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// The bytes of a cache's lines, by line index; empty in a tags-only run.
class LineStore {
 public:
  LineStore(std::uint32_t lines, bool with_data) : bytes_(with_data ? std::size_t{lines} * kLineBytes : 0) {}
  /// The 128 bytes of a line, or null in a tags-only run.
  [[nodiscard]] std::uint8_t* at(std::uint32_t index) {
    return bytes_.empty() ? nullptr : &bytes_[std::size_t{index} * kLineBytes];
  }

  template <class Archive>
  void archive(Archive& a) {
    a.fixed(bytes_);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace warpline
