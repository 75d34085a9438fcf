#include "rtl_models/isa/texel.h"

#include <algorithm>
#include <cmath>
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

/// IEC 61966-2-1.
double linear_of_srgb(double v) {
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

float number(DataType type, std::uint32_t extended, bool srgb) {
  switch (type) {
    case DataType::u8: {
      const double v = extended / 255.0;
      return static_cast<float>(srgb ? linear_of_srgb(v) : v);
    }
    case DataType::u16: return static_cast<float>(extended / 65535.0);
    case DataType::s8:
      return std::max(-1.0F, static_cast<float>(static_cast<std::int32_t>(extended) / 127.0));
    case DataType::s16:
      return std::max(-1.0F, static_cast<float>(static_cast<std::int32_t>(extended) / 32767.0));
    default: return bits_as<float>(extended);
  }
}

std::uint32_t narrowed(DataType type, std::uint32_t value) {
  const unsigned bits = 8 * size_of(type);
  if (type == DataType::f16)
    return encode(static_cast<double>(bits_as<float>(value)), kHalf, Rounding::nearest);
  if (bits == 32) return value;
  if (!is_signed(type)) return std::min(value, (1U << bits) - 1);
  const std::int32_t most = static_cast<std::int32_t>((1U << (bits - 1)) - 1);
  return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -most - 1, most));
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

std::array<float, 4> numbers_of(const TexelFormat& format, const TexelReading& reading,
                                const std::uint8_t* bytes) {
  std::array<float, 4> out = {0, 0, 0, 1};
  for (unsigned c = 0; c < format.components; ++c)
    out.at(c) = number(format.type, component(format.type, bytes + std::size_t{c} * size_of(format.type)),
                       reading.srgb && c < 3);
  return out;
}

void write_components(const TexelFormat& format, const std::uint32_t* components, unsigned count,
                      std::uint8_t* bytes) {
  const std::size_t size = size_of(format.type);
  for (unsigned c = 0; c < format.components; ++c) {
    const std::uint32_t bits = c < count ? narrowed(format.type, components[c]) : 0;
    std::memcpy(bytes + c * size, &bits, size);
  }
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
