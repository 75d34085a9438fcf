// Arrays of CUDA's runtime, called by name as programs do: shapes, formats, limits, what is refused, and
// copies in two and three dimensions against copies of one element at a time.
#include "platform/cuda/arrays.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "platform/config/load_gpu.h"
#include "platform/cuda/abi/driver.h"
#include "platform/cuda/abi/driver_types.h"
#include "tests/platform/cuda/called_by_name.h"
#include "tests/support/environment.h"

namespace warpline::cuda {
namespace arrays_test {

enum : int { kOk = 0, kInvalidValue = 1, kInvalidPitch = 12, kInvalidChannel = 20, kInvalidDirection = 21 };
constexpr int kInvalidHandle = 400, kNotSupported = 801;
constexpr int kToDevice = 1, kToHost = 2, kWithin = 3, kByAddress = 4;
constexpr ChannelDescription kFloat{{32, 0, 0, 0}, 2}, kBytes4{{8, 8, 8, 8}, 1};

class CudaArrays : public testing::Test {
 protected:
  void SetUp() override { setenv("WARPLINE_GPU", "mini", 1); }
};

int make(void*& array, const ChannelDescription& format, Extent extent, unsigned flags = 0) {
  return named<int(void**, const ChannelDescription*, Extent, unsigned)>("cudaMalloc3DArray")(&array, &format,
                                                                                              extent, flags);
}
int release(void* array) {
  return named<int(void*)>("cudaFreeArray")(array);
}
int copy(const CopyParameters& parameters) {
  return named<int(const CopyParameters*)>("cudaMemcpy3D")(&parameters);
}

TEST_F(CudaArrays, SayWhatTheyAre) {
  const struct {
    Extent extent;
    unsigned flags;
    std::uint64_t slices;
  } shapes[] = {{{9, 0, 0}, 0, 1},
                {{9, 4, 0}, kSurfaceArray, 1},
                {{9, 4, 5}, 0, 5},
                {{9, 0, 5}, kLayeredArray, 5},
                {{9, 4, 5}, kLayeredArray, 5},
                {{4, 4, 6}, kCubeArray, 6},
                {{9, 4, 0}, kGatherArray, 1},
                {{4, 4, 12}, kCubeArray | kLayeredArray, 12}};
  const auto info = named<int(ChannelDescription*, Extent*, unsigned*, void*)>("cudaArrayGetInfo");
  for (const auto& s : shapes) {
    void* array = nullptr;
    ASSERT_EQ(make(array, kBytes4, s.extent, s.flags), kOk);
    EXPECT_EQ(static_cast<Array*>(array)->slices(), s.slices);
    ChannelDescription format;
    Extent extent;
    unsigned flags = 99;
    EXPECT_EQ(info(&format, &extent, &flags, array), kOk);
    EXPECT_EQ(std::memcmp(&format, &kBytes4, sizeof format), 0);
    EXPECT_EQ(std::memcmp(&extent, &s.extent, sizeof extent), 0);
    EXPECT_EQ(flags, s.flags);
    EXPECT_EQ(info(nullptr, nullptr, nullptr, array), kOk);
    EXPECT_EQ(named<int(ChannelDescription*, void*)>("cudaGetChannelDesc")(&format, array), kOk);
    EXPECT_EQ(release(array), kOk);
    EXPECT_EQ(release(array), kInvalidValue);
    EXPECT_EQ(info(nullptr, nullptr, nullptr, array), kInvalidHandle);
  }
  EXPECT_EQ(release(nullptr), kOk);
}

TEST_F(CudaArrays, EveryFormatComesBack) {
  std::vector<ChannelDescription> all;
  for (const int count : {1, 2, 4})
    for (const int bits : {8, 16, 32})
      for (const int kind : {0, 1, 2}) {
        if (kind == 2 && bits == 8) continue;
        ChannelDescription d{{}, kind};
        for (int c = 0; c < count; ++c) d.bits[c] = bits;
        all.push_back(d);
      }
  for (int kind = 5; kind <= 16; ++kind) {
    const int count = (kind - 5) % 3 == 0 ? 1 : (kind - 5) % 3 == 1 ? 2 : 4;
    ChannelDescription d{{}, kind};
    for (int c = 0; c < count; ++c) d.bits[c] = (kind - 5) % 6 < 3 ? 8 : 16;
    all.push_back(d);
  }
  for (const ChannelDescription& d : all) {
    void* array = nullptr;
    ASSERT_EQ(make(array, d, {8, 8, 0}), kOk) << "kind " << d.kind << ", " << d.bits[0] << " bits";
    ChannelDescription got;
    EXPECT_EQ(named<int(ChannelDescription*, void*)>("cudaGetChannelDesc")(&got, array), kOk);
    EXPECT_EQ(std::memcmp(&got, &d, sizeof d), 0) << "kind " << d.kind << " is " << got.kind;
    EXPECT_EQ(release(array), kOk);
  }
}

TEST_F(CudaArrays, WhatCannotBeMadeIsAnError) {
  void* array = nullptr;
  for (const ChannelDescription& d :
       {ChannelDescription{{8, 8, 8, 0}, 1}, ChannelDescription{{64, 0, 0, 0}, 1},
        ChannelDescription{{8, 0, 0, 0}, 2}, ChannelDescription{{8, 16, 0, 0}, 1},
        ChannelDescription{{0, 8, 0, 0}, 1}, ChannelDescription{{}, 1}, ChannelDescription{{8, 0, 0, 0}, 3},
        ChannelDescription{{8, 0, 0, 0}, 77}, ChannelDescription{{8, 0, 0, 0}, 6}})
    EXPECT_EQ(make(array, d, {8, 8, 0}), kInvalidChannel) << d.bits[0] << " " << d.kind;
  for (const int kind : {4, 17, 30, 31}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(make(array, {{8, 8, 8, 0}, kind}, {8, 8, 0}), kNotSupported);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::AnyOf("", testing::HasSubstr("not modelled")));
  }
  for (const unsigned flag : {0x10U, 0x20U, 0x40U, 0x80U})
    EXPECT_EQ(make(array, kFloat, {8, 8, 0}, flag), kNotSupported);
  const struct {
    Extent extent;
    unsigned flags;
  } wrong[] = {{{0, 0, 0}, 0},
               {{8, 0, 4}, 0},
               {{8, 8, 5}, kCubeArray},
               {{8, 4, 6}, kCubeArray},
               {{8, 8, 7}, kCubeArray | kLayeredArray},
               {{8, 8, 0}, kLayeredArray},
               {{8, 0, 0}, kGatherArray},
               {{8, 8, 2}, kGatherArray},
               {{200000, 0, 0}, 0},
               {{8, 70000, 0}, 0},
               {{20000, 8, 8}, 0},
               {{8, 8, 3000}, kLayeredArray},
               {{40000, 8, 0}, kGatherArray},
               {{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}, 0},
               {{8, 8, 0}, 0x100}};
  for (const auto& w : wrong)
    EXPECT_EQ(make(array, kFloat, w.extent, w.flags), kInvalidValue) << w.extent.width << " " << w.flags;
  EXPECT_EQ(make(array, kFloat, {100000, 8, 0}, kSurfaceArray), kOk) << "surfaces may be as wide";
  EXPECT_EQ(release(array), kOk);
  EXPECT_EQ(make(array, kFloat, {100000, 0, 0}, kSurfaceArray), kInvalidValue)
      << "of one dimension they may not";
  EXPECT_EQ(named<int(void**, const ChannelDescription*, std::size_t, std::size_t, unsigned)>(
                "cudaMallocArray")(nullptr, &kFloat, 8, 8, 0),
            kInvalidValue);
  EXPECT_EQ(named<int(void*)>("cudaFreeArray")(&array), kInvalidValue);
}

TEST_F(CudaArrays, LevelsOfAMipmapLieOneAfterTheOther) {
  void *whole = nullptr, *level = nullptr;
  const auto make_mipmapped =
      named<int(void**, const ChannelDescription*, Extent, unsigned, unsigned)>("cudaMallocMipmappedArray");
  const auto level_of = named<int(void**, void*, unsigned)>("cudaGetMipmappedArrayLevel");
  ASSERT_EQ(make_mipmapped(&whole, &kFloat, {20, 9, 3}, 99, kLayeredArray), kOk);
  const std::uint64_t sizes[][2] = {{20, 9}, {10, 4}, {5, 2}, {2, 1}, {1, 1}};
  std::uint64_t end = 0;
  for (unsigned n = 0; n < 5; ++n) {
    ASSERT_EQ(level_of(&level, whole, n), kOk);
    void* again = nullptr;
    ASSERT_EQ(level_of(&again, whole, n), kOk);
    EXPECT_EQ(again, level);
    const Array& array = *static_cast<Array*>(level);
    EXPECT_EQ(array.shape.extent.width, sizes[n][0]);
    EXPECT_EQ(array.shape.extent.height, sizes[n][1]);
    EXPECT_EQ(array.shape.extent.depth, 3U) << "layers are not halved";
    EXPECT_EQ(array.image.address, n == 0 ? array.image.address : end);
    end = array.image.address + array.image.bytes();
    EXPECT_EQ(release(level), kInvalidValue) << "a level is not freed alone";
  }
  EXPECT_EQ(level_of(&level, whole, 5), kInvalidValue);
  EXPECT_EQ(level_of(&level, nullptr, 0), kInvalidHandle);
  EXPECT_EQ(release(whole), kInvalidValue);
  const auto free_mipmapped = named<int(void*)>("cudaFreeMipmappedArray");
  EXPECT_EQ(free_mipmapped(whole), kOk);
  EXPECT_EQ(free_mipmapped(whole), kInvalidValue);
  EXPECT_EQ(named<int(ChannelDescription*, void*)>("cudaGetChannelDesc")(nullptr, level), kInvalidHandle)
      << "its levels went with it";
}

/// A block of memory as a program has it: of the host, of a GPU, or an array.
struct Block {
  enum Kind { host, device, array } kind = host;
  std::uint64_t width = 0, height = 0, depth = 0;  ///< elements
  std::uint64_t element = 1;
  std::vector<std::uint8_t> content;  ///< without padding
  std::vector<std::uint8_t> bytes;    ///< of the host
  std::uint64_t pitch = 0;
  void* handle = nullptr;

