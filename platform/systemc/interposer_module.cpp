#include "platform/systemc/interposer_module.h"

#include <stdexcept>

#include "rtl_models/base/glob.h"
#include "rtl_models/tlm/sockets.h"

namespace warpline {
bool HopSite::matches(const std::string& pattern) const {
  return glob_matches(pattern, name) || glob_matches(pattern, sender);
}

HopSite hop_site(const std::string& receiver, const std::string& sender) {
  HopSite site{receiver, sender, {}};
  for (const char c : receiver)
    if (c != ']') site.module_name += c == '.' || c == '[' ? '_' : c;
  return site;
}

void bind_sockets(tlm::tlm_base_initiator_socket_b<256>& initiator,
                  tlm::tlm_base_target_socket_b<256>& target) {
  if (auto* ours = dynamic_cast<InitiatorSocket*>(&initiator); ours != nullptr) {
    ours->bind(target);  // which remembers the name for its reports
    return;
  }
  initiator.get_base_port()(target.get_base_interface());
  target.get_base_port()(initiator.get_base_interface());
}

bool bind_interposed(const Interposer& interpose, const HopSite& site,
                     tlm::tlm_base_initiator_socket_b<256>& initiator,
                     tlm::tlm_base_target_socket_b<256>& target) {
  if (!interpose) return false;
  const HopSockets sockets = interpose(site);
  if (sockets.from_initiator == nullptr && sockets.to_target == nullptr) return false;
  if (sockets.from_initiator == nullptr || sockets.to_target == nullptr)
    throw std::invalid_argument(site.name + ": what stands in a hop needs both sockets, and lacks " +
                                (sockets.to_target == nullptr ? "to_target" : "from_initiator"));
  bind_sockets(initiator, *sockets.from_initiator);
  bind_sockets(*sockets.to_target, target);
  return true;
}

}  // namespace warpline
