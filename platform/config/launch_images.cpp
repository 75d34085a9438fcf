// Textures and surfaces among the arguments of a launch.
#include <algorithm>
#include <array>

#include "warpline/config/launch_arguments.h"

namespace warpline {
namespace {

// CUDA's limits on images in linear memory (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 28U;
constexpr std::uint64_t kMaxHeight = 131072;

constexpr std::array<const char*, 6> kContentKeys = {"type", "count", "init", "expect", "dump", "aperture"};

TexelFormat format_of(TableReader& reader) {
  const auto text = reader.text("format", TableReader::required);
  if (!text) return {};
  if (const auto format = texel_format_from(*text)) return *format;
  reader.fault(reader.find("format")->value.place,
               "format: \"" + *text +
                   "\" is no type of u8, s8, u16, s16, u32, s32, f16, f32, with x2 or x4 after it "
                   "where there are so many components",
               did_you_mean(*text, texel_format_names()));
  return {};
}

/// The type of a component as a buffer has it: binary16 is bits there.
DataType element_of(const TexelFormat& format) {
  return format.type == DataType::f16 ? DataType::u16 : format.type;
}

}  // namespace

void ArgumentReader::read_image(TableReader& outer, const Member& member, Argument& argument) {
  argument.kind = Argument::Kind::image;
  argument.image = out_.images.size();
  PendingImage pending;
  LaunchImage image;
  image.is_surface = member.key == "surface";
  image.place = member.place;
  if (member.value.kind != Value::Kind::table)
    outer.fault(member.value.place, member.key + ": must be { buffer, width, height, format }");
  else
    read_elements(outer, member, pending, image);
  out_.images.push_back(image);
  pending_images_.push_back(std::move(pending));
}

/// What stands in the braces. The buffer may be declared there or beside them.
void ArgumentReader::read_elements(TableReader& outer, const Member& member, PendingImage& pending,
                                   LaunchImage& image) {
  TableReader reader(document_, member.value, member.place, member.key, faults_);
  pending.name = reader.text("buffer", TableReader::required).value_or("");
  if (const Member* name = reader.find("buffer")) pending.place = name->value.place;
  image.width =
      static_cast<std::uint32_t>(reader.number("width", 1, kMaxWidth, TableReader::required).value_or(1));
  image.height = static_cast<std::uint32_t>(reader.number("height", 1, kMaxHeight).value_or(1));
  image.format = format_of(reader);
  const auto declares = [](TableReader& table) {
    unsigned n = 0;
    for (const char* key : kContentKeys) n += table.find(key) != nullptr ? 1 : 0;
    return n != 0;
  };
  const bool inside = declares(reader), beside = declares(outer);
  if (inside && beside)
    outer.fault(member.place, member.key + ": declare the buffer inside the braces or beside them");
  TableReader& declaration = inside ? reader : outer;
  if ((inside || beside) && !pending.name.empty() && !is_declared_again(declaration, pending.name)) {
    const Implied implied{element_of(image.format),
                          std::uint64_t{image.width} * image.height * image.format.components};
    declare(declaration, pending.name, pending.place, &implied);
  }
  reader.finish();
}

/// Comes when all buffers are known: an image may stand before the argument that declares its buffer.
void ArgumentReader::resolve_images() {
  std::vector<std::string> names;
  for (const Buffer& b : out_.buffers) names.push_back(b.name);
  for (std::size_t n = 0; n < out_.images.size(); ++n) {
    LaunchImage& image = out_.images[n];
    const PendingImage& pending = pending_images_[n];
    if (pending.name.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), pending.name);
    if (found == names.end()) {
      faults_.push_back(document_.fault(pending.place,
                                        "buffer \"" + pending.name +
                                            "\" is not declared: say type, count or init here, or in another "
                                            "argument",
                                        did_you_mean(pending.name, names)));
      continue;
    }
    image.buffer = static_cast<std::size_t>(found - names.begin());
    const std::uint64_t need = std::uint64_t{image.width} * image.height * image.format.bytes();
    const std::uint64_t have = out_.buffers[image.buffer].bytes();
    if (need > have)
      faults_.push_back(document_.fault(image.place, std::to_string(image.width) + " x " +
                                                         std::to_string(image.height) + " elements take " +
                                                         std::to_string(need) + " bytes; buffer \"" +
                                                         pending.name + "\" has " + std::to_string(have)));
  }
}

}  // namespace warpline
