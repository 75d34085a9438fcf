#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "platform/vfio_user/descriptor.h"

namespace warpline::vfio_user {

/// Memory that other processes may map, by its file, which is zero at first and keeps its length.
struct SharedMemory {
  std::shared_ptr<std::uint8_t> bytes;  ///< mapped as long as somebody has this
  Descriptor file;

  /// An errno, or 0. Pre: `count` is not 0.
  [[nodiscard]] int make(std::size_t count);
  /// The memory of somebody else, by its file; likewise.
  [[nodiscard]] int map(Descriptor its_file, std::size_t count, std::uint64_t offset = 0);
};

}  // namespace warpline::vfio_user
