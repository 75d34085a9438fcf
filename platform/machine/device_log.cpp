#include "platform/machine/device_log.h"

#include "platform/machine/pcie_system.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/registers/peer.h"

namespace warpline {

std::string device_log(const PcieSystem& system, const std::vector<std::uint64_t>& begins, bool json) {
  std::string out;
  const auto add = [&](const std::string& line) {
    out += (json && !out.empty() ? ",\n" : "") + line + (json ? "" : "\n");
  };
  for (unsigned i = 0; i < system.peers(); ++i) {
    const AccessLog& log = system.peer(i).core().log();
    const std::string& device = system.peer(i).name();
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
          access.bar == QueueDeviceCore::kRegisterBar ? &regs::peer::kMap : nullptr;
      add(json ? "{\"device\": \"" + device + "\", " + to_json(access, map).substr(1)
               : device + "  " + to_text(access, map));
    }
  }
  return json ? "[\n" + out + "\n]\n" : out;
}

}  // namespace warpline
