#include "platform/systemc/gpu_module.h"

#include <algorithm>
#include <stdexcept>

#include "platform/systemc/slice_maker_module.h"
#include "rtl_models/tlm/debug_access.h"

namespace warpline {
namespace {

std::string numbered(const char* name, unsigned i) {
  return std::string(name) + "_" + std::to_string(i);
}

}  // namespace

GpuModule::Cluster::Cluster(unsigned i, EngineProcess& engine, Netlist::SmCluster& blocks, bool with_data)
    : sm(numbered("sm", i).c_str(), engine, borrowed(*blocks.sm), with_data),
      l1_lg(numbered("l1_lg", i).c_str(), engine, borrowed(*blocks.l1_lg), with_data),
      texture(numbered("texture", i).c_str(), engine, borrowed(*blocks.texture), with_data),
      constant(numbered("constant", i).c_str(), engine, borrowed(*blocks.constant), with_data),
      instruction(numbered("instruction", i).c_str(), engine, borrowed(*blocks.instruction), with_data) {}

GpuModule::GpuModule(const sc_core::sc_module_name& name, EngineProcess& engine, Netlist& netlist,
                     const SliceMaker& make_slice, const std::vector<std::string>& pins,
                     const Interposer& interpose)
    : sc_module(name),
      engine_(engine),
      crossbar_("crossbar", engine, borrowed(netlist.crossbar()), netlist.crossbar_clients(),
                netlist.config().l2.slices, netlist.sysmem() != nullptr),
      pcie_("pcie", engine, borrowed(netlist.link()), netlist.sysmem(), netlist.config().l2.slices) {
  const GpuConfig& config = netlist.config();
  const bool with_data = netlist.sysmem() != nullptr;
  std::unordered_map<const void*, InitiatorSocket*> initiators;
  Targets targets;
  for (unsigned i = 0; i < config.sms; ++i) {
    Netlist::SmCluster& blocks = netlist.clusters()[i];
    Cluster& c = clusters_.emplace_back(i, engine, blocks, with_data);
    initiators[&blocks.sm->to_l1_lg] = &c.sm.to_l1_lg;
    initiators[&blocks.sm->to_texture] = &c.sm.to_texture;
    initiators[&blocks.sm->to_constant] = &c.sm.to_constant;
    initiators[&blocks.sm->to_instruction] = &c.sm.to_instruction;
    initiators[&blocks.l1_lg->to_crossbar] = &c.l1_lg.to_crossbar;
    initiators[&blocks.texture->to_crossbar] = &c.texture.to_crossbar;
    initiators[&blocks.constant->to_crossbar] = &c.constant.to_crossbar;
    initiators[&blocks.instruction->to_crossbar] = &c.instruction.to_crossbar;
    targets[&blocks.l1_lg->from_sm] = &c.l1_lg.from_sm;
    targets[&blocks.texture->from_sm] = &c.texture.from_sm;
    targets[&blocks.constant->from_sm] = &c.constant.from_sm;
    targets[&blocks.instruction->from_sm] = &c.instruction.from_sm;
  }
  for (unsigned i = 0; i < netlist.crossbar_clients(); ++i)
    targets[&netlist.crossbar().from_client(i)] = &crossbar_.from_client[i];
  if (Inbound* in = netlist.link().inbound(); in != nullptr)
    initiators[&in->to_crossbar] = &pcie_.to_crossbar.front();
  for (unsigned i = 0; i < config.l2.slices; ++i) {
    targets[&netlist.link().from_l2(i)] = &pcie_.from_l2[i];
    if (netlist.lacks_slices()) continue;
    L2Slice& slice = netlist.slice(i);
    L2SliceModule& m = slices_.emplace_back(numbered("l2", i).c_str(), engine, borrowed(slice), with_data);
    initiators[&netlist.crossbar().to_l2(i)] = &crossbar_.to_l2[i];
    initiators[&slice.to_pcie] = &m.to_pcie;
    for (std::size_t k = 0; k < slice.to_dram.size(); ++k) initiators[&slice.to_dram[k]] = &m.to_dram[k];
    targets[&slice.from_crossbar] = &m.from_crossbar;
  }
  for (unsigned i = 0; i < config.dram.channels; ++i) {
    const unsigned inputs = netlist.channel_inputs(i);
    DramModule& m =
        channels_.emplace_back(numbered("dram", i).c_str(), engine, borrowed(netlist.channel(i)), inputs);
    for (unsigned k = 0; k < inputs; ++k) targets[&netlist.channel(i).from_l2(k)] = &m.from_l2[k];
  }
  netlist.for_each_hop([&](const Hop& h) {
    const auto matched = [&h](const std::string& pattern) { return h.matches(pattern); };
    bind_hop(h, *initiators.at(&h.request_out), *targets.at(&h.request_in),
             std::any_of(pins.begin(), pins.end(), matched), interpose);
  });
  if (!netlist.lacks_slices()) return;
  std::vector<unsigned> used(config.dram.channels, 0);
  for (unsigned s = 0; s < config.l2.slices; ++s)
    bind_foreign_slice(s, netlist, make_slice, interpose, targets, used);
}

void GpuModule::bind_hop(const Hop& h, InitiatorSocket& initiator, TargetSocket& target, bool pins,
                         const Interposer& interpose) {
  initiator.set_channel(h.parameters.response, h.response_out.owner().domain());
  target.set_channel(h.parameters.request, h.request_out.owner().domain());
  if (!bind_interposed(interpose, hop_site(h.name(), h.request_out.path()), initiator, target)) {
    initiator.bind(target);
    if (pins) open_as_pins(h, initiator, target);
  } else if (pins) {
    throw std::invalid_argument(h.name() + ": a hop is opened as pins or has a module put into it, not both");
  }
}

void GpuModule::open_as_pins(const Hop& h, InitiatorSocket& initiator, TargetSocket& target) {
  const InitiatorSocket::Ports from = initiator.hand_over();
  const TargetSocket::Ports to = target.hand_over();
  pins_.push_back(std::make_unique<PinHop>(
      hop_site(h.name(), h.request_out.path()).module_name.c_str(), engine_, h.name(),
      PinHop::Ports{h.request_out, h.request_in, h.response_out, h.response_in, h.parameters},
      from.with_data && to.with_data));
}

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
