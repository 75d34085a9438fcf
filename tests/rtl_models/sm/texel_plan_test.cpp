// Texture loads against the formulas of the CUDA C++ Programming Guide ("Texture Fetching", "Cubemap
// Textures"), written down again here, by definition and not by plan: one texel at a time, means within
// means.
#include "rtl_models/sm/texel_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/random.h"

namespace warpline {
namespace texel_plan_test {

using Real = long double;

/// An image with its bytes, read by definition.
struct Naive {
  Image image;
  std::vector<std::uint8_t> bytes;

  struct Size {
    std::int64_t w, h, d;
  };
  [[nodiscard]] Size size(unsigned level) const {
    Size s{image.width, image.height, image.depth};
    for (unsigned k = 0; k < level; ++k)
      s = {std::max(s.w / 2, std::int64_t{1}), std::max(s.h / 2, std::int64_t{1}),
           std::max(s.d / 2, std::int64_t{1})};
    return s;
  }
  [[nodiscard]] std::int64_t slices() const {
    return (image.cube ? 6 : 1) * std::max<std::int64_t>(image.layers, 1);
  }
  /// Nothing: in the border.
  static std::optional<std::int64_t> fold(std::int64_t i, std::int64_t n, AddressMode mode) {
    if (mode == AddressMode::border) return i < 0 || i >= n ? std::nullopt : std::optional(i);
    if (mode == AddressMode::clamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
    bool backwards = false;
    while (i < 0 || i >= n) {
      i += i < 0 ? n : -n;
      backwards = !backwards;
    }
    return mode == AddressMode::mirror && backwards ? n - 1 - i : i;
  }
  [[nodiscard]] AddressMode mode(unsigned n, bool normalized) const {
    const AddressMode m = image.sampler.address.at(n);
    const bool repeats = m == AddressMode::wrap || m == AddressMode::mirror;
    return image.cube || (repeats && !normalized) ? AddressMode::clamp : m;
  }
  /// Component `c` of texel (x, y, z).
  [[nodiscard]] Real texel(unsigned level, std::int64_t slice, std::int64_t x, std::int64_t y, std::int64_t z,
                           unsigned dimensions, unsigned c, bool normalized) const {
    const Size s = size(level);
    const auto i = fold(x, s.w, mode(0, normalized));
    const auto j = dimensions > 1 ? fold(y, s.h, mode(1, normalized)) : std::optional<std::int64_t>(0);
    const auto k = dimensions > 2 ? fold(z, s.d, mode(2, normalized)) : std::optional<std::int64_t>(0);
    if (c >= image.format.components) return c == 3 ? 1 : 0;
    if (!i || !j || !k) return image.sampler.border.at(c);
    std::int64_t at = 0;
    const auto element = static_cast<std::int64_t>(image.format.bytes());
    for (unsigned l = 0; l < level; ++l) at += size(l).w * size(l).h * size(l).d * slices() * element;
    const std::int64_t row = image.pitch != 0 ? static_cast<std::int64_t>(image.pitch) : s.w * element;
    at += ((slice * s.d + *k) * s.h + *j) * row + *i * element +
          static_cast<std::int64_t>(c) * size_of(image.format.type);
    return component(&bytes.at(static_cast<std::size_t>(at)), c);
  }
  [[nodiscard]] Real component(const std::uint8_t* at, unsigned c) const {
    const auto as = [at](auto v) {
      std::memcpy(&v, at, sizeof v);
      return v;
    };
    const bool unit = image.sampler.reading.normalized;
    switch (image.format.type) {
      case DataType::u8: {
        const std::uint8_t v = as(std::uint8_t{});
        if (!unit) return v;
        const Real u = v / 255.0L;
        if (!image.sampler.reading.srgb || c == 3) return static_cast<float>(u);
        return static_cast<float>(u <= 0.04045L ? u / 12.92L : std::pow((u + 0.055L) / 1.055L, 2.4L));
      }
      case DataType::s8:
        return unit ? static_cast<float>(std::max(as(std::int8_t{}) / 127.0L, -1.0L)) : as(std::int8_t{});
      case DataType::u16:
        return unit ? static_cast<float>(as(std::uint16_t{}) / 65535.0L) : as(std::uint16_t{});
      case DataType::s16:
        return unit ? static_cast<float>(std::max(as(std::int16_t{}) / 32767.0L, -1.0L)) : as(std::int16_t{});
      case DataType::u32: return as(std::uint32_t{});
      case DataType::s32: return as(std::int32_t{});
      case DataType::f16: {
        const std::uint16_t h = as(std::uint16_t{});
        const int e = h >> 10U & 31U;
        const Real m = e == 0 ? std::ldexp(h & 1023U, -24) : std::ldexp(1024 + (h & 1023U), e - 25);
        return (h & 0x8000U) != 0 ? -m : m;
      }
      default: return as(float{});
    }
  }
  /// The guide's alpha, and its i or j or k.
  struct Weighted {
    std::int64_t first;
    Real alpha;
  };
  static Weighted split(Real x) {
    const Real b = x - 0.5L, i = std::floor(b);
    return {static_cast<std::int64_t>(i), std::floor((b - i) * 256 + 0.5L) / 256};
  }
  /// tex(x), tex(x, y) or tex(x, y, z) on one level.
  [[nodiscard]] Real sample(unsigned level, std::int64_t slice, const std::array<Real, 3>& at,
                            const std::array<int, 3>& offset, unsigned dimensions, unsigned c, bool linear,
                            bool normalized) const {
    const Size s = size(level);
    const std::array<std::int64_t, 3> sizes = {s.w, s.h, s.d};
    std::array<Weighted, 3> w{};
    for (unsigned n = 0; n < dimensions; ++n) {
      const Real x = normalized ? at.at(n) * sizes.at(n) : at.at(n);
      w.at(n) = linear ? split(x) : Weighted{static_cast<std::int64_t>(std::floor(x)), 0};
      w.at(n).first += offset.at(n);
    }
    const auto one = [&](int x, int y, int z) {
      return texel(level, slice, w[0].first + x, w[1].first + y, w[2].first + z, dimensions, c, normalized);
    };
    const auto along_x = [&](int y, int z) {
      return linear ? (1 - w[0].alpha) * one(0, y, z) + w[0].alpha * one(1, y, z) : one(0, y, z);
    };
    const auto along_y = [&](int z) {
      return linear && dimensions > 1 ? (1 - w[1].alpha) * along_x(0, z) + w[1].alpha * along_x(1, z)
                                      : along_x(0, z);
    };
    return linear && dimensions > 2 ? (1 - w[2].alpha) * along_y(0) + w[2].alpha * along_y(1) : along_y(0);
  }
};

std::array<std::uint32_t, 4> load(const Naive& n, const MemOp& op, const ImageCoordinates& at,
                                  const SampleOperands& operands) {
  TexelPlan plan;
  const auto fault = plan_texels(op, n.image, at, operands, plan);
  EXPECT_FALSE(fault) << name_of(*fault);
  TexelBytes texels{};
  for (unsigned k = 0; k < plan.count; ++k)
    if (plan.offset.at(k) != TexelPlan::kBorder)
      std::memcpy(texels.at(k).data(), &n.bytes.at(static_cast<std::size_t>(plan.offset.at(k))),
                  n.image.format.bytes());
  std::array<std::uint32_t, 4> out{};
  combine_texels(op, n.image, plan, texels, operands.reference, reinterpret_cast<std::uint8_t*>(out.data()));
  return out;
}

MemOp texture_op(Geometry geometry, DataType type, bool floats) {
  MemOp op;
  op.kind = MemKind::texture_load;
  op.space = Space::texture;
  op.type = type;
  op.vector = 4;
  op.image.geometry = geometry;
  op.image.float_coordinates = floats;
  return op;
}

constexpr Geometry kGeometries[] = {Geometry::d1,  Geometry::d2,   Geometry::d3,   Geometry::a1d,
                                    Geometry::a2d, Geometry::cube, Geometry::acube};
unsigned dimensions_of(Geometry g) {
  return g == Geometry::d1 || g == Geometry::a1d ? 1 : g == Geometry::d3 ? 3 : 2;
}

/// Elements that are small whole numbers where they are floating-point, so that means are exact.
Naive random_image(Random& random, Geometry geometry) {
  Naive n;
  Image& i = n.image;
  const auto names = texel_format_names();
  i.format = *texel_format_from(names[random.below(names.size())]);
  const auto size = [&] { return static_cast<std::uint32_t>(1 + random.below(9)); };
  i.width = size();
  if (dimensions_of(geometry) > 1) i.height = size();
  if (geometry == Geometry::d3) i.depth = size();
  i.cube = geometry == Geometry::cube || geometry == Geometry::acube;
  if (i.cube) i.height = i.width;
  if (geometry == Geometry::a1d || geometry == Geometry::a2d || geometry == Geometry::acube)
    i.layers = size();
  Sampler& s = i.sampler;
  s.normalized_coordinates = i.cube || random.below(2) == 0;
  s.reading.normalized = random.below(2) == 0;
  s.reading.srgb = s.reading.normalized && i.format.type == DataType::u8 && random.below(2) == 0;
  s.filter = static_cast<TextureFilter>(random.below(2));
  s.mip_filter = static_cast<TextureFilter>(random.below(2));
  for (AddressMode& m : s.address) m = static_cast<AddressMode>(random.below(4));
  for (float& b : s.border) b = static_cast<float>(random.below(100));
  if (s.normalized_coordinates) i.levels = static_cast<std::uint32_t>(1 + random.below(i.most_levels()));
  if (i.levels == 1 && random.below(3) == 0) i.pitch = i.row_bytes() + 16 * random.below(3);
  EXPECT_TRUE(i.is_well_formed());
  n.bytes.resize(static_cast<std::size_t>(i.bytes()));
  for (std::uint8_t& b : n.bytes) b = static_cast<std::uint8_t>(random.next());
  if (i.format.type == DataType::f32)
    for (std::size_t at = 0; at + 4 <= n.bytes.size(); at += 4) {
      const auto v = static_cast<float>(static_cast<int>(random.below(2000)) - 1000);
      std::memcpy(&n.bytes[at], &v, 4);
    }
  if (i.format.type == DataType::f16)  // -2048 to 2048 in steps
    for (std::size_t at = 1; at < n.bytes.size(); at += 2)
      n.bytes[at] = static_cast<std::uint8_t>((n.bytes[at] & 0x80U) | (0x3CU + n.bytes[at] % 0x2C));
  return n;
}

/// The face of a direction and the coordinates on it, as the guide's table has them.
struct OnFace {
  unsigned face;
  Real s, t;
};
OnFace on_face(Real x, Real y, Real z) {
  const Real ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  const auto of = [](unsigned face, Real m, Real s, Real t) {
    return OnFace{face, (s / m + 1) / 2, (t / m + 1) / 2};
  };
  if (ax > ay && ax > az) return x >= 0 ? of(0, x, -z, -y) : of(1, -x, z, -y);
  if (ay > az) return y >= 0 ? of(2, y, x, z) : of(3, -y, x, -z);
  return z >= 0 ? of(4, z, x, -y) : of(5, -z, -x, -y);
}

float random_coordinate(Random& random, const Image& image) {
  // Multiples of 1/1024, so that a coordinate in texels is one, too, and the guide's fractions are exact.
  const float scale = image.sampler.normalized_coordinates ? 4 : 20;
  return std::floor((static_cast<float>(random.below(1U << 20U)) / (1U << 19U) - 1) * scale * 1024) / 1024;
}

void check(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Geometry geometry = kGeometries[random.below(std::size(kGeometries))];
  const Naive n = random_image(random, geometry);
  const Image& image = n.image;
  const bool floats = reads_as_float(image.format, image.sampler.reading);
  for (unsigned round = 0; round < 30; ++round) {
    const bool integers = !image.cube && random.below(4) == 0;
    MemOp op = texture_op(geometry, floats ? DataType::f32 : DataType::s32, !integers);
    const unsigned dimensions = dimensions_of(geometry);
    std::array<Real, 3> where{};
    ImageCoordinates at;
    SampleOperands operands;
    std::array<std::int32_t*, 3> words = {&at.x, &at.y, &at.z};
    const auto major = static_cast<unsigned>(random.below(3));
    for (unsigned k = 0; k < (image.cube ? 3U : dimensions); ++k) {
      if (integers) {
        *words.at(k) = static_cast<std::int32_t>(random.below(20)) - 6;
        where.at(k) = *words.at(k);
      } else {
        float c = random_coordinate(random, image);
        // The largest of a direction is a power of two: quotients by it are exact.
        if (image.cube && k == major) c = c < 0 ? -4.0F : 4.0F;
        *words.at(k) = static_cast<std::int32_t>(bits_as<std::uint32_t>(c));
        where.at(k) = c;
      }
    }
    at.layer = static_cast<std::uint32_t>(random.below(12));
    std::array<int, 3> offset{};
    if (!image.cube && random.below(2) == 0)
      for (unsigned k = 0; k < dimensions; ++k) {
        offset.at(k) = static_cast<int>(random.below(16)) - 8;
        operands.offset.at(k) = static_cast<std::int8_t>(offset.at(k));
      }
    Real detail = 0;
    if (random.below(2) == 0) {
      op.image.sampling = Sampling::level;
      operands.dx[0] = static_cast<float>(static_cast<int>(random.below(2048)) - 400) / 256;
      detail = std::min<Real>(std::max<Real>(operands.dx[0], 0), image.levels - 1);
    }
    std::int64_t slice = image.layers == 0 ? 0 : std::min<std::int64_t>(at.layer, image.layers - 1);
    if (image.cube) {
      const OnFace f = on_face(where[0], where[1], where[2]);
      slice = slice * 6 + f.face;
      where = {f.s, f.t, 0};
    }
    const bool linear = floats && !integers && image.sampler.filter == TextureFilter::linear;
    const bool normalized = !integers && image.sampler.normalized_coordinates;
    const auto got = load(n, op, at, operands);
    for (unsigned c = 0; c < 4; ++c) {
      const auto of = [&](unsigned level) {
        return n.sample(level, slice, where, offset, dimensions, c, linear, normalized);
      };
      Real want = 0;
      if (image.sampler.mip_filter == TextureFilter::linear && floats) {
        const auto level = static_cast<unsigned>(detail);
        const Real f = detail - level;
        want = f == 0 ? of(level) : (1 - f) * of(level) + f * of(level + 1);
      } else {
        want = of(static_cast<unsigned>(std::floor(detail + 0.5L)));
      }
      const Real value = floats                         ? static_cast<Real>(bits_as<float>(got.at(c)))
                         : is_signed(image.format.type) ? static_cast<std::int32_t>(got.at(c))
                                                        : static_cast<Real>(got.at(c));
      const Real slack = is_float(image.format.type) ? 0 : 1e-7L;
      ASSERT_LE(std::fabs(value - (floats ? static_cast<Real>(static_cast<float>(want)) : want)), slack)
          << "round " << round << " component " << c << " of geometry " << static_cast<int>(geometry);
    }
  }
}

TEST(TexelPlan, LoadsAreTheGuidesFormulas) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    check(seed);
    if (HasFatalFailure()) return;
  }
}

Naive ramp(std::uint32_t width, std::uint32_t height, TextureFilter filter, bool normalized) {
  Naive n;
  n.image.width = width;
  n.image.height = height;
  n.image.sampler.filter = filter;
  n.image.sampler.normalized_coordinates = normalized;
  n.bytes.resize(n.image.bytes());
  for (std::uint32_t i = 0; i < width * height; ++i) {
    const auto v = static_cast<float>(i * 256);
    std::memcpy(&n.bytes[std::size_t{i} * 4], &v, 4);
  }
  return n;
}

ImageCoordinates point(float x, float y = 0, float z = 0) {
  const auto bits = [](float v) { return static_cast<std::int32_t>(bits_as<std::uint32_t>(v)); };
  return {bits(x), bits(y), bits(z), 0};
}

TEST(TexelPlan, WeightsHaveEightBitsOfFraction) {
  const Naive n = ramp(4, 1, TextureFilter::linear, false);
  const MemOp op = texture_op(Geometry::d1, DataType::f32, true);
  const auto at = [&](float x) { return bits_as<float>(load(n, op, point(x), {})[0]); };
  EXPECT_EQ(at(1.5F), 256);
  EXPECT_EQ(at(1.5F + 1.0F / 256), 257);
  EXPECT_EQ(at(1.5F + 1.4F / 256), 257) << "rounded to the nearest 256th";
  EXPECT_EQ(at(1.5F + 1.6F / 256), 258);
  EXPECT_EQ(at(2.4999F), 512) << "one is exact";
  EXPECT_EQ(at(-3), 0);
  EXPECT_EQ(at(9), 768);
}

TEST(TexelPlan, CoordinatesThatAreNoPlaceAreTexelZeroOrTheEdge) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool normalized : {false, true})
    for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear})
      for (const AddressMode mode :
           {AddressMode::clamp, AddressMode::border, AddressMode::wrap, AddressMode::mirror}) {
        Naive n = ramp(5, 3, filter, normalized);
        n.image.sampler.address = {mode, mode, mode};
        n.image.sampler.border = {-1, -1, -1, -1};
        const MemOp op = texture_op(Geometry::d2, DataType::f32, true);
        const bool edge = mode == AddressMode::clamp || (!normalized && mode != AddressMode::border);
        for (const float x : {inf, 3e38F, -inf, -3e38F}) {
          const float got = bits_as<float>(load(n, op, point(x, 0.001F), {})[0]);
          if (edge) {
            EXPECT_EQ(got, x > 0 ? 4 * 256 : 0);
          } else if (mode == AddressMode::border) {
            EXPECT_EQ(got, -1);
          }
        }
        if (filter == TextureFilter::point) {
          EXPECT_EQ(bits_as<float>(load(n, op, point(nan, 0), {})[0]), 0);
        }
      }
}

