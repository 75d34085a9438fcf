#include "platform/config/pcie_system_parameters.h"

namespace warpline {

Problems PcieSystemParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(peers <= kMaxPeers, "peers", "must be at most 8");
  rules.add(root.problems(path + ".root"));
  rules.add(bridge.problems(path + ".bridge"));
  rules.add(host.problems(path + ".host"));
  rules.add(device.problems(path + ".device"));
  rules.add(gpu.problems(path + ".gpu"));
  rules.add(peer.problems(path + ".peer"));
  return rules.take();
}

}  // namespace warpline
