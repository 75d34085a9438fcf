#include "platform/cuda/abi/driver_calls.h"
#include "platform/cuda/arrays.h"

namespace warpline::cuda::driver {
namespace {

using runtime::address_of;

int copy_bytes(std::uint64_t to, std::uint64_t from, std::size_t bytes, CopyKind kind, void* stream,
               bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.copy({to, from, bytes, 1, bytes, bytes, kind}, s, asynchronous);
  });
}

int cuMemcpy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return copy_bytes(to, from, bytes, CopyKind::by_address, nullptr, false);
}
int cuMemcpyAsync(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return copy_bytes(to, from, bytes, CopyKind::by_address, stream, true);
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return copy_bytes(to, address_of(from), bytes, CopyKind::host_to_device, nullptr, false);
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  return copy_bytes(to, address_of(from), bytes, CopyKind::host_to_device, stream, true);
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return copy_bytes(address_of(to), from, bytes, CopyKind::device_to_host, nullptr, false);
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  return copy_bytes(address_of(to), from, bytes, CopyKind::device_to_host, stream, true);
}
int cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return copy_bytes(to, from, bytes, CopyKind::device_to_device, nullptr, false);
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return copy_bytes(to, from, bytes, CopyKind::device_to_device, stream, true);
}

int cuMemcpyPeerAsync(std::uint64_t to, void* to_context, std::uint64_t from, void* from_context,
                      std::size_t bytes, void* stream) {
  if (Contexts::instance().find(to_context) == nullptr || Contexts::instance().find(from_context) == nullptr)
    return result(Status::device_uninitialized);
  return copy_bytes(to, from, bytes, CopyKind::device_to_device, stream, true);
}
int cuMemcpyPeer(std::uint64_t to, void* to_context, std::uint64_t from, void* from_context,
                 std::size_t bytes) {
  if (Contexts::instance().find(to_context) == nullptr || Contexts::instance().find(from_context) == nullptr)
    return result(Status::device_uninitialized);
  return copy_bytes(to, from, bytes, CopyKind::device_to_device, nullptr, false);
}

/// A side of a copy of rows: where it begins, and how far its rows and slices are apart.
struct Side {
  std::uint64_t address = 0, pitch = 0, slice = 0;
};

/// A side that is an array.
Status side_of(Machine& m, const void* handle, std::uint64_t x, const Position& at, const Machine::Copy& size,
               Side& side) {
  const Array* const array = m.arrays().find(handle);
  if (array == nullptr) return Status::invalid_resource_handle;
  const auto place = Arrays::place(*array, x, at, size);
  if (!place) return Status::invalid_value;
  side = {place->address, place->pitch, place->slice_pitch};
  return Status::success;
}

/// A side that is memory. An error: it is none that is known.
Status side_of(MemoryType type, std::uint64_t host, std::uint64_t device, std::uint64_t pitch,
               std::uint64_t width, Side& side) {
  switch (type) {
    case MemoryType::host: side.address = host; break;
    case MemoryType::device:
    case MemoryType::unified: side.address = device; break;
    default: return Status::invalid_value;
  }
  side.pitch = pitch == 0 ? width : pitch;
  return Status::success;
}

CopyKind kind_of(MemoryType to, MemoryType from) {
  if (to == MemoryType::unified || from == MemoryType::unified) return CopyKind::by_address;
  if (to != MemoryType::host)
    return from != MemoryType::host ? CopyKind::device_to_device : CopyKind::host_to_device;
  return from != MemoryType::host ? CopyKind::device_to_host : CopyKind::host_to_host;
}

int copy_rows(const Copy2d* c, void* stream, bool asynchronous) {
  if (c == nullptr) return result(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    Side to, from;
    Machine::Copy size;
    size.width = c->width_bytes;
    size.height = c->height;
    const auto side = [&](const CopySide2d& given, Side& out) {
      if (given.type == MemoryType::array)
        return side_of(m, given.array, given.x_bytes, {0, given.y, 0}, size, out);
      const std::uint64_t row = given.x_bytes + c->width_bytes;
      const Status status = side_of(given.type, given.host, given.device, given.pitch, row, out);
      if (status != Status::success) return status;
      if (c->height > 1 && row > out.pitch) return Status::invalid_value;
      out.address += given.y * out.pitch + given.x_bytes;
      return Status::success;
    };
    if (const Status status = side(c->to, to); status != Status::success) return status;
    if (const Status status = side(c->from, from); status != Status::success) return status;
    return m.copy({to.address, from.address, c->width_bytes, c->height, to.pitch, from.pitch,
                   kind_of(c->to.type, c->from.type)},
                  s, asynchronous);
  });
}

int cuMemcpy2D_v2(const Copy2d* c) {
  return copy_rows(c, nullptr, false);
}
int cuMemcpy2DAsync_v2(const Copy2d* c, void* stream) {
  return copy_rows(c, stream, true);
}

}  // namespace

Status request_of(Machine& m, const Copy3d& c, CopyRequest& request) {
  Side to, from;
  request = {};
  request.width = c.width_bytes;
  request.height = c.height;
  request.depth = c.depth;
  const auto side = [&](const CopySide3d& given, Side& out) {
    if (given.type == MemoryType::array)
      return given.level != 0 ? Status::invalid_value
                              : side_of(m, given.array, given.x_bytes, {0, given.y, given.z}, request, out);
    const std::uint64_t row = given.x_bytes + c.width_bytes;
    const Status status = side_of(given.type, given.host, given.device, given.pitch, row, out);
    if (status != Status::success) return status;
    const std::uint64_t rows = given.y + c.height;
    const std::uint64_t height = given.height == 0 ? rows : given.height;
    if (given.level != 0 || (c.height > 1 && row > out.pitch) || (c.depth > 1 && rows > height))
      return Status::invalid_value;
    out.slice = height * out.pitch;
    out.address += given.z * out.slice + given.y * out.pitch + given.x_bytes;
    return Status::success;
  };
  if (const Status status = side(c.to, to); status != Status::success) return status;
  if (const Status status = side(c.from, from); status != Status::success) return status;
  request.to = to.address;
  request.from = from.address;
  request.to_pitch = to.pitch;
  request.from_pitch = from.pitch;
  request.to_slice_pitch = to.slice;
  request.from_slice_pitch = from.slice;
  request.kind = kind_of(c.to.type, c.from.type);
  return Status::success;
}

