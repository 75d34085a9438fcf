#include "rtl_models/sm/texel_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rtl_models/base/bits.h"
#include "rtl_models/isa/small_float.h"

namespace warpline {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 40U;  // beyond every image, and far from overflow

unsigned dimensions_of(Geometry geometry) {
  switch (geometry) {
    case Geometry::d1:
    case Geometry::a1d: return 1;
    case Geometry::d3: return 3;
    default: return 2;
  }
}

std::uint32_t size_in(const Image& image, unsigned dimension) {
  return dimension == 0 ? image.width : dimension == 1 ? image.height : image.depth;
}

/// Texel `i` of `size` in one dimension, or nothing: it is in the border.
std::optional<std::uint64_t> within(std::int64_t i, std::uint32_t size, AddressMode mode) {
  const std::int64_t n = size;
  if (i >= 0 && i < n) return static_cast<std::uint64_t>(i);
  switch (mode) {
    case AddressMode::clamp: return static_cast<std::uint64_t>(i < 0 ? 0 : n - 1);
    case AddressMode::border: return std::nullopt;
    case AddressMode::wrap: return static_cast<std::uint64_t>((i % n + n) % n);
    case AddressMode::mirror: {
      const std::int64_t m = (i % (2 * n) + 2 * n) % (2 * n);
      return static_cast<std::uint64_t>(m < n ? m : 2 * n - 1 - m);
    }
  }
  return std::nullopt;
}

/// One coordinate on one level: the first texel, and how much of the next counts.
struct Step {
  std::int64_t texel = 0;
  std::uint32_t next = 0;  ///< 256ths
};

/// The texel below a coordinate in texels. Where the image repeats, only its place in two periods counts.
double lower_texel(double u, std::uint32_t size, bool repeats) {
  if (std::isnan(u)) return 0;
  double lower = std::floor(u);
  if (repeats) lower = std::isinf(lower) ? 0 : std::fmod(lower, 2.0 * size);
  return std::clamp(lower, -static_cast<double>(kFar), static_cast<double>(kFar));
}

Step step_of(double u, bool linear, std::uint32_t size, bool repeats) {
  if (!linear) return {static_cast<std::int64_t>(lower_texel(u, size, repeats)), 0};
  const double b = u - 0.5;
  const double fraction = std::isfinite(b) ? b - std::floor(b) : 0;
  return {static_cast<std::int64_t>(lower_texel(b, size, repeats)),
          static_cast<std::uint32_t>(std::floor(fraction * TexelPlan::kOne + 0.5))};
}

/// Coordinates of one lane as numbers: of a cube, those on its face.
struct Point {
  std::array<double, 3> at = {};
  std::uint32_t slice = 0;  ///< layer and face
  double dx = 0, dy = 0;    ///< how far the coordinates move on level 0, texels
};

/// A face of a cube and the coordinates on it, each as one of the direction's (CUDA C++ Programming Guide,
/// "Cubemap Textures").
struct Face {
  unsigned major, s, t;  ///< which coordinate of the direction
  double s_sign, t_sign;
};
constexpr Face kFaces[] = {{0, 2, 1, -1, -1}, {0, 2, 1, 1, -1}, {1, 0, 2, 1, 1},
                           {1, 0, 2, 1, -1},  {2, 0, 1, 1, -1}, {2, 0, 1, -1, -1}};

unsigned face_of(const std::array<double, 3>& d) {
  const double x = std::fabs(d[0]), y = std::fabs(d[1]), z = std::fabs(d[2]);
  if (x > y && x > z) return d[0] >= 0 ? 0 : 1;
  if (y > z) return d[1] >= 0 ? 2 : 3;
  return d[2] >= 0 ? 4 : 5;
}

/// From a direction to the coordinates 0 to 1 on its face; `moves` likewise, by the derivative.
void project(const Face& face, std::array<double, 3>& at,
             const std::array<std::array<double, 3>*, 2>& moves) {
  const double m = std::fabs(at[face.major]), sign = at[face.major] < 0 ? -1 : 1;
  const double s = face.s_sign * at[face.s], t = face.t_sign * at[face.t];
  for (std::array<double, 3>* const move : moves) {
    const double dm = sign * (*move)[face.major];
    const double ds = face.s_sign * (*move)[face.s], dt = face.t_sign * (*move)[face.t];
    *move = {(ds * m - s * dm) / (m * m) / 2, (dt * m - t * dm) / (m * m) / 2, 0};
  }
  at = {(s / m + 1) / 2, (t / m + 1) / 2, 0};
}

double number_of(bool is_float, std::int32_t coordinate) {
  return is_float ? static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(coordinate))) : coordinate;
}

