#include <algorithm>

#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/arrays.h"
#include "platform/cuda/shortcomings.h"

namespace warpline::cuda::runtime {
namespace {

constexpr std::uint64_t kPitchBytes = 512;  // of rows of allocations

// ---- Arrays

ChannelDescription cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {{x, y, z, w}, kind};
}

/// Calls `f` with the shape that a program asks for.
template <class F>
int with_shape(void** array, const ChannelDescription* description, const Extent& extent, unsigned flags,
               F&& f) {
  return with_machine([&](Machine& m) {
    if (array == nullptr || description == nullptr) return Status::invalid_value;
    const char* named = nullptr;
    const auto format = format_of(*description, named);
    if (named != nullptr) {
      Shortcomings::instance().note(named, std::string(named) + " are not modelled");
      return Status::not_supported;
    }
    if (!format) return Status::invalid_channel_descriptor;
    Array* made = nullptr;
    const Status s = f(m, ArrayShape{*format, extent, flags}, made);
    *array = made;
    return s;
  });
}

int cudaMalloc3DArray(void** array, const ChannelDescription* description, Extent extent, unsigned flags) {
  return with_shape(array, description, extent, flags, [](Machine& m, const ArrayShape& shape, Array*& made) {
    return m.arrays().add(shape, this_thread().device, made);
  });
}

int cudaMallocArray(void** array, const ChannelDescription* description, std::size_t width,
                    std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}

int cudaMallocMipmappedArray(void** array, const ChannelDescription* description, Extent extent,
                             unsigned levels, unsigned flags) {
  return with_shape(array, description, extent, flags,
                    [&](Machine& m, const ArrayShape& shape, Array*& made) {
                      return m.arrays().add_mipmapped(shape, levels, this_thread().device, made);
                    });
}

int cudaFreeArray(void* array) {
  return with_machine([&](Machine& m) { return m.arrays().remove(array); });
}

int cudaFreeMipmappedArray(void* array) {
  return with_machine([&](Machine& m) { return m.arrays().remove_mipmapped(array); });
}

int cudaGetMipmappedArrayLevel(void** level, const void* array, unsigned number) {
  return with_machine([&](Machine& m) {
    if (level == nullptr) return Status::invalid_value;
    const Array* const whole = m.arrays().find_mipmapped(array);
    if (whole == nullptr) return Status::invalid_resource_handle;
    if (number >= whole->levels.size()) return Status::invalid_value;
    *level = whole->levels[number].get();
    return Status::success;
  });
}

/// Calls `f` with the machine and an array.
template <class F>
int with_array(const void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    const Array* const array = m.arrays().find(handle);
    return array == nullptr ? Status::invalid_resource_handle : f(m, *array);
  });
}

int cudaArrayGetInfo(ChannelDescription* description, Extent* extent, unsigned* flags, const void* handle) {
  return with_array(handle, [&](Machine&, const Array& array) {
    if (description != nullptr) *description = description_of(array.shape.format);
    if (extent != nullptr) *extent = array.shape.extent;
    if (flags != nullptr) *flags = array.shape.flags;
    return Status::success;
  });
}

int cudaGetChannelDesc(ChannelDescription* description, const void* handle) {
  return with_array(handle, [&](Machine&, const Array& array) {
    if (description == nullptr) return Status::invalid_value;
    *description = description_of(array.shape.format);
    return Status::success;
  });
}

// ---- Memory in rows and slices

int cudaMalloc3D(PitchedPointer* memory, Extent extent) {
  return with_machine([&](Machine& m) {
    if (memory == nullptr) return Status::invalid_value;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
    *memory = {};
    const std::uint64_t pitch = (std::min(extent.width, kMost) + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
    const double bytes =
        static_cast<double>(pitch) * static_cast<double>(extent.height) * static_cast<double>(extent.depth);
    if (bytes > static_cast<double>(kMost)) return Status::memory_allocation;
    std::uint64_t address = 0;
    const Status s =
        m.allocate(Kind::device, pitch * extent.height * extent.depth, 0, this_thread().device, address);
    if (s == Status::success)
      *memory = {reinterpret_cast<void*>(address), pitch, extent.width, extent.height};
    return s;
  });
}

int fill(const PitchedPointer& memory, int value, const Extent& extent, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return Status::success;
    if (extent.depth > 1 && extent.height > memory.height) return Status::invalid_value;
    const auto slice = [&](std::uint64_t number, std::uint64_t rows) {
      const FillRequest f{address_of(memory.pointer) + number * memory.pitch * memory.height,
                          static_cast<std::uint32_t>(value),
                          1,
                          extent.width,
                          rows,
                          memory.pitch};
      return m.fill(f, s, asynchronous);
    };
    if (extent.height == memory.height) return slice(0, extent.height * extent.depth);
    // The last is the first that does not fit.
    for (std::uint64_t n = extent.depth; n-- > 0;)
      if (const Status done = slice(n, extent.height); done != Status::success) return done;
    return Status::success;
  });
}

