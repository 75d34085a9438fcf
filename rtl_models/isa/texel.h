#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/data_type.h"

namespace warpline {

/// How an element of a texture or surface lies in memory: one, two or four components of one type, without
/// gaps.
struct WARPLINE_PUBLIC TexelFormat {
  DataType type = DataType::f32;  ///< u8 to u32, s8 to s32, f16 or f32
  unsigned components = 1;
  [[nodiscard]] unsigned bytes() const { return size_of(type) * components; }
};

/// The four components as a texture load returns them, 32 bits each: integers extended, binary16 widened, and
/// 0, 0, 1 where the texel has no second, third, fourth. `bytes` holds the texel.
WARPLINE_PUBLIC [[nodiscard]] std::array<std::uint32_t, 4> components_of(const TexelFormat& format,
                                                                         const std::uint8_t* bytes);

/// How a texture hands out what it holds.
struct WARPLINE_PUBLIC TexelReading {
  bool normalized = false;  ///< integers of 8 and 16 bits as numbers from 0 or -1 to 1
  bool srgb = false;        ///< of normalized u8: the first three components are sRGB's, and come out linear
};
/// Whether texels of `format` come out as floating-point numbers.
WARPLINE_PUBLIC [[nodiscard]] constexpr bool reads_as_float(const TexelFormat& format,
                                                            const TexelReading& reading) {
  return is_float(format.type) || (reading.normalized && size_of(format.type) <= 2);
}
/// The four components as numbers, and 0, 0, 1 for those that the texel has not. Normalized integers are
/// divided by the largest of their type (CUDA C++ Programming Guide, "Texture Memory"; of signed ones the
/// smallest is -1, too). Pre: reads_as_float().
WARPLINE_PUBLIC [[nodiscard]] std::array<float, 4> numbers_of(const TexelFormat& format,
                                                              const TexelReading& reading,
                                                              const std::uint8_t* bytes);
/// Writes to `bytes` the texel whose first `count` components are `components`, 32 bits each, as a formatted
/// surface store takes them (PTX ISA, "sust"): floating-point numbers are rounded to the format, integers
/// saturate (assumed). Components that are not given are zeros (PTX: unpredictable).
WARPLINE_PUBLIC void write_components(const TexelFormat& format, const std::uint32_t* components,
                                      unsigned count, std::uint8_t* bytes);

/// "f32", "u8x4". Nothing where the text names no format.
WARPLINE_PUBLIC [[nodiscard]] std::optional<TexelFormat> texel_format_from(std::string_view text);
/// Every name that texel_format_from() knows.
WARPLINE_PUBLIC [[nodiscard]] std::vector<std::string> texel_format_names();

}  // namespace warpline
