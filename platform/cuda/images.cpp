#include "platform/cuda/images.h"

namespace warpline::cuda {
namespace {

// `cudaChannelFormatKind`.
enum : std::int32_t {
  kSigned = 0,
  kUnsigned = 1,
  kFloat = 2,
  kNv12 = 4,
  kFirstUnsignedNormalized = 5,  // of 8 bits in 1, 2, 4 components, then of 16
  kFirstSignedNormalized = 11,
  kFirstCompressed = 17,
  kLastCompressed = 30,
  kPacked1010102 = 31
};
constexpr unsigned kComponents[] = {1, 2, 4};

DataType integer(bool is_signed, unsigned bits) {
  if (is_signed) return bits == 8 ? DataType::s8 : bits == 16 ? DataType::s16 : DataType::s32;
  return bits == 8 ? DataType::u8 : bits == 16 ? DataType::u16 : DataType::u32;
}

}  // namespace

std::optional<ElementFormat> format_of(const ChannelDescription& d, const char*& named) {
  if (d.kind == kNv12) named = "arrays of several planes (NV12)";
  if (d.kind >= kFirstCompressed && d.kind <= kLastCompressed) named = "block-compressed arrays";
  if (d.kind == kPacked1010102) named = "arrays of 10, 10, 10 and 2 bits";
  if (named != nullptr) return std::nullopt;
  unsigned components = 0;
  while (components < 4 && d.bits[components] != 0) ++components;
  for (unsigned c = 0; c < 4; ++c)
    if (d.bits[c] != (c < components ? d.bits[0] : 0)) return std::nullopt;
  const auto bits = static_cast<unsigned>(d.bits[0]);
  if (components == 0 || components == 3 || (bits != 8 && bits != 16 && bits != 32)) return std::nullopt;
  ElementFormat format;
  format.texel.components = components;
  if (d.kind == kFloat) {
    if (bits == 8) return std::nullopt;
    format.texel.type = bits == 16 ? DataType::f16 : DataType::f32;
    return format;
  }
  if (d.kind == kSigned || d.kind == kUnsigned) {
    format.texel.type = integer(d.kind == kSigned, bits);
    return format;
  }
  for (const bool is_signed : {false, true})
    for (unsigned n = 0; n < 6; ++n)
      if (d.kind ==
          (is_signed ? kFirstSignedNormalized : kFirstUnsignedNormalized) + static_cast<std::int32_t>(n)) {
        if (components != kComponents[n % 3] || bits != (n < 3 ? 8 : 16)) return std::nullopt;
        format.texel.type = integer(is_signed, bits);
        format.normalized = true;
        return format;
      }
  return std::nullopt;
}

ChannelDescription description_of(const ElementFormat& format) {
  ChannelDescription d;
  const unsigned bytes = size_of(format.texel.type);
  for (unsigned c = 0; c < format.texel.components; ++c) d.bits[c] = static_cast<std::int32_t>(8 * bytes);
  const bool sign = is_signed(format.texel.type);
  if (is_float(format.texel.type)) {
    d.kind = kFloat;
  } else if (format.normalized) {
    const std::int32_t place =
        format.texel.components == 4 ? 2 : static_cast<int>(format.texel.components) - 1;
    d.kind = (sign ? kFirstSignedNormalized : kFirstUnsignedNormalized) + (bytes == 2 ? 3 : 0) + place;
  } else {
    d.kind = sign ? kSigned : kUnsigned;
  }
  return d;
}

std::optional<ElementFormat> format_of_view(std::int32_t format, const char*& named) {
  constexpr DataType kTypes[] = {DataType::u8,  DataType::s8,  DataType::u16, DataType::s16,
                                 DataType::u32, DataType::s32, DataType::f16, DataType::f32};
  constexpr std::int32_t kPlain = 3 * 8, kLast = 0x22;
  if (format > kPlain && format <= kLast) named = "block-compressed views of arrays";
  if (format < 1 || format > kPlain) return std::nullopt;
  return ElementFormat{{kTypes[(format - 1) / 3], kComponents[(format - 1) % 3]}, false};
}

}  // namespace warpline::cuda