std::uint32_t layer_of(const Image& image, std::uint32_t layer) {
  return image.layers == 0 ? 0 : std::min(layer, image.layers - 1);
}

Point point_of(const MemOp& op, const Image& image, const ImageCoordinates& at,
               const SampleOperands& operands) {
  Point p;
  const bool floats = op.image.float_coordinates;
  p.at = {number_of(floats, at.x), number_of(floats, at.y), number_of(floats, at.z)};
  std::array<double, 3> dx{}, dy{};
  for (unsigned n = 0; n < 3; ++n) {
    dx.at(n) = operands.dx.at(n);
    dy.at(n) = operands.dy.at(n);
  }
  unsigned face = 0;
  if (image.cube && op.image.geometry != Geometry::any) {
    face = face_of(p.at);
    project(kFaces[face], p.at, {&dx, &dy});
  }
  p.slice = layer_of(image, at.layer) * (image.cube ? 6 : 1) + face;
  if (op.image.sampling != Sampling::gradients) return p;
  const bool scaled = image.sampler.normalized_coordinates || image.cube;
  for (unsigned n = 0; n < dimensions_of(op.image.geometry); ++n) {
    const double scale = scaled ? size_in(image, n) : 1;
    p.dx += dx.at(n) * scale * dx.at(n) * scale;
    p.dy += dy.at(n) * scale * dy.at(n) * scale;
  }
  return p;
}

/// The level of detail, within the sampler's bounds and the image's.
double level_of_detail(const MemOp& op, const Image& image, const Point& p, const SampleOperands& operands) {
  double level = 0;
  if (op.image.sampling == Sampling::level) level = operands.dx[0];
  if (op.image.sampling == Sampling::gradients) level = std::log2(std::max(p.dx, p.dy)) / 2;
  if (op.image.sampling == Sampling::base || op.image.sampling == Sampling::gather) return 0;
  level += image.sampler.level_bias;
  if (std::isnan(level)) level = 0;
  level = std::min<double>(std::max<double>(level, image.sampler.min_level), image.sampler.max_level);
  return std::clamp(level, 0.0, image.levels - 1.0);
}

/// The texels of one level, appended to `plan`.
void add_level(const MemOp& op, const Image& image, unsigned number, const Point& p,
               const std::array<std::int8_t, 4>& offsets, TexelPlan& plan) {
  std::optional<Image> coarser;
  if (number != 0) coarser = image.level(number);
  const Image& level = coarser ? *coarser : image;
  const Sampler& sampler = image.sampler;
  const unsigned dimensions = dimensions_of(op.image.geometry);
  const bool gathers = op.image.sampling == Sampling::gather;
  const bool cube = image.cube && op.image.geometry != Geometry::any;
  const bool normalized = (sampler.normalized_coordinates && op.image.float_coordinates) || cube;
  const bool linear = gathers || (sampler.filter == TextureFilter::linear && op.image.float_coordinates &&
                                  reads_as_float(image.format, sampler.reading));
  std::array<Step, 3> steps;
  std::array<AddressMode, 3> modes{};
  for (unsigned n = 0; n < dimensions; ++n) {
    const std::uint32_t size = size_in(level, n);
    modes.at(n) = sampler.address.at(n);
    const bool repeats = modes.at(n) == AddressMode::wrap || modes.at(n) == AddressMode::mirror;
    if ((repeats && !normalized) || cube) modes.at(n) = AddressMode::clamp;
    steps.at(n) = step_of(normalized ? p.at.at(n) * size : p.at.at(n), linear, size,
                          repeats && modes.at(n) != AddressMode::clamp);
    steps.at(n).texel += offsets.at(n);
  }
  const std::uint64_t start = level.address - image.address;
  const std::uint64_t slice_bytes = level.row_step() * level.height * level.depth;
  const auto add = [&](unsigned x, unsigned y, unsigned z) {
    const std::array<unsigned, 3> next = {x, y, z};
    std::array<std::uint64_t, 3> texel{};
    std::uint32_t weight = 1;
    bool border = false;
    for (unsigned n = 0; n < dimensions; ++n) {
      const auto i = within(steps.at(n).texel + next.at(n), size_in(level, n), modes.at(n));
      border |= !i;
      texel.at(n) = i.value_or(0);
      if (linear) weight *= next.at(n) != 0 ? steps.at(n).next : TexelPlan::kOne - steps.at(n).next;
    }
    plan.weight.at(plan.count) = weight;
    plan.offset.at(plan.count++) = border ? TexelPlan::kBorder
                                          : start + slice_bytes * p.slice +
                                                texel[2] * level.row_step() * level.height +
                                                texel[1] * level.row_step() + texel[0] * level.format.bytes();
  };
  if (gathers) {
    // Counter-clockwise from the lower left, where y points down (PTX ISA, "tld4").
    add(0, 1, 0);
    add(1, 1, 0);
    add(1, 0, 0);
    add(0, 0, 0);
    return;
  }
  const unsigned xs = linear ? 2 : 1, ys = linear && dimensions > 1 ? 2 : 1,
                 zs = linear && dimensions > 2 ? 2 : 1;
  for (unsigned z = 0; z < zs; ++z)
    for (unsigned y = 0; y < ys; ++y)
      for (unsigned x = 0; x < xs; ++x) add(x, y, z);
}

