#pragma once

#include <cstdint>
#include <functional>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// The bytes of one memory: one contiguous mapping that the host commits page by page as it is
/// touched, so a 40 GB memory costs what a program uses of it. Reads of untouched bytes give zero.
class WARPLINE_PUBLIC MemoryImage {
 public:
  /// Reserves `bytes` of address space, from `preferred` on if these addresses are free (0: anywhere), so
  /// that at(0) is the same in every run. Throws std::bad_alloc if the host refuses.
  /// `lends`: lend() may be called.
  explicit MemoryImage(std::uint64_t bytes, std::uint64_t preferred = 0, bool lends = false);
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The bytes from `offset` on. Pre: offset <= size().
  [[nodiscard]] std::uint8_t* at(std::uint64_t offset) { return base_ + offset; }
  [[nodiscard]] const std::uint8_t* at(std::uint64_t offset) const { return base_ + offset; }

  /// Puts pages of this memory where the process has some of its own, which keep their content: what either
  /// side writes from now on, both see. False: the host refuses. Pre: the memory lends; all three are
  /// multiples of a page; nobody writes there in the meantime.
  [[nodiscard]] bool lend(std::uint64_t offset, std::uint64_t bytes, void* to);
  /// Every byte is 0 again, and takes no room on the host.
  void clear();
  /// The same of some of them, as far as they are whole pages of the host; the others are 0 too. Pre: they
  /// lie within size().
  void clear(std::uint64_t offset, std::uint64_t bytes);
  /// Calls visit(offset, bytes) for runs of bytes that hold all that are not 0, in order; runs are of whole
  /// blocks of kBlock bytes, but for the last of the memory. What was never touched is not looked at, as far
  /// as the host can tell.
  static constexpr std::uint64_t kBlock = 4096;
  void for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& visit) const;

 private:
  std::uint8_t* base_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;  ///< behind the mapping, of one that lends
};

}  // namespace warpline
