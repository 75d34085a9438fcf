#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpline {

/// SHA-256 (FIPS 180-4), as `sha256sum` prints it.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// Of all that was added, 64 hexadecimal digits. Nothing is added afterwards.
  [[nodiscard]] std::string digest();

 private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] std::string sha256_of(std::string_view bytes);

}  // namespace warpline