TEST(TexelPlan, GradientsChooseTheLevelOnWhichTheyAreATexel) {
  Naive n = ramp(16, 16, TextureFilter::point, true);
  n.image.levels = 5;
  n.bytes.assign(n.image.bytes(), 0);
  for (unsigned l = 0; l < 5; ++l) {
    const auto v = static_cast<float>(l);
    const Image level = n.image.level(l);
    for (std::uint64_t b = 0; b < level.bytes(); b += 4) std::memcpy(&n.bytes[level.address + b], &v, 4);
  }
  MemOp op = texture_op(Geometry::d2, DataType::f32, true);
  op.image.sampling = Sampling::gradients;
  const auto at = [&](float dx, float dy) {
    SampleOperands s;
    s.dx = {dx, 0, 0};
    s.dy = {0, dy, 0};
    return bits_as<float>(load(n, op, point(0.3F, 0.3F), s)[0]);
  };
  EXPECT_EQ(at(0, 0), 0);
  EXPECT_EQ(at(1.0F / 16, 0), 0);
  EXPECT_EQ(at(2.0F / 16, 0), 1);
  EXPECT_EQ(at(2.0F / 16, 8.0F / 16), 3) << "the faster of both";
  EXPECT_EQ(at(100, 0), 4);
  EXPECT_EQ(at(2.7F / 16, 0), 1) << "the nearest level";
  EXPECT_EQ(at(3.0F / 16, 0), 2);
  n.image.sampler.mip_filter = TextureFilter::linear;
  EXPECT_EQ(at(std::exp2(1.5F) / 16, 0), 1.5F);
  n.image.sampler.level_bias = 1;
  EXPECT_EQ(at(1.0F / 16, 0), 1);
  n.image.sampler.max_level = 0.25F;
  EXPECT_EQ(at(1, 1), 0.25F);
  n.image.sampler.level_bias = 0;
  n.image.sampler.max_level = 1000;
  n.image.sampler.min_level = 2;
  EXPECT_EQ(at(0, 0), 2);
}

