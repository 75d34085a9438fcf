#pragma once

#include <cstdint>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// The bytes of one memory: one contiguous mapping that the host commits page by page as it is
/// touched, so a 40 GB memory costs what a program uses of it. Reads of untouched bytes give zero.
class WARPLINE_PUBLIC MemoryImage {
 public:
  /// Reserves `bytes` of address space. Throws std::bad_alloc if the host refuses.
  explicit MemoryImage(std::uint64_t bytes);
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The bytes from `offset` on. Pre: offset <= size().
  [[nodiscard]] std::uint8_t* at(std::uint64_t offset) { return base_ + offset; }
  [[nodiscard]] const std::uint8_t* at(std::uint64_t offset) const { return base_ + offset; }

 private:
  std::uint8_t* base_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace warpline
