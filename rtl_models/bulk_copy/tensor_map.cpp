#include "rtl_models/bulk_copy/tensor_map.h"

#include <cstring>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::uint64_t kMark = 0x3150'414D'524F'534EULL;  // tells a tensor map from other bytes
constexpr unsigned kMarkAt = 120;

/// Puts fields one behind the other into a descriptor, or takes them out.
template <bool kSaves>
class Fields {
 public:
  using Bytes = std::array<std::uint8_t, TensorMap::kBytes>;
  explicit Fields(Bytes& bytes) : bytes_(bytes) {}
  template <class Wire, class T>
  void field(T& value) {
    Wire wire{};
    if constexpr (kSaves) {
      wire = static_cast<Wire>(value);
      std::memcpy(&bytes_[at_], &wire, sizeof wire);
    } else {
      std::memcpy(&wire, &bytes_[at_], sizeof wire);
      value = static_cast<T>(wire);
    }
    at_ += sizeof wire;
  }

 private:
  Bytes& bytes_;
  std::size_t at_ = 0;
};

/// Each field lies at a multiple of its size, so that one store changes it.
template <class F>
void visit(TensorMap& m, F&& f) {
  f.template field<std::uint64_t>(m.address);
  for (unsigned d = 1; d < TensorMap::kMaxRank; ++d) f.template field<std::uint64_t>(m.strides[d]);
  for (std::uint64_t& n : m.shape) {
    std::uint64_t less = n - 1;  // 2^32 elements are the most
    f.template field<std::uint32_t>(less);
    n = less + 1;
  }
  for (std::uint32_t& n : m.box) f.template field<std::uint16_t>(n);
  for (std::int32_t& n : m.lower) f.template field<std::int16_t>(n);
  for (std::int32_t& n : m.upper) f.template field<std::int16_t>(n);
  f.template field<std::uint16_t>(m.channels);
  f.template field<std::uint16_t>(m.pixels);
  for (std::uint32_t& n : m.element_strides) f.template field<std::uint8_t>(n);
  f.template field<std::uint8_t>(m.rank);
  f.template field<std::uint8_t>(m.type);
  f.template field<std::uint8_t>(m.swizzle);
  f.template field<std::uint8_t>(m.fill);
  f.template field<std::uint8_t>(m.im2col);
  f.template field<std::uint8_t>(m.wide);
}
// Where they begin, as they follow each other above.
constexpr unsigned kStridesAt = 8, kShapeAt = 40, kBoxAt = 60, kElementStridesAt = 86, kRankAt = 91,
                   kTypeAt = 92, kSwizzleAt = 93, kFillAt = 94;

bool is_element(DataType type) {
  switch (type) {
    case DataType::u8:
    case DataType::u16:
    case DataType::u32:
    case DataType::s32:
    case DataType::u64:
    case DataType::s64:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f32:
    case DataType::f64: return true;
    default: return false;
  }
}

}  // namespace

std::uint32_t TensorMap::rows() const {
  if (im2col) return pixels;
  std::uint32_t rows = 1;
  for (unsigned d = 1; d < rank; ++d) rows *= taken(d);
  return rows;
}

std::uint64_t TensorMap::extent() const {
  std::uint64_t end = shape[0] * element_bytes();
  for (unsigned d = 1; d < rank; ++d) end += (shape[d] - 1) * strides[d];
  return end;
}