  [[nodiscard]] std::size_t index(std::uint64_t x_bytes, std::uint64_t y, std::uint64_t z) const {
    return (z * height + y) * width * element + x_bytes;
  }
  [[nodiscard]] PitchedPointer pointer() {
    return {kind == host ? bytes.data() : handle, pitch, width, height};
  }
};

Block random_block(std::mt19937& random, std::uint64_t element, Block::Kind kind) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Block b;
  b.kind = kind;
  b.element = element;
  b.width = 1 + below(20);
  b.height = 1 + below(6);
  b.depth = 1 + below(4);
  b.content.resize(b.width * b.height * b.depth * element);
  for (std::uint8_t& byte : b.content) byte = static_cast<std::uint8_t>(random());
  b.pitch = b.width * element + (kind == Block::host ? below(30) : 0);
  if (kind == Block::host) {
    b.bytes.resize(b.pitch * b.height * b.depth);
    for (std::uint64_t z = 0; z < b.depth; ++z)
      for (std::uint64_t y = 0; y < b.height; ++y)
        std::memcpy(&b.bytes[(z * b.height + y) * b.pitch], &b.content[b.index(0, y, z)], b.width * element);
    return b;
  }
  CopyParameters fill;
  if (kind == Block::device) {
    PitchedPointer memory;
    EXPECT_EQ(
        named<int(PitchedPointer*, Extent)>("cudaMalloc3D")(&memory, {b.width * element, b.height, b.depth}),
        kOk);
    b.handle = memory.pointer;
    b.pitch = memory.pitch;
    EXPECT_EQ(b.pitch % 512, 0U);
    fill.to = memory;
  } else {
    ChannelDescription format{{}, 1};
    const int bits = element == 1 ? 8 : element == 2 ? 16 : 32;
    for (unsigned c = 0; c < element * 8 / static_cast<unsigned>(bits); ++c) format.bits[c] = bits;
    const bool layered = below(2) == 0;
    EXPECT_EQ(make(b.handle, format, {b.width, b.height, b.depth}, layered ? kLayeredArray : 0U), kOk);
    fill.to_array = b.handle;
  }
  fill.from = {b.content.data(), b.width * element, b.width, b.height};
  fill.extent = {b.width * (kind == Block::array ? 1 : element), b.height, b.depth};
  fill.kind = kToDevice;
  EXPECT_EQ(copy(fill), kOk);
  return b;
}

