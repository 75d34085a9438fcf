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

/// "f32", "u8x4". Nothing where the text names no format.
WARPLINE_PUBLIC [[nodiscard]] std::optional<TexelFormat> texel_format_from(std::string_view text);
/// Every name that texel_format_from() knows.
WARPLINE_PUBLIC [[nodiscard]] std::vector<std::string> texel_format_names();

}  // namespace warpline
