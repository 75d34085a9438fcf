#include "platform/machine/device_log.h"

#include "platform/machine/pcie_system.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {

std::string device_log(const PcieSystem& system, const std::vector<std::uint64_t>& begins, bool json) {
  std::string out;
  const auto add = [&](const std::string& line) {
    out += (json && !out.empty() ? ",\n" : "") + line + (json ? "" : "\n");
  };
  for (unsigned i = 0; i < system.ports(); ++i) {
    const PcieSystem::AtPort at = system.at_port(i);
    const EndpointFunction& function = at.function;
    const AccessLog& log = function.log();
    const std::string& device = at.name;
    const std::uint64_t begin = i < begins.size() ? begins[i] : 0;
    const std::uint64_t forgotten = log.forgotten();
    if (forgotten > begin)
      add(json ? "{\"device\": \"" + device + "\", \"forgotten\": " + std::to_string(forgotten - begin) + "}"
               : device + "  " + std::to_string(forgotten - begin) +
                     " older accesses were forgotten (pcie_system.peer.log_entries)");
    std::uint64_t number = forgotten;
    for (const BusAccess& access : log.entries()) {
      if (number++ < begin) continue;
      const RegisterMap* const map =
          access.bar == function.register_bar() ? &function.registers().map() : nullptr;
      add(json ? "{\"device\": \"" + device + "\", " + to_json(access, map).substr(1)
               : device + "  " + to_text(access, map));
    }
  }
  return json ? "[\n" + out + "\n]\n" : out;
}

}  // namespace warpline