/// What it holds now.
std::vector<std::uint8_t> read(Block& b) {
  std::vector<std::uint8_t> got(b.content.size());
  if (b.kind == Block::host) {
    for (std::uint64_t z = 0; z < b.depth; ++z)
      for (std::uint64_t y = 0; y < b.height; ++y)
        std::memcpy(&got[b.index(0, y, z)], &b.bytes[(z * b.height + y) * b.pitch], b.width * b.element);
    return got;
  }
  CopyParameters p;
  if (b.kind == Block::array) {
    p.from_array = b.handle;
  } else {
    p.from = b.pointer();
  }
  p.to = {got.data(), b.width * b.element, b.width, b.height};
  p.extent = {b.width * (b.kind == Block::array ? 1 : b.element), b.height, b.depth};
  p.kind = kToHost;
  EXPECT_EQ(copy(p), kOk);
  return got;
}

void release(Block& b) {
  if (b.kind == Block::host) return;
  EXPECT_EQ(b.kind == Block::array ? release(b.handle) : named<int(void*)>("cudaFree")(b.handle), kOk);
}

/// Boxes between any two kinds of memory, right and wrong ones, against one byte after the other.
TEST_F(CudaArrays, CopiesAreThoseOfOneByteAfterTheOther) {
  const std::uint64_t rounds = from_environment("WARPLINE_ARRAY_COPIES", 150);
  unsigned right = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](std::uint64_t n) { return random() % n; };
    const std::uint64_t element = std::uint64_t{1} << below(5);
    Block from = random_block(random, element, static_cast<Block::Kind>(below(3)));
    Block to = random_block(random, element, static_cast<Block::Kind>(below(3)));
    const bool in_elements = from.kind == Block::array || to.kind == Block::array;
    CopyParameters p;
    // Positions of pointers are in bytes, those of arrays in elements, and the extent in elements of the
    // array.
    const auto choose = [&](Block& b, Position& at, void*& array, PitchedPointer& memory) {
      at = {below(b.width), below(b.height), below(b.depth)};
      if (b.kind == Block::array) {
        array = b.handle;
      } else {
        memory = b.pointer();
      }
    };
    Position from_at, to_at;
    choose(from, from_at, p.from_array, p.from);
    choose(to, to_at, p.to_array, p.to);
    const auto room = [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); };
    const std::uint64_t beyond = below(6) == 0 ? 1 : 0;
    const std::uint64_t w = beyond + room(from.width - from_at.x, to.width - to_at.x),
                        h = room(from.height - from_at.y, to.height - to_at.y),
                        d = room(from.depth - from_at.z, to.depth - to_at.z);
    const std::uint64_t width = beyond != 0 ? w : 1 + below(w), height = 1 + below(h), depth = 1 + below(d);
    p.extent = {in_elements ? width : width * element, height, depth};
    p.from_position = from_at;
    p.to_position = to_at;
    if (from.kind != Block::array) p.from_position.x *= element;
    if (to.kind != Block::array) p.to_position.x *= element;
    const int kinds[2][2] = {{0, kToHost}, {kToDevice, kWithin}};
    p.kind = below(3) == 0 ? kByAddress : kinds[to.kind != Block::host][from.kind != Block::host];
    // Beyond a row of plain memory is the next row; beyond that of an array there is nothing.
    const bool is_wrong = (from.kind == Block::array && from_at.x + width > from.width) ||
                          (to.kind == Block::array && to_at.x + width > to.width);
    if (beyond == 0 || is_wrong) {
      EXPECT_EQ(copy(p), is_wrong ? kInvalidValue : kOk) << "round " << seed;
      (is_wrong ? wrong : right) += 1;
      if (!is_wrong)
        for (std::uint64_t z = 0; z < depth; ++z)
          for (std::uint64_t y = 0; y < height; ++y)
            for (std::uint64_t x = 0; x < width * element; ++x)
              to.content[to.index(to_at.x * element + x, to_at.y + y, to_at.z + z)] =
                  from.content[from.index(from_at.x * element + x, from_at.y + y, from_at.z + z)];
    }
    ASSERT_EQ(read(to), to.content) << "round " << seed;
    ASSERT_EQ(read(from), from.content) << "round " << seed;
    release(from);
    release(to);
  }
  EXPECT_GT(right, rounds / 2);
  EXPECT_GT(wrong, rounds / 100);
}

