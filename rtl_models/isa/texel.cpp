#include "warpline/isa/texel.h"

#include <cmath>
#include <cstring>

namespace warpline {
namespace {

constexpr std::array<DataType, 8> kTypes = {DataType::u8,  DataType::s8,  DataType::u16, DataType::s16,
                                            DataType::u32, DataType::s32, DataType::f16, DataType::f32};
constexpr std::array<unsigned, 3> kComponents = {1, 2, 4};

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// IEEE 754 binary16 as binary32, exactly; a NaN keeps its bits at the upper end.
std::uint32_t widened_half(std::uint32_t half) {
  const std::uint32_t sign = (half >> 15U) << 31U;
  const std::uint32_t exponent = half >> 10U & 31U;
  const std::uint32_t fraction = half & 1023U;
  if (exponent == 31) return sign | 0x7F80'0000U | fraction << 13U;
  if (exponent == 0) return sign | bits_of(std::ldexp(static_cast<float>(fraction), -24));
  return sign | (exponent + 112) << 23U | fraction << 13U;
}

std::uint32_t component(DataType type, const std::uint8_t* bytes) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, bytes, size_of(type));
  switch (type) {
    case DataType::s8: return static_cast<std::uint32_t>(static_cast<std::int8_t>(raw));
    case DataType::s16: return static_cast<std::uint32_t>(static_cast<std::int16_t>(raw));
    case DataType::f16: return widened_half(raw);
    default: return raw;
  }
}

std::string name_of_format(const TexelFormat& f) {
  const std::string name(name_of(f.type));
  return f.components == 1 ? name : name + "x" + std::to_string(f.components);
}

/// Calls `f` with every format.
template <class F>
void for_each_format(F&& f) {
  for (const DataType type : kTypes)
    for (const unsigned components : kComponents) f(TexelFormat{type, components});
}

}  // namespace

std::array<std::uint32_t, 4> components_of(const TexelFormat& format, const std::uint8_t* bytes) {
  std::array<std::uint32_t, 4> out = {0, 0, 0, is_float(format.type) ? bits_of(1.0F) : 1U};
  for (unsigned c = 0; c < format.components; ++c)
    out.at(c) = component(format.type, bytes + std::size_t{c} * size_of(format.type));
  return out;
}

std::optional<TexelFormat> texel_format_from(std::string_view text) {
  std::optional<TexelFormat> found;
  for_each_format([&](const TexelFormat& f) {
    if (name_of_format(f) == text) found = f;
  });
  return found;
}

std::vector<std::string> texel_format_names() {
  std::vector<std::string> names;
  for_each_format([&](const TexelFormat& f) { names.push_back(name_of_format(f)); });
  return names;
}

}  // namespace warpline
