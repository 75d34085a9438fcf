#include "platform/launch/host_reader.h"

#include <tuple>

#include "platform/launch/element.h"
#include "platform/launch/launch_tables.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::uint64_t kMaxDelay = std::uint64_t{1} << 32U;

DataType type_of_register(const DevicePlace& place) {
  return place.bytes == 8 ? DataType::u64 : DataType::u32;
}

/// "flags[3]": the number in the brackets.
std::optional<std::uint64_t> index_in(std::string_view text, std::size_t bracket) {
  if (text.back() != ']') return std::nullopt;
  return number_from<std::uint64_t>(text.substr(bracket + 1, text.size() - bracket - 2));
}

class HostReader {
 public:
  HostReader(const Document& document, LaunchFile& out, Diagnostics& faults)
      : document_(document), out_(out), faults_(faults) {}

  void read_steps(const Member& steps, Launch& launch) {
    if (steps.value.kind == Value::Kind::array && launch.concurrent)
      return fault(steps.place, "host: belongs to the first of the launches that run at the same time");
    each_table(document_, steps, "a table", faults_, [&](const Value& table) { read_step(table, launch); });
  }

  void read_registers(const Member& registers) {
    each_table(document_, registers, "[[register]] tables", faults_,
               [&](const Value& table) { read_register(table); });
  }

  /// Says so where a bus address names a buffer that devices do not reach.
  void check(const BusAddress& bus) {
    const Buffer& buffer = out_.buffers[bus.buffer];
    if (is_reached(buffer, bus.place, "bus") && bus.offset >= buffer.bytes())
      fault(bus.offset_place,
            "offset: buffer \"" + buffer.name + "\" has " + counted(buffer.bytes(), "byte"));
  }

 private:
  /// Makes known what steps say that read or write something.
  static void know_values(TableReader& reader) {
    for (const char* key : {"value", "at_least", "mask", "type"}) reader.find(key);
  }

  void read_step(const Value& table, Launch& launch) {
    TableReader reader(document_, table, table.place, "[[host]]", faults_);
    HostStep step;
    step.place = table.place;
    const Member* action = only_one(reader, "[[host]]", {"write", "read", "wait", "interrupt", "delay"});
    if (action == nullptr) {
      know_values(reader);
      return reader.finish();
    }
    step.place = action->place;
    if (action->key == "delay") {
      step.kind = HostStep::Kind::delay;
      step.cycles = reader.number("delay", 1, kMaxDelay).value_or(1);
    } else if (action->key == "interrupt") {
      step.kind = HostStep::Kind::interrupt;
      if (const auto vector = read_vector(document_, *action, faults_))
        std::tie(step.device, step.vector) = *vector;
    } else {
      step.kind = action->key == "write"  ? HostStep::Kind::write
                  : action->key == "read" ? HostStep::Kind::read
                                          : HostStep::Kind::wait;
      if (read_target(reader, *action, step.target)) {
        read_comparison(reader, step);
      } else {
        know_values(reader);
      }
    }
    reader.finish();
    launch.host.push_back(std::move(step));
  }

  /// What is written, waited for or expected.
  void read_comparison(TableReader& reader, HostStep& step) {
    using Kind = HostStep::Kind;
    const HostTarget& target = step.target;
    const DevicePlace* const device = target.device ? &*target.device : nullptr;
    const Member* value =
        reader.find("value", step.kind == Kind::write ? TableReader::required : TableReader::optional);
    const Member* least = step.kind == Kind::wait ? reader.find("at_least") : nullptr;
    if (step.kind == Kind::wait && (value == nullptr) == (least == nullptr))
      return reader.fault(step.place, "wait: must say exactly one of value, at_least");
    const Member* mask = step.kind == Kind::write || least != nullptr ? nullptr : reader.find("mask");
    if (const Member* m = value != nullptr ? value : least) step.value = read_value(*m, target.type, device);
    step.at_least = least != nullptr;
    if (mask == nullptr) return;
    if (value == nullptr) return reader.fault(mask->place, "mask: is for a value to be compared with");
    if (is_float(target.type)) return reader.fault(mask->place, "mask: is for integers");
    const bool is_known = step.value && !step.value->bus;
    step.mask = read_mask(*mask, target.type, *value, is_known ? step.value->bits : 0);
  }

