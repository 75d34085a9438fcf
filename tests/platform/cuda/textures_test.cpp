// Textures and surfaces of CUDA's runtime, called by name as programs do, and read and written by kernels:
// each field of their descriptions, what is refused, and handles that are gone.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "platform/cuda/arrays.h"
#include "tests/platform/cuda/called_by_name.h"

namespace warpline::cuda {
namespace textures_test {

enum : int { kOk = 0, kInvalidValue = 1, kInvalidChannel = 20, kInvalidFilter = 26 };
constexpr int kInvalidHandle = 400, kIllegalAddress = 700, kNotSupported = 801;
constexpr ChannelDescription kFloat{{32, 0, 0, 0}, 2}, kInt{{32, 0, 0, 0}, 0}, kBytes4{{8, 8, 8, 8}, 1};
constexpr int kWrap = 0, kClamp = 1, kBorder = 3;
using Handle = std::uint64_t;

/// Kernels of 16 threads: each reads at (x0 + thread * dx, y) and stores four words, or writes a surface.
const char* const kPtx = R"(.version 7.4
.target sm_80
.address_size 64
.visible .entry read_2d(.param .u64 texture, .param .u64 out, .param .f32 x0, .param .f32 dx, .param .f32 y)
{
.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<8>;
ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out];
ld.param.f32 %f1, [x0]; ld.param.f32 %f2, [dx]; ld.param.f32 %f3, [y];
mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f4, %r1; fma.rn.f32 %f1, %f4, %f2, %f1;
tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f3}];
mad.wide.u32 %d2, %r1, 16, %d2;
st.global.v4.f32 [%d2], {%f4, %f5, %f6, %f7};
ret;
}
.visible .entry read_2d_int(.param .u64 texture, .param .u64 out, .param .f32 x0, .param .f32 dx, .param .f32 y)
{
.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>;
ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out];
ld.param.f32 %f1, [x0]; ld.param.f32 %f2, [dx]; ld.param.f32 %f3, [y];
mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f4, %r1; fma.rn.f32 %f1, %f4, %f2, %f1;
tex.2d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%d1, {%f1, %f3}];
mad.wide.u32 %d2, %r1, 16, %d2;
st.global.v4.b32 [%d2], {%r4, %r5, %r6, %r7};
ret;
}
.visible .entry read_level(.param .u64 texture, .param .u64 out, .param .f32 level)
{
.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<8>;
ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out]; ld.param.f32 %f1, [level];
mov.f32 %f2, 0f3F000000;
tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f2, %f2}], %f1;
st.global.v4.f32 [%d2], {%f4, %f5, %f6, %f7};
ret;
}
.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<8>;
ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%d1, {%r1}];
mad.wide.u32 %d2, %r1, 4, %d2;
st.global.f32 [%d2], %f4;
ret;
}
.visible .entry write_2d(.param .u64 surface)
{
.reg .b32 %r<4>; .reg .b64 %d<2>;
ld.param.u64 %d1, [surface];
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; shl.b32 %r1, %r1, 2; add.u32 %r3, %r1, %r2;
sust.b.2d.b32.trap [%d1, {%r1, %r2}], {%r3};
ret;
}
)";

int make(void*& array, const ChannelDescription& format, Extent extent, unsigned flags = 0) {
  return named<int(void**, const ChannelDescription*, Extent, unsigned)>("cudaMalloc3DArray")(&array, &format,
                                                                                              extent, flags);
}
void release(void* array) {
  EXPECT_EQ(named<int(void*)>("cudaFreeArray")(array), kOk);
}
void fill(void* array, const void* from, std::size_t row_bytes, std::size_t rows) {
  EXPECT_EQ(
      named<int(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int)>(
          "cudaMemcpy2DToArray")(array, 0, 0, from, row_bytes, row_bytes, rows, 1),
      kOk);
}
int texture(Handle& handle, const ResourceDescription& resource, const TextureDescription& how,
            const ViewDescription* view = nullptr) {
  return named<int(Handle*, const ResourceDescription*, const TextureDescription*, const ViewDescription*)>(
      "cudaCreateTextureObject")(&handle, &resource, &how, view);
}
int surface(Handle& handle, const ResourceDescription& resource) {
  return named<int(Handle*, const ResourceDescription*)>("cudaCreateSurfaceObject")(&handle, &resource);
}
int destroy_texture(Handle handle) {
  return named<int(Handle)>("cudaDestroyTextureObject")(handle);
}
ResourceDescription of_array(void* array) {
  ResourceDescription resource;
  resource.pointer = array;
  return resource;
}