TEST_F(CudaArrays, BytesGoOnFromRowToRow) {
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(make(a, kBytes4, {5, 6, 0}), kOk);
  ASSERT_EQ(make(b, kBytes4, {7, 6, 0}), kOk);
  std::vector<std::uint8_t> bytes(120), got(120);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  using ToArray = int(void*, std::size_t, std::size_t, const void*, std::size_t, int);
  using FromArray = int(void*, const void*, std::size_t, std::size_t, std::size_t, int);
  using Between =
      int(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(a, 0, 0, bytes.data(), 120, kToDevice), kOk);
  for (std::size_t first = 0; first < 120; first += 7)
    for (std::size_t count = 1; first + count <= 120; count += 11) {
      std::fill(got.begin(), got.end(), 0xEE);
      ASSERT_EQ(
          named<FromArray>("cudaMemcpyFromArray")(got.data(), a, first % 20, first / 20, count, kToHost),
          kOk);
      for (std::size_t i = 0; i < 120; ++i)
        ASSERT_EQ(got[i], i < count ? bytes[first + i] : 0xEE) << first << " " << count << " " << i;
    }
  EXPECT_EQ(named<Between>("cudaMemcpyArrayToArray")(b, 3, 1, a, 1, 0, 100, kWithin), kOk);
  EXPECT_EQ(named<FromArray>("cudaMemcpyFromArray")(got.data(), b, 3, 1, 100, kToHost), kOk);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 100, bytes.begin() + 1));
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(a, 1, 5, bytes.data(), 20, kToDevice), kInvalidValue);
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(a, 0, 6, bytes.data(), 1, kToDevice), kInvalidValue);
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(a, 0, 0, bytes.data(), 1, 7), kInvalidDirection);
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(bytes.data(), 0, 0, bytes.data(), 1, kToDevice),
            kInvalidHandle);
  EXPECT_EQ(named<ToArray>("cudaMemcpyToArray")(a, 0, 0, bytes.data(), 20, kToHost), kInvalidValue)
      << "an array is the device's, and these bytes are not";
  EXPECT_EQ(release(a), kOk);
  EXPECT_EQ(release(b), kOk);
}

