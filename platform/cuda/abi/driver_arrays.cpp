#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/arrays.h"

namespace warpline::cuda::driver {
namespace {

// ---- Formats

/// `CUDA_ARRAY_DESCRIPTOR`.
struct ArrayDescriptor {
  std::uint64_t width, height;
  std::uint32_t format, channels;
};
static_assert(sizeof(ArrayDescriptor) == 24);

/// `CUDA_ARRAY3D_DESCRIPTOR`.
struct VolumeDescriptor {
  std::uint64_t width, height, depth;
  std::uint32_t format, channels, flags;
};
static_assert(sizeof(VolumeDescriptor) == 40 && offsetof(VolumeDescriptor, flags) == 32);

// `CUarray_format`.
struct NumberedType {
  std::uint32_t number;
  DataType type;
};
constexpr NumberedType kPlainFormats[] = {{0x01, DataType::u8},  {0x02, DataType::u16}, {0x03, DataType::u32},
                                          {0x08, DataType::s8},  {0x09, DataType::s16}, {0x0a, DataType::s32},
                                          {0x10, DataType::f16}, {0x20, DataType::f32}};
constexpr NumberedType kNormalizedFormats[] = {  // each of 1, 2, 4 components, one number after the other
    {0xc0, DataType::u8},
    {0xc3, DataType::u16},
    {0xc6, DataType::s8},
    {0xc9, DataType::s16}};
constexpr std::uint32_t kComponents[] = {1, 2, 4};

/// Formats of images that are compressed, or lie in several planes, or are packed.
bool is_not_modelled(std::uint32_t format) {
  return format == 0x50 || (format >= 0x91 && format <= 0xb5);
}

Status element_format(std::uint32_t number, std::uint32_t channels, ElementFormat& format) {
  if (is_not_modelled(number))
    return refuse("CUDA arrays that are compressed, packed or of several planes are not modelled");
  if (channels != 1 && channels != 2 && channels != 4) return Status::invalid_value;
  for (const NumberedType& f : kPlainFormats)
    if (f.number == number) {
      format = {{f.type, channels}, false};
      return Status::success;
    }
  for (const NumberedType& f : kNormalizedFormats)
    for (std::uint32_t n = 0; n < 3; ++n)
      if (f.number + n == number && kComponents[n] == channels) {
        format = {{f.type, channels}, true};
        return Status::success;
      }
  return Status::invalid_value;
}

std::uint32_t number_of(const ElementFormat& format) {
  const std::uint32_t place = format.texel.components == 4 ? 2 : format.texel.components - 1;
  if (format.normalized) {
    for (const NumberedType& f : kNormalizedFormats)
      if (f.type == format.texel.type) return f.number + place;
  }
  for (const NumberedType& f : kPlainFormats)
    if (f.type == format.texel.type) return f.number;
  return 0;
}

// ---- Arrays

template <class F>
int make(void** array, const VolumeDescriptor* d, F&& f) {
  return with_context([&](Machine& m, Context& context) {
    if (array == nullptr || d == nullptr) return Status::invalid_value;
    ElementFormat format;
    if (const Status s = element_format(d->format, d->channels, format); s != Status::success) return s;
    Array* made = nullptr;
    const Status s =
        f(m, ArrayShape{format, {d->width, d->height, d->depth}, d->flags}, context.device, made);
    *array = made;
    return s;
  });
}

int cuArray3DCreate_v2(void** array, const VolumeDescriptor* descriptor) {
  return make(array, descriptor, [](Machine& m, const ArrayShape& shape, unsigned device, Array*& made) {
    return m.arrays().add(shape, device, made);
  });
}

int cuArrayCreate_v2(void** array, const ArrayDescriptor* d) {
  if (d == nullptr) return cuArray3DCreate_v2(array, nullptr);
  const VolumeDescriptor whole{d->width, d->height, 0, d->format, d->channels, 0};
  return cuArray3DCreate_v2(array, &whole);
}

int cuMipmappedArrayCreate(void** array, const VolumeDescriptor* descriptor, unsigned levels) {
  return make(array, descriptor, [&](Machine& m, const ArrayShape& shape, unsigned device, Array*& made) {
    return m.arrays().add_mipmapped(shape, levels, device, made);
  });
}

/// What frees nothing by the runtime's name is no handle here.
Status destroyed(Status removed, const void* array) {
  return array == nullptr || removed == Status::invalid_value ? Status::invalid_resource_handle : removed;
}

int cuArrayDestroy(void* array) {
  return with_context([&](Machine& m, Context&) { return destroyed(m.arrays().remove(array), array); });
}

int cuMipmappedArrayDestroy(void* array) {
  return with_context(
      [&](Machine& m, Context&) { return destroyed(m.arrays().remove_mipmapped(array), array); });
}

int cuMipmappedArrayGetLevel(void** level, void* array, unsigned number) {
  return with_context([&](Machine& m, Context&) {
    if (level == nullptr) return Status::invalid_value;
    const Array* const whole = m.arrays().find_mipmapped(array);
    if (whole == nullptr) return Status::invalid_resource_handle;
    if (number >= whole->levels.size()) return Status::invalid_value;
    *level = whole->levels[number].get();
    return Status::success;
  });
}

int cuArray3DGetDescriptor_v2(VolumeDescriptor* d, void* handle) {
  return with_context([&](Machine& m, Context&) {
    const Array* const array = m.arrays().find(handle);
    if (array == nullptr) return Status::invalid_resource_handle;
    if (d == nullptr) return Status::invalid_value;
    const ArrayShape& s = array->shape;
    *d = {s.extent.width,      s.extent.height,           s.extent.depth,
          number_of(s.format), s.format.texel.components, s.flags};
    return Status::success;
  });
}

int cuArrayGetDescriptor_v2(ArrayDescriptor* d, void* handle) {
  VolumeDescriptor whole{};
  const int status = cuArray3DGetDescriptor_v2(d == nullptr ? nullptr : &whole, handle);
  if (status == 0) *d = {whole.width, whole.height, whole.format, whole.channels};
  return status;
}

// ---- Copies of bytes of an array's first row

int copy_to(void* handle, std::size_t at, std::uint64_t from, CopyKind kind, std::size_t bytes, void* stream,
            bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(handle);
    if (to == nullptr) return Status::invalid_resource_handle;
    Machine::Copy c;
    c.from = from;
    c.width = c.from_pitch = bytes;
    c.kind = kind;
    return Arrays::place_to(*to, at, 0, c) ? m.copy(c, s, asynchronous) : Status::invalid_value;
  });
}