int cudaMemset3D(PitchedPointer memory, int value, Extent extent) {
  return fill(memory, value, extent, nullptr, false);
}

int cudaMemset3DAsync(PitchedPointer memory, int value, Extent extent, void* stream) {
  return fill(memory, value, extent, stream, true);
}

// ---- Copies in three dimensions

int copy_3d(const CopyParameters* parameters, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (parameters == nullptr) return Status::invalid_value;
    Machine::Copy c;
    const Status found = m.arrays().copy_of(*parameters, c);
    return found == Status::success ? m.copy(c, s, asynchronous) : found;
  });
}

int cudaMemcpy3D(const CopyParameters* parameters) {
  return copy_3d(parameters, nullptr, false);
}

int cudaMemcpy3DAsync(const CopyParameters* parameters, void* stream) {
  return copy_3d(parameters, stream, true);
}

bool is_device(Machine& m, int device) {
  return device >= 0 && static_cast<unsigned>(device) < m.devices();
}

/// Whether what begins at an address can be said to be a GPU's: memory of no other one.
bool is_of(Machine& m, const void* pointer, int device) {
  const auto a = m.allocation_of(address_of(pointer));
  return a && (a->kind != Kind::device || a->device == static_cast<unsigned>(device));
}

int copy_3d_between(const PeerCopyParameters* p, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (p == nullptr) return Status::invalid_value;
    if (!is_device(m, p->from_device) || !is_device(m, p->to_device)) return Status::invalid_device;
    if (p->from_array == nullptr && !is_of(m, p->from.pointer, p->from_device)) return Status::invalid_value;
    if (p->to_array == nullptr && !is_of(m, p->to.pointer, p->to_device)) return Status::invalid_value;
    Machine::Copy c;
    CopyParameters one{p->from_array,  p->from_position,
                       p->from,        p->to_array,
                       p->to_position, p->to,
                       p->extent,      static_cast<int>(CopyKind::by_address)};
    const Status found = m.arrays().copy_of(one, c);
    return found == Status::success ? m.copy(c, s, asynchronous) : found;
  });
}

int cudaMemcpy3DPeer(const PeerCopyParameters* parameters) {
  return copy_3d_between(parameters, nullptr, false);
}

int cudaMemcpy3DPeerAsync(const PeerCopyParameters* parameters, void* stream) {
  return copy_3d_between(parameters, stream, true);
}

int copy_between(void* to, int to_device, const void* from, int from_device, std::size_t bytes, void* stream,
                 bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (!is_device(m, from_device) || !is_device(m, to_device)) return Status::invalid_device;
    if (bytes == 0) return Status::success;
    if (!is_of(m, to, to_device) || !is_of(m, from, from_device)) return Status::invalid_value;
    Machine::Copy c;
    c.to = address_of(to);
    c.from = address_of(from);
    c.width = c.to_pitch = c.from_pitch = bytes;
    return m.copy(c, s, asynchronous);
  });
}

int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return copy_between(to, to_device, from, from_device, bytes, nullptr, false);
}

int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                        void* stream) {
  return copy_between(to, to_device, from, from_device, bytes, stream, true);
}

// ---- Copies of rows to and from arrays

/// Where an array is said to be the host's, it is the device's all the same, as cudaMemcpy3D has it. Nothing:
/// there is no such direction.
std::optional<CopyKind> direction_with_array(int direction, bool to_array, bool from_array) {
  const auto kind = kind_of(direction);
  if (!kind || kind == CopyKind::by_address) return kind;
  const bool to_device = to_array || kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
  const bool from_device =
      from_array || kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
  if (to_device) return from_device ? CopyKind::device_to_device : CopyKind::host_to_device;
  return from_device ? CopyKind::device_to_host : CopyKind::host_to_host;
}

int copy_rows_to(const void* array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                 std::size_t width, std::size_t height, int direction, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(array);
    if (to == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, true, false);
    if (!kind) return Status::invalid_memcpy_direction;
    Machine::Copy c;
    c.kind = *kind;
    c.width = width;
    c.height = height;
    c.from = address_of(from);
    c.from_pitch = pitch;
    return Arrays::place_to(*to, x, y, c) ? m.copy(c, s, asynchronous) : Status::invalid_value;
  });
}

