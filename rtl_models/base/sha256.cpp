#include "rtl_models/base/sha256.h"

#include <algorithm>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t turned(std::uint32_t x, unsigned by) {
  return x >> by | x << (32 - by);
}

}  // namespace

void Sha256::take_block(const unsigned char* block) {
  std::array<std::uint32_t, 64> w{};
  for (unsigned n = 0; n < 16; ++n)
    for (unsigned b = 0; b < 4; ++b) w[n] = w[n] << 8U | block[4 * n + b];
  for (unsigned n = 16; n < 64; ++n) {
    const std::uint32_t a = w[n - 15], b = w[n - 2];
    w[n] = w[n - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3U) + w[n - 7] +
           (turned(b, 17) ^ turned(b, 19) ^ b >> 10U);
  }
  std::array<std::uint32_t, 8> s = state_;
  for (unsigned n = 0; n < 64; ++n) {
    const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    const std::uint32_t first =
        s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice + kRounds[n] + w[n];
    const std::uint32_t second = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + majority;
    s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (unsigned n = 0; n < 8; ++n) state_[n] += s[n];
}

void Sha256::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t held = bytes_ % rest_.size();
    const std::size_t count = std::min(bytes.size(), rest_.size() - held);
    std::copy_n(bytes.begin(), count, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes_ += count;
    bytes.remove_prefix(count);
    if (bytes_ % rest_.size() == 0) take_block(rest_.data());
  }
}

std::string Sha256::digest() {
  const std::uint64_t bits = 8 * bytes_;
  add(std::string_view("\x80", 1));
  while (bytes_ % rest_.size() != 56) add(std::string_view("\0", 1));
  std::string length;
  for (unsigned shift = 64; shift != 0;) length += static_cast<char>(bits >> (shift -= 8));
  add(length);
  std::string out;
  for (const std::uint32_t word : state_) out += hexadecimal(word, 8).substr(2);
  return out;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.digest();
}

}  // namespace warpline
