#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rtl_models/pcie/packets/byte_run.h"

namespace warpline {

/// Runs of bytes on the bus, one after the other, as one stream.
class ByteStream {
 public:
  ByteStream() = default;
  explicit ByteStream(std::vector<ByteRun> segments) : segments_(std::move(segments)) {
    std::uint32_t start = 0;
    for (const ByteRun& s : segments_) {
      starts_.push_back(start);
      start += s.bytes;
    }
    bytes_ = start;
  }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  /// Where byte `offset` lies, with the bytes that follow it in its segment. Pre: offset < bytes().
  [[nodiscard]] ByteRun at(std::uint32_t offset) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto i = static_cast<std::size_t>(next - starts_.begin()) - 1;
    const std::uint32_t into = offset - starts_[i];
    return {segments_[i].address + into, segments_[i].bytes - into};
  }
  /// The first segment. Pre: bytes() != 0.
  [[nodiscard]] const ByteRun& front() const { return segments_.front(); }

 private:
  std::vector<ByteRun> segments_;
  std::vector<std::uint32_t> starts_;  ///< offset of each
  std::uint32_t bytes_ = 0;
};

}  // namespace warpline
