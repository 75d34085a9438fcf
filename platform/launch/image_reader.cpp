#include "platform/launch/image_reader.h"

#include <array>
#include <cmath>
#include <optional>

namespace warpline {
namespace {

/// CUDA's limits on images (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint64_t kWidestImage = std::uint64_t{1} << 28U, kHighestImage = 131072, kDeepestImage = 16384,
                        kMostLayers = 2048, kMostLevels = 29;
constexpr std::uint64_t kWidestPitch = std::uint64_t{1} << 32U;
/// Larger than any GPU's memory.
constexpr double kMostImageBytes = 0x1p40;

class ImageReader {
 public:
  ImageReader(TableReader& reader, bool is_surface) : reader_(reader) { image_.is_surface = is_surface; }

  Image run() {
    read_size();
    if (!image_.is_surface) read_sampling();
    return image_;
  }

 private:
  std::uint32_t size(const char* key, std::uint64_t low, std::uint64_t high, std::uint32_t otherwise,
                     TableReader::Need need = TableReader::optional) {
    return static_cast<std::uint32_t>(reader_.number(key, low, high, need).value_or(otherwise));
  }

  void fault(const char* key, const std::string& message, const std::string& hint = {}) {
    const Member* const m = reader_.find(key);
    reader_.fault(m == nullptr ? reader_.place() : m->value.place, key + (": " + message), hint);
  }

  void read_size() {
    image_.width = size("width", 1, kWidestImage, 1, TableReader::required);
    image_.height = size("height", 1, kHighestImage, 1);
    image_.depth = size("depth", 1, kDeepestImage, 1);
    image_.layers = size("layers", 1, kMostLayers, 0);
    image_.cube = reader_.boolean("cube").value_or(false);
    if (image_.layers != 0 && image_.depth != 1) {
      fault("layers", "there are no arrays of volumes", "leave out depth or layers");
      image_.depth = 1;
    }
    if (image_.cube && (image_.width != image_.height || image_.depth != 1))
      fault("cube", "the faces of a cube are squares: as high as wide, and without depth");
    read_format();
    if (!image_.is_surface) read_levels();
    const double elements =
        static_cast<double>(image_.width) * image_.height * image_.depth * image_.slices();
    if (elements * image_.format.bytes() > kMostImageBytes) {
      fault("width", size_text(image_) + " are more than any memory holds");
      image_.width = image_.height = image_.depth = image_.levels = 1;
      image_.layers = 0;
    }
    const auto pitch = reader_.number("pitch", 1, kWidestPitch);
    if (!pitch) return;
    image_.pitch = *pitch;
    if (image_.is_well_formed()) return;
    fault("pitch", "must be a multiple of the element's " + std::to_string(image_.format.bytes()) +
                       " bytes, at least the " + std::to_string(image_.row_bytes()) +
                       " of a row, of an image without levels");
    image_.pitch = 0;
  }

  void read_format() {
    const auto text = reader_.text("format", TableReader::required);
    if (!text) return;
    if (const auto format = texel_format_from(*text)) {
      image_.format = *format;
      return;
    }
    fault("format",
          "\"" + *text +
              "\" is no type of u8, s8, u16, s16, u32, s32, f16, f32, with x2 or x4 after it "
              "where there are so many components",
          did_you_mean(*text, texel_format_names()));
  }

  void read_levels() {
    image_.levels = size("levels", 1, kMostLevels, 1);
    if (image_.levels <= image_.most_levels()) return;
    fault("levels", "an image of " + size_text(image_) + " has at most " +
                        std::to_string(image_.most_levels()) + ", each half as large as the one before");
    image_.levels = 1;
  }

  /// One of `words`, whose place is the value's number.
  template <class E, std::size_t N>
  void choose(const Value& value, const char* key, const std::array<const char*, N>& words, E& out) {
    const std::vector<std::string> all(words.begin(), words.end());
    for (std::size_t n = 0; n < N; ++n)
      if (value.kind == Value::Kind::text && value.text == words.at(n)) {
        out = static_cast<E>(n);
        return;
      }
    std::string list;
    for (const std::string& word : all) list += (list.empty() ? "\"" : ", \"") + word + "\"";
    reader_.fault(value.place, std::string(key) + ": must be one of " + list,
                  value.kind == Value::Kind::text ? did_you_mean(value.text, all) : "");
  }
  template <class E, std::size_t N>
  void choose(const char* key, const std::array<const char*, N>& words, E& out) {
    if (const Member* const m = reader_.find(key)) choose(m->value, key, words, out);
  }

