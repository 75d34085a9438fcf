#include "platform/launch/argument_reader.h"

#include <algorithm>
#include <array>

#include "platform/launch/element.h"
#include "platform/launch/launch_contents.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// Larger than any GPU's memory; keeps products of counts and sizes far from overflow.
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 40U;
constexpr std::size_t kMaxParameterBytes = 32764;  // PTX ISA, "Kernel Function Parameters"

bool is_name(const std::string& text) {
  if (text.empty()) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    const bool later = (c >= '0' && c <= '9') || c == '-';
    return letter || (later && &c != &text.front());
  });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

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

void ArgumentReader::read(const Member& arguments, Launch& launch) {
  if (arguments.value.kind != Value::Kind::array) {
    faults_.push_back(document_.fault(arguments.place, "argument: must be [[argument]] tables"));
    return;
  }
  gpu_ = launch.gpu;
  for (const Value& item : arguments.value.items) {
    if (item.kind == Value::Kind::table) {
      read_one(item, launch);
    } else {
      faults_.push_back(document_.fault(item.place, "argument: must be a table"));
    }
  }
}

void ArgumentReader::read_one(const Value& table, Launch& launch) {
  TableReader reader(document_, table, table.place, "[[argument]]", faults_);
  Argument argument;
  argument.place = table.place;
  const Member* buffer = reader.find("buffer");
  const Member* scalar = reader.find("scalar");
  const Member* bytes = reader.find("bytes");
  const Member* texture = reader.find("texture");
  const Member* surface = reader.find("surface");
  const Member* address = reader.find("address");
  const Member* bus = reader.find("bus");
  int kinds = 0;
  for (const Member* kind : {buffer, scalar, bytes, texture, surface, address, bus})
    kinds += kind != nullptr ? 1 : 0;
  if (kinds != 1) {
    reader.fault(
        table.place,
        "[[argument]] must say exactly one of buffer, scalar, bytes, texture, surface, address, bus");
    for (const char* key : {"type", "count", "init", "expect", "dump", "aperture", "device", "offset"})
      reader.find(key);
    return reader.finish();
  }
  if (buffer != nullptr) read_buffer(reader, *buffer, argument);
  if (scalar != nullptr) read_scalar(reader, argument);
  if (bytes != nullptr) read_bytes(reader, argument);
  if (texture != nullptr) read_image(reader, *texture, argument);
  if (surface != nullptr) read_image(reader, *surface, argument);
  if (address != nullptr) read_address(*address, argument);
  if (bus != nullptr) read_bus(reader, argument);
  reader.finish();
  launch.arguments.push_back(std::move(argument));
}

void ArgumentReader::read_buffer(TableReader& reader, const Member& name_member, Argument& argument) {
  argument.kind = Argument::Kind::buffer;
  const auto name = reader.text("buffer");
  if (!name) {
    for (const char* key : {"type", "count", "init", "expect", "dump", "aperture"}) reader.find(key);
    return;
  }
  std::vector<std::string> names;
  for (const Buffer& b : out_.buffers) names.push_back(b.name);
  argument.buffer = static_cast<std::size_t>(std::find(names.begin(), names.end(), *name) - names.begin());
  if (is_declared_again(reader, *name)) return;
  if (reader.table().members.size() == 1) {
    reader.fault(name_member.value.place,
                 "buffer \"" + *name + "\" is not declared: its first argument says type and count",
                 did_you_mean(*name, names));
    // A declaration all the same, so that this is said once.
    out_.buffers.push_back({});
    out_.buffers.back().name = *name;
    out_.buffers.back().type = DataType::u8;
    contents_.push_back({nullptr, nullptr});
    return;
  }
  declare(reader, *name, name_member.value.place);
}

/// Whether buffer `name` is known. What an argument says of it once more is a fault.
bool ArgumentReader::is_declared_again(TableReader& reader, const std::string& name) {
  const auto known =
      std::find_if(out_.buffers.begin(), out_.buffers.end(), [&](const Buffer& b) { return b.name == name; });
  if (known == out_.buffers.end()) return false;
  for (const char* key : {"type", "count", "init", "expect", "dump", "aperture"})
    if (const Member* m = reader.find(key))
      reader.fault(m->place, "buffer \"" + name + "\" was declared on line " +
                                 std::to_string(known->place.line) + "; later arguments only name it");
  return true;
}

