#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rtl_models/base/shared_bytes.h"
#include "rtl_models/base/state_archive.h"

namespace warpline {

/// A device's own memory, behind a BAR that has nothing else: bytes of the model, until share() puts them
/// where somebody else reaches them, too.
class EndpointMemory {
 public:
  explicit EndpointMemory(std::uint64_t bytes) : own_(bytes), at_(own_.data()), bytes_(bytes) {}
  EndpointMemory(const EndpointMemory&) = delete;
  EndpointMemory& operator=(const EndpointMemory&) = delete;

  [[nodiscard]] std::uint8_t* data() { return at_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  [[nodiscard]] std::uint8_t& operator[](std::size_t i) { return at_[i]; }
  [[nodiscard]] std::uint8_t* begin() { return at_; }
  [[nodiscard]] std::uint8_t* end() { return at_ + bytes_; }

  /// Pre: the bytes lie in it, as of write().
  void read(std::uint64_t from, std::uint8_t* to, std::size_t bytes) const {
    if (shared_ == nullptr) {
      std::copy_n(at_ + from, bytes, to);
    } else {
      copy_from_shared(to, at_ + from, bytes);
    }
  }
  void write(std::uint64_t to, const std::uint8_t* from, std::size_t bytes) {
    if (shared_ == nullptr) {
      std::copy_n(from, bytes, at_ + to);
    } else {
      copy_to_shared(at_ + to, from, bytes);
    }
  }
  void clear() { std::fill_n(at_, bytes_, std::uint8_t{0}); }
  /// It lies at `place` from now on, with what is in it. `place` has size() bytes; who else changes them does
  /// so at any time, as the device does.
  void share(std::shared_ptr<std::uint8_t> place) {
    std::copy_n(at_, bytes_, place.get());
    shared_ = std::move(place);
    at_ = shared_.get();
    own_ = {};
  }
  void archive(StateArchive& a) {
    a.same(bytes_, "bytes");
    a.bytes(at_, bytes_);
  }

 private:
  std::vector<std::uint8_t> own_;
  std::shared_ptr<std::uint8_t> shared_;  ///< null: they are its own
  std::uint8_t* at_;
  std::size_t bytes_;
};

}  // namespace warpline
