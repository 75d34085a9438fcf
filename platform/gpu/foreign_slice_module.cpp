// The L2 slices of somebody else's in a GPU of ours.
#include "warpline/gpu/foreign_slice_module.h"

#include <stdexcept>

#include "warpline/gpu/gpu_module.h"

namespace warpline {

void GpuModule::bind_foreign_slice(unsigned s, Netlist& netlist, const SliceMaker& make_slice,
                                   const Interposer& interpose, const Targets& targets,
                                   std::vector<unsigned>& used) {
  const GpuConfig& config = netlist.config();
  const std::vector<unsigned> channels = dram_channels_of(config, s);
  SliceSite site;
  site.index = s;
  site.name = socket_name("l2", s);
  site.dram_channels = static_cast<unsigned>(channels.size());
  site.slices = config.l2.slices;
  site.mhz = config.clocks.l2;
  if (netlist.vidmem() != nullptr) {
    site.vidmem = netlist.vidmem()->at(0);
    site.vidmem_bytes = netlist.vidmem()->size();
  }
  const SliceSockets sockets = make_slice(site);
  if (sockets.from_crossbar == nullptr)
    throw std::invalid_argument(site.name + ": an L2 slice needs a socket from_crossbar");
  if (!sockets.to_dram.empty() && sockets.to_dram.size() != channels.size())
    throw std::invalid_argument(site.name + ": an L2 slice has no socket to_dram, or one for each of its " +
                                std::to_string(channels.size()) + " channels, not " +
                                std::to_string(sockets.to_dram.size()));
  const std::string slice = "l2[" + std::to_string(s) + "]";
  InitiatorSocket& to_slice = crossbar_.to_l2[s];
  to_slice.set_channel(config.hops.crossbar_l2.response, netlist.crossbar().domain());
  if (!bind_interposed(interpose, hop_site(slice + ".from_crossbar", netlist.crossbar().to_l2(s).path()),
                       to_slice, *sockets.from_crossbar))
    to_slice.bind(*sockets.from_crossbar);
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const In<RequestMessage>& port = netlist.channel(channels[k]).from_l2(used[channels[k]]++);
    bind_foreign(sockets.to_dram.empty() ? nullptr : sockets.to_dram[k], *targets.at(&port),
                 hop_site(port.path(), slice + ".to_dram[" + std::to_string(k) + "]"),
                 config.hops.l2_dram.request, interpose);
  }
  const In<RequestMessage>& link = netlist.link().from_l2(s);
  bind_foreign(sockets.to_pcie, *targets.at(&link), hop_site(link.path(), slice + ".to_pcie"),
               config.hops.l2_pcie.request, interpose);
}

void GpuModule::bind_foreign(tlm::tlm_base_initiator_socket_b<kBusBits>* initiator, TargetSocket& target,
                             const HopSite& site, const ChannelParameters& request,
                             const Interposer& interpose) {
  target.set_channel(request, crossbar_.crossbar().domain());
  if (initiator == nullptr) {
    target.bind(idle_.emplace_back(socket_name("idle", idle_.size()).c_str()));
  } else if (!bind_interposed(interpose, site, *initiator, target)) {
    target.bind(*initiator);
  }
}

}  // namespace warpline
