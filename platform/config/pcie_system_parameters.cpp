#include "platform/config/pcie_system_parameters.h"

namespace warpline {

Problems PcieSystemParameters::problems(const std::string& path) const {
  Rules rules(path);
  rules.need(peers <= kMaxPeers, "peers", "must be at most 8");
  rules.add_tables(*this);
  return rules.take();
}

}  // namespace warpline