  /// `bits`: what is wanted by member `wanted`.
  std::uint64_t read_mask(const Member& mask, DataType type, const Member& wanted, std::uint64_t bits) {
    const auto out = read_element(document_, mask, type, faults_);
    if (out == 0U) {
      fault(mask.value.place, "mask: 0 leaves nothing to compare");
    } else if (out && (bits & ~*out) != 0) {
      fault(wanted.value.place, wanted.key + ": has bits that the mask leaves out");
    }
    return out.value_or(0);
  }

  bool read_target(TableReader& reader, const Member& member, HostTarget& target) {
    target.text = member.value.text;
    if (member.value.kind == Value::Kind::text && !names_device(member.value.text))
      return read_buffer_element(member, target);
    target.device = read_device_place(document_, member, faults_);
    if (!target.device) return false;
    read_type(reader, member, target);
    return true;
  }

  /// A register has its size; of a BAR as many bytes are meant as the type says.
  void read_type(TableReader& reader, const Member& member, HostTarget& target) {
    if (target.device->bytes != 0) {
      target.type = type_of_register(*target.device);
      return;
    }
    const auto text = reader.text("type", TableReader::required);
    if (!text) return;
    target.type = element_type_from(*text);
    if (target.type == DataType::none) {
      target.type = DataType::u32;
      return reader.fault(reader.find("type")->value.place, "type: \"" + *text + "\" is no type of elements",
                          did_you_mean(*text, element_type_names()));
    }
    if (target.device->offset % size_of(target.type) != 0)
      reader.fault(member.value.place, member.key + ": the offset is no multiple of the size of a " + *text);
  }

  bool read_buffer_element(const Member& member, HostTarget& target) {
    const std::string& text = target.text;
    const Place place = member.value.place;
    const std::size_t bracket = text.find('[');
    const auto index = bracket == std::string::npos ? std::nullopt : index_in(text, bracket);
    if (!index) {
      fault(place,
            member.key + ": \"" + text + "\" is neither an element of a buffer nor a place in a device",
            "an element is \"flags[0]\", a register \"peer[0].SCRATCH[1]\"");
      return false;
    }
    const Place name = document_.inside(place, text, 0, bracket);
    const auto number = find_buffer(text.substr(0, bracket), name, member.key);
    if (!number) return false;
    const Buffer& buffer = out_.buffers[*number];
    if (!is_reached(buffer, name, member.key)) return false;
    if (*index >= buffer.count) {
      fault(
          document_.inside(place, text, bracket, text.size() - bracket),
          member.key + ": buffer \"" + buffer.name + "\" has " + std::to_string(buffer.count) + " elements");
      return false;
    }
    target.buffer = *number;
    target.element = *index;
    target.type = buffer.type;
    return true;
  }

  void read_register(const Value& table) {
    TableReader reader(document_, table, table.place, "[[register]]", faults_);
    LaunchRegister out;
    const Member* name = reader.find("name", TableReader::required);
    const Member* initial = reader.find("init");
    const Member* expect = reader.find("expect");
    const Member* mask = reader.find("mask");
    reader.finish();
    if (name == nullptr) return;
    const auto where = read_device_place(document_, *name, faults_);
    if (!where) return;
    out.where = *where;
    if (out.where.bytes == 0) return fault(name->value.place, "name: must be that of a register, not a BAR");
    if (initial == nullptr && expect == nullptr)
      return fault(name->value.place, "[[register]] must say init, expect or both");
    const DataType type = type_of_register(out.where);
    if (initial != nullptr) out.initial = read_value(*initial, type, &out.where);
    if (mask != nullptr && expect == nullptr) fault(mask->place, "mask: is for what is expected");
    if (expect != nullptr) {
      out.expect = read_element(document_, *expect, type, faults_).value_or(0);
      out.expect_place = expect->place;
      if (mask != nullptr) out.mask = read_mask(*mask, type, *expect, *out.expect);
    }
    for (const LaunchRegister& other : out_.registers)
      if (other.where.device == out.where.device && other.where.offset == out.where.offset)
        fault(name->value.place, "register \"" + out.where.text + "\" stands here twice");
    out_.registers.push_back(std::move(out));
  }

