#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"

namespace warpline {

/// A base address register as a function is built: what it asks for.
struct BarDescription {
  std::uint64_t bytes = 0;  ///< a power of two, at least 16; 0: there is none
  bool wide = false;        ///< 64-bit: takes the next BAR's place, too
  bool prefetchable = false;
};
inline constexpr unsigned kBars = 6;

/// What a function is, as its configuration space says.
struct FunctionDescription {
  std::uint16_t vendor = 0x1AF0, device = 0x0001;
  std::uint16_t subsystem_vendor = 0x1AF0, subsystem = 0x0001;
  std::uint32_t class_code = 0xFF0000;  ///< base class, subclass, interface
  std::uint8_t revision = 1;
  std::array<BarDescription, kBars> bars{};
  unsigned vectors = 0;   ///< MSI-X vectors, at most 2048; 0: it has no MSI-X
  unsigned msix_bar = 0;  ///< BAR in which its table lies, at offset 0, and its pending bits behind it
  unsigned max_payload_supported = 512;  ///< 128 to 4096 bytes, a power of two
  unsigned link_speed = 4;               ///< generation: 1 to 6
  unsigned link_width = 16;              ///< lanes: 1, 2, 4, 8, 12, 16 or 32

  [[nodiscard]] Problems problems(const std::string& path) const;
};

}  // namespace warpline