class CudaTextures : public testing::Test {
 protected:
  CudaTextures() : module(kPtx) {
    EXPECT_EQ(named<int(void**, std::size_t, unsigned)>("cudaMallocManaged")(&out, 16 * 16, 1), kOk);
  }
  /// Component `c` of the 16 texels from x0 on.
  std::vector<float> read(Handle handle, float x0, float dx, float y, unsigned c = 0) {
    EXPECT_EQ(module.run("read_2d", AbiDim3(Dim3{16, 1, 1}), handle, out, x0, dx, y), kOk);
    std::vector<float> got(16);
    for (unsigned i = 0; i < 16; ++i) got[i] = static_cast<const float*>(out)[4 * i + c];
    return got;
  }
  RegisteredModule module;
  void* out = nullptr;
};

/// 16 by 4 floats: x + 100 y.
void* ramp() {
  void* array = nullptr;
  EXPECT_EQ(make(array, kFloat, {16, 4, 0}, kSurfaceArray), kOk);
  float content[4][16];
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 16; ++x) content[y][x] = static_cast<float>(x + 100 * y);
  fill(array, content, sizeof content[0], 4);
  return array;
}

TEST_F(CudaTextures, FieldsOfTheDescriptionAreTheSamplers) {
  void* const array = ramp();
  TextureDescription how;
  const auto value = [&](float x, float y) {
    Handle handle = 0;
    EXPECT_EQ(texture(handle, of_array(array), how), kOk);
    const float got = read(handle, x, 0, y)[7];
    EXPECT_EQ(destroy_texture(handle), kOk);
    return got;
  };
  how.address_modes[0] = how.address_modes[1] = kClamp;
  EXPECT_EQ(value(3.5F, 2.5F), 203);
  EXPECT_EQ(value(-9, 9), 300);
  how.filter = 1;
  EXPECT_EQ(value(4, 2), 153.5F);
  how.normalized_coordinates = 1;
  EXPECT_EQ(value(0.25F, 0.5F), 153.5F);
  how.address_modes[0] = kWrap;
  EXPECT_EQ(value(1.25F, 0.5F), 153.5F);
  EXPECT_EQ(value(0.25F, 7), 303.5F);
  how.filter = 0;
  how.address_modes[0] = 2;
  EXPECT_EQ(value(1 + 0.5F / 16, 0), 15) << "mirrored";
  how.normalized_coordinates = 0;
  EXPECT_EQ(value(20, 0), 15) << "without normalized coordinates that clamps";
  how.address_modes[1] = kBorder;
  how.border[0] = -5;
  EXPECT_EQ(value(3, 4), -5);
  release(array);
}