TEST_F(CudaArrays, WrongCopiesAreErrors) {
  void* array = nullptr;
  ASSERT_EQ(make(array, kFloat, {8, 8, 2}), kOk);
  std::vector<float> host(128);
  CopyParameters good;
  good.from = {host.data(), 32, 8, 8};
  good.to_array = array;
  good.extent = {8, 8, 2};
  good.kind = kToDevice;
  EXPECT_EQ(copy(good), kOk);
  const auto with = [&](auto change) {
    CopyParameters p = good;
    change(p);
    return copy(p);
  };
  EXPECT_EQ(copy({}), kInvalidValue) << "no source";
  EXPECT_EQ(with([](CopyParameters& p) { p.to_array = nullptr; }), kInvalidValue);
  EXPECT_EQ(with([&](CopyParameters& p) { p.from_array = array; }), kInvalidValue) << "two sources";
  EXPECT_EQ(with([&](CopyParameters& p) { p.to_array = host.data(); }), kInvalidHandle);
  EXPECT_EQ(with([](CopyParameters& p) { p.extent.depth = 3; }), kInvalidValue);
  EXPECT_EQ(with([](CopyParameters& p) { p.to_position.y = 1; }), kInvalidValue);
  EXPECT_EQ(with([](CopyParameters& p) { p.to_position.x = ~std::uint64_t{0}; }), kInvalidValue);
  EXPECT_EQ(with([](CopyParameters& p) { p.extent.width = std::uint64_t{1} << 62U; }), kInvalidValue);
  EXPECT_EQ(with([](CopyParameters& p) { p.from.height = 7; }), kInvalidValue) << "slices that overlap";
  EXPECT_EQ(with([](CopyParameters& p) { p.from.pitch = 31; }), kInvalidPitch);
  EXPECT_EQ(with([](CopyParameters& p) { p.from.pitch = std::uint64_t{1} << 40U; }), kInvalidPitch);
  EXPECT_EQ(with([](CopyParameters& p) { p.kind = 5; }), kInvalidDirection);
  EXPECT_EQ(with([](CopyParameters& p) { p.kind = -1; }), kInvalidDirection);
  EXPECT_EQ(with([](CopyParameters& p) { p.kind = 0; }), kOk) << "an array is the device's, whatever is said";
  EXPECT_EQ(with([](CopyParameters& p) { p.kind = kWithin; }), kInvalidValue) << "the source is the host's";
  EXPECT_EQ(with([](CopyParameters& p) { p.extent = {0, 8, 2}; }), kOk);
  void* bytes = nullptr;
  ASSERT_EQ(make(bytes, {{8, 0, 0, 0}, 1}, {64, 8, 2}), kOk);
  EXPECT_EQ(with([&](CopyParameters& p) {
              p.from = {};
              p.from_array = bytes;
            }),
            kInvalidValue)
      << "elements of another size";
  EXPECT_EQ(named<int(const CopyParameters*)>("cudaMemcpy3D")(nullptr), kInvalidValue);
  const auto memset_3d = named<int(PitchedPointer, int, Extent)>("cudaMemset3D");
  EXPECT_EQ(memset_3d({host.data(), 32, 8, 8}, 1, {32, 8, 1}), kInvalidValue) << "memory of the host";
  EXPECT_EQ(memset_3d({}, 1, {0, 8, 1}), kOk);
  EXPECT_EQ(named<int(void*)>("cudaFree")(reinterpret_cast<void*>(static_cast<Array*>(array)->image.address)),
            kInvalidValue)
      << "an array's memory is no pointer";
  EXPECT_EQ(release(array), kOk);
  EXPECT_EQ(release(bytes), kOk);
}

