#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rtl_models/sim/memory_image.h"

namespace warpline {

/// So many bytes of a cache or of shared memory, zero at first. Where they are many, the host commits them
/// page by page as they are touched: a machine has hundreds of such arrays, and a short run uses little of
/// them. One that is restored is touched everywhere.
class ZeroedBytes {
 public:
  explicit ZeroedBytes(std::size_t size);
  /// `other` is empty then.
  ZeroedBytes(ZeroedBytes&& other) noexcept
      : size_(std::exchange(other.size_, 0)),
        base_(std::exchange(other.base_, nullptr)),
        few_(std::move(other.few_)),
        image_(std::move(other.image_)) {}
  ZeroedBytes& operator=(ZeroedBytes&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    base_ = std::exchange(other.base_, nullptr);
    few_ = std::move(other.few_);
    image_ = std::move(other.image_);
    return *this;
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// From `offset` on. Pre: offset <= size().
  [[nodiscard]] std::uint8_t* at(std::size_t offset) { return base_ + offset; }
  [[nodiscard]] const std::uint8_t* at(std::size_t offset) const { return base_ + offset; }

  template <class Archive>
  void archive(Archive& a) {
    a.same(size_, "elements");
    a.bytes(base_, size_);
  }

 private:
  std::size_t size_;
  std::uint8_t* base_;
  std::vector<std::uint8_t> few_;
  std::unique_ptr<MemoryImage> image_;
};

}  // namespace warpline
