#include "platform/machine/device_log.h"

#include <algorithm>

#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {

DeviceLog::DeviceLog(const PcieSystem& system, const std::vector<std::uint64_t>& begins, bool json)
    : system_(system), json_(json) {
  for (unsigned i = 0; i < system.ports(); ++i)
    stretches_.push_back({i < begins.size() ? begins[i] : 0, system.at_port(i).function.log().total()});
}

void DeviceLog::add(std::string& out, const std::string& line) {
  out += json_ ? (begun_ ? ",\n" : "[\n") + line : line + "\n";
  begun_ = true;
}

bool DeviceLog::next(std::string& out, std::size_t most) {
  for (; device_ < stretches_.size(); ++device_) {
    Stretch& stretch = stretches_[device_];
    const PcieSystem::AtPort at = system_.at_port(static_cast<unsigned>(device_));
    const EndpointFunction& function = at.function;
    const std::string& device = at.name;
    const AccessLog& log = function.log();
    const std::uint64_t first = std::min(log.forgotten(), stretch.end);
    if (stretch.next < first) {
      const std::string count = std::to_string(first - stretch.next);
      add(out, json_ ? "{\"device\": \"" + device + "\", \"forgotten\": " + count + "}"
                     : device + "  " + count + " older accesses were forgotten (" + at.log_key + ")");
      stretch.next = first;
    }
    for (; stretch.next < stretch.end; ++stretch.next) {
      if (most-- == 0) return true;
      const BusAccess& access = log.entries()[stretch.next - log.forgotten()];
      const RegisterMap* const map =
          access.bar == function.register_bar() ? &function.registers().map() : nullptr;
      add(out, json_ ? "{\"device\": \"" + device + "\", " + to_json(access, map).substr(1)
                     : device + "  " + to_text(access, map));
    }
  }
  if (json_) out += begun_ ? "\n]\n" : "[\n\n]\n";
  return false;
}

std::string device_log(const PcieSystem& system, const std::vector<std::uint64_t>& begins, bool json) {
  std::string out;
  DeviceLog log(system, begins, json);
  while (log.next(out, AccessLog::kUnlimited)) {
  }
  return out;
}

}  // namespace warpline