int copy_rows_from(void* to, std::size_t pitch, const void* array, std::size_t x, std::size_t y,
                   std::size_t width, std::size_t height, int direction, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const from = m.arrays().find(array);
    if (from == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, false, true);
    if (!kind) return Status::invalid_memcpy_direction;
    Machine::Copy c;
    c.kind = *kind;
    c.width = width;
    c.height = height;
    c.to = address_of(to);
    c.to_pitch = pitch;
    return Arrays::place_from(*from, x, y, c) ? m.copy(c, s, asynchronous) : Status::invalid_value;
  });
}

int cudaMemcpy2DToArray(void* array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                        std::size_t width, std::size_t height, int direction) {
  return copy_rows_to(array, x, y, from, pitch, width, height, direction, nullptr, false);
}

int cudaMemcpy2DToArrayAsync(void* array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                             std::size_t width, std::size_t height, int direction, void* stream) {
  return copy_rows_to(array, x, y, from, pitch, width, height, direction, stream, true);
}

int cudaMemcpy2DFromArray(void* to, std::size_t pitch, const void* array, std::size_t x, std::size_t y,
                          std::size_t width, std::size_t height, int direction) {
  return copy_rows_from(to, pitch, array, x, y, width, height, direction, nullptr, false);
}

int cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const void* array, std::size_t x, std::size_t y,
                               std::size_t width, std::size_t height, int direction, void* stream) {
  return copy_rows_from(to, pitch, array, x, y, width, height, direction, stream, true);
}

int cudaMemcpy2DArrayToArray(void* to_array, std::size_t to_x, std::size_t to_y, const void* from_array,
                             std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                             int direction) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(to_array);
    const Array* const from = m.arrays().find(from_array);
    if (to == nullptr || from == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, true, true);
    if (!kind) return Status::invalid_memcpy_direction;
    Machine::Copy c;
    c.kind = *kind;
    c.width = width;
    c.height = height;
    const bool both = Arrays::place_to(*to, to_x, to_y, c) && Arrays::place_from(*from, from_x, from_y, c);
    return both ? m.copy(c, s, false) : Status::invalid_value;
  });
}

// ---- Copies of bytes that go on from row to row

/// One side of such a copy: an array from a byte of a row on, or plain memory.
struct Run {
  const Array* array = nullptr;
  std::uint64_t x = 0, y = 0;  ///< in an array
  std::uint64_t address = 0;   ///< of plain memory
  [[nodiscard]] std::uint64_t row_left() const {
    return array == nullptr ? ~std::uint64_t{0} : array->image.row_bytes() - x;
  }
  [[nodiscard]] bool holds(std::uint64_t bytes) const {
    if (array == nullptr) return true;
    const std::uint64_t row = array->image.row_bytes(), rows = array->image.height;
    return x < row && y < rows && bytes <= (rows - y) * row - x;
  }
  void advance(std::uint64_t bytes) {
    address += bytes;
    x += bytes;
    if (array != nullptr && x == array->image.row_bytes()) {
      x = 0;
      ++y;
    }
  }
};

Status copy_run(Machine& m, Run to, Run from, std::uint64_t bytes, CopyKind kind, Stream& stream,
                bool asynchronous) {
  if (!to.holds(bytes) || !from.holds(bytes)) return bytes == 0 ? Status::success : Status::invalid_value;
  while (bytes != 0) {
    Machine::Copy c;
    c.kind = kind;
    c.width = c.to_pitch = c.from_pitch = std::min({to.row_left(), from.row_left(), bytes});
    // Whole rows to or from plain memory go at once.
    const Array* const only = to.array != nullptr ? to.array : from.array;
    if (only != nullptr && (to.array == nullptr || from.array == nullptr) &&
        c.width == only->image.row_bytes())
      c.height = bytes / c.width;
    c.to = to.address;
    c.from = from.address;
    if (to.array != nullptr && !Arrays::place_to(*to.array, to.x, to.y, c)) return Status::invalid_value;
    if (from.array != nullptr && !Arrays::place_from(*from.array, from.x, from.y, c))
      return Status::invalid_value;
    if (const Status s = m.copy(c, stream, asynchronous); s != Status::success) return s;
    bytes -= c.bytes();
    for (Run* const run : {&to, &from}) {
      if (c.height > 1) {
        run->address += c.bytes();
        run->y += c.height;
      } else {
        run->advance(c.width);
      }
    }
  }
  return Status::success;
}