TEST_F(CudaTextures, IntegersAreReadAsTheyAreOrAsNumbers) {
  void* array = nullptr;
  ASSERT_EQ(make(array, kBytes4, {16, 1, 0}), kOk);
  std::uint8_t content[16][4];
  for (int i = 0; i < 16; ++i)
    for (int c = 0; c < 4; ++c) content[i][c] = static_cast<std::uint8_t>(16 * i + c);
  fill(array, content, sizeof content, 1);
  TextureDescription how;
  Handle handle = 0;
  how.read_mode = 1;
  ASSERT_EQ(texture(handle, of_array(array), how), kOk);
  for (unsigned c = 0; c < 4; ++c)
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(read(handle, 0.5F, 1, 0.5F, c)[i], static_cast<float>(16 * i + c) / 255);
  EXPECT_EQ(destroy_texture(handle), kOk);
  how.srgb = 1;
  ASSERT_EQ(texture(handle, of_array(array), how), kOk);
  EXPECT_NEAR(read(handle, 0.5F, 1, 0.5F, 2)[15], std::pow((242 / 255.0 + 0.055) / 1.055, 2.4), 1e-6);
  EXPECT_EQ(read(handle, 0.5F, 1, 0.5F, 3)[15], 243.0F / 255) << "alpha is linear";
  EXPECT_EQ(destroy_texture(handle), kOk);
  how = {};
  how.address_modes[0] = how.address_modes[1] = kBorder;
  const std::int32_t border[4] = {1, 200, 300, -1};
  std::memcpy(how.border, border, sizeof border);
  ASSERT_EQ(texture(handle, of_array(array), how), kOk);
  ASSERT_EQ(module.run("read_2d_int", AbiDim3(Dim3{16, 1, 1}), handle, out, 1.5F, 1.0F, 0.5F), kOk);
  const auto* const words = static_cast<const std::int32_t*>(out);
  EXPECT_EQ(words[1], 17);
  EXPECT_THAT(std::vector<int>(words + 60, words + 64), testing::ElementsAre(1, 200, 255, 255))
      << "bits of a border that are no bytes";
  EXPECT_EQ(destroy_texture(handle), kOk);
  release(array);
  // A format that is normalized by itself.
  ASSERT_EQ(make(array, {{16, 0, 0, 0}, 14}, {16, 1, 0}), kOk);
  std::int16_t halves[16] = {-32768, 32767, 0, 1};
  fill(array, halves, sizeof halves, 1);
  how = {};
  ASSERT_EQ(texture(handle, of_array(array), how), kOk);
  const std::vector<float> got = read(handle, 0.5F, 1, 0.5F);
  EXPECT_EQ(got[0], -1);
  EXPECT_EQ(got[1], 1);
  EXPECT_EQ(got[3], 1.0F / 32767);
  EXPECT_EQ(destroy_texture(handle), kOk);
  release(array);
}

TEST_F(CudaTextures, PlainMemoryIsRead) {
  void* memory = nullptr;
  ASSERT_EQ(named<int(void**, std::size_t)>("cudaMalloc")(&memory, 1024), kOk);
  std::vector<float> content(256);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<float>(i + 1);
  ASSERT_EQ(named<int(void*, const void*, std::size_t, int)>("cudaMemcpy")(memory, content.data(), 1024, 1),
            kOk);
  ResourceDescription linear;
  linear.kind = ResourceKind::linear;
  linear.pointer = memory;
  linear.format = kFloat;
  linear.size = 10 * sizeof(float);
  TextureDescription how;
  how.address_modes[0] = 77;  // which does not matter here
  Handle handle = 0;
  ASSERT_EQ(texture(handle, linear, how), kOk);
  ASSERT_EQ(module.run("fetch", AbiDim3(Dim3{16, 1, 1}), handle, out), kOk);
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(static_cast<const float*>(out)[i], i < 10 ? static_cast<float>(i + 1) : 0)
        << "beyond its end are zeros";
  EXPECT_EQ(destroy_texture(handle), kOk);
  how = {};
  ResourceDescription pitched;
  pitched.kind = ResourceKind::pitched;
  pitched.pointer = memory;
  pitched.format = kFloat;
  pitched.size = 16;
  pitched.height = 4;
  pitched.pitch = 96;
  ASSERT_EQ(texture(handle, pitched, how), kOk);
  EXPECT_EQ(read(handle, 0.5F, 1, 2.5F)[3], 2 * 24 + 4);
  EXPECT_EQ(destroy_texture(handle), kOk);
  const auto linear_with = [&](auto change) {
    ResourceDescription r = linear;
    change(r);
    return texture(handle, r, how);
  };
  const auto pitched_with = [&](auto change) {
    ResourceDescription r = pitched;
    change(r);
    return texture(handle, r, how);
  };
  using Memory = ResourceDescription;
  EXPECT_EQ(linear_with([](Memory& m) { m.size = 1028; }), kInvalidValue) << "more than there is";
  EXPECT_EQ(linear_with([](Memory& m) { m.size = 3; }), kInvalidValue) << "no element";
  EXPECT_EQ(linear_with([](Memory& m) { m.pointer = static_cast<char*>(m.pointer) + 16; }), kInvalidValue);
  EXPECT_EQ(linear_with([](Memory& m) { m.pointer = nullptr; }), kInvalidValue);
  EXPECT_EQ(linear_with([](Memory& m) { m.format.bits[2] = 32; }), kInvalidChannel);
  EXPECT_EQ(linear_with([](Memory& m) { m.format = {{8, 8, 8, 0}, 20}; }), kNotSupported);
  EXPECT_EQ(pitched_with([](Memory& m) { m.pitch = 88; }), kInvalidValue) << "not aligned";
  EXPECT_EQ(pitched_with([](Memory& m) { m.pitch = 32; }), kInvalidValue) << "shorter than a row";
  EXPECT_EQ(pitched_with([](Memory& m) { m.height = 0; }), kInvalidValue);
  EXPECT_EQ(pitched_with([](Memory& m) { m.height = 70000; }), kInvalidValue);
  EXPECT_EQ(pitched_with([](Memory& m) { m.height = 12; }), kInvalidValue) << "more than there is";
  ViewDescription view;
  EXPECT_EQ(texture(handle, pitched, how, &view), kInvalidValue) << "a view is of an array";
  std::size_t most = 0;
  const auto width =
      named<int(std::size_t*, const ChannelDescription*, int)>("cudaDeviceGetTexture1DLinearMaxWidth");
  EXPECT_EQ(width(&most, &kFloat, 0), kOk);
  EXPECT_EQ(most, std::size_t{1} << 28U);
  EXPECT_EQ(width(&most, nullptr, 0), kInvalidValue);
  EXPECT_EQ(width(&most, &kFloat, 9), 101);
  EXPECT_EQ(named<int(void*)>("cudaFree")(memory), kOk);
}

