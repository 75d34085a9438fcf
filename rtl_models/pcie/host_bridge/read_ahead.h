#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// What a host bridge has read of prefetchable memory and nobody has asked for yet: the bytes behind a load.
/// Each is given out once at most, so that who loads the same address again and again sees it change.
class ReadAhead {
 public:
  void keep(std::uint64_t address, const std::uint8_t* data, std::size_t bytes, Cycle deadline) {
    address_ = address;
    bytes_.assign(data, data + bytes);
    deadline_ = deadline;
  }
  void drop() { bytes_.clear(); }
  /// Whether all the bytes are here: then they go to `data`, and they and what lies before them are dropped.
  bool take(std::uint64_t address, std::uint32_t bytes, Cycle now, std::vector<std::uint8_t>& data) {
    if (now >= deadline_) drop();
    if (bytes == 0 || address < address_ || address - address_ > bytes_.size() ||
        bytes > bytes_.size() - (address - address_))
      return false;
    const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(address - address_);
    data.assign(first, first + bytes);
    bytes_.erase(bytes_.begin(), first + bytes);
    address_ = address + bytes;
    return true;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(address_, bytes_, deadline_);
  }

 private:
  std::uint64_t address_ = 0;
  std::vector<std::uint8_t> bytes_;
  Cycle deadline_ = 0;
};

}  // namespace warpline