TEST_F(CudaArrays, NodesOfGraphsCopyToThem) {
  void *array = nullptr, *graph = nullptr, *node = nullptr, *exec = nullptr;
  ASSERT_EQ(make(array, kFloat, {8, 4, 3}), kOk);
  std::vector<float> content(96), got(96);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<float>(i);
  CopyParameters p;
  p.from = {content.data(), 32, 8, 4};
  p.to_array = array;
  p.extent = {8, 4, 3};
  p.kind = kToDevice;
  ASSERT_EQ(named<int(void**, unsigned)>("cudaGraphCreate")(&graph, 0), kOk);
  const auto add =
      named<int(void**, void*, void* const*, std::size_t, const CopyParameters*)>("cudaGraphAddMemcpyNode");
  ASSERT_EQ(add(&node, graph, nullptr, 0, &p), kOk);
  CopyParameters same;
  EXPECT_EQ(named<int(void*, CopyParameters*)>("cudaGraphMemcpyNodeGetParams")(node, &same), kOk);
  EXPECT_EQ(std::memcmp(&same, &p, sizeof p), 0);
  p.extent.depth = 4;
  EXPECT_EQ(add(&node, graph, nullptr, 0, &p), kInvalidValue) << "deeper than the array";
  ASSERT_EQ(named<int(void**, void*, unsigned long long)>("cudaGraphInstantiate")(&exec, graph, 0), kOk);
  content[50] = -1;  // which the launch is to see
  ASSERT_EQ(named<int(void*, void*)>("cudaGraphLaunch")(exec, nullptr), kOk);
  ASSERT_EQ(named<int()>("cudaDeviceSynchronize")(), kOk);
  p = {};
  p.from_array = array;
  p.to = {got.data(), 32, 8, 4};
  p.extent = {8, 4, 3};
  p.kind = kToHost;
  EXPECT_EQ(copy(p), kOk);
  EXPECT_EQ(got, content);
  EXPECT_EQ(named<int(void*)>("cudaGraphExecDestroy")(exec), kOk);
  EXPECT_EQ(named<int(void*)>("cudaGraphDestroy")(graph), kOk);
  EXPECT_EQ(release(array), kOk);
}