TEST(TexelPlan, GradientsOfACubeAreThoseOnItsFace) {
  Naive n = ramp(16, 16, TextureFilter::point, true);
  n.image.cube = true;
  n.image.levels = 5;
  n.bytes.assign(n.image.bytes(), 0);
  for (unsigned l = 0; l < 5; ++l) {
    const auto v = static_cast<float>(l);
    const Image level = n.image.level(l);
    for (std::uint64_t b = 0; b < level.bytes(); b += 4) std::memcpy(&n.bytes[level.address + b], &v, 4);
  }
  MemOp op = texture_op(Geometry::cube, DataType::f32, true);
  op.image.sampling = Sampling::gradients;
  SampleOperands s;
  s.dx = {0, 0, 8.0F / 16};  // on face +x of half the size: 8/16 of 2 halves at distance 2 is 2 texels
  EXPECT_EQ(bits_as<float>(load(n, op, point(2, 0.5F, 0.5F), s)[0]), 1);
  s.dx = {8, 2, 2};  // along the ray: the place on the face stays
  EXPECT_EQ(bits_as<float>(load(n, op, point(2, 0.5F, 0.5F), s)[0]), 0);
}

TEST(TexelPlan, AGatherIsCounterClockwiseFromTheLowerLeft) {
  Naive n = ramp(4, 4, TextureFilter::point, false);
  MemOp op = texture_op(Geometry::d2, DataType::f32, true);
  op.image.sampling = Sampling::gather;
  const auto got = load(n, op, point(2, 2), {});
  const auto texel = [](int x, int y) {
    return bits_as<std::uint32_t>(static_cast<float>((y * 4 + x) * 256));
  };
  EXPECT_EQ(got, (std::array<std::uint32_t, 4>{texel(1, 2), texel(2, 2), texel(2, 1), texel(1, 1)}));
  op.image.component = 3;
  EXPECT_EQ(bits_as<float>(load(n, op, point(2, 2), {})[2]), 1) << "a component that is not there";
  op.image.component = 0;
  op.image.compares = true;
  SampleOperands s;
  s.reference = 6 * 256;
  const auto compared = load(n, op, point(2, 2), s);
  EXPECT_EQ(bits_as<float>(compared[0]), 1);
  EXPECT_EQ(bits_as<float>(compared[2]), 1) << "equal passes";
  EXPECT_EQ(bits_as<float>(compared[3]), 0);
}

