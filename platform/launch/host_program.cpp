#include "platform/launch/host_program.h"

#include "platform/launch/launch_file.h"

namespace warpline {

std::optional<LaunchFile::HostNeed> LaunchFile::host_need() const {
  std::optional<HostNeed> need;
  const auto note = [&need](Place place, unsigned device) {
    if (!need || device > need->device) need = HostNeed{place, device};
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
      note(s.place, s.target.device ? s.target.device->device : s.device);
      if (s.value) note_value(*s.value);
    }
  return need;
}

}  // namespace warpline