/// A function of the driver API, by its name.
template <class F>
F* of_driver(const char* name) {
  const Address address = driver_function(name);
  EXPECT_NE(address, nullptr) << name;
  return reinterpret_cast<F*>(address);
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
struct Descriptor {
  std::uint64_t width, height, depth;
  std::uint32_t format, channels, flags;
};

TEST_F(CudaArrays, TheDriverApiHasThemToo) {
  void *context = nullptr, *array = nullptr;
  ASSERT_EQ(of_driver<int(unsigned)>("cuInit")(0), kOk);
  ASSERT_EQ(of_driver<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0), kOk);
  ASSERT_EQ(of_driver<int(void*)>("cuCtxSetCurrent")(context), kOk);
  const auto create = of_driver<int(void**, const Descriptor*)>("cuArray3DCreate_v2");
  const auto describe = of_driver<int(Descriptor*, void*)>("cuArray3DGetDescriptor_v2");
  const auto destroy = of_driver<int(void*)>("cuArrayDestroy");
  std::vector<std::pair<std::uint32_t, std::uint32_t>> formats;
  for (const std::uint32_t format : {0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20})
    for (const std::uint32_t channels : {1, 2, 4}) formats.emplace_back(format, channels);
  for (std::uint32_t n = 0; n < 12; ++n) formats.emplace_back(0xc0 + n, n % 3 == 0 ? 1 : n % 3 == 1 ? 2 : 4);
  for (const auto& [format, channels] : formats) {
    const Descriptor wanted{6, 5, 4, format, channels, kLayeredArray};
    ASSERT_EQ(create(&array, &wanted), kOk) << format << " " << channels;
    Descriptor got{};
    EXPECT_EQ(describe(&got, array), kOk);
    EXPECT_EQ(std::tie(got.width, got.height, got.depth, got.format, got.channels, got.flags),
              std::tie(wanted.width, wanted.height, wanted.depth, format, channels, wanted.flags));
    EXPECT_EQ(destroy(array), kOk);
    EXPECT_EQ(destroy(array), kInvalidHandle);
  }
  for (const Descriptor& wrong : {Descriptor{6, 5, 4, 0x20, 3, 0}, Descriptor{6, 5, 4, 0x77, 1, 0},
                                  Descriptor{6, 5, 4, 0xc1, 1, 0}, Descriptor{0, 5, 4, 0x20, 1, 0}})
    EXPECT_EQ(create(&array, &wrong), kInvalidValue) << wrong.format;
  const Descriptor compressed{8, 8, 0, 0x91, 4, 0};
  EXPECT_EQ(create(&array, &compressed), kNotSupported);
  // Rows of a box in and out.
  const Descriptor shape{6, 5, 4, 0x20, 1, 0};
  ASSERT_EQ(create(&array, &shape), kOk);
  std::vector<float> content(120), got(120, -1);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<float>(i);
  const auto copy_slices = of_driver<int(const Copy3d*)>("cuMemcpy3D_v2");
  Copy3d in{}, out{};
  in.from.type = MemoryType::host;
  in.from.host = reinterpret_cast<std::uintptr_t>(content.data());
  in.from.pitch = 24;
  in.from.height = 5;
  in.to.type = MemoryType::array;
  in.to.array = array;
  in.width_bytes = 24;
  in.height = 5;
  in.depth = 4;
  EXPECT_EQ(copy_slices(&in), kOk);
  out.from = in.to;
  out.to = in.from;
  out.from.x_bytes = 4;
  out.from.z = 1;
  out.to.host = reinterpret_cast<std::uintptr_t>(got.data());
  out.width_bytes = 8;
  out.height = 5;
  out.depth = 3;
  EXPECT_EQ(copy_slices(&out), kOk);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], i % 6 < 2 && i < 90 ? content[i + 31] : -1) << "element " << i;
  out.depth = 4;
  EXPECT_EQ(copy_slices(&out), kInvalidValue) << "deeper than the array";
  out.depth = 1;
  out.from.array = &out;
  EXPECT_EQ(copy_slices(&out), kInvalidHandle);
  float row[2] = {};
  EXPECT_EQ(of_driver<int(void*, void*, std::size_t, std::size_t)>("cuMemcpyAtoH_v2")(row, array, 8, 8), kOk);
  EXPECT_EQ(row[1], 3);
  EXPECT_EQ(of_driver<int(void*, void*, std::size_t, std::size_t)>("cuMemcpyAtoH_v2")(row, array, 20, 8),
            kInvalidValue);
  EXPECT_EQ(destroy(array), kOk);
}

