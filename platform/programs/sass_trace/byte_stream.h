#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace warpline::sass {

/// What tells two contents of a file apart.
struct FileFingerprint {
  std::uint64_t bytes = 0;
  std::uint64_t crc = 0;  ///< CRC-64 as in xz
  bool operator==(const FileFingerprint& o) const { return bytes == o.bytes && crc == o.crc; }
  bool operator!=(const FileFingerprint& o) const { return !(*this == o); }
};

/// The bytes of a file, decompressed as they are asked for.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills up to `capacity` bytes and answers how many; 0 at the end. Throws std::runtime_error
  /// with a sentence when the file cannot be read, is corrupt or cut short.
  [[nodiscard]] virtual std::size_t read(char* to, std::size_t capacity) = 0;
  /// Of what has been read so far of the file as it lies on disk. Pre: it is wanted.
  [[nodiscard]] virtual FileFingerprint fingerprint() const = 0;
};

/// Whether the fingerprint of a file will be asked for: it takes a look at every byte.
enum class Fingerprint : std::uint8_t { unwanted, wanted };

/// Opens `path`. A name that ends in `.xz` or `.gz`, or a file that starts as those formats do, is
/// decompressed; several compressed streams one after another count as one. Throws
/// std::runtime_error with a sentence if it cannot be opened.
[[nodiscard]] std::unique_ptr<ByteStream> open_stream(const std::string& path, Fingerprint fingerprint);

/// Reads a file as it lies on disk. Throws std::runtime_error with a sentence if that fails.
[[nodiscard]] FileFingerprint fingerprint_of(const std::string& path);

}  // namespace warpline::sass
