#include <cstdio>
#include <cstring>
#include <iterator>

#include "platform/cuda/abi/driver_calls.h"
#include "rtl_models/bulk_copy/tensor_map.h"

namespace warpline::cuda::driver {
namespace {

/// By CUtensorMapDataType. None: not modelled.
constexpr DataType kElements[] = {DataType::u8,   DataType::u16,  DataType::u32,  DataType::s32,
                                  DataType::u64,  DataType::s64,  DataType::f16,  DataType::f32,
                                  DataType::f64,  DataType::bf16, DataType::none, DataType::none,
                                  DataType::none, DataType::none, DataType::none, DataType::none};

/// What the ways to encode a map have in common.
struct MapRequest {
  void* map;
  int type;
  std::uint32_t rank;
  void* address;
  const std::uint64_t* shape;
  const std::uint64_t* strides;
  const std::uint32_t* element_strides;
  int interleave, swizzle, promotion, fill;
};

/// Reads it into `map`. The promotion of L2, a hint, changes no result.
Status read(const MapRequest& r, TensorMap& map) {
  if (r.map == nullptr || reinterpret_cast<std::uintptr_t>(r.map) % TensorMap::kAlignment != 0 ||
      r.rank == 0 || r.rank > TensorMap::kMaxRank || r.shape == nullptr || r.element_strides == nullptr ||
      (r.rank > 1 && r.strides == nullptr) || r.type < 0 ||
      r.type >= static_cast<int>(std::size(kElements)) || r.interleave < 0 || r.interleave > 2 ||
      r.swizzle < 0 || r.swizzle > 6 || r.promotion < 0 || r.promotion > 3 || r.fill < 0 || r.fill > 1)
    return Status::invalid_value;
  if (kElements[r.type] == DataType::none)
    return refuse("tensor maps of this type of elements (number " + std::to_string(r.type) +
                  ") are not modelled");
  if (r.interleave != 0) return refuse("tensor maps of interleaved tensors are not modelled");
  if (r.swizzle > 3)
    return refuse("tensor maps with a swizzle of other pieces than 16 bytes are not modelled");
  map.type = kElements[r.type];
  map.rank = r.rank;
  map.address = reinterpret_cast<std::uintptr_t>(r.address);
  map.swizzle = static_cast<TensorSwizzle>(r.swizzle);
  map.fill = r.fill == 0 ? TensorFill::zeros : TensorFill::nan;
  map.strides[0] = map.element_bytes();
  for (unsigned d = 0; d < r.rank; ++d) {
    map.shape[d] = r.shape[d];
    map.element_strides[d] = r.element_strides[d];
    if (d != 0) map.strides[d] = r.strides[d - 1];
  }
  return Status::success;
}

/// Writes the map, unless no copy could go by it: then says why.
Status encode(const TensorMap& map, void* to) {
  const Problems problems = map.problems("tensor map");
  for (const Problem& p : problems)
    std::fputs(("warpline: " + p.path + " " + p.message + "\n").c_str(), stderr);
  if (!problems.empty()) return Status::invalid_value;
  const auto bytes = map.encode();
  std::memcpy(to, bytes.data(), bytes.size());
  return Status::success;
}

int cuTensorMapEncodeTiled(void* to, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                           const std::uint64_t* strides, const std::uint32_t* box,
                           const std::uint32_t* element_strides, int interleave, int swizzle, int promotion,
                           int fill) {
  TensorMap map;
  const Status status = read(
      {to, type, rank, address, shape, strides, element_strides, interleave, swizzle, promotion, fill}, map);
  if (status != Status::success) return result(status);
  if (box == nullptr) return result(Status::invalid_value);
  for (unsigned d = 0; d < rank; ++d) map.box[d] = box[d];
  return result(encode(map, to));
}

int cuTensorMapEncodeIm2col(void* to, int type, std::uint32_t rank, void* address, const std::uint64_t* shape,
                            const std::uint64_t* strides, const int* lower, const int* upper,
                            std::uint32_t channels, std::uint32_t pixels,
                            const std::uint32_t* element_strides, int interleave, int swizzle, int promotion,
                            int fill) {
  TensorMap map;
  const Status status = read(
      {to, type, rank, address, shape, strides, element_strides, interleave, swizzle, promotion, fill}, map);
  if (status != Status::success) return result(status);
  if (rank < 3 || lower == nullptr || upper == nullptr) return result(Status::invalid_value);
  map.im2col = true;
  map.channels = channels;
  map.pixels = pixels;
  for (unsigned d = 0; d + 2 < rank; ++d) {
    map.lower[d] = lower[d];
    map.upper[d] = upper[d];
  }
  return result(encode(map, to));
}

int cuTensorMapEncodeIm2colWide(void* to, int type, std::uint32_t rank, void* address,
                                const std::uint64_t* shape, const std::uint64_t* strides, int lower,
                                int upper, std::uint32_t channels, std::uint32_t pixels,
                                const std::uint32_t* element_strides, int interleave, int mode, int swizzle,
                                int promotion, int fill) {
  TensorMap map;
  const Status status = read(
      {to, type, rank, address, shape, strides, element_strides, interleave, swizzle, promotion, fill}, map);
  if (status != Status::success) return result(status);
  if (rank < 3 || mode < 0 || mode > 1) return result(Status::invalid_value);
  if (mode == 1) return result(refuse("wide tensor maps of mode W128 are not modelled"));
  map.im2col = true;
  map.wide = true;
  map.channels = channels;
  map.pixels = pixels;
  map.lower[0] = lower;
  map.upper[0] = upper;
  return result(encode(map, to));
}

int cuTensorMapReplaceAddress(void* to, void* address) {
  if (to == nullptr || reinterpret_cast<std::uintptr_t>(to) % TensorMap::kAlignment != 0)
    return result(Status::invalid_value);
  std::array<std::uint8_t, TensorMap::kBytes> bytes{};
  std::memcpy(bytes.data(), to, bytes.size());
  std::optional<TensorMap> map = TensorMap::decode(bytes);
  if (!map) return result(Status::invalid_value);
  map->address = reinterpret_cast<std::uintptr_t>(address);
  return result(encode(*map, to));
}

}  // namespace

void add_tensor_maps(Functions& f) {
  WARPLINE_ADD(f, cuTensorMapEncodeTiled);
  WARPLINE_ADD(f, cuTensorMapEncodeIm2col);
  WARPLINE_ADD(f, cuTensorMapEncodeIm2colWide);
  WARPLINE_ADD(f, cuTensorMapReplaceAddress);
}

}  // namespace warpline::cuda::driver