TEST(CudaPeers, CopiesBetweenGpusTakeTheLink) {
  const Result<GpuConfig> config = load_gpu("mini", {"gpus=2"});
  ASSERT_TRUE(config.ok());
  Machine machine(config.value());
  constexpr std::uint64_t kBytes = 100'000;
  std::array<std::uint64_t, 3> memory{};
  for (unsigned n = 0; n < 3; ++n)
    ASSERT_EQ(machine.allocate(Allocation::Kind::device, kBytes, 0, n / 2, memory.at(n)), Status::success);
  std::vector<std::uint8_t> bytes(kBytes), got(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  const auto copy_bytes = [&](std::uint64_t to, std::uint64_t from) {
    CopyRequest c;
    c.to = to;
    c.from = from;
    c.width = c.to_pitch = c.from_pitch = kBytes;
    EXPECT_EQ(machine.copy(c, machine.default_stream(0), false), Status::success);
  };
  copy_bytes(memory[0], reinterpret_cast<std::uintptr_t>(bytes.data()));
  copy_bytes(memory[1], memory[0]);
  copy_bytes(memory[2], memory[1]);
  copy_bytes(reinterpret_cast<std::uintptr_t>(got.data()), memory[2]);
  EXPECT_EQ(got, bytes);
  const std::vector<WorkRecord> done = machine.finish();
  ASSERT_EQ(done.size(), 4U);
  const auto ns = [&](std::size_t n) { return done[n].time.end_ns - done[n].time.begin_ns; };
  EXPECT_EQ(done[1].name, "copy within the GPU");
  EXPECT_EQ(done[2].name, "copy between GPUs");
  EXPECT_DOUBLE_EQ(ns(2), ns(0));
  EXPECT_NE(ns(2), ns(1));
}

}  // namespace arrays_test
}  // namespace warpline::cuda