TEST(TexelPlan, ABorderOfIntegersIsCutOffOrGivenByItsBits) {
  Naive n;
  n.image.width = 2;
  n.image.format = {DataType::s16, 2};
  n.image.sampler.address.fill(AddressMode::border);
  n.image.sampler.border = {-3.9F, bits_as<float>(std::uint32_t{7}), 0, 0};
  n.bytes.resize(n.image.bytes());
  const MemOp op = texture_op(Geometry::d1, DataType::s32, true);
  EXPECT_EQ(load(n, op, point(-1), {})[0], static_cast<std::uint32_t>(-3));
  EXPECT_EQ(load(n, op, point(-1), {})[1], 0U);
  n.image.sampler.border_is_bits = true;
  n.image.sampler.border[0] = bits_as<float>(static_cast<std::uint32_t>(-40000));
  EXPECT_EQ(load(n, op, point(-1), {})[0], static_cast<std::uint32_t>(-32768)) << "saturated";
  EXPECT_EQ(load(n, op, point(-1), {})[1], 7U);
  n.image.format = {DataType::u32, 1};
  n.bytes.resize(n.image.bytes());
  n.image.sampler.border[0] = bits_as<float>(0xFFFFFFFEU);
  EXPECT_EQ(load(n, texture_op(Geometry::d1, DataType::u32, true), point(2), {})[0], 0xFFFFFFFEU);
}