std::uint32_t integer_of(float border, bool is_bits, DataType type) {
  double number = border;
  if (is_bits) {
    const auto bits = bits_as<std::uint32_t>(border);
    number = is_signed(type) ? static_cast<double>(static_cast<std::int32_t>(bits)) : bits;
  }
  if (std::isnan(number)) return 0;
  const double low = is_signed(type) ? -std::ldexp(1, static_cast<int>(8 * size_of(type) - 1)) : 0;
  const double high = std::ldexp(1, static_cast<int>(8 * size_of(type) - (is_signed(type) ? 1 : 0))) - 1;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::clamp(std::trunc(number), low, high)));
}

/// A texel, or the border, as the load returns it unfiltered.
using Components = std::array<std::uint32_t, 4>;
Components texel_of(const Image& image, bool border, const std::uint8_t* bytes) {
  const TexelReading& reading = image.sampler.reading;
  const bool floats = reads_as_float(image.format, reading);
  Components out{};
  if (border) {
    out[3] = floats ? bits_as<std::uint32_t>(1.0F) : 1;
    for (unsigned c = 0; c < image.format.components; ++c) {
      const float colour = image.sampler.border.at(c);
      out.at(c) = floats ? bits_as<std::uint32_t>(colour)
                         : integer_of(colour, image.sampler.border_is_bits, image.format.type);
    }
  } else if (floats && !is_float(image.format.type)) {
    const std::array<float, 4> numbers = numbers_of(image.format, reading, bytes);
    for (unsigned c = 0; c < 4; ++c) out.at(c) = bits_as<std::uint32_t>(numbers.at(c));
  } else {
    out = components_of(image.format, bytes);
  }
  return out;
}

/// The mean of the texels from `first` on, in component `c`.
double mean(const TexelPlan& plan, const std::array<Components, TexelPlan::kMostTexels>& texels,
            unsigned first, unsigned end, unsigned c) {
  double sum = 0, weights = 0;
  for (unsigned k = first; k < end; ++k) {
    if (plan.weight.at(k) == 0) continue;
    sum += plan.weight.at(k) * static_cast<double>(bits_as<float>(texels.at(k).at(c)));
    weights += plan.weight.at(k);
  }
  return sum / weights;
}