namespace {

int copy_slices(const Copy3d* c, void* stream, bool asynchronous) {
  if (c == nullptr) return result(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    CopyRequest request;
    const Status status = request_of(m, *c, request);
    return status == Status::success ? m.copy(request, s, asynchronous) : status;
  });
}

int cuMemcpy3D_v2(const Copy3d* c) {
  return copy_slices(c, nullptr, false);
}
int cuMemcpy3DAsync_v2(const Copy3d* c, void* stream) {
  return copy_slices(c, stream, true);
}

// ---- Values

int fill_rows(std::uint64_t to, std::size_t pitch, std::uint32_t value, unsigned element_bytes,
              std::size_t width, std::size_t height, void* stream, bool asynchronous) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.fill({to, value, element_bytes, width, height, pitch == 0 ? width * element_bytes : pitch}, s,
                  asynchronous);
  });
}

int cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t count) {
  return fill_rows(to, 0, value, 1, count, 1, nullptr, false);
}
int cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count, void* stream) {
  return fill_rows(to, 0, value, 1, count, 1, stream, true);
}
int cuMemsetD16_v2(std::uint64_t to, unsigned short value, std::size_t count) {
  return fill_rows(to, 0, value, 2, count, 1, nullptr, false);
}
int cuMemsetD16Async(std::uint64_t to, unsigned short value, std::size_t count, void* stream) {
  return fill_rows(to, 0, value, 2, count, 1, stream, true);
}
int cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count) {
  return fill_rows(to, 0, value, 4, count, 1, nullptr, false);
}
int cuMemsetD32Async(std::uint64_t to, unsigned value, std::size_t count, void* stream) {
  return fill_rows(to, 0, value, 4, count, 1, stream, true);
}
int cuMemsetD2D8_v2(std::uint64_t to, std::size_t pitch, unsigned char value, std::size_t width,
                    std::size_t height) {
  return fill_rows(to, pitch, value, 1, width, height, nullptr, false);
}
int cuMemsetD2D8Async(std::uint64_t to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height, void* stream) {
  return fill_rows(to, pitch, value, 1, width, height, stream, true);
}
int cuMemsetD2D16_v2(std::uint64_t to, std::size_t pitch, unsigned short value, std::size_t width,
                     std::size_t height) {
  return fill_rows(to, pitch, value, 2, width, height, nullptr, false);
}
int cuMemsetD2D16Async(std::uint64_t to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height, void* stream) {
  return fill_rows(to, pitch, value, 2, width, height, stream, true);
}
int cuMemsetD2D32_v2(std::uint64_t to, std::size_t pitch, unsigned value, std::size_t width,
                     std::size_t height) {
  return fill_rows(to, pitch, value, 4, width, height, nullptr, false);
}
int cuMemsetD2D32Async(std::uint64_t to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height, void* stream) {
  return fill_rows(to, pitch, value, 4, width, height, stream, true);
}

}  // namespace

void add_copies(Functions& f) {
  WARPLINE_ADD(f, cuMemcpy);
  WARPLINE_ADD(f, cuMemcpyAsync);
  WARPLINE_ADD(f, cuMemcpyHtoD_v2);
  WARPLINE_ADD(f, cuMemcpyHtoDAsync_v2);
  WARPLINE_ADD(f, cuMemcpyDtoH_v2);
  WARPLINE_ADD(f, cuMemcpyDtoHAsync_v2);
  WARPLINE_ADD(f, cuMemcpyDtoD_v2);
  WARPLINE_ADD(f, cuMemcpyDtoDAsync_v2);
  WARPLINE_ADD(f, cuMemcpyPeer);
  WARPLINE_ADD(f, cuMemcpyPeerAsync);
  WARPLINE_ADD(f, cuMemcpy2D_v2);
  f.add("cuMemcpy2DUnaligned_v2", &cuMemcpy2D_v2);
  WARPLINE_ADD(f, cuMemcpy2DAsync_v2);
  WARPLINE_ADD(f, cuMemcpy3D_v2);
  WARPLINE_ADD(f, cuMemcpy3DAsync_v2);
  f.add("cuMemcpy3DPeer", &cuMemcpy3D_v2);
  f.add("cuMemcpy3DPeerAsync", &cuMemcpy3DAsync_v2);
  WARPLINE_ADD(f, cuMemsetD8_v2);
  WARPLINE_ADD(f, cuMemsetD8Async);
  WARPLINE_ADD(f, cuMemsetD16_v2);
  WARPLINE_ADD(f, cuMemsetD16Async);
  WARPLINE_ADD(f, cuMemsetD32_v2);
  WARPLINE_ADD(f, cuMemsetD32Async);
  WARPLINE_ADD(f, cuMemsetD2D8_v2);
  WARPLINE_ADD(f, cuMemsetD2D8Async);
  WARPLINE_ADD(f, cuMemsetD2D16_v2);
  WARPLINE_ADD(f, cuMemsetD2D16Async);
  WARPLINE_ADD(f, cuMemsetD2D32_v2);
  WARPLINE_ADD(f, cuMemsetD2D32Async);
}

}  // namespace warpline::cuda::driver