Problems TensorMap::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(is_element(type), "type", "must be u8, u16, u32, s32, u64, s64, f16, bf16, f32 or f64");
  rules.need(rank >= 1 && rank <= kMaxRank, "shape", "must have 1 to 5 dimensions");
  rules.need(address % kPiece == 0, "buffer", "must begin at a multiple of 16 bytes");
  if (!is_element(type) || rank < 1 || rank > kMaxRank) return rules.take();
  for (unsigned d = 0; d < rank; ++d) {
    rules.need(shape[d] >= 1 && shape[d] <= (std::uint64_t{1} << 32U), indexed("shape", d),
               "must be 1 to 2^32 elements");
    rules.need(element_strides[d] >= 1 && element_strides[d] <= 8, indexed("element_strides", d),
               "must be 1 to 8");
    if (!im2col) rules.need(box[d] >= 1 && box[d] <= 256, indexed("box", d), "must be 1 to 256 elements");
    if (d != 0)
      rules.need(strides[d] % kPiece == 0 && strides[d] < (std::uint64_t{1} << 40U),
                 indexed("strides", d - 1), "must be a multiple of 16, below 2^40 bytes");
  }
  constexpr std::uint32_t kSpans[] = {~0U, 32, 64, 128};
  rules.need(row_bytes() % kPiece == 0, im2col ? "channels" : "box[0]",
             "must be a multiple of 16 bytes, in elements of the type");
  rules.need(row_bytes() <= kSpans[static_cast<unsigned>(swizzle)], im2col ? "channels" : "box[0]",
             "must be at most as many bytes as the swizzle spans");
  rules.need(fill == TensorFill::zeros || is_float(type), "fill", "must be \"zeros\" for integers");
  if (!im2col) return rules.take();
  rules.need(rank >= 3, "shape", "must have 3 to 5 dimensions for im2col");
  rules.need(!wide || swizzle != TensorSwizzle::none, "swizzle", "must not be \"none\" for wide im2col");
  rules.need(channels >= 1 && channels <= 256, "channels", "must be 1 to 256");
  rules.need(pixels >= 1 && pixels <= 1024, "pixels", "must be 1 to 1024");
  for (unsigned d = 0; d + 2 < rank; ++d) {
    rules.need(lower[d] >= -32768 && lower[d] <= 32767, indexed("lower", d), "must be -32768 to 32767");
    rules.need(upper[d] >= -32768 && upper[d] <= 32767, indexed("upper", d), "must be -32768 to 32767");
  }
  return rules.take();
}

std::array<std::uint8_t, TensorMap::kBytes> TensorMap::encode() const {
  std::array<std::uint8_t, kBytes> bytes{};
  TensorMap copy = *this;
  visit(copy, Fields<true>(bytes));
  std::memcpy(&bytes[kMarkAt], &kMark, sizeof kMark);
  return bytes;
}

TensorMap::Place TensorMap::place_of(Field f, unsigned n) {
  switch (f) {
    case Field::address: return {0, 8};
    case Field::stride: return {kStridesAt + 8 * n, 8};
    case Field::shape: return {kShapeAt + 4 * n, 4};
    case Field::box: return {kBoxAt + 2 * n, 2};
    case Field::element_stride: return {kElementStridesAt + n, 1};
    case Field::rank: return {kRankAt, 1};
    case Field::type: return {kTypeAt, 1};
    case Field::swizzle: return {kSwizzleAt, 1};
    case Field::fill: return {kFillAt, 1};
  }
  return {};
}

std::uint64_t TensorMap::stored(Field f, std::uint64_t value) {
  // A number that is too large for its place stays too large for any copy.
  const auto at_most = [](std::uint64_t n, std::uint64_t most) { return n < most ? n : most; };
  switch (f) {
    case Field::shape: return value - 1;
    case Field::box: return at_most(value, 0xFFFF);
    case Field::element_stride: return at_most(value, 0xFF);
    case Field::rank: return at_most(value, 0xFE) + 1;
    default: return value;
  }
}

std::optional<TensorMap> TensorMap::decode(const std::array<std::uint8_t, kBytes>& bytes) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, &bytes[kMarkAt], sizeof mark);
  if (mark != kMark) return std::nullopt;
  TensorMap map;
  std::array<std::uint8_t, kBytes> copy = bytes;
  visit(map, Fields<false>(copy));
  if (!is_element(map.type)) return std::nullopt;
  map.strides[0] = size_of(map.type);
  if (map.swizzle > TensorSwizzle::bytes_128 || !map.problems("").empty()) return std::nullopt;
  return map;
}

}  // namespace warpline
