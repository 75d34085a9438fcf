#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace warpline::sass {

/// The bytes of a file, decompressed as they are asked for.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills up to `capacity` bytes and answers how many; 0 at the end. Throws std::runtime_error
  /// with a sentence when the file cannot be read, is corrupt or cut short.
  [[nodiscard]] virtual std::size_t read(char* to, std::size_t capacity) = 0;
};

/// Opens `path`. A name that ends in `.xz` or `.gz`, or a file that starts as those formats do, is
/// decompressed; several compressed streams one after another count as one. Throws
/// std::runtime_error with a sentence if it cannot be opened.
[[nodiscard]] std::unique_ptr<ByteStream> open_stream(const std::string& path);

}  // namespace warpline::sass