  static std::optional<double> number(const Value& v) {
    if (v.kind == Value::Kind::integer) return static_cast<double>(v.integer);
    if (v.kind == Value::Kind::real && std::isfinite(v.real)) return v.real;
    return std::nullopt;
  }

  void read_number(const char* key, float& out) {
    const Member* const m = reader_.find(key);
    if (m == nullptr) return;
    const auto value = number(m->value);
    if (value)
      out = static_cast<float>(*value);
    else
      fault(key, "must be a number");
  }

  void read_address() {
    constexpr std::array<const char*, 4> kModes = {"clamp", "border", "wrap", "mirror"};
    const Member* const m = reader_.find("address");
    if (m == nullptr) return;
    std::array<AddressMode, 3>& modes = image_.sampler.address;
    if (m->value.kind != Value::Kind::array) {
      choose(m->value, "address", kModes, modes[0]);
      modes[1] = modes[2] = modes[0];
      return;
    }
    if (m->value.items.empty() || m->value.items.size() > 3)
      return fault("address", "must be a mode, or a list of one for each dimension");
    for (std::size_t n = 0; n < m->value.items.size(); ++n)
      choose(m->value.items[n], "address", kModes, modes.at(n));
  }

  void read_border() {
    const Member* const m = reader_.find("border");
    if (m == nullptr) return;
    const std::vector<Value>& items = m->value.items;
    if (m->value.kind != Value::Kind::array || items.empty() || items.size() > 4)
      return fault("border", "must be a list of up to four numbers: red, green, blue, alpha");
    for (std::size_t n = 0; n < items.size(); ++n) {
      const auto value = number(items[n]);
      if (!value) return reader_.fault(items[n].place, "border: must be a number");
      image_.sampler.border.at(n) = static_cast<float>(*value);
    }
  }

  void read_sampling() {
    constexpr std::array<const char*, 2> kFilters = {"point", "linear"},
                                         kReads = {"element", "normalized_float"};
    Sampler& s = image_.sampler;
    choose("filter", kFilters, s.filter);
    choose("mip_filter", kFilters, s.mip_filter);
    s.normalized_coordinates = reader_.boolean("normalized").value_or(false);
    unsigned read = 0;
    choose("read", kReads, read);
    s.reading.normalized = read == 1;
    s.reading.srgb = reader_.boolean("srgb").value_or(false);
    read_address();
    read_border();
    read_number("level_bias", s.level_bias);
    read_number("min_level", s.min_level);
    read_number("max_level", s.max_level);
    check_sampling();
  }

  void check_sampling() {
    const Sampler& s = image_.sampler;
    const DataType type = image_.format.type;
    if (s.reading.normalized && (is_float(type) || size_of(type) > 2))
      fault("read", "integers of 8 and 16 bits are normalized, not " + std::string(name_of(type)));
    if (s.reading.srgb && (type != DataType::u8 || !s.reading.normalized))
      fault("srgb", "needs components of u8 and read = \"normalized_float\"");
    for (const auto& [key, filter] : {std::pair("filter", s.filter), std::pair("mip_filter", s.mip_filter)})
      if (filter == TextureFilter::linear && !reads_as_float(image_.format, s.reading))
        fault(key,
              "a mean needs floating-point texels: a format of f16 or f32, or read = "
              "\"normalized_float\"");
    if (s.min_level > s.max_level) fault("min_level", "must be at most max_level");
    if (s.normalized_coordinates || image_.cube) return;
    for (const AddressMode mode : s.address)
      if (mode == AddressMode::wrap || mode == AddressMode::mirror)
        return fault("address", "only normalized coordinates repeat", "say normalized = true");
    if (image_.levels > 1)
      fault("levels", "a mipmap is read at normalized coordinates", "say normalized = true");
  }

  TableReader& reader_;
  Image image_;
};

}  // namespace

Image read_image_shape(TableReader& reader, bool is_surface) {
  return ImageReader(reader, is_surface).run();
}

std::string size_text(const Image& image) {
  std::string text = std::to_string(image.width) + " x " + std::to_string(image.height);
  if (image.depth > 1) text += " x " + std::to_string(image.depth);
  text += " elements";
  std::vector<std::string> more;
  if (image.layers != 0) more.push_back(std::to_string(image.layers) + (image.cube ? " cubes" : " layers"));
  if (image.cube && image.layers == 0) more.emplace_back("6 faces");
  if (image.levels > 1) more.push_back(std::to_string(image.levels) + " levels");
  for (std::size_t n = 0; n < more.size(); ++n) text += (n == 0 ? " in " : " and ") + more[n];
  return text;
}

}  // namespace warpline