TEST_F(CudaTextures, ViewsAreOfSomeLevelsAndLayers) {
  void *whole = nullptr, *level = nullptr;
  ASSERT_EQ((named<int(void**, const ChannelDescription*, Extent, unsigned, unsigned)>(
                "cudaMallocMipmappedArray")(&whole, &kFloat, {16, 16, 0}, 3, 0)),
            kOk);
  for (unsigned n = 0; n < 3; ++n) {
    ASSERT_EQ(named<int(void**, void*, unsigned)>("cudaGetMipmappedArrayLevel")(&level, whole, n), kOk);
    const std::vector<float> content(256, static_cast<float>(n + 1));
    fill(level, content.data(), 64 >> n, 16 >> n);
  }
  ResourceDescription resource = of_array(whole);
  resource.kind = ResourceKind::mipmapped_array;
  TextureDescription how;
  Handle handle = 0;
  EXPECT_EQ(texture(handle, resource, how), kInvalidValue) << "it takes normalized coordinates";
  how.normalized_coordinates = 1;
  how.min_level = 1;
  how.max_level = 9;
  const auto value = [&](const ViewDescription* view) {
    EXPECT_EQ(texture(handle, resource, how, view), kOk);
    EXPECT_EQ(module.run("read_level", AbiDim3(Dim3{1, 1, 1}), handle, out, 0.0F), kOk);
    const float got = *static_cast<const float*>(out);
    EXPECT_EQ(destroy_texture(handle), kOk);
    return got;
  };
  EXPECT_EQ(value(nullptr), 2);
  ViewDescription view;
  view.first_level = 1;
  view.last_level = 2;
  EXPECT_EQ(value(&view), 3) << "levels count from the view's first";
  view.last_level = 1;
  EXPECT_EQ(value(&view), 2);
  how.min_level = 0;
  how.level_bias = 1.25F;
  how.mip_filter = 1;
  EXPECT_EQ(value(nullptr), 2.25F);
  view = {};
  const auto refused = [&](auto change) {
    ViewDescription v;
    v.width = v.height = 16;
    change(v);
    return texture(handle, resource, how, &v);
  };
  EXPECT_EQ(refused([](ViewDescription& v) { v.last_level = 3; }), kInvalidValue);
  EXPECT_EQ(refused([](ViewDescription& v) { v.first_level = 1; }), kInvalidValue);
  EXPECT_EQ(refused([](ViewDescription& v) { v.width = 8; }), kInvalidValue);
  EXPECT_EQ(refused([](ViewDescription& v) { v.last_layer = 1; }), kInvalidValue);
  EXPECT_EQ(refused([](ViewDescription& v) { v.format = 1; }), kInvalidValue) << "of another size";
  EXPECT_EQ(refused([](ViewDescription& v) { v.format = 0x19; }), kNotSupported) << "compressed";
  EXPECT_EQ(refused([](ViewDescription& v) { v.format = 0x77; }), kInvalidValue);
  view.format = 0x10;  // one component of s32
  how.mip_filter = how.filter = 0;
  ASSERT_EQ(texture(handle, resource, how, &view), kOk);
  ASSERT_EQ(module.run("read_2d_int", AbiDim3(Dim3{16, 1, 1}), handle, out, 0.5F, 0.0F, 0.5F), kOk);
  EXPECT_EQ(static_cast<const std::int32_t*>(out)[0], 0x3F800000) << "bits of 1.0";
  EXPECT_EQ(destroy_texture(handle), kOk);
  EXPECT_EQ(named<int(void*)>("cudaFreeMipmappedArray")(whole), kOk);
}