void ArgumentReader::declare(TableReader& reader, const std::string& name, Place place,
                             const Implied* implied) {
  if (!is_name(name))
    reader.fault(place, "buffer: a name has letters, digits, _ $ and -, and starts with no digit or -");
  Buffer buffer;
  buffer.name = name;
  buffer.place = place;
  buffer.gpu = gpu_;
  const auto need = implied == nullptr ? TableReader::required : TableReader::optional;
  buffer.type = type_of(reader, need);
  if (buffer.type == DataType::none) buffer.type = implied->type;
  buffer.count = reader.number("count", 1, kMaxBufferBytes / size_of(buffer.type), need)
                     .value_or(implied == nullptr ? 1 : implied->count);
  aperture_of(reader, buffer);
  if (const auto dump = reader.text("dump")) {
    buffer.dump = dump->empty() ? std::string{} : resolve_beside(path_, *dump);
    if (dump->empty()) reader.fault(reader.find("dump")->value.place, "dump: must name a file");
  }
  const Member* initial = reader.find("init");
  contents_.push_back({initial, reader.find("expect")});
  out_.buffers.push_back(std::move(buffer));
}

void ArgumentReader::aperture_of(TableReader& reader, Buffer& buffer) {
  const auto text = reader.text("aperture");
  if (!text || *text == "vidmem") return;
  const Place place = reader.find("aperture")->value.place;
  if (*text == "sysmem") {
    buffer.aperture = Aperture::sysmem;
  } else if (*text == "peer") {
    buffer.aperture = Aperture::peer;
  } else {
    reader.fault(place, "aperture: \"" + *text + "\" is none of vidmem, sysmem, peer",
                 did_you_mean(*text, {"vidmem", "sysmem", "peer"}));
  }
}

DataType ArgumentReader::type_of(TableReader& reader, TableReader::Need need) {
  const auto text = reader.text("type", need);
  if (!text) return need == TableReader::required ? DataType::u32 : DataType::none;
  const DataType type = element_type_from(*text);
  if (type != DataType::none) return type;
  std::string all;
  for (const std::string& n : element_type_names()) all += (all.empty() ? "" : ", ") + n;
  reader.fault(reader.find("type")->value.place, "type: \"" + *text + "\" is none of " + all,
               did_you_mean(*text, element_type_names()));
  return DataType::u32;
}

void ArgumentReader::read_scalar(TableReader& reader, Argument& argument) {
  argument.kind = Argument::Kind::scalar;
  const std::size_t faults_before = faults_.size();
  const DataType type = type_of(reader, TableReader::required);
  if (faults_.size() != faults_before) return;
  const Value& value = reader.find("scalar")->value;
  std::string why;
  const auto bits = element_from(value, type, why);
  if (!bits) return reader.fault(value.place, "scalar: " + why);
  argument.bytes.resize(size_of(type));
  store_element(type, *bits, argument.bytes.data());
}

void ArgumentReader::read_bytes(TableReader& reader, Argument& argument) {
  argument.kind = Argument::Kind::bytes;
  const auto text = reader.text("bytes");
  if (!text) return;
  const Place place = reader.find("bytes")->value.place;
  std::vector<int> digits;
  for (const char c : *text) {
    if (c == ' ' || c == '_') continue;
    digits.push_back(hex_digit(c));
    if (digits.back() < 0)
      return reader.fault(place, std::string("bytes: \"") + c + "\" is no hexadecimal digit");
  }
  if (digits.empty() || digits.size() % 2 != 0)
    return reader.fault(place, "bytes: must be an even number of hexadecimal digits, at least two");
  if (digits.size() / 2 > kMaxParameterBytes)
    return reader.fault(place, "bytes: must be at most " + std::to_string(kMaxParameterBytes) + " bytes");
  for (std::size_t d = 0; d < digits.size(); d += 2)
    argument.bytes.push_back(static_cast<std::uint8_t>(digits[d] * 16 + digits[d + 1]));
}