int copy_from(std::uint64_t to, void* handle, std::size_t at, CopyKind kind, std::size_t bytes, void* stream,
              bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const from = m.arrays().find(handle);
    if (from == nullptr) return Status::invalid_resource_handle;
    Machine::Copy c;
    c.to = to;
    c.width = c.to_pitch = bytes;
    c.kind = kind;
    return Arrays::place_from(*from, at, 0, c) ? m.copy(c, s, asynchronous) : Status::invalid_value;
  });
}

int cuMemcpyHtoA_v2(void* to, std::size_t at, const void* from, std::size_t bytes) {
  return copy_to(to, at, runtime::address_of(from), CopyKind::host_to_device, bytes, nullptr, false);
}
int cuMemcpyHtoAAsync_v2(void* to, std::size_t at, const void* from, std::size_t bytes, void* stream) {
  return copy_to(to, at, runtime::address_of(from), CopyKind::host_to_device, bytes, stream, true);
}
int cuMemcpyDtoA_v2(void* to, std::size_t at, std::uint64_t from, std::size_t bytes) {
  return copy_to(to, at, from, CopyKind::device_to_device, bytes, nullptr, false);
}
int cuMemcpyAtoH_v2(void* to, void* from, std::size_t at, std::size_t bytes) {
  return copy_from(runtime::address_of(to), from, at, CopyKind::device_to_host, bytes, nullptr, false);
}
int cuMemcpyAtoHAsync_v2(void* to, void* from, std::size_t at, std::size_t bytes, void* stream) {
  return copy_from(runtime::address_of(to), from, at, CopyKind::device_to_host, bytes, stream, true);
}
int cuMemcpyAtoD_v2(std::uint64_t to, void* from, std::size_t at, std::size_t bytes) {
  return copy_from(to, from, at, CopyKind::device_to_device, bytes, nullptr, false);
}
int cuMemcpyAtoA_v2(void* to_handle, std::size_t to_at, void* from_handle, std::size_t from_at,
                    std::size_t bytes) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(to_handle);
    const Array* const from = m.arrays().find(from_handle);
    if (to == nullptr || from == nullptr) return Status::invalid_resource_handle;
    Machine::Copy c;
    c.width = bytes;
    c.kind = CopyKind::device_to_device;
    const bool both = Arrays::place_to(*to, to_at, 0, c) && Arrays::place_from(*from, from_at, 0, c);
    return both ? m.copy(c, s, false) : Status::invalid_value;
  });
}

// ---- Textures and surfaces

