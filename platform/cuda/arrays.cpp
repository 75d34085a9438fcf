#include "platform/cuda/arrays.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>

#include "platform/cuda/device_properties.h"
#include "platform/cuda/shortcomings.h"
#include "rtl_models/base/types.h"

namespace warpline::cuda {
namespace {

constexpr std::uint32_t kKnownFlags = kLayeredArray | kSurfaceArray | kCubeArray | kGatherArray;
constexpr unsigned kFaces = 6;

bool has(const ArrayShape& shape, ArrayFlags flag) {
  return (shape.flags & flag) != 0;
}

/// The attributes of a device that bound an array's sizes (CUDA Runtime API, "cudaMalloc3DArray").
struct Bounds {
  int width, height, depth;  ///< numbers of attributes; 0: it has no such dimension
};

Bounds texture_bounds(const ArrayShape& s, bool mipmapped) {
  const bool layered = has(s, kLayeredArray), flat = s.extent.height == 0;
  if (has(s, kCubeArray)) return layered ? Bounds{53, 53, 54} : Bounds{52, 52, 0};
  if (layered) return flat ? Bounds{42, 0, 43} : Bounds{27, 28, 29};
  if (s.extent.depth != 0) return {24, 25, 26};
  if (has(s, kGatherArray)) return {45, 46, 0};
  if (flat) return {mipmapped ? 77 : 21, 0, 0};
  return mipmapped ? Bounds{73, 74, 0} : Bounds{22, 23, 0};
}

Bounds surface_bounds(const ArrayShape& s) {
  const bool layered = has(s, kLayeredArray), flat = s.extent.height == 0;
  if (has(s, kCubeArray)) return layered ? Bounds{67, 67, 68} : Bounds{66, 66, 0};
  if (layered) return flat ? Bounds{61, 0, 62} : Bounds{63, 64, 65};
  if (s.extent.depth != 0) return {58, 59, 60};
  return flat ? Bounds{55, 0, 0} : Bounds{56, 57, 0};
}

bool fits(const Extent& extent, const Bounds& bounds, const GpuConfig& config) {
  const auto is_within = [&](std::uint64_t size, int attribute) {
    return attribute == 0 ||
           size <= static_cast<std::uint64_t>(device_attribute(config, attribute).value_or(0));
  };
  return is_within(extent.width, bounds.width) && is_within(extent.height, bounds.height) &&
         is_within(extent.depth, bounds.depth);
}

Image image_of_shape(const ArrayShape& s, unsigned levels) {
  Image image;
  image.format = s.format.texel;
  image.width = static_cast<std::uint32_t>(s.extent.width);
  image.height = static_cast<std::uint32_t>(std::max<std::uint64_t>(s.extent.height, 1));
  image.cube = has(s, kCubeArray);
  const auto depth = static_cast<std::uint32_t>(s.extent.depth);
  if (has(s, kLayeredArray)) {
    image.layers = image.cube ? depth / kFaces : depth;
  } else if (!image.cube) {
    image.depth = std::max(depth, 1U);
  }
  image.levels = levels;
  return image;
}

/// A side of a copy that is plain memory. `c`: its size.
Status place_in(const PitchedPointer& memory, const Position& at, const Machine::Copy& c,
                Arrays::Place& place) {
  if (memory.pitch > std::numeric_limits<std::int32_t>::max()) return Status::invalid_pitch_value;
  const bool has_slices = c.depth > 1 || at.z != 0;
  if (has_slices && (at.y > memory.height || c.height > memory.height - at.y)) return Status::invalid_value;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31U;
  if (at.x > kMost || at.y > kMost || at.z > kMost || memory.height > kMost) return Status::invalid_value;
  const std::uint64_t slice = memory.pitch * memory.height;
  place = {reinterpret_cast<std::uintptr_t>(memory.pointer) + at.z * slice + at.y * memory.pitch + at.x,
           memory.pitch, slice};
  return Status::success;
}

std::optional<AddressMode> address_mode(std::int32_t number) {
  constexpr AddressMode kModes[] = {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror,
                                    AddressMode::border};
  if (number < 0 || number > 3) return std::nullopt;
  return kModes[number];
}

std::optional<TextureFilter> filter_of(std::int32_t number) {
  if (number < 0 || number > 1) return std::nullopt;
  return number == 0 ? TextureFilter::point : TextureFilter::linear;
}

}  // namespace

Status Arrays::refuse(const char* what) const {
  Shortcomings::instance().note(what, std::string(what) + " are not modelled");
  return Status::not_supported;
}

// ---- Arrays

Status Arrays::check_shape(const ArrayShape& s, bool mipmapped) const {
  constexpr std::uint32_t kDepthTexture = 0x10, kColourAttachment = 0x20, kSparse = 0x40, kDeferred = 0x80;
  if ((s.flags & (kSparse | kDeferred)) != 0) return refuse("arrays whose memory is mapped later");
  if ((s.flags & (kDepthTexture | kColourAttachment)) != 0) return refuse("arrays of graphics APIs");
  if ((s.flags & ~kKnownFlags) != 0) return Status::invalid_value;
  const Extent& e = s.extent;
  if (e.width == 0) return Status::invalid_value;
  if (has(s, kCubeArray)) {
    const bool whole = has(s, kLayeredArray) ? e.depth != 0 && e.depth % kFaces == 0 : e.depth == kFaces;
    if (!whole || e.width != e.height) return Status::invalid_value;
  } else if (has(s, kLayeredArray) ? e.depth == 0 : e.depth != 0 && e.height == 0) {
    return Status::invalid_value;
  }
  if (has(s, kGatherArray) && (e.height == 0 || e.depth != 0)) return Status::invalid_value;
  const GpuConfig& config = machine_.config();
  const bool is_volume = e.depth != 0 && !has(s, kLayeredArray) && !has(s, kCubeArray);
  if (!fits(e, texture_bounds(s, mipmapped), config) && !(is_volume && fits(e, {47, 48, 49}, config)))
    return Status::invalid_value;
  if (has(s, kSurfaceArray) && !fits(e, surface_bounds(s), config)) return Status::invalid_value;
  return Status::success;
}

Status Arrays::make(const ArrayShape& shape, unsigned levels, bool mipmapped, unsigned device,
                    Array*& array) {
  array = nullptr;
  if (const Status s = check_shape(shape, mipmapped); s != Status::success) return s;
  auto made = std::make_unique<Array>();
  made->shape = shape;
  made->device = device;
  Image& image = made->image;
  image = image_of_shape(shape, 1);
  if (mipmapped) {
    image.levels = std::clamp(levels, 1U, image.most_levels());
  } else if (image.height > 1 || made->slices() > 1) {
    image.pitch = (image.row_bytes() + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
  }
  const Status s =
      machine_.allocate(Allocation::Kind::array, image.bytes(), shape.flags, device, image.address);
  if (s != Status::success) return s;
  const std::lock_guard lock(mutex_);
  for (unsigned n = 0; mipmapped && n < image.levels; ++n) {
    auto level = std::make_unique<Array>();
    level->shape = shape;
    level->image = image.level(n);
    level->device = device;
    level->whole = made.get();
    Extent& e = level->shape.extent;
    e.width = level->image.width;
    if (e.height != 0) e.height = level->image.height;
    if (e.depth != 0 && level->image.layers == 0 && !level->image.cube) e.depth = level->image.depth;
    levels_[level.get()] = level.get();
    made->levels.push_back(std::move(level));
  }
  array = made.get();
  (mipmapped ? mipmapped_ : arrays_)[array] = std::move(made);
  return Status::success;
}

Status Arrays::add(const ArrayShape& shape, unsigned device, Array*& array) {
  return make(shape, 1, false, device, array);
}

Status Arrays::add_mipmapped(const ArrayShape& shape, unsigned levels, unsigned device, Array*& array) {
  return make(shape, levels, true, device, array);
}

Array* Arrays::find(const void* handle) {
  const std::lock_guard lock(mutex_);
  if (const auto found = arrays_.find(handle); found != arrays_.end()) return found->second.get();
  const auto level = levels_.find(handle);
  return level == levels_.end() ? nullptr : level->second;
}

Array* Arrays::find_mipmapped(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = mipmapped_.find(handle);
  return found == mipmapped_.end() ? nullptr : found->second.get();
}

Status Arrays::remove_from(std::map<const void*, std::unique_ptr<Array>>& arrays, const void* handle) {
  if (handle == nullptr) return machine_.fault();
  std::unique_ptr<Array> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = arrays.find(handle);
    if (found == arrays.end()) return Status::invalid_value;
    removed = std::move(found->second);
    arrays.erase(found);
    for (const auto& level : removed->levels) levels_.erase(level.get());
  }
  return machine_.free(removed->image.address, {Allocation::Kind::array});
}

Status Arrays::remove(const void* handle) {
  return remove_from(arrays_, handle);
}

Status Arrays::remove_mipmapped(const void* handle) {
  return remove_from(mipmapped_, handle);
}

// ---- Copies

std::optional<Arrays::Place> Arrays::place(const Array& array, std::uint64_t x, const Position& at,
                                           const Machine::Copy& c) {
  const Image& i = array.image;
  const auto fits_in = [](std::uint64_t first, std::uint64_t count, std::uint64_t size) {
    return first <= size && count <= size - first;
  };
  if (!fits_in(x, c.width, i.row_bytes()) || !fits_in(at.y, c.height, i.height) ||
      !fits_in(at.z, c.depth, array.slices()))
    return std::nullopt;
  const std::uint64_t slice = i.row_step() * i.height;
  return Place{i.address + at.z * slice + at.y * i.row_step() + x, i.row_step(), slice};
}

bool Arrays::place_to(const Array& array, std::uint64_t x, std::uint64_t y, Machine::Copy& c) {
  const auto found = place(array, x, {0, y, 0}, c);
  if (!found) return false;
  c.to = found->address;
  c.to_pitch = found->pitch;
  c.to_slice_pitch = found->slice_pitch;
  return true;
}

bool Arrays::place_from(const Array& array, std::uint64_t x, std::uint64_t y, Machine::Copy& c) {
  const auto found = place(array, x, {0, y, 0}, c);
  if (!found) return false;
  c.from = found->address;
  c.from_pitch = found->pitch;
  c.from_slice_pitch = found->slice_pitch;
  return true;
}

Status Arrays::copy_of(const CopyParameters& p, Machine::Copy& c) {
  constexpr int kByAddress = 4;
  if (p.kind < 0 || p.kind > kByAddress) return Status::invalid_memcpy_direction;
  if ((p.from_array == nullptr) == (p.from.pointer == nullptr)) return Status::invalid_value;
  if ((p.to_array == nullptr) == (p.to.pointer == nullptr)) return Status::invalid_value;
  const Array* const from = find(p.from_array);
  const Array* const to = find(p.to_array);
  if ((p.from_array != nullptr && from == nullptr) || (p.to_array != nullptr && to == nullptr))
    return Status::invalid_resource_handle;
  const auto element = [](const Array* a) {
    return a == nullptr ? std::uint64_t{1} : std::uint64_t{a->image.format.bytes()};
  };
  if (from != nullptr && to != nullptr && element(from) != element(to)) return Status::invalid_value;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  for (const std::uint64_t n :
       {p.extent.width, p.extent.height, p.extent.depth, p.from_position.x, p.to_position.x})
    if (n > kMost) return Status::invalid_value;
  c = {};
  c.width = p.extent.width * std::max(element(from), element(to));
  c.height = p.extent.height;
  c.depth = p.extent.depth;
  const auto side = [&](const Array* array, const PitchedPointer& memory, const Position& at, Place& found) {
    if (array == nullptr) return place_in(memory, at, c, found);
    const auto in_array = place(*array, at.x * element(array), at, c);
    if (!in_array) return Status::invalid_value;
    found = *in_array;
    return Status::success;
  };
  Place to_place{}, from_place{};
  if (const Status s = side(from, p.from, p.from_position, from_place); s != Status::success) return s;
  if (const Status s = side(to, p.to, p.to_position, to_place); s != Status::success) return s;
  c.from = from_place.address;
  c.from_pitch = from_place.pitch;
  c.from_slice_pitch = from_place.slice_pitch;
  c.to = to_place.address;
  c.to_pitch = to_place.pitch;
  c.to_slice_pitch = to_place.slice_pitch;
  c.kind = static_cast<CopyKind>(p.kind);
  if (c.kind == CopyKind::by_address) return Status::success;
  // Where an array is said to be the host's, it is the device's all the same (cudaMemcpy3D).
  const bool to_device =
      to != nullptr || c.kind == CopyKind::host_to_device || c.kind == CopyKind::device_to_device;
  const bool from_device =
      from != nullptr || c.kind == CopyKind::device_to_host || c.kind == CopyKind::device_to_device;
  c.kind = to_device ? (from_device ? CopyKind::device_to_device : CopyKind::host_to_device)
                     : (from_device ? CopyKind::device_to_host : CopyKind::host_to_host);
  return Status::success;
}

// ---- Textures and surfaces

std::uint64_t Arrays::most_linear_elements() const {
  constexpr int kAttribute = 69;
  return static_cast<std::uint64_t>(device_attribute(machine_.config(), kAttribute).value_or(0));
}

Status Arrays::image_of(const ResourceDescription& r, Image& image, ElementFormat& format) {
  if (r.kind == ResourceKind::array || r.kind == ResourceKind::mipmapped_array) {
    const Array* const array = r.kind == ResourceKind::array ? find(r.pointer) : find_mipmapped(r.pointer);
    if (array == nullptr) return Status::invalid_value;
    image = array->image;
    format = array->shape.format;
    return Status::success;
  }
  if (r.kind != ResourceKind::linear && r.kind != ResourceKind::pitched) return Status::invalid_value;
  const char* named = nullptr;
  const auto found = format_of(r.format, named);
  if (named != nullptr) return refuse(named);
  if (!found) return Status::invalid_channel_descriptor;
  format = *found;
  image = {};
  image.format = format.texel;
  image.address = reinterpret_cast<std::uintptr_t>(r.pointer);
  const auto bound = [this](int attribute) {
    return static_cast<std::uint64_t>(device_attribute(machine_.config(), attribute).value_or(0));
  };
  constexpr int kAlignment = 14, kPitchAlignment = 51, kWidth = 70, kHeight = 71, kPitch = 72;
  if (image.address % bound(kAlignment) != 0) return Status::invalid_value;
  std::uint64_t width = r.size, bytes = 0;
  if (r.kind == ResourceKind::linear) {
    width /= format.texel.bytes();
    if (width == 0 || width > most_linear_elements()) return Status::invalid_value;
    bytes = width * format.texel.bytes();
  } else {
    if (width == 0 || width > bound(kWidth) || r.height == 0 || r.height > bound(kHeight) ||
        r.pitch > bound(kPitch) || r.pitch % bound(kPitchAlignment) != 0 ||
        r.pitch < width * format.texel.bytes())
      return Status::invalid_value;
    image.height = static_cast<std::uint32_t>(r.height);
    image.pitch = r.pitch;
    bytes = image.pitch * (image.height - 1) + width * format.texel.bytes();
  }
  image.width = static_cast<std::uint32_t>(width);
  const auto memory = machine_.allocation_of(image.address);
  if (!memory || bytes > memory->bytes - (image.address - memory->address)) return Status::invalid_value;
  return Status::success;
}

Status Arrays::apply_view(const ViewDescription& v, const ResourceDescription& r, Image& image,
                          ElementFormat& format) {
  if (r.kind != ResourceKind::array && r.kind != ResourceKind::mipmapped_array) return Status::invalid_value;
  if (v.format != 0) {
    const char* named = nullptr;
    const auto found = format_of_view(v.format, named);
    if (named != nullptr) return refuse(named);
    if (!found || found->texel.bytes() != format.texel.bytes()) return Status::invalid_value;
    format = *found;
    image.format = format.texel;
  }
  const auto is_same = [](std::uint64_t asked, std::uint64_t there) { return asked == 0 || asked == there; };
  const std::uint32_t depth = image.layers != 0 || image.cube ? image.slices() : image.depth;
  if (!is_same(v.width, image.width) || !is_same(v.height, image.height) || !is_same(v.depth, depth))
    return Status::invalid_value;
  if (v.first_level > v.last_level || v.last_level >= image.levels) return Status::invalid_value;
  if (v.first_layer > v.last_layer || v.last_layer >= std::max(image.layers, 1U))
    return Status::invalid_value;
  const std::uint32_t levels = v.last_level - v.first_level + 1;
  image = image.level(v.first_level);
  image.levels = levels;
  if (image.layers == 0) return Status::success;
  if (image.cube && (v.first_layer != 0 || v.last_layer + 1 != image.layers))
    return refuse("views of some layers of cube maps");
  const std::uint32_t layers = v.last_layer - v.first_layer + 1;
  if (levels > 1 && layers != image.layers) return refuse("views of some layers in several mipmap levels");
  image.address += v.first_layer * image.row_step() * image.height;
  image.layers = layers;
  return Status::success;
}

Status Arrays::set_sampler(const TextureDescription& t, const ResourceDescription& r,
                           const ElementFormat& format, Image& image) {
  Sampler& s = image.sampler;
  const bool is_mipmapped = r.kind == ResourceKind::mipmapped_array;
  if (t.read_mode < 0 || t.read_mode > 1) return Status::invalid_value;
  s.reading.normalized = (format.normalized || t.read_mode == 1) && !is_float(format.texel.type) &&
                         size_of(format.texel.type) <= 2;
  s.reading.srgb = t.srgb != 0 && s.reading.normalized && format.texel.type == DataType::u8;
  s.normalized_coordinates = t.normalized_coordinates != 0;
  if (is_mipmapped && !s.normalized_coordinates) return Status::invalid_value;
  if (t.seamless_cubes != 0 && !image.cube) return Status::invalid_value;
  if (r.kind == ResourceKind::linear) {
    // Beyond its end there are zeros.
    s.address.fill(AddressMode::border);
    return Status::success;
  }
  const bool has_rows = image.height > 1;
  const unsigned dimensions = image.depth > 1 ? 3 : has_rows ? 2 : 1;
  for (unsigned n = 0; n < 3; ++n) {
    const auto mode = address_mode(t.address_modes[n]);
    if (!mode && n < dimensions) return Status::invalid_value;
    s.address.at(n) = mode.value_or(AddressMode::clamp);
  }
  const auto filter = filter_of(t.filter), mip_filter = filter_of(t.mip_filter);
  if (!filter || (is_mipmapped && !mip_filter)) return Status::invalid_value;
  const bool as_float = reads_as_float(format.texel, s.reading);
  if (*filter == TextureFilter::linear && !as_float) return Status::invalid_filter_setting;
  if (t.seamless_cubes != 0 && *filter == TextureFilter::linear)
    return refuse("textures of cube maps that are filtered across edges (seamlessCubemap)");
  s.filter = *filter;
  std::copy(std::begin(t.border), std::end(t.border), s.border.begin());
  s.border_is_bits = !as_float;
  if (is_mipmapped) {
    s.mip_filter = *mip_filter;
    s.level_bias = t.level_bias;
    s.min_level = t.min_level;
    s.max_level = t.max_level;
  }
  return Status::success;
}

unsigned Arrays::device_of(const Image& image) const {
  const auto memory = machine_.allocation_of(image.address);
  return memory ? memory->device : 0;
}

Status Arrays::add_texture(const ResourceDescription& resource, const TextureDescription& texture,
                           const ViewDescription* view, std::uint64_t& handle) {
  Image image;
  ElementFormat format;
  if (const Status s = image_of(resource, image, format); s != Status::success) return s;
  if (view != nullptr)
    if (const Status s = apply_view(*view, resource, image, format); s != Status::success) return s;
  if (const Status s = set_sampler(texture, resource, format, image); s != Status::success) return s;
  handle = machine_.add_image(image);
  const std::lock_guard lock(mutex_);
  objects_[handle] = {false, resource, texture, view == nullptr ? std::nullopt : std::optional(*view),
                      device_of(image)};
  return Status::success;
}

Status Arrays::add_surface(const ResourceDescription& resource, std::uint64_t& handle) {
  if (resource.kind != ResourceKind::array) return Status::invalid_value;
  const Array* const array = find(resource.pointer);
  if (array == nullptr) return Status::invalid_resource_handle;
  if (!has(array->shape, kSurfaceArray)) return Status::invalid_value;
  Image image = array->image;
  image.is_surface = true;
  handle = machine_.add_image(image);
  const std::lock_guard lock(mutex_);
  objects_[handle] = {true, resource, {}, {}, array->device};
  return Status::success;
}

void Arrays::reset(unsigned device) {
  const std::lock_guard lock(mutex_);
  for (auto object = objects_.begin(); object != objects_.end();) {
    const bool goes = object->second.device == device;
    if (goes) machine_.remove_image(object->first);
    object = goes ? objects_.erase(object) : std::next(object);
  }
  for (auto level = levels_.begin(); level != levels_.end();)
    level = level->second->device == device ? levels_.erase(level) : std::next(level);
  for (auto* const arrays : {&arrays_, &mipmapped_})
    for (auto array = arrays->begin(); array != arrays->end();)
      array = array->second->device == device ? arrays->erase(array) : std::next(array);
}

std::optional<Arrays::Object> Arrays::object(std::uint64_t handle, bool is_surface) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  if (found == objects_.end() || found->second.is_surface != is_surface) return std::nullopt;
  return found->second;
}

bool Arrays::remove_object(std::uint64_t handle, bool is_surface) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end() || found->second.is_surface != is_surface) return false;
    objects_.erase(found);
  }
  machine_.remove_image(handle);
  return true;
}

}  // namespace warpline::cuda
