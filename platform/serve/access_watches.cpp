#include "platform/serve/access_watches.h"

#include "platform/machine/pcie_system.h"
#include "rtl_models/base/text.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"

namespace warpline {

AccessWatches::AccessWatches(PcieSystem& system) : system_(system) {
  watches_.reserve(system.ports());
  for (unsigned i = 0; i < system.ports(); ++i) {
    const PcieSystem::AtPort at = system.at_port(i);
    AccessWatch& watch =
        watches_.emplace_back(at.name, at.function.registers().map(), at.function.register_bar());
    at.watched.watch([&watch](const BusAccess& access) { watch.note(access); });
  }
}

std::vector<std::string> AccessWatches::findings() const {
  std::vector<std::string> out;
  for (const AccessWatch& watch : watches_)
    for (std::string& finding : watch.findings()) out.push_back(std::move(finding));
  const std::vector<std::string> refused = system_.refused_accesses();
  out.insert(out.end(), refused.begin(), refused.end());
  if (const std::uint64_t more = system_.refusals() - refused.size(); more != 0)
    out.push_back("and " + counted(more, "refused access"));
  return out;
}

}  // namespace warpline
