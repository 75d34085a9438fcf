#include "rtl_models/isa/texel.h"

#include <cstring>

#include "rtl_models/base/bits.h"
#include "rtl_models/isa/small_float.h"

namespace warpline {
namespace {

constexpr std::array<DataType, 8> kTypes = {DataType::u8,  DataType::s8,  DataType::u16, DataType::s16,
                                            DataType::u32, DataType::s32, DataType::f16, DataType::f32};
constexpr std::array<unsigned, 3> kComponents = {1, 2, 4};

std::uint32_t component(DataType type, const std::uint8_t* bytes) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, bytes, size_of(type));
  switch (type) {
    case DataType::s8: return static_cast<std::uint32_t>(static_cast<std::int8_t>(raw));
    case DataType::s16: return static_cast<std::uint32_t>(static_cast<std::int16_t>(raw));
    case DataType::f16:
      return bits_as<std::uint32_t>(static_cast<float>(decode(static_cast<std::uint16_t>(raw), kHalf)));
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
  std::array<std::uint32_t, 4> out = {0, 0, 0, is_float(format.type) ? bits_as<std::uint32_t>(1.0F) : 1U};
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