/// `CUDA_RESOURCE_DESC`.
struct DriverResource {
  ResourceKind kind;
  std::uint64_t pointer;  ///< the array, the mipmapped array, or memory
  std::uint32_t format, channels;
  std::uint64_t size, height, pitch;  ///< size: bytes; of pitched memory the width in elements
  std::int32_t reserved[22];
  std::uint32_t flags;
};
static_assert(sizeof(DriverResource) == 144 && offsetof(DriverResource, size) == 24 &&
              offsetof(DriverResource, pitch) == 40 && offsetof(DriverResource, flags) == 136);

/// `CUDA_TEXTURE_DESC`.
struct DriverTexture {
  std::int32_t address_modes[3], filter;
  std::uint32_t flags, anisotropy;
  std::int32_t mip_filter;
  float level_bias, min_level, max_level;
  float border[4];
  std::int32_t reserved[12];
};
static_assert(sizeof(DriverTexture) == 104 && offsetof(DriverTexture, border) == 40);
constexpr std::uint32_t kReadAsInteger = 0x1, kNormalizedCoordinates = 0x2, kSrgb = 0x10, kNoTrilinear = 0x20,
                        kSeamless = 0x40;

Status converted(const DriverResource& r, ResourceDescription& out) {
  out = {};
  out.kind = r.kind;
  out.pointer = reinterpret_cast<void*>(r.pointer);
  if (r.flags != 0) return Status::invalid_value;
  if (r.kind != ResourceKind::linear && r.kind != ResourceKind::pitched) return Status::success;
  ElementFormat format;
  if (const Status s = element_format(r.format, r.channels, format); s != Status::success) return s;
  out.format = description_of(format);
  out.size = r.size;
  out.height = r.height;
  out.pitch = r.pitch;
  return Status::success;
}

DriverResource converted(const ResourceDescription& r) {
  DriverResource out{};
  out.kind = r.kind;
  out.pointer = runtime::address_of(r.pointer);
  if (r.kind != ResourceKind::linear && r.kind != ResourceKind::pitched) return out;
  const char* named = nullptr;
  if (const auto format = format_of(r.format, named)) {
    out.format = number_of(*format);
    out.channels = format->texel.components;
  }
  out.size = r.size;
  out.height = r.height;
  out.pitch = r.pitch;
  return out;
}

TextureDescription converted(const DriverTexture& t) {
  TextureDescription out;
  std::copy(std::begin(t.address_modes), std::end(t.address_modes), out.address_modes);
  out.filter = t.filter;
  out.read_mode = (t.flags & kReadAsInteger) != 0 ? 0 : 1;
  out.srgb = (t.flags & kSrgb) != 0 ? 1 : 0;
  std::copy(std::begin(t.border), std::end(t.border), out.border);
  out.normalized_coordinates = (t.flags & kNormalizedCoordinates) != 0 ? 1 : 0;
  out.anisotropy = t.anisotropy;
  out.mip_filter = t.mip_filter;
  out.level_bias = t.level_bias;
  out.min_level = t.min_level;
  out.max_level = t.max_level;
  out.no_trilinear_optimization = (t.flags & kNoTrilinear) != 0 ? 1 : 0;
  out.seamless_cubes = (t.flags & kSeamless) != 0 ? 1 : 0;
  return out;
}

DriverTexture converted(const TextureDescription& t) {
  DriverTexture out{};
  std::copy(std::begin(t.address_modes), std::end(t.address_modes), out.address_modes);
  out.filter = t.filter;
  out.flags = (t.read_mode == 0 ? kReadAsInteger : 0) |
              (t.normalized_coordinates != 0 ? kNormalizedCoordinates : 0) | (t.srgb != 0 ? kSrgb : 0) |
              (t.no_trilinear_optimization != 0 ? kNoTrilinear : 0) | (t.seamless_cubes != 0 ? kSeamless : 0);
  out.anisotropy = t.anisotropy;
  out.mip_filter = t.mip_filter;
  out.level_bias = t.level_bias;
  out.min_level = t.min_level;
  out.max_level = t.max_level;
  std::copy(std::begin(t.border), std::end(t.border), out.border);
  return out;
}

int cuTexObjectCreate(std::uint64_t* object, const DriverResource* resource, const DriverTexture* texture,
                      const ViewDescription* view) {
  return with_context([&](Machine& m, Context&) {
    if (object == nullptr || resource == nullptr || texture == nullptr) return Status::invalid_value;
    constexpr std::uint32_t kKnown =
        kReadAsInteger | kNormalizedCoordinates | kSrgb | kNoTrilinear | kSeamless;
    if ((texture->flags & ~kKnown) != 0) return Status::invalid_value;
    ResourceDescription r;
    if (const Status s = converted(*resource, r); s != Status::success) return s;
    const Status s = m.arrays().add_texture(r, converted(*texture), view, *object);
    // The driver API has no word for these.
    return s == Status::invalid_filter_setting || s == Status::invalid_channel_descriptor
               ? Status::invalid_value
               : s;
  });
}

