#include "platform/systemc/link_hops.h"

#include <algorithm>
#include <stdexcept>

#include "platform/machine/link_hop.h"

namespace warpline {

void LinkHops::join(TlpPort& root, TlpPort& other, const Wishes& wishes) {
  connect(root, other, [&](Out<TlpMessage>& out, In<TlpMessage>& in, const ChannelParameters& channel) {
    const LinkHop hop{out, in, channel};
    if (names_.empty() || names_.back() != hop.direction()) names_.push_back(hop.direction());
    bool as_pins = false;
    for (const std::string& pattern : wishes.pins) {
      if (!hop.matches(pattern)) continue;
      as_pins = true;
      matched_.push_back(pattern);
    }
    const HopSite site = hop_site(hop.name(), out.path());
    const HopSockets between = wishes.interpose ? wishes.interpose(site) : HopSockets{};
    const bool foreign = between.from_initiator != nullptr || between.to_target != nullptr;
    if (foreign && as_pins)
      throw std::invalid_argument(hop.name() +
                                  ": a hop is opened as pins or has a module put into it, not both");
    const std::string name = sc_core::sc_gen_unique_name(("link_" + site.module_name).c_str());
    if (as_pins) {
      pins_.emplace_back(name.c_str(), engine_, out, in, channel);
    } else if (foreign || wishes.transport == HopTransport::socket) {
      TlpHopModule& module = sockets_.emplace_back(name.c_str(), engine_, out, in, channel);
      const auto again = [&](const HopSite&) { return between; };
      if (!bind_interposed(again, site, module.to_receiver, module.from_sender))
        module.to_receiver.bind(module.from_sender);
    } else {
      warpline::connect(out, in, channel);
    }
  });
}

bool LinkHops::matched(const std::string& pattern) const {
  return std::find(matched_.begin(), matched_.end(), pattern) != matched_.end();
}

}  // namespace warpline
