#include "platform/launch/launch_file.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "platform/config/gpu_config.h"
#include "platform/launch/element.h"
#include "platform/launch/host_reader.h"
#include "platform/launch/image_reader.h"
#include "platform/launch/launch_contents.h"
#include "platform/launch/launch_tables.h"
#include "platform/launch/tensor_map_reader.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"
#include "rtl_models/sim/cluster_address.h"

namespace warpline {
namespace {

/// CUDA's limits on grids and blocks (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint64_t kMaxGrid[] = {2147483647, 65535, 65535};
constexpr std::uint64_t kMaxBlock[] = {1024, 1024, 64};
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxRegisters = 255;
constexpr std::uint64_t kMaxSharedBytes = 1U << 24U;
/// Larger than any GPU's memory; keeps products of counts and sizes far from overflow.
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 40U;
constexpr std::size_t kMaxParameterBytes = 32764;  // PTX ISA, "Kernel Function Parameters"

constexpr const char* kLaunchKeys[] = {"module",
                                       "kernel",
                                       "grid",
                                       "block",
                                       "shared_bytes",
                                       "invalidate_l1",
                                       "argument",
                                       "generator",
                                       "footprint",
                                       "stride",
                                       "accesses",
                                       "seed",
                                       "gpu",
                                       "host",
                                       "concurrent",
                                       "cluster",
                                       "non_portable_cluster",
                                       "modules",
                                       "cooperative",
                                       "dependent",
                                       "carveout",
                                       "registers"};
/// Of the memory that the device library gets, bytes.
constexpr std::uint64_t kMinPrintfBytes = 1024, kMaxPrintfBytes = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMinHeapBytes = 1024, kMaxHeapBytes = std::uint64_t{1} << 36U;
constexpr const char* kStructure = "struct";
/// What an argument is, or a member of a structure.
const std::vector<std::string> kPartKeys = {"buffer",  "scalar", "bytes",      "texture",  "surface",
                                            "address", "bus",    "tensor_map", "multimem", kStructure};
/// With which an argument declares its buffer.
constexpr const char* kBufferKeys[] = {"type", "count", "init", "expect", "dump", "aperture", "align"};
/// What else an address for a device says.
constexpr const char* kBusKeys[] = {"device", "offset"};

/// Makes `keys` known to a table, and says whether it has any of them.
template <class Keys>
bool know(TableReader& reader, const Keys& keys) {
  bool any = false;
  for (const char* key : keys) any = reader.find(key) != nullptr || any;
  return any;
}

bool is_name(const std::string& text) {
  if (text.empty()) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    return letter || ((is_digit(c) || c == '-') && &c != &text.front());
  });
}

/// The type of a component as a buffer has it: binary16 is bits there.
DataType element_of(const TexelFormat& format) {
  return format.type == DataType::f16 ? DataType::u16 : format.type;
}

/// Reads arguments, and with them the buffers that they declare, and symbols, into a LaunchFile.
class ArgumentReader {
 public:
  ArgumentReader(const Document& document, const std::string& path, LaunchFile& out, Diagnostics& faults)
      : document_(document), path_(path), out_(out), faults_(faults) {}

  /// Reads the `argument` key of a launch.
  void read(const Member& arguments, Launch& launch) {
    gpu_ = launch.gpu;
    each_table(document_, arguments, "a table", faults_,
               [&](const Value& table) { read_one(table, launch); });
  }

  /// Reads one [[symbol]] table.
  void read_symbol(const Value& table) {
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
    if (!symbol.name.empty() && !symbol_names_.insert(symbol.name).second)
      reader.fault(symbol.place, "symbol \"" + symbol.name + "\" stands here twice");
    out_.symbols.push_back(std::move(symbol));
  }