TEST(TexelPlan, AComparisonIsFilteredAfterIt) {
  const Naive n = ramp(4, 1, TextureFilter::linear, false);
  MemOp op = texture_op(Geometry::d1, DataType::f32, true);
  op.image.compares = true;
  SampleOperands s;
  s.reference = 400;  // between texels 1 and 2
  EXPECT_EQ(bits_as<float>(load(n, op, point(2.25F), s)[0]), 0.75F);
  EXPECT_EQ(bits_as<float>(load(n, op, point(1.0F), s)[0]), 0);
}

TEST(TexelPlan, HalvesAreRounded) {
  Naive n = ramp(4, 1, TextureFilter::point, false);
  const float third = 1.0F / 3;
  std::memcpy(n.bytes.data(), &third, 4);
  MemOp op = texture_op(Geometry::d1, DataType::f16, true);
  auto got = load(n, op, point(0.5F), {});
  EXPECT_EQ(got[0], 0x3555U);
  EXPECT_EQ(got[1], 0x3C00'0000U) << "alpha is one";
  EXPECT_EQ(got[2], 0U);
  op.type = DataType::f16x2;
  op.vector = 2;
  EXPECT_EQ(load(n, op, point(0.5F), {}), got);
}

TEST(TexelPlan, WhatDoesNotFitIsAFault) {
  const auto fault = [](const Image& image, const MemOp& op, const SampleOperands& s = {}) {
    TexelPlan plan;
    return plan_texels(op, image, point(0), s, plan);
  };
  Image image;
  image.width = image.height = 4;
  MemOp op = texture_op(Geometry::d2, DataType::f32, true);
  EXPECT_EQ(fault(image, op), std::nullopt);
  EXPECT_EQ(fault(image, texture_op(Geometry::d2, DataType::u32, true)), FaultKind::texel_type);
  SampleOperands far;
  far.offset = {0, 8, 0, 0};
  EXPECT_EQ(fault(image, op, far), FaultKind::texel_offset);
  far.offset = {-9, 0, 0, 0};
  EXPECT_EQ(fault(image, op, far), FaultKind::texel_offset);
  image.format.type = DataType::u32;
  image.sampler.reading.normalized = true;
  EXPECT_EQ(fault(image, op), FaultKind::texel_type) << "32 bits are not normalized";
  op = texture_op(Geometry::d2, DataType::u32, true);
  op.image.compares = true;
  EXPECT_EQ(fault(image, op), FaultKind::texel_type);
  // Which shapes take which geometry: rows are images, columns kGeometries.
  std::array<Image, 7> images;
  images[1].height = 2;
  images[2].height = images[2].depth = 2;
  images[3].layers = images[4].layers = images[6].layers = 2;
  images[4].height = 2;
  images[5].cube = images[6].cube = true;
  const char* const takes[] = {"+++....", ".++....", "..+....", "...++..", "....+..", ".....+.", "......+"};
  for (unsigned i = 0; i < images.size(); ++i)
    for (unsigned g = 0; g < 7; ++g)
      EXPECT_EQ(fault(images.at(i), texture_op(kGeometries[g], DataType::f32, true)) == std::nullopt,
                takes[i][g] == '+')
          << i << " " << g;
}

TEST(TexelPlan, SurfacesOfThreeDimensionsAndArraysLieSliceAfterSlice) {
  Image image;
  image.is_surface = true;
  image.width = 8;
  image.height = 4;
  image.depth = 3;
  image.format = {DataType::u16, 2};
  MemOp op;
  op.kind = MemKind::surface_load;
  op.space = Space::surface;
  op.type = DataType::b32;
  op.image.geometry = Geometry::d3;
  op.beyond_edge = BeyondEdge::trap;
  EXPECT_EQ(place_element(op, image, {12, 3, 2, 0}, 4).offset, ((2 * 4 + 3) * 8 + 3) * 4U);
  EXPECT_EQ(place_element(op, image, {12, 3, 3, 0}, 4).fault, FaultKind::surface_range);
  EXPECT_EQ(place_element(op, image, {12, 3, -1, 0}, 4).fault, FaultKind::surface_range);
  op.beyond_edge = BeyondEdge::clamp;
  EXPECT_EQ(place_element(op, image, {12, 3, 9, 0}, 4).offset, ((2 * 4 + 3) * 8 + 3) * 4U);
  op.beyond_edge = BeyondEdge::zero;
  EXPECT_TRUE(place_element(op, image, {12, 3, 9, 0}, 4).nowhere);
  image.depth = 1;
  image.layers = 5;
  image.pitch = 64;
  EXPECT_EQ(place_element(op, image, {12, 3, 0, 4}, 4).fault, FaultKind::image_shape);
  op.image.geometry = Geometry::a2d;
  EXPECT_EQ(place_element(op, image, {12, 3, 0, 4}, 4).offset, (4 * 4 + 3) * 64 + 12U);
  EXPECT_TRUE(place_element(op, image, {12, 3, 0, 5}, 4).nowhere);
  op.image.formatted = true;
  EXPECT_EQ(place_element(op, image, {3, 3, 0, 4}, 4).offset, (4 * 4 + 3) * 64 + 12U);
  image.address = 2;
  EXPECT_EQ(place_element(op, image, {3, 3, 0, 4}, 4).fault, FaultKind::misaligned) << "a level of bytes";
  image.address = 0;
  image.layers = 0;
  image.cube = true;
  image.width = 4;
  EXPECT_EQ(place_element(op, image, {3, 3, 0, 5}, 4).offset, (5 * 4 + 3) * 64 + 12U) << "a face is a layer";
}

TEST(TexelPlan, QueriesAnswerInOpenClsNumbers) {
  Image image;
  image.width = 12;
  image.height = 5;
  image.layers = 7;
  image.levels = 3;
  image.format = {DataType::s16, 2};
  image.sampler.normalized_coordinates = true;
  image.sampler.filter = TextureFilter::linear;
  image.sampler.address = {AddressMode::wrap, AddressMode::border, AddressMode::mirror};
  const auto ask = [&](ImageQuery q, std::uint32_t level = 0) { return answer_query(q, image, level); };
  EXPECT_EQ(ask(ImageQuery::width), 12U);
  EXPECT_EQ(ask(ImageQuery::width, 2), 3U);
  EXPECT_EQ(ask(ImageQuery::height, 2), 1U);
  EXPECT_EQ(ask(ImageQuery::height, 3), 0U) << "no such level";
  EXPECT_EQ(ask(ImageQuery::depth), 1U);
  EXPECT_EQ(ask(ImageQuery::array_size), 7U);
  EXPECT_EQ(ask(ImageQuery::num_mipmap_levels), 3U);
  EXPECT_EQ(ask(ImageQuery::channel_data_type), 0x10D8U);
  EXPECT_EQ(ask(ImageQuery::channel_order), 0x10B2U);
  EXPECT_EQ(ask(ImageQuery::normalized_coords), 1U);
  EXPECT_EQ(ask(ImageQuery::filter_mode), 1U);
  EXPECT_EQ(ask(ImageQuery::addr_mode_0), 0U);
  EXPECT_EQ(ask(ImageQuery::addr_mode_1), 4U);
  EXPECT_EQ(ask(ImageQuery::addr_mode_2), 1U);
  EXPECT_EQ(ask(ImageQuery::is_texture), 1U);
  EXPECT_EQ(ask(ImageQuery::is_surface), 0U);
  image.sampler.reading.normalized = true;
  EXPECT_EQ(ask(ImageQuery::channel_data_type), 0x10D1U);
  image.format = {DataType::u8, 4};
  EXPECT_EQ(ask(ImageQuery::channel_data_type), 0x10D2U);
  image.format = {DataType::f32, 4};
  EXPECT_EQ(ask(ImageQuery::channel_data_type), 0x10DEU);
  EXPECT_EQ(ask(ImageQuery::channel_order), 0x10B5U);
}

TEST(TexelPlan, ComponentsAreWrittenInTheSurfacesFormat) {
  const auto written = [](TexelFormat f, const std::array<std::uint32_t, 4>& v, unsigned count) {
    std::uint64_t out = 0;
    std::array<std::uint8_t, 16> bytes{};
    write_components(f, v.data(), count, bytes.data());
    std::memcpy(&out, bytes.data(), 8);
    return out;
  };
  EXPECT_EQ(written({DataType::u8, 4}, {1, 256, 255, 7}, 4), 0x07FF'FF01U);
  EXPECT_EQ(written({DataType::u8, 4}, {1, 2, 3, 4}, 2), 0x0201U) << "what is not given is 0";
  EXPECT_EQ(written({DataType::s8, 2}, {0xFFFF'FF00, 200, 0, 0}, 2), 0x7F80U);
  EXPECT_EQ(written({DataType::s16, 1}, {0xFFFF'FFFE, 9, 9, 9}, 4), 0xFFFEU);
  EXPECT_EQ(written({DataType::f16, 2}, {0x3F80'0000, 0xC000'0000, 0, 0}, 2), 0xC000'3C00U);
  EXPECT_EQ(written({DataType::f32, 1}, {0x3F80'0001, 0, 0, 0}, 1), 0x3F80'0001U);
}

}  // namespace texel_plan_test
}  // namespace warpline
