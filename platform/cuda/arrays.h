#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "platform/cuda/images.h"
#include "platform/cuda/machine.h"
#include "platform/cuda/status.h"
#include "rtl_models/sm/image_table.h"

namespace warpline::cuda {

/// What an array can be and may be used for; the numbers are those of both APIs.
enum ArrayFlags : std::uint32_t {
  kLayeredArray = 0x1,
  kSurfaceArray = 0x2,  ///< surfaces may be made of it
  kCubeArray = 0x4,
  kGatherArray = 0x8
};

/// An array as a program asks for it.
struct ArrayShape {
  ElementFormat format;
  Extent extent;  ///< elements; 0 where it has no such dimension; the depth of a layered one is its layers
  std::uint32_t flags = 0;
};

/// An array of a program, which names it by the object's address.
struct Array {
  ArrayShape shape;
  Image image;  ///< where it lies, and how, without what textures add
  unsigned device = 0;
  Array* whole = nullptr;                      ///< the mipmapped array that it is a level of
  std::vector<std::unique_ptr<Array>> levels;  ///< of a mipmapped array
  /// Two-dimensional slices: of a volume, layers, faces.
  [[nodiscard]] std::uint64_t slices() const { return std::uint64_t{image.depth} * image.slices(); }
};

/// Arrays, textures and surfaces of a process, over the memory of its machine. Calls may come from any
/// thread.
class Arrays {
 public:
  explicit Arrays(Machine& machine) : machine_(machine) {}

  /// Its rows are padded to whole sectors. What CUDA has and this has not is told on stderr.
  Status add(const ArrayShape& shape, unsigned device, Array*& array);
  /// `levels` is kept within 1 and what there can be. All levels follow one another without padding.
  Status add_mipmapped(const ArrayShape& shape, unsigned levels, unsigned device, Array*& array);
  /// Null: the program has no array, or no mipmapped one, by that name. A level is an array.
  [[nodiscard]] Array* find(const void* handle);
  [[nodiscard]] Array* find_mipmapped(const void* handle);
  /// Waits for the device. Nothing happens to a null pointer.
  Status remove(const void* handle);
  Status remove_mipmapped(const void* handle);

  /// What a description of a copy comes to: where arrays lie, and that it stays within them.
  Status copy_of(const CopyParameters& parameters, Machine::Copy& copy);
  /// Where byte `x` of a row of an array lies, and how far its rows and slices are apart. Nothing: a copy of
  /// that size does not stay within the array. `at.x` is not looked at.
  struct Place {
    std::uint64_t address, pitch, slice_pitch;
  };
  static std::optional<Place> place(const Array& array, std::uint64_t x, const Position& at,
                                    const Machine::Copy& size);
  /// Makes one side of a copy, whose size is there, begin at byte `x` of row `y` of an array. False: it does
  /// not lie within the array's first slice.
  static bool place_to(const Array& array, std::uint64_t x, std::uint64_t y, Machine::Copy& copy);
  static bool place_from(const Array& array, std::uint64_t x, std::uint64_t y, Machine::Copy& copy);

  /// What a texture was made of; a surface has a resource alone.
  struct Object {
    bool is_surface = false;
    ResourceDescription resource;
    TextureDescription texture;
    std::optional<ViewDescription> view;
    unsigned device = 0;  ///< whose memory it is of
  };
  Status add_texture(const ResourceDescription& resource, const TextureDescription& texture,
                     const ViewDescription* view, std::uint64_t& handle);
  Status add_surface(const ResourceDescription& resource, std::uint64_t& handle);
  [[nodiscard]] std::optional<Object> object(std::uint64_t handle, bool is_surface);
  /// Grids that were launched before still have it. False: there is none.
  bool remove_object(std::uint64_t handle, bool is_surface);
  /// Forgets all of a GPU's. Pre: nothing is under way there, and the machine gives back their memory.
  void reset(unsigned device);
  /// Elements that a texture of plain memory can have.
  [[nodiscard]] std::uint64_t most_linear_elements() const;

 private:
  Status check_shape(const ArrayShape& shape, bool mipmapped) const;
  Status make(const ArrayShape& shape, unsigned levels, bool mipmapped, unsigned device, Array*& array);
  Status remove_from(std::map<const void*, std::unique_ptr<Array>>& arrays, const void* handle);
  Status image_of(const ResourceDescription& resource, Image& image, ElementFormat& format);
  Status apply_view(const ViewDescription& view, const ResourceDescription& resource, Image& image,
                    ElementFormat& format);
  Status set_sampler(const TextureDescription& texture, const ResourceDescription& resource,
                     const ElementFormat& format, Image& image);
  /// The GPU whose memory an image is of.
  [[nodiscard]] unsigned device_of(const Image& image) const;
  /// Tells that something is not modelled.
  Status refuse(const char* what) const;

  Machine& machine_;
  std::mutex mutex_;  ///< guards what follows
  std::map<const void*, std::unique_ptr<Array>> arrays_, mipmapped_;
  std::map<const void*, Array*> levels_;
  std::map<std::uint64_t, Object> objects_;
};

}  // namespace warpline::cuda
