#pragma once

#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/zeroed_bytes.h"

namespace warpline {

/// The bytes of a cache's lines, by line index; empty in a tags-only run.
class LineStore {
 public:
  LineStore(std::uint32_t lines, bool with_data) : bytes_(with_data ? std::size_t{lines} * kLineBytes : 0) {}
  /// The 128 bytes of a line, or null in a tags-only run.
  [[nodiscard]] std::uint8_t* at(std::uint32_t index) {
    return bytes_.empty() ? nullptr : bytes_.at(std::size_t{index} * kLineBytes);
  }

  template <class Archive>
  void archive(Archive& a) {
    a(bytes_);
  }

 private:
  ZeroedBytes bytes_;
};

}  // namespace warpline