Components combined(const MemOp& op, const Image& image, const TexelPlan& plan, const TexelBytes& bytes,
                    float reference) {
  std::array<Components, TexelPlan::kMostTexels> texels;
  for (unsigned k = 0; k < plan.count; ++k) {
    texels.at(k) = texel_of(image, plan.offset.at(k) == TexelPlan::kBorder, bytes.at(k).data());
    if (!op.image.compares) continue;
    const unsigned c = op.image.sampling == Sampling::gather ? op.image.component : 0;
    texels.at(k).at(c) =
        bits_as<std::uint32_t>(reference <= bits_as<float>(texels.at(k).at(c)) ? 1.0F : 0.0F);
  }
  Components out{};
  if (op.image.sampling == Sampling::gather) {
    for (unsigned k = 0; k < 4; ++k) out.at(k) = texels.at(k).at(op.image.component);
    return out;
  }
  if (plan.count == 1) return texels[0];
  for (unsigned c = 0; c < 4; ++c) {
    double value = mean(plan, texels, 0, plan.finer, c);
    if (plan.count > plan.finer)
      value = (value * (TexelPlan::kOne - plan.blend) +
               mean(plan, texels, plan.finer, plan.count, c) * plan.blend) /
              TexelPlan::kOne;
    out.at(c) = bits_as<std::uint32_t>(static_cast<float>(value));
  }
  return out;
}

}  // namespace

bool is_of_shape(Geometry geometry, const Image& image) {
  const bool surface = image.is_surface;
  switch (geometry) {
    case Geometry::any: return true;
    case Geometry::d1: return !image.cube && image.layers == 0 && image.depth == 1 && image.height == 1;
    case Geometry::d2: return !image.cube && image.layers == 0 && image.depth == 1;
    case Geometry::d3: return !image.cube && image.layers == 0;
    case Geometry::a1d: return !image.cube && image.layers != 0 && image.depth == 1 && image.height == 1;
    // The faces of a cube are layers of its surface (CUDA C++ Programming Guide, "Cubemap Surfaces").
    case Geometry::a2d:
      return image.depth == 1 &&
             (surface ? image.cube || image.layers != 0 : !image.cube && image.layers != 0);
    case Geometry::cube: return image.cube && image.layers == 0;
    case Geometry::acube: return image.cube && image.layers != 0;
  }
  return false;
}

std::optional<FaultKind> plan_texels(const MemOp& op, const Image& image, const ImageCoordinates& at,
                                     const SampleOperands& operands, TexelPlan& plan) {
  const bool floats = reads_as_float(image.format, image.sampler.reading);
  if (floats != is_float(op.type) || (op.image.compares && !floats)) return FaultKind::texel_type;
  if (!is_of_shape(op.image.geometry, image)) return FaultKind::image_shape;
  for (const std::int8_t offset : operands.offset)
    if (offset < -8 || offset > 7) return FaultKind::texel_offset;
  const Point p = point_of(op, image, at, operands);
  const double detail = level_of_detail(op, image, p, operands);
  const bool two = image.sampler.mip_filter == TextureFilter::linear && floats;
  auto level = static_cast<unsigned>(std::floor(two ? detail : detail + 0.5));
  plan.count = plan.blend = 0;
  if (two) {
    plan.blend = static_cast<std::uint32_t>(std::floor((detail - level) * TexelPlan::kOne + 0.5));
    if (plan.blend == TexelPlan::kOne) {
      plan.blend = 0;
      ++level;
    }
  }
  add_level(op, image, level, p, operands.offset, plan);
  plan.finer = plan.count;
  if (plan.blend != 0) add_level(op, image, level + 1, p, operands.offset, plan);
  return std::nullopt;
}

void combine_texels(const MemOp& op, const Image& image, const TexelPlan& plan, const TexelBytes& bytes,
                    float reference, std::uint8_t* out) {
  const Components values = combined(op, image, plan, bytes, reference);
  if (size_of(op.type) * op.vector == sizeof values) {
    std::memcpy(out, values.data(), sizeof values);
    return;
  }
  std::array<std::uint16_t, 4> halves{};
  for (unsigned c = 0; c < 4; ++c)
    halves.at(c) = encode(static_cast<double>(bits_as<float>(values.at(c))), kHalf, Rounding::nearest);
  std::memcpy(out, halves.data(), sizeof halves);
}