TEST_F(CudaTextures, SurfacesAreWritten) {
  void* const array = ramp();
  Handle handle = 0;
  EXPECT_EQ(surface(handle, of_array(nullptr)), kInvalidHandle);
  ResourceDescription linear;
  linear.kind = ResourceKind::linear;
  EXPECT_EQ(surface(handle, linear), kInvalidValue);
  void* plain = nullptr;
  ASSERT_EQ(make(plain, kInt, {8, 8, 0}), kOk);
  EXPECT_EQ(surface(handle, of_array(plain)), kInvalidValue) << "not made for surfaces";
  release(plain);
  ASSERT_EQ(surface(handle, of_array(array)), kOk);
  ASSERT_EQ(module.run("write_2d", AbiDim3(Dim3{16, 4, 1}), handle), kOk);
  std::int32_t got[64];
  ASSERT_EQ((named<int(void*, const void*, std::size_t, std::size_t, std::size_t, int)>(
                "cudaMemcpyFromArray")(got, array, 0, 0, sizeof got, 2)),
            kOk);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], 4 * (i % 16) + i / 16);
  EXPECT_EQ(destroy_texture(handle), kInvalidValue) << "a surface is no texture";
  ResourceDescription whose;
  EXPECT_EQ(named<int(ResourceDescription*, Handle)>("cudaGetTextureObjectResourceDesc")(&whose, handle),
            kInvalidValue);
  EXPECT_EQ(named<int(ResourceDescription*, Handle)>("cudaGetSurfaceObjectResourceDesc")(&whose, handle),
            kOk);
  EXPECT_EQ(whose.pointer, array);
  EXPECT_EQ(named<int(Handle)>("cudaDestroySurfaceObject")(handle), kOk);
  EXPECT_EQ(named<int(Handle)>("cudaDestroySurfaceObject")(handle), kInvalidValue);
  release(array);
}

