#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// The fundamental types of memory instructions (PTX ISA, "Fundamental Types").
enum class DataType : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
};

/// What size_of() says, by type.
inline constexpr std::uint8_t kDataTypeSizes[] = {0, 0, 1, 2, 4, 8, 16, 1, 2, 4, 8,
                                                  1, 2, 4, 8, 2, 4, 2,  4, 4, 8};
/// Size in bytes; 0 for `none` and `pred`.
[[nodiscard]] constexpr unsigned size_of(DataType type) {
  return kDataTypeSizes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_signed(DataType type) {
  return type >= DataType::s8 && type <= DataType::s64;
}
[[nodiscard]] constexpr bool is_float(DataType type) {
  return type >= DataType::f16;
}
/// The PTX spelling without its dot ("u32").
WARPLINE_PUBLIC [[nodiscard]] std::string_view name_of(DataType type);
/// The type spelled `text` ("u32"), or `none`.
WARPLINE_PUBLIC [[nodiscard]] DataType data_type_from(std::string_view text);

}  // namespace warpline
