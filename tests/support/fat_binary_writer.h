#pragma once

#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace warpline {

/// Writes fat binaries as nvcc does, for tests on machines without one.
class FatBinaryWriter {
 public:
  enum class Packed { no, lz4, zstd };
  enum Flags : std::uint64_t { kDebug = 0x2, kArchitectureSpecific = 0x100000, kFamilySpecific = 0x200000 };

  /// Adds a text in PTX for an architecture.
  void add_ptx(unsigned architecture, std::string_view text, Packed packed = Packed::no,
               std::uint64_t flags = 0, std::string_view source = {}) {
    std::string payload(text);
    std::uint64_t unpacked = 0;
    std::uint32_t packed_bytes = 0;
    if (packed == Packed::no) payload.push_back('\0');
    if (packed == Packed::lz4) {
      payload.resize(LZ4_compressBound(static_cast<int>(text.size())));
      payload.resize(LZ4_compress_default(text.data(), payload.data(), static_cast<int>(text.size()),
                                          static_cast<int>(payload.size())));
      flags |= 0x2000;
    }
    if (packed == Packed::zstd) {
      payload.resize(ZSTD_compressBound(text.size()));
      payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
      flags |= 0x8000;
    }
    if (packed != Packed::no) {
      unpacked = text.size();
      packed_bytes = static_cast<std::uint32_t>(payload.size());
    }
    add(1, architecture, payload, packed_bytes, unpacked, flags, source);
  }
  /// Adds bytes that stand for machine code.
  void add_elf(unsigned architecture, std::string_view code) { add(2, architecture, code, 0, 0, 0, {}); }

  [[nodiscard]] std::string bytes() const {
    std::string all;
    put<std::uint32_t>(all, 0xBA55ED50);
    put<std::uint16_t>(all, 1);
    put<std::uint16_t>(all, 16);
    put<std::uint64_t>(all, body_.size());
    return all + body_;
  }

 private:
  template <class T>
  static void put(std::string& to, std::uint64_t value) {
    const T number = static_cast<T>(value);
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    to.append(raw, sizeof raw);
  }
  void add(unsigned kind, unsigned architecture, std::string_view payload, std::uint32_t packed_bytes,
           std::uint64_t unpacked, std::uint64_t flags, std::string_view source) {
    constexpr std::uint32_t kFields = 0x40;
    const auto padded = [](std::size_t bytes) { return (bytes + 7) / 8 * 8; };
    const std::size_t header = kFields + padded(source.size());
    put<std::uint16_t>(body_, kind);
    put<std::uint16_t>(body_, 0x0101);
    put<std::uint32_t>(body_, header);
    put<std::uint64_t>(body_, padded(payload.size()));
    put<std::uint32_t>(body_, packed_bytes);
    put<std::uint32_t>(body_, 0);  // no options
    put<std::uint16_t>(body_, 0);  // PTX 9.0
    put<std::uint16_t>(body_, 9);
    put<std::uint32_t>(body_, architecture);
    put<std::uint32_t>(body_, source.empty() ? 0 : kFields);
    put<std::uint32_t>(body_, source.size());
    put<std::uint64_t>(body_, flags | 0x11);  // 64 bits, Linux
    put<std::uint64_t>(body_, 0);
    put<std::uint64_t>(body_, unpacked);
    body_ += source;
    body_.resize(body_.size() + padded(source.size()) - source.size());
    body_ += payload;
    body_.resize(body_.size() + padded(payload.size()) - payload.size());
  }

  std::string body_;
};

}  // namespace warpline