TEST_F(CudaTextures, DescriptionsComeBackAndWrongOnesAreErrors) {
  void* const array = ramp();
  TextureDescription how;
  how.filter = 1;
  how.anisotropy = 16;
  how.no_trilinear_optimization = 1;
  ViewDescription view;
  view.format = 0x16;
  view.width = 16;
  view.height = 4;
  Handle with = 0, without = 0;
  ASSERT_EQ(texture(with, of_array(array), how, &view), kOk);
  ASSERT_EQ(texture(without, of_array(array), how), kOk);
  EXPECT_NE(with, without);
  TextureDescription got;
  EXPECT_EQ(named<int(TextureDescription*, Handle)>("cudaGetTextureObjectTextureDesc")(&got, with), kOk);
  EXPECT_EQ(std::memcmp(&got, &how, sizeof got), 0);
  ViewDescription got_view;
  const auto view_of = named<int(ViewDescription*, Handle)>("cudaGetTextureObjectResourceViewDesc");
  EXPECT_EQ(view_of(&got_view, with), kOk);
  EXPECT_EQ(got_view.format, 0x16);
  EXPECT_EQ(got_view.height, 4U);
  EXPECT_EQ(view_of(&got_view, without), kInvalidValue) << "it has none";
  EXPECT_EQ(view_of(nullptr, with), kInvalidValue);
  const auto wrong = [&](auto change) {
    TextureDescription t;
    change(t);
    Handle handle = 0;
    return texture(handle, of_array(array), t);
  };
  EXPECT_EQ(wrong([](TextureDescription& t) { t.filter = 2; }), kInvalidValue);
  EXPECT_EQ(wrong([](TextureDescription& t) { t.read_mode = -1; }), kInvalidValue);
  EXPECT_EQ(wrong([](TextureDescription& t) { t.address_modes[1] = 4; }), kInvalidValue);
  EXPECT_EQ(wrong([](TextureDescription& t) { t.seamless_cubes = 1; }), kInvalidValue) << "it is no cube";
  void* cube = nullptr;
  ASSERT_EQ(make(cube, kFloat, {4, 4, 6}, kCubeArray), kOk);
  how = {};
  how.seamless_cubes = 1;
  Handle handle = 0;
  EXPECT_EQ(texture(handle, of_array(cube), how), kOk) << "points have no edges to cross";
  how.filter = 1;
  EXPECT_EQ(texture(handle, of_array(cube), how), kNotSupported);
  release(cube);
  void* words = nullptr;
  ASSERT_EQ(make(words, kInt, {4, 4, 0}), kOk);
  how.seamless_cubes = 0;
  EXPECT_EQ(texture(handle, of_array(words), how), kInvalidFilter);
  how.read_mode = 1;
  EXPECT_EQ(texture(handle, of_array(words), how), kInvalidFilter) << "32 bits are not normalized";
  release(words);
  EXPECT_EQ(texture(handle, of_array(nullptr), how), kInvalidValue);
  EXPECT_EQ(texture(handle, of_array(words), how), kInvalidValue) << "it was freed";
  EXPECT_EQ((named<int(Handle*, const void*, const void*, const void*)>("cudaCreateTextureObject")(
                nullptr, &got, &got, nullptr)),
            kInvalidValue);
  EXPECT_EQ(destroy_texture(with), kOk);
  EXPECT_EQ(destroy_texture(without), kOk);
  EXPECT_EQ(destroy_texture(0), kInvalidValue);
  release(array);
}

TEST_F(CudaTextures, ATextureThatIsGoneIsAFault) {
  void* const array = ramp();
  Handle gone = 0, other = 0;
  TextureDescription how;
  ASSERT_EQ(texture(gone, of_array(array), how), kOk);
  // What was launched before still has it.
  EXPECT_EQ(read(gone, 0.5F, 1, 0.5F)[3], 3);
  ASSERT_EQ(destroy_texture(gone), kOk);
  ASSERT_EQ(named<int()>("cudaDeviceSynchronize")(), kOk);
  ASSERT_EQ(texture(other, of_array(array), how), kOk);
  EXPECT_NE(other, gone) << "its handle is not used again";
  EXPECT_EQ(read(other, 0.5F, 1, 0.5F)[3], 3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(module.run("read_2d", AbiDim3(Dim3{16, 1, 1}), gone, out, 0.0F, 1.0F, 0.0F), kIllegalAddress);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("handle of no texture"));
  EXPECT_EQ(named<int()>("cudaDeviceReset")(), kOk);
  EXPECT_EQ(destroy_texture(other), kInvalidValue) << "that takes them all away";
}

TEST_F(CudaTextures, AFaultNamesTheSurface) {
  void* array = nullptr;
  ASSERT_EQ(make(array, kInt, {16, 3, 0}, kSurfaceArray), kOk);
  Handle handle = 0;
  ASSERT_EQ(surface(handle, of_array(array)), kOk);
  testing::internal::CaptureStderr();
  EXPECT_EQ(module.run("write_2d", AbiDim3(Dim3{16, 4, 1}), handle), kIllegalAddress);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("row 3 of the surface of 16 by 3 elements"));
  EXPECT_EQ(named<int()>("cudaDeviceReset")(), kOk);
}

}  // namespace textures_test
}  // namespace warpline::cuda
