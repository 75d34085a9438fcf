#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/pcie/packets/tlp.h"

namespace warpline {

/// A base address register as a function is built: what it asks for.
struct BarDescription {
  std::uint64_t bytes = 0;  ///< a power of two, at least 16; 0: there is none
  bool wide = false;        ///< 64-bit: takes the next BAR's place, too
  bool prefetchable = false;
};

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

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(vendor != 0xFFFF, "vendor", "must not be 65535, which says that nobody is there");
    rules.need(class_code <= 0xFF'FFFF, "class_code", "must have 24 bits");
    for (unsigned i = 0; i < kBars; ++i) {
      const BarDescription& bar = bars[i];
      if (bar.bytes == 0) continue;
      const std::string name = "bars[" + std::to_string(i) + "]";
      rules.need(is_power_of_two(bar.bytes) && bar.bytes >= 16, name,
                 "must have a power of two of bytes, 16 or more");
      rules.need(bar.wide || bar.bytes <= 0x8000'0000, name, "must be 64-bit to have more than 2 GiB");
      rules.need(!bar.wide || (i + 1 < kBars && bars[i + 1].bytes == 0), name,
                 "must have the next one's place if it is 64-bit");
    }
    rules.need(vectors <= 2048, "vectors", "must be 2048 or less");
    const std::uint64_t table = 16ULL * vectors + 8ULL * ((vectors + 63) / 64);
    rules.need(vectors == 0 || (msix_bar < kBars && bars[msix_bar].bytes >= table), "msix_bar",
               "must name a base address register with room for the MSI-X table and its pending bits");
    rules.need(is_power_of_two(max_payload_supported) && max_payload_supported >= 128 &&
                   max_payload_supported <= 4096,
               "max_payload_supported", "must be a power of two from 128 to 4096 bytes");
    rules.need(link_speed >= 1 && link_speed <= 6, "link_speed", "must be 1 to 6");
    rules.need(link_width == 12 || (is_power_of_two(link_width) && link_width <= 32), "link_width",
               "must be 1, 2, 4, 8, 12, 16 or 32 lanes");
    return rules.take();
  }
};

}  // namespace warpline