  std::optional<std::size_t> find_buffer(const std::string& name, Place place, const std::string& key) {
    const std::size_t number = out_.buffer_number(name);
    if (number != out_.buffers.size()) return number;
    fault(place, key + ": there is no buffer \"" + name + "\"", did_you_mean(name, names_of(out_.buffers)));
    return std::nullopt;
  }

  bool is_reached(const Buffer& buffer, Place place, const std::string& key) {
    if (buffer.aperture != Aperture::peer) return true;
    fault(place,
          key + ": buffer \"" + buffer.name +
              "\" lies in the plain peer's memory, which no host or device reaches",
          "they reach aperture = \"sysmem\", and \"vidmem\" by the GPU's BAR");
    return false;
  }

  std::optional<HostValue> read_value(const Member& member, DataType type, const DevicePlace* target) {
    HostValue out;
    if (member.value.kind == Value::Kind::table) {
      if (size_of(type) != 8 || is_float(type)) {
        fault(member.value.place,
              member.key + ": a bus address has 8 bytes, and the target is a " + std::string(name_of(type)));
        return std::nullopt;
      }
      out.bus = read_bus(member, target);
      if (!out.bus) return std::nullopt;
      return out;
    }
    const auto bits = read_element(document_, member, type, faults_);
    if (!bits) return std::nullopt;
    out.bits = *bits;
    return out;
  }

  /// { bus = "buffer", offset = 64, device = "peer[0]" }. The device need not be said where it is the
  /// target's.
  std::optional<BusAddress> read_bus(const Member& member, const DevicePlace* target) {
    TableReader reader(document_, member.value, member.place, member.key, faults_);
    BusAddress out;
    out.place = member.place;
    const auto name = reader.text("bus", TableReader::required);
    out.offset = reader.number("offset", 0, INT64_MAX).value_or(0);
    if (const Member* offset = reader.find("offset")) out.offset_place = offset->value.place;
    const Member* device =
        reader.find("device", target == nullptr ? TableReader::required : TableReader::optional);
    if (target != nullptr) out.device = target->device;
    bool known = target != nullptr;
    if (device != nullptr) {
      const auto named = read_device(document_, *device, faults_);
      known = named.has_value();
      out.device = named.value_or(DeviceName{});
    }
    reader.finish();
    if (!name || !known) return std::nullopt;
    out.place = reader.find("bus")->value.place;
    const auto buffer = find_buffer(*name, out.place, "bus");
    if (!buffer) return std::nullopt;
    out.buffer = *buffer;
    check(out);
    return out;
  }

  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }

  const Document& document_;
  LaunchFile& out_;
  Diagnostics& faults_;
};

}  // namespace

void read_host(const Document& document, const HostSteps& steps, const Member* registers, LaunchFile& out,
               Diagnostics& faults) {
  HostReader reader(document, out, faults);
  for (const DeviceAddress& a : out.addresses)
    if (a.bus && a.bus->buffer < out.buffers.size()) reader.check(*a.bus);
  for (const auto& [launch, tables] : steps) reader.read_steps(*tables, out.launches[launch]);
  if (registers != nullptr) reader.read_registers(*registers);
}

}  // namespace warpline
