#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/arrays.h"

namespace warpline::cuda::runtime {
namespace {

// What toolkits 12 and 13 have of these structures in common; 13 has appended zeros.
constexpr std::size_t kResourceBytes = 64, kViewBytes = 48;
static_assert(kResourceBytes == offsetof(ResourceDescription, reserved) &&
              kViewBytes == offsetof(ViewDescription, reserved));

ResourceDescription resource_at(const void* description) {
  ResourceDescription resource;
  std::memcpy(static_cast<void*>(&resource), description, kResourceBytes);
  return resource;
}

int cudaCreateTextureObject(std::uint64_t* object, const void* resource, const TextureDescription* texture,
                            const void* view) {
  return with_machine([&](Machine& m) {
    if (object == nullptr || resource == nullptr || texture == nullptr) return Status::invalid_value;
    if (const Status s = m.fault(); s != Status::success) return s;
    ViewDescription v;
    if (view != nullptr) std::memcpy(static_cast<void*>(&v), view, kViewBytes);
    return m.arrays().add_texture(resource_at(resource), *texture, view == nullptr ? nullptr : &v, *object);
  });
}

int cudaCreateSurfaceObject(std::uint64_t* object, const void* resource) {
  return with_machine([&](Machine& m) {
    if (object == nullptr || resource == nullptr) return Status::invalid_value;
    if (const Status s = m.fault(); s != Status::success) return s;
    return m.arrays().add_surface(resource_at(resource), *object);
  });
}

int destroy(std::uint64_t object, bool is_surface) {
  return with_machine([&](Machine& m) {
    return m.arrays().remove_object(object, is_surface) ? Status::success : Status::invalid_value;
  });
}

int cudaDestroyTextureObject(std::uint64_t object) {
  return destroy(object, false);
}

int cudaDestroySurfaceObject(std::uint64_t object) {
  return destroy(object, true);
}

/// Calls `f` with what a texture or surface was made of.
template <class F>
int with_object(std::uint64_t object, bool is_surface, const void* out, F&& f) {
  return with_machine([&](Machine& m) {
    const auto found = m.arrays().object(object, is_surface);
    return out == nullptr || !found ? Status::invalid_value : f(*found);
  });
}

int cudaGetTextureObjectResourceDesc(void* resource, std::uint64_t object) {
  return with_object(object, false, resource, [&](const Arrays::Object& o) {
    std::memcpy(resource, &o.resource, kResourceBytes);
    return Status::success;
  });
}

int cudaGetTextureObjectTextureDesc(TextureDescription* texture, std::uint64_t object) {
  return with_object(object, false, texture, [&](const Arrays::Object& o) {
    *texture = o.texture;
    return Status::success;
  });
}

int cudaGetTextureObjectResourceViewDesc(void* view, std::uint64_t object) {
  return with_object(object, false, view, [&](const Arrays::Object& o) {
    if (!o.view) return Status::invalid_value;
    std::memcpy(view, &*o.view, kViewBytes);
    return Status::success;
  });
}

int cudaGetSurfaceObjectResourceDesc(void* resource, std::uint64_t object) {
  return with_object(object, true, resource, [&](const Arrays::Object& o) {
    std::memcpy(resource, &o.resource, kResourceBytes);
    return Status::success;
  });
}

int cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, const ChannelDescription* format,
                                         int device) {
  return with_device(device, [&](Machine& m) {
    const char* named = nullptr;
    if (elements == nullptr || format == nullptr || !format_of(*format, named)) return Status::invalid_value;
    *elements = m.arrays().most_linear_elements();
    return Status::success;
  });
}

}  // namespace

void add_textures(Functions& f) {
  WARPLINE_ADD(f, cudaCreateTextureObject);
  WARPLINE_ADD(f, cudaDestroyTextureObject);
  WARPLINE_ADD(f, cudaGetTextureObjectResourceDesc);
  WARPLINE_ADD(f, cudaGetTextureObjectTextureDesc);
  WARPLINE_ADD(f, cudaGetTextureObjectResourceViewDesc);
  WARPLINE_ADD(f, cudaCreateSurfaceObject);
  WARPLINE_ADD(f, cudaDestroySurfaceObject);
  WARPLINE_ADD(f, cudaGetSurfaceObjectResourceDesc);
  WARPLINE_ADD(f, cudaDeviceGetTexture1DLinearMaxWidth);
}

}  // namespace warpline::cuda::runtime
