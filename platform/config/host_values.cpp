// Buffers that a host and devices reach, and the values that a host handles.
#include <algorithm>

#include "warpline/config/element.h"
#include "warpline/config/host_reader.h"

namespace warpline {

std::optional<std::size_t> HostReader::find_buffer(const std::string& name, Place place,
                                                   const std::string& key) {
  std::vector<std::string> names;
  for (const Buffer& b : out_.buffers) names.push_back(b.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  fault(place, key + ": there is no buffer \"" + name + "\"", did_you_mean(name, names));
  return std::nullopt;
}

bool HostReader::is_reached(const Buffer& buffer, Place place, const std::string& key) {
  if (buffer.aperture != Aperture::peer) return true;
  fault(place,
        key + ": buffer \"" + buffer.name +
            "\" lies in the plain peer's memory, which no host or device reaches",
        "they reach aperture = \"sysmem\", and \"vidmem\" by the GPU's BAR");
  return false;
}

std::optional<HostValue> HostReader::read_value(const Member& member, DataType type,
                                                const DevicePlace* target) {
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
  std::string why;
  const auto bits = element_from(member.value, type, why);
  if (!bits) {
    fault(member.value.place, member.key + ": " + why);
    return std::nullopt;
  }
  out.bits = *bits;
  return out;
}

/// { bus = "buffer", offset = 64, device = "peer[0]" }. The device need not be said where it is the target's.
std::optional<BusAddress> HostReader::read_bus(const Member& member, const DevicePlace* target) {
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
    const auto number = read_device(document_, *device, faults_);
    known = number.has_value();
    out.device = number.value_or(0);
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

void HostReader::check(const BusAddress& bus) {
  const Buffer& buffer = out_.buffers[bus.buffer];
  if (is_reached(buffer, bus.place, "bus") && bus.offset >= buffer.bytes())
    fault(bus.offset_place,
          "offset: buffer \"" + buffer.name + "\" has " + std::to_string(buffer.bytes()) + " bytes");
}

}  // namespace warpline