  /// Reads what buffers start with and must end with. Comes last: an expression may name any buffer.
  void read_contents() {
    resolve_images();
    resolve_maps();
    resolve_multicasts();
    for (const Buffer& b : out_.buffers) out_.arrays.push_back({b.name, b.type});
    for (std::size_t s = 0; s < out_.symbols.size(); ++s) {
      const Symbol& symbol = out_.symbols[s];
      const bool taken = out_.arrays.number_of(symbol.name) != out_.arrays.size();
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

 private:
  struct Contents {
    const Member* initial = nullptr;
    const Member* expect = nullptr;
  };
  /// What the declaration of a buffer need not say.
  struct Implied {
    DataType type;
    std::uint64_t count;
  };
  /// The buffer of an image that has been read, by name.
  struct PendingImage {
    std::string name;
    Place place;
  };

  void read_one(const Value& table, Launch& launch) {
    TableReader reader(document_, table, table.place, "[[argument]]", faults_);
    Argument argument;
    argument.place = table.place;
    if (!read_part(reader, "[[argument]]", argument)) return;
    reader.finish();
    launch.arguments.push_back(std::move(argument));
  }

  /// Reads the members of a structure, each where C would lay it, or at byte `at`.
  void read_structure(const Member& members, Argument& structure) {
    structure.kind = Argument::Kind::structure;
    const std::size_t faults_before = faults_.size();
    std::size_t end = 0;
    each_table(document_, members, "a table", faults_, [&](const Value& table) {
      TableReader reader(document_, table, table.place, kStructure, faults_);
      Argument member;
      member.place = table.place;
      const auto at = reader.number("at", 0, kMaxParameterBytes - 1);
      if (!read_part(reader, kStructure, member)) return;
      reader.finish();
      member.at = static_cast<std::uint32_t>(at.value_or(align_up(end, member.alignment())));
      if (member.at < end)
        reader.fault(reader.find("at")->value.place,
                     "at: the member before it ends at byte " + std::to_string(end));
      end = member.at + member.size();
      structure.members.push_back(std::move(member));
    });
    if (structure.members.empty() && faults_.size() == faults_before)
      faults_.push_back(document_.fault(members.value.place, "struct: has no members"));
    if (structure.size() > kMaxParameterBytes)
      faults_.push_back(document_.fault(members.value.place,
                                        "struct: must be at most " + counted(kMaxParameterBytes, "byte")));
  }

  /// Reads what one argument, or one member of a structure, is. False: it says nothing or too much, and is
  /// done with.
  bool read_part(TableReader& reader, const std::string& where, Argument& argument) {
    const Member* said = only_one(reader, where, kPartKeys);
    if (said == nullptr) {
      know(reader, kBufferKeys);
      know(reader, kBusKeys);
      reader.finish();
      return false;
    }
    if (said->key == kStructure) read_structure(*said, argument);
    if (said->key == "buffer") read_buffer(reader, *said, argument);
    if (said->key == "scalar") read_scalar(reader, *said, argument);
    if (said->key == "bytes") read_bytes(reader, argument);
    if (said->key == "texture" || said->key == "surface") read_image(reader, *said, argument);
    if (said->key == "tensor_map") read_map(reader, *said, argument);
    if (said->key == "multimem") read_multicast(reader, *said, argument);
    if (said->key == "address") read_address(*said, argument);
    if (said->key == "bus") read_bus(reader, *said, argument);
    return true;
  }

  void read_buffer(TableReader& reader, const Member& name_member, Argument& argument) {
    argument.kind = Argument::Kind::buffer;
    const auto name = reader.text("buffer");
    if (!name) {
      know(reader, kBufferKeys);
      return;
    }
    argument.number = out_.buffer_number(*name);
    if (is_declared_again(reader, *name)) return;
    if (!know(reader, kBufferKeys)) {
      reader.fault(name_member.value.place,
                   "buffer \"" + *name + "\" is not declared: its first argument says type and count",
                   did_you_mean(*name, names_of(out_.buffers)));
      // A declaration all the same, so that this is said once. One that follows is read over.
      undeclared_.insert(argument.number);
      Buffer& buffer = out_.buffers.emplace_back();
      buffer.name = *name;
      buffer.type = DataType::u8;
      buffer.place = name_member.value.place;
      contents_.emplace_back();
      return;
    }
    declare(reader, *name, name_member.value.place);
  }

  /// Whether buffer `name` is known. What an argument says of it once more is a fault.
  bool is_declared_again(TableReader& reader, const std::string& name) {
    const std::size_t known = out_.buffer_number(name);
    if (known == out_.buffers.size()) return false;
    if (undeclared_.count(known) != 0) {
      know(reader, kBufferKeys);
      return true;
    }
    for (const char* key : kBufferKeys)
      if (const Member* m = reader.find(key))
        reader.fault(m->place, "buffer \"" + name + "\" was declared on line " +
                                   std::to_string(out_.buffers[known].place.line) +
                                   "; later arguments only name it");
    return true;
  }

  void declare(TableReader& reader, const std::string& name, Place place, const Implied* implied = nullptr) {
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
    // A page, which is what an IOMMU leaves of an address.
    constexpr std::uint64_t kMostAlign = 4096;
    buffer.align = reader.number("align", 1, kMostAlign).value_or(1);
    if (!is_power_of_two(buffer.align)) {
      reader.fault(reader.find("align")->value.place, "align: must be a power of two");
      buffer.align = 1;
    }
    if (const auto dump = reader.text("dump")) {
      buffer.dump = dump->empty() ? std::string{} : resolve_beside(path_, *dump);
      buffer.dump_place = reader.find("dump")->value.place;
      if (dump->empty()) reader.fault(buffer.dump_place, "dump: must name a file");
    }
    const Member* initial = reader.find("init");
    contents_.push_back({initial, reader.find("expect")});
    out_.buffers.push_back(std::move(buffer));
  }

  void aperture_of(TableReader& reader, Buffer& buffer) {
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

  DataType type_of(TableReader& reader, TableReader::Need need) {
    const auto text = reader.text("type", need);
    if (!text) return need == TableReader::required ? DataType::u32 : DataType::none;
    const DataType type = element_type_from(*text);
    if (type != DataType::none) return type;
    reader.fault(reader.find("type")->value.place,
                 "type: \"" + *text + "\" is none of " + joined(element_type_names()),
                 did_you_mean(*text, element_type_names()));
    return DataType::u32;
  }

  void read_scalar(TableReader& reader, const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::scalar;
    const std::size_t faults_before = faults_.size();
    const DataType type = type_of(reader, TableReader::required);
    if (faults_.size() != faults_before) return;
    const auto bits = read_element(document_, member, type, faults_);
    if (!bits) return;
    argument.bytes.resize(size_of(type));
    store_element(type, *bits, argument.bytes.data());
  }

  void read_bytes(TableReader& reader, Argument& argument) {
    argument.kind = Argument::Kind::bytes;
    const auto text = reader.text("bytes");
    if (!text) return;
    const Place place = reader.find("bytes")->value.place;
    std::string digits;
    for (const char c : *text)
      if (c != ' ' && c != '_') digits += c;
    if (const std::size_t wrong = digits.find_first_not_of("0123456789abcdefABCDEF");
        wrong != std::string::npos)
      return reader.fault(place, std::string("bytes: \"") + digits[wrong] + "\" is no hexadecimal digit");
    if (digits.empty() || digits.size() % 2 != 0)
      return reader.fault(place, "bytes: must be an even number of hexadecimal digits, at least two");
    if (digits.size() / 2 > kMaxParameterBytes)
      return reader.fault(place, "bytes: must be at most " + counted(kMaxParameterBytes, "byte"));
    for (std::size_t d = 0; d < digits.size(); d += 2)
      argument.bytes.push_back(*number_from<std::uint8_t>(digits.substr(d, 2), 16));
  }

  /// address = "peer[0].SCRATCH[1]"
  void read_address(const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::device;
    argument.number = out_.addresses.size();
    DeviceAddress out;
    out.place = member.value.place;
    out.where = read_device_place(document_, member, faults_);
    if (out.where) out_.addresses.push_back(std::move(out));
  }

  /// bus = "data", device = "peer[0]", and offset = 64 perhaps. The buffer may be declared beside it.
  void read_bus(TableReader& reader, const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::device;
    argument.number = out_.addresses.size();
    BusAddress bus;
    const auto name = reader.text("bus");
    bus.place = member.value.place;
    bus.offset = reader.number("offset", 0, INT64_MAX).value_or(0);
    if (const Member* offset = reader.find("offset")) bus.offset_place = offset->value.place;
    const Member* device = reader.find("device", TableReader::required);
    const auto number = device == nullptr ? std::nullopt : read_device(document_, *device, faults_);
    if (name) {
      bus.buffer = out_.buffer_number(*name);
      const bool names_only = reader.find("type") == nullptr && reader.find("count") == nullptr;
      if (!is_declared_again(reader, *name)) {
        if (names_only)
          return reader.fault(
              bus.place,
              "buffer \"" + *name + "\" is not declared: say type and count here, or in an argument before",
              did_you_mean(*name, names_of(out_.buffers)));
        declare(reader, *name, bus.place);
      }
    }
    if (!name || !number) return;
    bus.device = *number;
    out_.addresses.push_back({std::nullopt, bus, bus.place});
  }

  void read_image(TableReader& outer, const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::image;
    argument.number = out_.images.size();
    PendingImage pending;
    LaunchImage image;
    image.image.is_surface = member.key == "surface";
    image.place = member.place;
    if (member.value.kind != Value::Kind::table)
      outer.fault(member.value.place, member.key + ": must be { buffer, width, height, format }");
    else
      read_elements(outer, member, pending, image);
    out_.images.push_back(image);
    pending_images_.push_back(std::move(pending));
  }

  /// What stands in the braces. The buffer may be declared there or beside them.
  void read_elements(TableReader& outer, const Member& member, PendingImage& pending, LaunchImage& image) {
    TableReader reader(document_, member.value, member.place, member.key, faults_);
    pending.name = reader.text("buffer", TableReader::required).value_or("");
    if (const Member* name = reader.find("buffer")) pending.place = name->value.place;
    image.image = read_image_shape(reader, image.image.is_surface);
    const bool inside = know(reader, kBufferKeys), beside = know(outer, kBufferKeys);
    if (inside && beside)
      outer.fault(member.place, member.key + ": declare the buffer inside the braces or beside them");
    TableReader& declaration = inside ? reader : outer;
    if ((inside || beside) && !pending.name.empty() && !is_declared_again(declaration, pending.name)) {
      const TexelFormat& format = image.image.format;
      const Implied implied{element_of(format), image.image.bytes() / size_of(format.type)};
      declare(declaration, pending.name, pending.place, &implied);
    }
    reader.finish();
  }

  void read_map(TableReader& outer, const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::tensor_map;
    argument.number = out_.tensor_maps.size();
    LaunchTensorMap map;
    PendingImage pending;
    map.place = member.place;
    if (member.value.kind != Value::Kind::table) {
      outer.fault(member.value.place, "tensor_map: must be { buffer, shape, box, ... }");
    } else {
      TableReader reader(document_, member.value, member.place, member.key, faults_);
      pending.name = reader.text("buffer", TableReader::required).value_or("");
      if (const Member* name = reader.find("buffer")) pending.place = name->value.place;
      map.map = read_tensor_map(document_, reader, faults_);
      reader.finish();
    }
    if (know(outer, kBufferKeys) && !pending.name.empty() && !is_declared_again(outer, pending.name))
      declare(outer, pending.name, pending.place);
    out_.tensor_maps.push_back(map);
    pending_maps_.push_back(std::move(pending));
  }

  /// multimem = ["a0", { buffer = "a1", gpu = 1, type = "f32", count = 64 }]: buffers, some of which may be
  /// declared there.
  void read_multicast(TableReader& reader, const Member& member, Argument& argument) {
    argument.kind = Argument::Kind::multicast;
    argument.number = out_.multicasts.size();
    LaunchMulticast& multicast = out_.multicasts.emplace_back();
    multicast.place = member.value.place;
    std::vector<PendingImage>& parts = pending_multicasts_.emplace_back();
    const char* const must =
        "multimem: must be an array of buffers, one for each GPU: names, or { buffer, gpu, type, count, ... "
        "}";
    if (member.value.kind != Value::Kind::array || member.value.items.empty())
      return reader.fault(member.value.place, must);
    for (const Value& item : member.value.items) {
      if (item.kind == Value::Kind::text) {
        parts.push_back({item.text, item.place});
      } else if (item.kind == Value::Kind::table) {
        parts.push_back(read_replica(item));
      } else {
        reader.fault(item.place, must);
      }
    }
  }

  /// A buffer that is declared among those of a multicast object, perhaps on another GPU than the launch's.
  PendingImage read_replica(const Value& table) {
    TableReader reader(document_, table, table.place, "multimem", faults_);
    PendingImage part;
    part.name = reader.text("buffer", TableReader::required).value_or("");
    part.place = table.place;
    if (const Member* name = reader.find("buffer")) part.place = name->value.place;
    const unsigned before = gpu_;
    const auto said_gpu = reader.number("gpu", 0, kMaxGpus - 1);
    gpu_ = static_cast<unsigned>(said_gpu.value_or(gpu_));
    const bool says = know(reader, kBufferKeys);
    const bool declares = !part.name.empty() && !is_declared_again(reader, part.name) && says;
    if (declares) declare(reader, part.name, part.place);
    if (said_gpu && !declares && !part.name.empty())
      reader.fault(reader.find("gpu")->value.place,
                   "gpu: goes with the declaration of buffer \"" + part.name + "\", which is elsewhere");
    gpu_ = before;
    reader.finish();
    return part;
  }

  /// As resolve_images(). Each object is of one buffer on each of its GPUs.
  void resolve_multicasts() {
    for (std::size_t n = 0; n < out_.multicasts.size(); ++n) {
      LaunchMulticast& multicast = out_.multicasts[n];
      for (const PendingImage& part : pending_multicasts_[n]) {
        const std::size_t number = out_.buffer_number(part.name);
        if (part.name.empty()) continue;
        if (number == out_.buffers.size()) {
          fault(part.place,
                "buffer \"" + part.name +
                    "\" is not declared: say gpu, type and count in braces, or declare it in an argument",
                did_you_mean(part.name, names_of(out_.buffers)));
          continue;
        }
        check_replica(multicast, number, part.place);
        multicast.buffers.push_back(number);
        multicast.name += (multicast.name.empty() ? "" : " + ") + part.name;
      }
    }
  }

  void check_replica(const LaunchMulticast& multicast, std::size_t number, Place place) {
    const Buffer& b = out_.buffers[number];
    const std::string who = "multimem: buffer \"" + b.name + "\" ";
    if (b.aperture != Aperture::vidmem)
      fault(place, who + "does not lie in video memory, of which each GPU gives a part");
    for (const std::size_t other : multicast.buffers) {
      const Buffer& o = out_.buffers[other];
      if (o.gpu == b.gpu)
        fault(place, who + "lies on GPU " + std::to_string(b.gpu) + ", as buffer \"" + o.name +
                         "\" does; each is on a GPU of its own");
      if (o.bytes() != b.bytes())
        fault(place, who + "has " + counted(b.bytes(), "byte") + ", and buffer \"" + o.name + "\" " +
                         std::to_string(o.bytes()) + "; all have one size");
      if (o.gpu == b.gpu || o.bytes() != b.bytes()) return;
    }
  }

  /// As resolve_images().
  void resolve_maps() {
    for (std::size_t n = 0; n < out_.tensor_maps.size(); ++n) {
      LaunchTensorMap& map = out_.tensor_maps[n];
      const PendingImage& pending = pending_maps_[n];
      if (pending.name.empty()) continue;
      map.buffer = out_.buffer_number(pending.name);
      if (map.buffer == out_.buffers.size()) {
        fault(pending.place,
              "buffer \"" + pending.name +
                  "\" is not declared: say type and count beside, or in another argument",
              did_you_mean(pending.name, names_of(out_.buffers)));
        map.buffer = 0;
      } else if (faults_.empty()) {
        resolve_tensor_map(document_, out_.buffers[map.buffer], map, faults_);
      }
    }
  }

  /// Comes when all buffers are known: an image may stand before the argument that declares its buffer.
  void resolve_images() {
    for (std::size_t n = 0; n < out_.images.size(); ++n) {
      LaunchImage& image = out_.images[n];
      const PendingImage& pending = pending_images_[n];
      if (pending.name.empty()) continue;
      const std::size_t number = out_.buffer_number(pending.name);
      if (number == out_.buffers.size()) {
        fault(pending.place,
              "buffer \"" + pending.name +
                  "\" is not declared: say type, count or init here, or in another argument",
              did_you_mean(pending.name, names_of(out_.buffers)));
        continue;
      }
      image.buffer = number;
      const std::uint64_t need = image.image.bytes();
      const std::uint64_t have = out_.buffers[number].bytes();
      if (need > have)
        fault(image.place, size_text(image.image) + " take " + counted(need, "byte") + "; buffer \"" +
                               pending.name + "\" has " + std::to_string(have));
    }
  }

  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }

  const Document& document_;
  const std::string& path_;
  LaunchFile& out_;
  Diagnostics& faults_;
  unsigned gpu_ = 0;                  ///< of the launch being read
  std::set<std::size_t> undeclared_;  ///< buffers that were named before their declaration: a fault
  std::vector<Contents> contents_;    ///< of each buffer
  std::unordered_set<std::string> symbol_names_;
  std::vector<PendingImage> pending_images_;                   ///< of each image
  std::vector<PendingImage> pending_maps_;                     ///< of each tensor map
  std::vector<std::vector<PendingImage>> pending_multicasts_;  ///< of each multicast object
};

class LaunchFileReader {
 public:
  LaunchFileReader(const std::string& path, Document document)
      : path_(path),
        document_(std::make_shared<const Document>(std::move(document))),
        arguments_(*document_, path_, out_, faults_) {}

  Result<LaunchFile> run() {
    out_.document = document_;
    TableReader root(*document_, document_->root(), Place{}, "the launch file", faults_);
    const Member* launches = root.find("launch");
    know(root, kLaunchKeys);
    const Member* symbols = root.find("symbol");
    const Member* registers = root.find("register");
    device_memory(root);
    schedule(root);
    root.finish();
    if (launches != nullptr) {
      launch_tables(root, *launches);
    } else {
      launch(document_->root(), Place{1, 0, 1}, "the launch file");
    }
    if (symbols != nullptr)
      each_table(*document_, *symbols, "[[symbol]] tables", faults_,
                 [&](const Value& table) { arguments_.read_symbol(table); });
    arguments_.read_contents();
    check_reach();
    read_host(*document_, host_steps_, registers, out_, faults_);
    if (!faults_.empty()) {
      std::stable_sort(faults_.begin(), faults_.end(),
                       [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
      return std::move(faults_);
    }
    return std::move(out_);
  }

 private:
  void device_memory(TableReader& root) {
    DeviceMemorySizes& sizes = out_.device_memory;
    const auto read = [&root](const char* key, std::uint64_t least, std::uint64_t most, std::uint64_t unit,
                              std::uint64_t& to) {
      to = align_up(root.number(key, least, most).value_or(to), unit);
    };
    read("printf_bytes", kMinPrintfBytes, kMaxPrintfBytes, 8, sizes.printf_bytes);
    read("heap_bytes", kMinHeapBytes, kMaxHeapBytes, 16, sizes.heap_bytes);
  }

  void schedule(TableReader& root) {
    const auto name = root.text("schedule");
    if (!name) return;
    out_.schedule = ptx::schedule_named(*name);
    if (!out_.schedule)
      root.fault(root.find("schedule")->value.place,
                 "schedule: \"" + *name + "\" is none of " + joined(ptx::schedule_names()),
                 did_you_mean(*name, ptx::schedule_names()));
  }

  void launch_tables(TableReader& root, const Member& launches) {
    for (const char* key : kLaunchKeys)
      if (const Member* m = document_->root().find(key))
        root.fault(m->place,
                   "\"" + m->key + "\" belongs into a [[launch]] table, as the file has such tables");
    if (launches.value.items.empty()) return root.fault(launches.place, "launch: must be [[launch]] tables");
    each_table(*document_, launches, "[[launch]] tables", faults_,
               [&](const Value& table) { launch(table, table.place, "[[launch]]"); });
  }

  void launch(const Value& table, Place place, const char* what) {
    TableReader reader(*document_, table, place, what, faults_);
    Launch l;
    l.place = place;
    const bool generates = reader.find("generator") != nullptr;
    l.grid = extents(reader, "grid", kMaxGrid, generates, l.grid_place).value_or(Dim3{});
    l.block = extents(reader, "block", kMaxBlock, generates, l.block_place)
                  .value_or(generates ? Dim3{32, 1, 1} : Dim3{});
    if (l.block.count() > kMaxThreads)
      reader.fault(l.block_place,
                   "block: has " + std::to_string(l.block.count()) + " threads; at most 1024 are possible");
    l.gpu = static_cast<unsigned>(reader.number("gpu", 0, kMaxGpus - 1).value_or(0));
    l.gpu_place = place;
    if (const Member* gpu = reader.find("gpu")) l.gpu_place = gpu->value.place;
    l.invalidate_l1 = reader.boolean("invalidate_l1").value_or(true);
    if (generates) {
      generator(reader, l);
    } else {
      module_kernel(reader, l);
    }
    concurrent(reader, l);
    dependent(reader, l);
    if (const Member* steps = reader.find("host")) host_steps_.emplace_back(out_.launches.size(), steps);
    // The top level's unknown keys were reported already.
    if (&table != &document_->root()) reader.finish();
    out_.launches.push_back(std::move(l));
  }

  void module_kernel(TableReader& reader, Launch& l) {
    const Member* const modules = reader.find("modules");
    const Member* const module =
        reader.find("module", modules == nullptr ? TableReader::required : TableReader::optional);
    if (module != nullptr && modules != nullptr)
      reader.fault(modules->place, "modules: stands in the place of module, and both are here");
    if (modules != nullptr) {
      l.module_place = modules->value.place;
      l.module = linked_number(reader, *modules);
    } else if (module != nullptr) {
      l.module_place = module->value.place;
      if (const auto text = reader.text("module")) l.module = module_number(*text, module->value.place);
    }
    l.kernel = reader.text("kernel", TableReader::required).value_or("");
    if (const Member* kernel = reader.find("kernel")) l.kernel_place = kernel->value.place;
    l.shared_bytes =
        static_cast<std::uint32_t>(reader.number("shared_bytes", 0, kMaxSharedBytes).value_or(0));
    cluster(reader, l);
    l.cooperative = reader.boolean("cooperative").value_or(false);
    if (l.cooperative && l.module < out_.modules.size() && ends_with(out_.modules[l.module].path, ".wls"))
      reader.fault(reader.find("cooperative")->place, "cooperative: is for kernels in PTX");
    if (const auto percent = reader.number("carveout", 0, 100)) l.carveout = static_cast<unsigned>(*percent);
    if (l.carveout && l.module < out_.modules.size() && ends_with(out_.modules[l.module].path, ".wls"))
      reader.fault(reader.find("carveout")->place, "carveout: is for kernels in PTX");
    l.registers = static_cast<std::uint32_t>(reader.number("registers", 1, kMaxRegisters).value_or(0));
    if (l.registers != 0 && l.module < out_.modules.size() && ends_with(out_.modules[l.module].path, ".wls"))
      reader.fault(reader.find("registers")->place, "registers: is for kernels in PTX");
    for (const char* key : {"footprint", "stride", "accesses", "seed"})
      if (const Member* m = reader.find(key))
        reader.fault(m->place, m->key + ": is for generators, and this is a module's launch");
    if (const Member* arguments = reader.find("argument")) arguments_.read(*arguments, l);
  }

  /// Whether the GPU has room for such clusters is known later.
  void cluster(TableReader& reader, Launch& l) {
    l.cluster.non_portable = reader.boolean("non_portable_cluster").value_or(false);
    if (reader.find("cluster") == nullptr) {
      if (l.cluster.non_portable)
        reader.fault(reader.find("non_portable_cluster")->place,
                     "non_portable_cluster: is for launches with a cluster");
      return;
    }
    constexpr std::uint64_t kMaxCluster[] = {kMaxClusterCtas, kMaxClusterCtas, kMaxClusterCtas};
    const auto size = extents(reader, "cluster", kMaxCluster, false, l.cluster_place);
    if (!size) return;
    l.cluster.size = *size;
    l.cluster.given = true;
    const std::uint64_t ctas = size->count();
    const std::uint64_t most = l.cluster.non_portable ? kMaxClusterCtas : kPortableClusterCtas;
    if (ctas > most)
      reader.fault(l.cluster_place,
                   "cluster: has " + std::to_string(ctas) + " CTAs; at most " + std::to_string(most) +
                       (l.cluster.non_portable ? "" : " are portable"),
                   l.cluster.non_portable ? "" : "up to 16 are possible with non_portable_cluster = true");
    const auto check = [&](const char* axis, std::uint32_t grid, std::uint32_t extent) {
      if (grid % extent != 0)
        reader.fault(l.cluster_place, std::string("cluster: the grid's ") + axis + ", " +
                                          std::to_string(grid) + ", is no multiple of " +
                                          std::to_string(extent));
    };
    check("x", l.grid.x, size->x);
    check("y", l.grid.y, size->y);
    check("z", l.grid.z, size->z);
  }

  void generator(TableReader& reader, Launch& l) {
    static const std::vector<std::string> kKinds = {"stream", "strided", "random", "chase", "reuse"};
    GeneratorParameters g;
    const Member* kind = reader.find("generator");
    g.kind = reader.text("generator").value_or("stream");
    if (std::find(kKinds.begin(), kKinds.end(), g.kind) == kKinds.end())
      reader.fault(kind->value.place,
                   "generator: \"" + g.kind + "\" is none of stream, strided, random, chase, reuse",
                   did_you_mean(g.kind, kKinds));
    constexpr std::uint64_t kMaxFootprint = std::uint64_t{1} << 40U;
    g.footprint = reader.number("footprint", 4, kMaxFootprint, TableReader::required).value_or(4);
    g.stride = reader.number("stride", 1, kMaxFootprint).value_or(4);
    g.accesses = reader.number("accesses", 1, std::uint64_t{1} << 48U, TableReader::required).value_or(1);
    g.seed = reader.number("seed", 0, INT64_MAX).value_or(1);
    for (const char* key : {"module", "modules", "kernel", "shared_bytes", "cooperative", "argument",
                            "registers", "cluster", "non_portable_cluster", "carveout"})
      if (const Member* m = reader.find(key))
        reader.fault(m->place, m->key + ": is for modules, and this launch has a generator");
    g.grid = l.grid;
    g.block = l.block;
    l.kernel = g.kind;
    l.kernel_place = kind->place;
    l.generator = std::move(g);
  }

  /// Launches that run at the same time are each on a GPU of their own.
  void concurrent(TableReader& reader, Launch& l) {
    l.concurrent = reader.boolean("concurrent").value_or(false);
    if (!l.concurrent) return;
    const Place place = reader.find("concurrent")->place;
    if (out_.launches.empty()) return reader.fault(place, "concurrent: there is no launch before this one");
    for (std::size_t n = out_.launches.size(); n-- != 0;) {
      if (out_.launches[n].gpu == l.gpu)
        return reader.fault(place, "concurrent: GPU " + std::to_string(l.gpu) +
                                       " runs a launch at that time; say another (gpu = 1)");
      if (!out_.launches[n].concurrent) return;
    }
  }

  /// A launch that may begin before the one it depends on has ended.
  void dependent(TableReader& reader, Launch& l) {
    l.dependent = reader.boolean("dependent").value_or(false);
    if (!l.dependent) return;
    const Place place = reader.find("dependent")->place;
    const auto refuse = [&](const std::string& why) { reader.fault(place, "dependent: " + why); };
    if (out_.launches.empty()) return refuse("there is no launch before this one");
    const Launch& before = out_.launches.back();
    if (before.gpu != l.gpu)
      return refuse("the launch before this one runs on GPU " + std::to_string(before.gpu) +
                    ", and this one on GPU " + std::to_string(l.gpu));
    if (l.concurrent || before.concurrent) return refuse("does not go with concurrent");
    if (!l.invalidate_l1)
      return refuse("does not go with invalidate_l1 = false: griddepcontrol.wait invalidates L1");
    for (const Launch* launch : {&before, static_cast<const Launch*>(&l)})
      if (launch->generator ||
          (launch->module < out_.modules.size() && ends_with(out_.modules[launch->module].path, ".wls")))
        return refuse("is for kernels in PTX, after others in PTX");
  }

  /// One to three extents, each at least 1.
  std::optional<Dim3> extents(TableReader& reader, const char* key, const std::uint64_t (&limits)[3],
                              bool may_lack, Place& place) {
    const Member* m = reader.find(key, may_lack ? TableReader::optional : TableReader::required);
    if (m == nullptr) return std::nullopt;
    place = m->value.place;
    if (m->value.kind != Value::Kind::array || m->value.items.empty() || m->value.items.size() > 3) {
      reader.fault(place, std::string(key) + ": must be an array of one to three integers");
      return Dim3{};
    }
    std::uint32_t sizes[3] = {1, 1, 1};
    for (std::size_t d = 0; d < m->value.items.size(); ++d) {
      const Value& v = m->value.items[d];
      if (v.kind != Value::Kind::integer || v.integer < 1 ||
          static_cast<std::uint64_t>(v.integer) > limits[d]) {
        reader.fault(v.place, std::string(key) + ": " + "xyz"[d] + " must be an integer from 1 to " +
                                  std::to_string(limits[d]));
      } else {
        sizes[d] = static_cast<std::uint32_t>(v.integer);
      }
    }
    return Dim3{sizes[0], sizes[1], sizes[2]};
  }

  /// Reads a module on its first mention.
  std::size_t module_number(const std::string& name, Place place) {
    const std::string path = resolve_beside(path_, name);
    if (const auto known = known_module(path, false)) return *known;
    out_.modules.push_back(read_module("module", path, place));
    return out_.modules.size() - 1;
  }

  [[nodiscard]] std::optional<std::size_t> known_module(const std::string& path, bool linked) const {
    for (std::size_t n = 0; n < out_.modules.size(); ++n)
      if (out_.modules[n].path == path && out_.modules[n].parts.empty() != linked) return n;
    return std::nullopt;
  }

  ModuleText read_module(const char* key, const std::string& path, Place place) {
    Result<std::string> text = read_file(path);
    if (!text.ok())
      faults_.push_back(
          document_->fault(place, std::string(key) + ": " + path + " " + text.faults().front().message));
    return {path, text.ok() ? std::move(text.value()) : std::string{}, place, {}};
  }

  /// modules = ["a.ptx", "b.ptx"]: PTX texts that are linked.
  std::size_t linked_number(TableReader& reader, const Member& modules) {
    ModuleText linked;
    linked.place = modules.value.place;
    const std::size_t faults_before = faults_.size();
    if (modules.value.kind != Value::Kind::array || modules.value.items.empty())
      reader.fault(modules.value.place, "modules: must be an array of paths, one at least");
    std::vector<std::pair<std::string, Place>> paths;
    for (const Value& v : modules.value.items) {
      if (v.kind != Value::Kind::text) {
        reader.fault(v.place, "modules: must be an array of paths");
        continue;
      }
      const std::string path = resolve_beside(path_, v.text);
      if (ends_with(path, ".wls"))
        reader.fault(v.place, "modules: " + path + " is no PTX, and cannot be linked");
      for (const auto& [other, place] : paths)
        if (other == path) reader.fault(v.place, "modules: " + path + " stands here twice");
      paths.emplace_back(path, v.place);
      linked.path += (linked.path.empty() ? "" : " + ") + path;
    }
    if (faults_.size() != faults_before) return 0;
    if (const auto known = known_module(linked.path, true)) return *known;
    for (const auto& [path, place] : paths) linked.parts.push_back(read_module("modules", path, place));
    out_.modules.push_back(std::move(linked));
    return out_.modules.size() - 1;
  }

  /// No GPU reaches another's video memory: neither its buffers nor the variables of a module that lie there.
  void check_reach() {
    for (const Launch& l : out_.launches)
      for (const Argument& argument : l.arguments)
        argument.for_each_part([&](const Argument& a, std::uint32_t) { check_reach(l, a); });
  }

  void check_reach(const Launch& l, const Argument& a) {
    if (a.kind == Argument::Kind::multicast) return check_part(l, a);
    std::size_t number = a.number;
    if (a.kind == Argument::Kind::image) {
      number = out_.images[a.number].buffer;
    } else if (a.kind == Argument::Kind::tensor_map) {
      number = out_.tensor_maps[a.number].buffer;
    } else if (a.kind != Argument::Kind::buffer) {
      return;
    }
    if (number >= out_.buffers.size()) return;
    const Buffer& b = out_.buffers[number];
    if (b.aperture == Aperture::vidmem && b.gpu != l.gpu)
      faults_.push_back(document_->fault(a.place,
                                         "buffer \"" + b.name + "\" lies in the video memory of GPU " +
                                             std::to_string(b.gpu) + ", which GPU " + std::to_string(l.gpu) +
                                             " does not reach",
                                         "all reach buffers of aperture = \"sysmem\" or \"peer\""));
  }

  /// A GPU that has no part of a multicast object does not reach it.
  void check_part(const Launch& l, const Argument& a) {
    const LaunchMulticast& multicast = out_.multicasts[a.number];
    for (const std::size_t b : multicast.buffers)
      if (out_.buffers[b].gpu == l.gpu) return;
    if (multicast.buffers.empty()) return;  // which was said
    faults_.push_back(document_->fault(
        multicast.place,
        "multimem: GPU " + std::to_string(l.gpu) + " has no part of it, and does not reach it",
        "give it a buffer there: { buffer = \"...\", gpu = " + std::to_string(l.gpu) +
            ", type = ..., count = ... }"));
  }

  std::string path_;
  std::shared_ptr<const Document> document_;
  LaunchFile out_;
  Diagnostics faults_;
  ArgumentReader arguments_;
  HostSteps host_steps_;
};

}  // namespace

std::size_t Argument::alignment() const {
  switch (kind) {
    case Kind::bytes: return 1;
    case Kind::scalar: return std::max<std::size_t>(bytes.size(), 1);
    case Kind::structure: break;
    case Kind::tensor_map: return TensorMap::kAlignment;
    default: return sizeof(std::uint64_t);
  }
  std::size_t most = 1;
  for (const Argument& m : members) most = std::max(most, m.alignment());
  return most;
}

std::size_t Argument::size() const {
  if (kind == Kind::scalar || kind == Kind::bytes) return bytes.size();
  if (kind == Kind::tensor_map) return TensorMap::kBytes;
  if (kind != Kind::structure) return sizeof(std::uint64_t);
  return members.empty() ? 0 : align_up(members.back().at + members.back().size(), alignment());
}

std::vector<LaunchFile::HostNeed> LaunchFile::host_needs() const {
  std::vector<HostNeed> needs;
  const auto note = [&needs](Place place, std::optional<DeviceName> device) {
    const auto is_alike = [&device](const HostNeed& n) {
      return n.device.has_value() == device.has_value() && (!device || n.device->kind == device->kind);
    };
    const auto known = std::find_if(needs.begin(), needs.end(), is_alike);
    if (known == needs.end()) {
      // A step that names no device comes last.
      needs.insert(device ? needs.begin() : needs.end(), HostNeed{place, device});
    } else if (device && device->number > known->device->number) {
      *known = {place, device};
    }
  };
  const auto note_value = [&](const HostValue& v) {
    if (v.bus) note(v.bus->place, v.bus->device);
  };
  for (const DeviceAddress& a : addresses) note(a.place, a.where ? a.where->device : a.bus->device);
  for (const LaunchRegister& r : registers) {
    note(r.where.place, r.where.device);
    if (r.initial) note_value(*r.initial);
  }
  for (const Launch& l : launches)
    for (const HostStep& s : l.host) {
      if (s.target.device) {
        note(s.place, s.target.device->device);
      } else {
        note(s.place, s.kind == HostStep::Kind::interrupt ? std::optional(s.device) : std::nullopt);
      }
      if (s.value) note_value(*s.value);
    }
  return needs;
}

Result<LaunchFile> parse_launch_file(const std::string& path, std::string_view text) {
  Result<Document> document = Document::parse(path, text);
  if (!document.ok()) return document.faults();
  return LaunchFileReader(path, std::move(document.value())).run();
}

Result<LaunchFile> load_launch_file(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) return text.faults();
  return parse_launch_file(path, text.value());
}

}  // namespace warpline