int cuSurfObjectCreate(std::uint64_t* object, const DriverResource* resource) {
  return with_context([&](Machine& m, Context&) {
    if (object == nullptr || resource == nullptr) return Status::invalid_value;
    ResourceDescription r;
    if (const Status s = converted(*resource, r); s != Status::success) return s;
    return m.arrays().add_surface(r, *object);
  });
}

int destroy(std::uint64_t object, bool is_surface) {
  return with_context([&](Machine& m, Context&) {
    return m.arrays().remove_object(object, is_surface) ? Status::success : Status::invalid_value;
  });
}

int cuTexObjectDestroy(std::uint64_t object) {
  return destroy(object, false);
}

int cuSurfObjectDestroy(std::uint64_t object) {
  return destroy(object, true);
}

/// Calls `f` with what a texture or surface was made of.
template <class F>
int with_object(std::uint64_t object, bool is_surface, const void* out, F&& f) {
  return with_context([&](Machine& m, Context&) {
    const auto found = m.arrays().object(object, is_surface);
    return out == nullptr || !found ? Status::invalid_value : f(*found);
  });
}

int cuTexObjectGetResourceDesc(DriverResource* resource, std::uint64_t object) {
  return with_object(object, false, resource, [&](const Arrays::Object& o) {
    *resource = converted(o.resource);
    return Status::success;
  });
}

int cuTexObjectGetTextureDesc(DriverTexture* texture, std::uint64_t object) {
  return with_object(object, false, texture, [&](const Arrays::Object& o) {
    *texture = converted(o.texture);
    return Status::success;
  });
}

int cuTexObjectGetResourceViewDesc(ViewDescription* view, std::uint64_t object) {
  return with_object(object, false, view, [&](const Arrays::Object& o) {
    if (!o.view) return Status::invalid_value;
    *view = *o.view;
    return Status::success;
  });
}

int cuSurfObjectGetResourceDesc(DriverResource* resource, std::uint64_t object) {
  return with_object(object, true, resource, [&](const Arrays::Object& o) {
    *resource = converted(o.resource);
    return Status::success;
  });
}

int cuDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, std::uint32_t format, unsigned channels,
                                       int device) {
  return with_device(device, [&](Machine& m) {
    ElementFormat known;
    if (elements == nullptr) return Status::invalid_value;
    if (const Status s = element_format(format, channels, known); s != Status::success) return s;
    *elements = m.arrays().most_linear_elements();
    return Status::success;
  });
}

}  // namespace

void add_arrays(Functions& f) {
  WARPLINE_ADD(f, cuArrayCreate_v2);
  WARPLINE_ADD(f, cuArray3DCreate_v2);
  WARPLINE_ADD(f, cuArrayDestroy);
  WARPLINE_ADD(f, cuArrayGetDescriptor_v2);
  WARPLINE_ADD(f, cuArray3DGetDescriptor_v2);
  WARPLINE_ADD(f, cuMipmappedArrayCreate);
  WARPLINE_ADD(f, cuMipmappedArrayDestroy);
  WARPLINE_ADD(f, cuMipmappedArrayGetLevel);
  WARPLINE_ADD(f, cuMemcpyHtoA_v2);
  WARPLINE_ADD(f, cuMemcpyHtoAAsync_v2);
  WARPLINE_ADD(f, cuMemcpyDtoA_v2);
  WARPLINE_ADD(f, cuMemcpyAtoH_v2);
  WARPLINE_ADD(f, cuMemcpyAtoHAsync_v2);
  WARPLINE_ADD(f, cuMemcpyAtoD_v2);
  WARPLINE_ADD(f, cuMemcpyAtoA_v2);
  WARPLINE_ADD(f, cuTexObjectCreate);
  WARPLINE_ADD(f, cuTexObjectDestroy);
  WARPLINE_ADD(f, cuTexObjectGetResourceDesc);
  WARPLINE_ADD(f, cuTexObjectGetTextureDesc);
  WARPLINE_ADD(f, cuTexObjectGetResourceViewDesc);
  WARPLINE_ADD(f, cuSurfObjectCreate);
  WARPLINE_ADD(f, cuSurfObjectDestroy);
  WARPLINE_ADD(f, cuSurfObjectGetResourceDesc);
  WARPLINE_ADD(f, cuDeviceGetTexture1DLinearMaxWidth);
}

}  // namespace warpline::cuda::driver
