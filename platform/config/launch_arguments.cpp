#include "warpline/config/launch_arguments.h"

#include <algorithm>

#include "warpline/config/element.h"
#include "warpline/config/launch_contents.h"
#include "warpline/document/files.h"

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

}  // namespace warpline
