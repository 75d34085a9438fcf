#include "warpline/isa/data_type.h"

#include <array>

namespace warpline {
namespace {

constexpr std::array<std::string_view, 21> kNames = {
    "none", "pred", "b8",  "b16", "b32", "b64",   "b128", "u8",     "u16", "u32", "u64",
    "s8",   "s16",  "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64",
};

}  // namespace

bool is_signed(DataType type) {
  return type >= DataType::s8 && type <= DataType::s64;
}

bool is_float(DataType type) {
  return type >= DataType::f16;
}

std::string_view name_of(DataType type) {
  return kNames[static_cast<std::size_t>(type)];
}

DataType data_type_from(std::string_view text) {
  for (std::size_t i = 1; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<DataType>(i);
  return DataType::none;
}

}  // namespace warpline