int copy_bytes_to(const void* array, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                  int direction, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(array);
    if (to == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, true, false);
    if (!kind) return Status::invalid_memcpy_direction;
    return copy_run(m, {to, x, y, 0}, {nullptr, 0, 0, address_of(from)}, bytes, *kind, s, asynchronous);
  });
}

int copy_bytes_from(void* to, const void* array, std::size_t x, std::size_t y, std::size_t bytes,
                    int direction, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    const Array* const from = m.arrays().find(array);
    if (from == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, false, true);
    if (!kind) return Status::invalid_memcpy_direction;
    return copy_run(m, {nullptr, 0, 0, address_of(to)}, {from, x, y, 0}, bytes, *kind, s, asynchronous);
  });
}

int cudaMemcpyToArray(void* array, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                      int direction) {
  return copy_bytes_to(array, x, y, from, bytes, direction, nullptr, false);
}

int cudaMemcpyToArrayAsync(void* array, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                           int direction, void* stream) {
  return copy_bytes_to(array, x, y, from, bytes, direction, stream, true);
}

int cudaMemcpyFromArray(void* to, const void* array, std::size_t x, std::size_t y, std::size_t bytes,
                        int direction) {
  return copy_bytes_from(to, array, x, y, bytes, direction, nullptr, false);
}

int cudaMemcpyFromArrayAsync(void* to, const void* array, std::size_t x, std::size_t y, std::size_t bytes,
                             int direction, void* stream) {
  return copy_bytes_from(to, array, x, y, bytes, direction, stream, true);
}

int cudaMemcpyArrayToArray(void* to_array, std::size_t to_x, std::size_t to_y, const void* from_array,
                           std::size_t from_x, std::size_t from_y, std::size_t bytes, int direction) {
  return with_stream(nullptr, [&](Machine& m, Stream& s) {
    const Array* const to = m.arrays().find(to_array);
    const Array* const from = m.arrays().find(from_array);
    if (to == nullptr || from == nullptr) return Status::invalid_resource_handle;
    const auto kind = direction_with_array(direction, true, true);
    if (!kind) return Status::invalid_memcpy_direction;
    return copy_run(m, {to, to_x, to_y, 0}, {from, from_x, from_y, 0}, bytes, *kind, s, false);
  });
}

}  // namespace

void add_arrays(Functions& f) {
  WARPLINE_ADD(f, cudaCreateChannelDesc);
  WARPLINE_ADD(f, cudaMallocArray);
  WARPLINE_ADD(f, cudaMalloc3DArray);
  WARPLINE_ADD(f, cudaMallocMipmappedArray);
  WARPLINE_ADD(f, cudaFreeArray);
  WARPLINE_ADD(f, cudaFreeMipmappedArray);
  WARPLINE_ADD(f, cudaGetMipmappedArrayLevel);
  WARPLINE_ADD(f, cudaArrayGetInfo);
  WARPLINE_ADD(f, cudaGetChannelDesc);
  WARPLINE_ADD(f, cudaMalloc3D);
  WARPLINE_ADD(f, cudaMemset3D);
  WARPLINE_ADD(f, cudaMemset3DAsync);
  WARPLINE_ADD(f, cudaMemcpy3D);
  WARPLINE_ADD(f, cudaMemcpy3DAsync);
  WARPLINE_ADD(f, cudaMemcpy3DPeer);
  WARPLINE_ADD(f, cudaMemcpy3DPeerAsync);
  WARPLINE_ADD(f, cudaMemcpyPeer);
  WARPLINE_ADD(f, cudaMemcpyPeerAsync);
  WARPLINE_ADD(f, cudaMemcpy2DToArray);
  WARPLINE_ADD(f, cudaMemcpy2DToArrayAsync);
  WARPLINE_ADD(f, cudaMemcpy2DFromArray);
  WARPLINE_ADD(f, cudaMemcpy2DFromArrayAsync);
  WARPLINE_ADD(f, cudaMemcpy2DArrayToArray);
  WARPLINE_ADD(f, cudaMemcpyToArray);
  WARPLINE_ADD(f, cudaMemcpyToArrayAsync);
  WARPLINE_ADD(f, cudaMemcpyFromArray);
  WARPLINE_ADD(f, cudaMemcpyFromArrayAsync);
  WARPLINE_ADD(f, cudaMemcpyArrayToArray);
}

}  // namespace warpline::cuda::runtime
