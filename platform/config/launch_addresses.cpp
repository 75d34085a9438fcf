// Arguments that are addresses of devices, and for them.
#include <algorithm>

#include "warpline/config/launch_arguments.h"

namespace warpline {

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

}  // namespace warpline