ElementPlace place_element(const MemOp& op, const Image& image, const ImageCoordinates& at, unsigned bytes) {
  if (!is_of_shape(op.image.geometry, image)) return {FaultKind::image_shape};
  const std::int64_t size = bytes;
  std::int64_t x = op.image.formatted ? at.x * size : at.x;
  std::int64_t y = at.y, z = at.z, slice = at.layer;
  const std::int64_t last_x = static_cast<std::int64_t>(image.row_bytes()) - size;
  const std::int64_t last_y = std::int64_t{image.height} - 1, last_z = std::int64_t{image.depth} - 1,
                     last_slice = std::int64_t{image.slices()} - 1;
  const auto outside = [](std::int64_t i, std::int64_t last) { return i < 0 || i > last; };
  if (last_x < 0 || outside(x, last_x) || outside(y, last_y) || outside(z, last_z) ||
      outside(slice, last_slice)) {
    if (op.beyond_edge == BeyondEdge::trap || (op.beyond_edge == BeyondEdge::clamp && last_x < 0))
      return {FaultKind::surface_range};
    if (op.beyond_edge == BeyondEdge::zero) return {std::nullopt, true};
    x = std::clamp<std::int64_t>(x, 0, last_x);
    y = std::clamp<std::int64_t>(y, 0, last_y);
    z = std::clamp<std::int64_t>(z, 0, last_z);
    slice = std::clamp<std::int64_t>(slice, 0, last_slice);
  }
  if (x % size != 0 || image.row_step() % bytes != 0 || image.address % bytes != 0)
    return {FaultKind::misaligned};
  const auto row =
      (static_cast<std::uint64_t>(slice) * image.depth + static_cast<std::uint64_t>(z)) * image.height +
      static_cast<std::uint64_t>(y);
  return {std::nullopt, false, row * image.row_step() + static_cast<std::uint64_t>(x)};
}

std::uint32_t answer_query(ImageQuery query, const Image& image, std::uint32_t level) {
  // OpenCL's numbers: of channel types CL_SIGNED_INT8 and so on, of orders CL_R, CL_RG, CL_RGBA.
  constexpr std::uint32_t kNormSigned8 = 0x10D0, kSigned8 = 0x10D7, kUnsigned8 = 0x10DA, kHalfFloat = 0x10DD,
                          kFloat = 0x10DE, kRed = 0x10B0, kRedGreen = 0x10B2, kAll = 0x10B5;
  const auto size = [&](std::uint32_t whole) {
    return level >= image.levels ? 0 : std::max(whole >> level, 1U);
  };
  const auto mode = [&](unsigned n) {
    // PTX's order: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
    switch (image.sampler.address.at(n)) {
      case AddressMode::wrap: return 0U;
      case AddressMode::mirror: return 1U;
      case AddressMode::clamp: return 3U;
      case AddressMode::border: return 4U;
    }
    return 0U;
  };
  const DataType type = image.format.type;
  const std::uint32_t width = size_of(type) == 1 ? 0 : size_of(type) == 2 ? 1 : 2;
  switch (query) {
    case ImageQuery::width: return size(image.width);
    case ImageQuery::height: return size(image.height);
    case ImageQuery::depth: return size(image.depth);
    case ImageQuery::channel_data_type:
      if (type == DataType::f32) return kFloat;
      if (type == DataType::f16) return kHalfFloat;
      if (image.sampler.reading.normalized && width < 2)
        return kNormSigned8 + (is_signed(type) ? 0 : 2) + width;
      return (is_signed(type) ? kSigned8 : kUnsigned8) + width;
    case ImageQuery::channel_order:
      return image.format.components == 1 ? kRed : image.format.components == 2 ? kRedGreen : kAll;
    case ImageQuery::normalized_coords: return image.sampler.normalized_coordinates ? 1 : 0;
    case ImageQuery::array_size: return image.layers;
    case ImageQuery::num_mipmap_levels: return image.levels;
    case ImageQuery::num_samples: return 1;
    case ImageQuery::memory_layout: return 1;  // linear
    case ImageQuery::force_unnormalized_coords: return 0;
    case ImageQuery::filter_mode: return image.sampler.filter == TextureFilter::linear ? 1 : 0;
    case ImageQuery::addr_mode_0: return mode(0);
    case ImageQuery::addr_mode_1: return mode(1);
    case ImageQuery::addr_mode_2: return mode(2);
    case ImageQuery::is_texture: return image.is_surface ? 0 : 1;
    case ImageQuery::is_surface: return image.is_surface ? 1 : 0;
    case ImageQuery::is_sampler: return 0;
  }
  return 0;
}

}  // namespace warpline
