#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rtl_models/isa/texel.h"

// Arrays, textures and surfaces as programs describe them: structures are laid out as toolkits lay them out
// (CUDA Runtime API, "Data types used").
namespace warpline::cuda {

/// Bits of the components of an element, and what they are: `cudaChannelFormatDesc`.
struct ChannelDescription {
  std::int32_t bits[4] = {};
  std::int32_t kind = 0;
};
static_assert(sizeof(ChannelDescription) == 20);

/// An element of an array.
struct ElementFormat {
  TexelFormat texel;
  bool normalized = false;  ///< integers that are read as numbers from 0 or -1 to 1, always
};
[[nodiscard]] inline bool operator==(const ElementFormat& a, const ElementFormat& b) {
  return a.texel.type == b.texel.type && a.texel.components == b.texel.components &&
         a.normalized == b.normalized;
}
/// Nothing: it is a format that CUDA has not (3 components, 64 bits), or `named` one that is not modelled.
[[nodiscard]] std::optional<ElementFormat> format_of(const ChannelDescription& description,
                                                     const char*& named);
[[nodiscard]] ChannelDescription description_of(const ElementFormat& format);

/// `cudaExtent`.
struct Extent {
  std::uint64_t width = 0;  ///< elements of arrays, bytes of other memory
  std::uint64_t height = 0, depth = 0;
};
static_assert(sizeof(Extent) == 24);

/// `cudaPos`.
struct Position {
  std::uint64_t x = 0, y = 0, z = 0;
};

/// `cudaPitchedPtr`.
struct PitchedPointer {
  void* pointer = nullptr;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0, height = 0;
};
static_assert(sizeof(PitchedPointer) == 32 && offsetof(PitchedPointer, height) == 24);

/// `cudaMemcpy3DParms`.
struct CopyParameters {
  void* from_array = nullptr;
  Position from_position;
  PitchedPointer from;
  void* to_array = nullptr;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  std::int32_t kind = 0;
};
static_assert(sizeof(CopyParameters) == 160 && offsetof(CopyParameters, to_array) == 64 &&
              offsetof(CopyParameters, extent) == 128 && offsetof(CopyParameters, kind) == 152);

/// `cudaMemcpy3DPeerParms`.
struct PeerCopyParameters {
  void* from_array = nullptr;
  Position from_position;
  PitchedPointer from;
  std::int32_t from_device = 0;
  void* to_array = nullptr;
  Position to_position;
  PitchedPointer to;
  std::int32_t to_device = 0;
  Extent extent;
};
static_assert(sizeof(PeerCopyParameters) == 168 && offsetof(PeerCopyParameters, to_array) == 72 &&
              offsetof(PeerCopyParameters, extent) == 144);

/// `cudaResourceType`.
enum class ResourceKind : std::int32_t { array, mipmapped_array, linear, pitched };

/// What a texture or surface is of: `cudaResourceDesc`.
struct ResourceDescription {
  ResourceKind kind = ResourceKind::array;
  void* pointer = nullptr;  ///< the array, the mipmapped array, or memory
  // Of memory alone:
  ChannelDescription format;
  std::uint64_t size = 0;  ///< bytes; of pitched memory the width in elements
  std::uint64_t height = 0, pitch = 0;
  std::int32_t reserved[18] = {};
  std::uint32_t flags = 0;
};
static_assert(sizeof(ResourceDescription) == 144 && offsetof(ResourceDescription, pointer) == 8 &&
              offsetof(ResourceDescription, format) == 16 && offsetof(ResourceDescription, size) == 40 &&
              offsetof(ResourceDescription, pitch) == 56 && offsetof(ResourceDescription, flags) == 136);

/// `cudaTextureDesc`.
struct TextureDescription {
  std::int32_t address_modes[3] = {};  ///< wrap, clamp, mirror, border
  std::int32_t filter = 0;             ///< point, linear
  std::int32_t read_mode = 0;          ///< element type, normalized float
  std::int32_t srgb = 0;
  float border[4] = {};
  std::int32_t normalized_coordinates = 0;
  std::uint32_t anisotropy = 0;
  std::int32_t mip_filter = 0;
  float level_bias = 0, min_level = 0, max_level = 0;
  std::int32_t no_trilinear_optimization = 0;
  std::int32_t seamless_cubes = 0;
};
static_assert(sizeof(TextureDescription) == 72 && offsetof(TextureDescription, border) == 24 &&
              offsetof(TextureDescription, mip_filter) == 48 &&
              offsetof(TextureDescription, seamless_cubes) == 68);

/// `cudaResourceViewDesc`.
struct ViewDescription {
  std::int32_t format = 0;  ///< 0: the resource's
  std::uint64_t width = 0, height = 0, depth = 0;
  std::uint32_t first_level = 0, last_level = 0;
  std::uint32_t first_layer = 0, last_layer = 0;
  std::uint32_t reserved[16] = {};
};
static_assert(sizeof(ViewDescription) == 112 && offsetof(ViewDescription, first_level) == 32 &&
              offsetof(ViewDescription, reserved) == 48);
/// Of a view that has one. Nothing: CUDA has no such format, or `named`, as format_of().
[[nodiscard]] std::optional<ElementFormat> format_of_view(std::int32_t format, const char*& named);

}  // namespace warpline::cuda