void ArgumentReader::read_symbol(const Value& table) {
  TableReader reader(document_, table, table.place, "[[symbol]]", faults_);
  Symbol symbol;
  symbol.place = table.place;
  if (const Member* name = reader.find("name")) symbol.place = name->value.place;
  symbol.name = reader.text("name", TableReader::required).value_or("");
  symbol.type = type_of(reader, TableReader::optional);
  if (const Member* m = reader.find("init")) symbol.initial = *m;
  if (const Member* m = reader.find("expect")) symbol.expect = *m;
  reader.finish();
  if (!symbol.initial && !symbol.expect)
    reader.fault(symbol.place, "[[symbol]] must say init, expect or both");
  for (const Symbol& other : out_.symbols)
    if (!symbol.name.empty() && other.name == symbol.name)
      reader.fault(symbol.place, "symbol \"" + symbol.name + "\" stands here twice");
  out_.symbols.push_back(std::move(symbol));
}

void ArgumentReader::read_contents() {
  resolve_images();
  for (const Buffer& b : out_.buffers) out_.arrays.push_back({b.name, b.type});
  for (std::size_t s = 0; s < out_.symbols.size(); ++s) {
    const Symbol& symbol = out_.symbols[s];
    const bool taken = std::any_of(out_.arrays.begin(), out_.arrays.end(),
                                   [&](const NamedArray& a) { return a.name == symbol.name; });
    if (symbol.type == DataType::none || taken) continue;
    out_.arrays.push_back({symbol.name, symbol.type});
    out_.array_symbols.push_back(s);
  }
  for (std::size_t b = 0; b < out_.buffers.size(); ++b) {
    Buffer& buffer = out_.buffers[b];
    const ContentContext context{document_, path_, buffer.type, buffer.count, out_.arrays, faults_};
    if (contents_[b].initial != nullptr) buffer.initial = read_initial(*contents_[b].initial, context);
    if (contents_[b].expect != nullptr) buffer.expect = read_expectation(*contents_[b].expect, context);
  }
}

/// address = "peer[0].SCRATCH[1]"
void ArgumentReader::read_address(const Member& member, Argument& argument) {
  argument.kind = Argument::Kind::device;
  argument.address = out_.addresses.size();
  DeviceAddress out;
  out.place = member.value.place;
  out.where = read_device_place(document_, member, faults_);
  if (out.where) out_.addresses.push_back(std::move(out));
}

/// bus = "data", device = "peer[0]", and offset = 64 perhaps. The buffer may be declared beside it.
void ArgumentReader::read_bus(TableReader& reader, Argument& argument) {
  argument.kind = Argument::Kind::device;
  argument.address = out_.addresses.size();
  BusAddress bus;
  const auto name = reader.text("bus");
  bus.place = reader.find("bus")->value.place;
  bus.offset = reader.number("offset", 0, INT64_MAX).value_or(0);
  if (const Member* offset = reader.find("offset")) bus.offset_place = offset->value.place;
  const Member* device = reader.find("device", TableReader::required);
  const auto number = device == nullptr ? std::nullopt : read_device(document_, *device, faults_);
  if (name) {
    std::vector<std::string> names;
    for (const Buffer& b : out_.buffers) names.push_back(b.name);
    bus.buffer = static_cast<std::size_t>(std::find(names.begin(), names.end(), *name) - names.begin());
    const bool names_only = reader.find("type") == nullptr && reader.find("count") == nullptr;
    if (!is_declared_again(reader, *name)) {
      if (names_only) {
        reader.fault(bus.place,
                     "buffer \"" + *name +
                         "\" is not declared: say type and count here, or in an "
                         "argument before",
                     did_you_mean(*name, names));
        return;
      }
      declare(reader, *name, bus.place);
    }
  }
  if (!name || !number) return;
  bus.device = *number;
  out_.addresses.push_back({std::nullopt, bus, bus.place});
}

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
