#include "platform/systemc/gpu_module.h"

#include <algorithm>
#include <stdexcept>

#include "platform/systemc/parameter_report.h"
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
      constant(numbered("constant", i).c_str(), engine, borrowed(*blocks.constant), with_data),
      instruction(numbered("instruction", i).c_str(), engine, borrowed(*blocks.instruction), with_data) {
  unsigned number = 0;
  for (L1Lg::Port& port : blocks.l1_lg->more_ports()) {
    TargetSocket& socket =
        more_l1.emplace_back(("l1_lg_" + std::to_string(i) + "_from_sm_" + std::to_string(++number)).c_str(),
                             engine, port.from_sm, port.to_sm, l1_lg);
    socket.set_with_data(with_data);
    socket.set_taken(L1Lg::kTaken);
  }
  if (blocks.texture != nullptr)
    texture.emplace_back(numbered("texture", i).c_str(), engine, borrowed(*blocks.texture), with_data);
}

GpuModule::GpuModule(const sc_core::sc_module_name& name, EngineProcess& engine, Netlist& netlist,
                     std::deque<GpuSwitchModule>& switches, const GpuParts& parts)
    : sc_module(name),
      crossbar_("crossbar", engine, borrowed(netlist.crossbar()), netlist.crossbar_clients(),
                netlist.config().l2.slices, netlist.sysmem() != nullptr, netlist.switches()),
      pcie_("pcie", engine, borrowed(netlist.link()), netlist.sysmem(), netlist.config().l2.slices),
      opener_(engine, parts.openings) {
  const GpuConfig& config = netlist.config();
  const bool with_data = netlist.sysmem() != nullptr;
  std::unordered_map<const void*, InitiatorSocket*> initiators;
  Targets targets;
  for (unsigned i = 0; i < config.sms; ++i) {
    Netlist::SmCluster& blocks = netlist.clusters()[i];
    Cluster& c = clusters_.emplace_back(i, engine, blocks, with_data);
    initiators[&blocks.sm->to_l1_lg] = &c.sm.to_l1_lg;
    if (blocks.texture != nullptr) initiators[&blocks.sm->to_texture] = &c.sm.to_texture.front();
    initiators[&blocks.sm->to_constant] = &c.sm.to_constant;
    initiators[&blocks.sm->to_instruction] = &c.sm.to_instruction;
    initiators[&blocks.sm->to_crossbar] = &c.sm.to_crossbar;
    initiators[&blocks.l1_lg->to_crossbar] = &c.l1_lg.to_crossbar;
    if (blocks.texture != nullptr) {
      initiators[&blocks.texture->to_crossbar] = &c.texture.front().to_crossbar;
      targets[&blocks.texture->from_sm] = &c.texture.front().from_sm;
    }
    initiators[&blocks.constant->to_crossbar] = &c.constant.to_crossbar;
    initiators[&blocks.instruction->to_crossbar] = &c.instruction.to_crossbar;
    targets[&blocks.l1_lg->from_sm] = &c.l1_lg.from_sm;
    for (std::size_t k = 0; k < c.more_l1.size(); ++k) {
      initiators[&blocks.sm->more_l1_ports()[k].to_l1_lg] = &c.sm.more_to_l1_lg[k];
      targets[&blocks.l1_lg->more_ports()[k].from_sm] = &c.more_l1[k];
    }
    targets[&blocks.constant->from_sm] = &c.constant.from_sm;
    targets[&blocks.instruction->from_sm] = &c.instruction.from_sm;
    if (Sm::Network* n = blocks.sm->network(); n != nullptr) {
      initiators[&n->to_network] = &c.sm.to_network.front();
      targets[&n->from_cluster] = &c.sm.from_network.front();
    }
  }
  if (SmNetwork* n = netlist.sm_network(); n != nullptr) {
    SmNetworkModule& m = sm_network_.emplace_back("sm_network", engine, borrowed(*n), config.sms, with_data);
    for (unsigned i = 0; i < config.sms; ++i) {
      targets[&n->from_sm(i)] = &m.from_sm[i];
      initiators[&n->to_shared(i)] = &m.to_shared[i];
    }
  }
  for (unsigned i = 0; i < netlist.crossbar_clients(); ++i)
    targets[&netlist.crossbar().from_client(i)] = &crossbar_.from_client[i];
  if (Inbound* in = netlist.link().inbound(); in != nullptr)
    initiators[&in->to_crossbar] = &pcie_.to_crossbar.front();
  for (unsigned k = 0; k < netlist.switches(); ++k) {
    GpuSwitch& s = *netlist.place().switches[k];
    const unsigned gpu = netlist.place().number;
    initiators[&netlist.crossbar().to_switch(k)] = &crossbar_.to_switch[k];
    targets[&s.from_gpu(gpu)] = &switches[k].from_gpu[gpu];
    initiators[&s.to_replica(gpu)] = &switches[k].to_replica[gpu];
  }
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
  for (unsigned i = 0; i < config.dram.channels && !netlist.lacks_channels(); ++i) {
    const unsigned inputs = netlist.channel_inputs(i);
    DramModule& m =
        channels_.emplace_back(numbered("dram", i).c_str(), engine, borrowed(netlist.channel(i)), inputs);
    for (unsigned k = 0; k < inputs; ++k) targets[&netlist.channel(i).from_l2(k)] = &m.from_l2[k];
  }
  netlist.for_each_hop([&](const Hop& h) {
    const auto matched = [&h](const std::string& pattern) { return h.matches(pattern); };
    bind_hop(h, *initiators.at(&h.request_out), *targets.at(&h.request_in),
             std::any_of(parts.pins.begin(), parts.pins.end(), matched), parts.interpose);
  });
  used_inputs_.assign(config.dram.channels, 0);
  if (netlist.lacks_channels()) make_foreign_dram(netlist, parts.make_dram);
  for (unsigned s = 0; s < config.l2.slices; ++s) {
    if (netlist.lacks_slices()) {
      bind_foreign_slice(s, netlist, parts, targets);
    } else if (netlist.lacks_channels()) {
      std::vector<ForeignInitiator*> to_dram;
      for (InitiatorSocket& socket : slices_[s].to_dram) to_dram.push_back(&socket);
      bind_slice_to_dram(s, netlist, to_dram, parts.interpose, targets);
    }
  }
}

void GpuModule::start_of_simulation() {
  report_unconsumed_presets();
}

void GpuModule::make_foreign_dram(Netlist& netlist, const DramMaker& make_dram) {
  const GpuConfig& config = netlist.config();
  unsigned keeping = 0;
  for (unsigned c = 0; c < config.dram.channels; ++c) {
    DramSite site;
    site.index = c;
    site.name = socket_name("dram", c);
    site.inputs = netlist.channel_inputs(c);
    site.mhz = config.clocks.dram;
    if (netlist.vidmem() != nullptr) {
      site.vidmem = netlist.vidmem()->at(0);
      site.vidmem_bytes = netlist.vidmem()->size();
    }
    const DramSockets dram = make_dram(site);
    foreign_dram_.push_back(dram.from_l2);
    keeping += dram.keeps_bytes;
    const std::vector<ForeignTarget*>& sockets = foreign_dram_.back();
    if (sockets.size() != site.inputs || std::count(sockets.begin(), sockets.end(), nullptr) != 0)
      throw std::invalid_argument(site.name + ": a DRAM channel has a socket from_l2 for each of the " +
                                  std::to_string(site.inputs) + " slices that use it, not " +
                                  std::to_string(sockets.size()));
  }
  if (keeping == 0 || netlist.vidmem() == nullptr) return;
  if (keeping != config.dram.channels)
    throw std::invalid_argument("dram: all channels keep bytes of their own, or none, not " +
                                std::to_string(keeping) + " of " + std::to_string(config.dram.channels));
  if (netlist.lacks_slices())
    throw std::invalid_argument(
        "dram: where L2 slices are not ours, DRAM cannot keep bytes that L2 has from it");
  vidmem_ = netlist.vidmem();
  for (L2SliceModule& slice : slices_) dram_bytes_.emplace_back(slice);
}

void GpuModule::host_wrote(std::uint64_t first, std::uint64_t count) {
  if (dram_bytes_.empty()) return;
  for (std::uint64_t at = first; at < first + count;) {
    const PhysicalAddress address = physical(Aperture::vidmem, at);
    const auto part = static_cast<unsigned>(
        std::min<std::uint64_t>(kLineBytes - offset_in_line(address), first + count - at));
    dram_bytes_[crossbar_.crossbar().core().slice_of(line_of(address))].poke(address, vidmem_->at(at), part);
    at += part;
  }
}

void GpuModule::bind_slice_to_dram(unsigned s, Netlist& netlist,
                                   const std::vector<ForeignInitiator*>& to_dram, const Interposer& interpose,
                                   const Targets& targets) {
  const GpuConfig& config = netlist.config();
  const std::vector<unsigned> channels = dram_channels_of(config, s);
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const unsigned c = channels[k];
    const unsigned input = used_inputs_[c]++;
    const std::string port = "dram[" + std::to_string(c) + "].from_l2" +
                             (netlist.channel_inputs(c) == 1 ? "" : "[" + std::to_string(input) + "]");
    const HopSite site = hop_site(port, "l2[" + std::to_string(s) + "].to_dram[" + std::to_string(k) + "]");
    if (!netlist.lacks_channels()) {
      bind_foreign(to_dram.empty() ? nullptr : to_dram[k], *targets.at(&netlist.channel(c).from_l2(input)),
                   site, config.hops.l2_dram.request, interpose);
      continue;
    }
    if (!netlist.lacks_slices())
      slices_[s].to_dram[k].set_channel(config.hops.l2_dram.response,
                                        domain_of(config.clocks.dram, config.clocks));
    ForeignTarget& target = *foreign_dram_[c][input];
    ForeignInitiator* initiator = to_dram.empty() ? nullptr : to_dram[k];
    if (initiator == nullptr) initiator = &idle_.emplace_back(socket_name("idle", idle_.size()).c_str());
    if (to_dram.empty() || !bind_interposed(interpose, site, *initiator, target))
      bind_sockets(*initiator, target);
  }
}

void GpuModule::bind_hop(const Hop& h, InitiatorSocket& initiator, TargetSocket& target, bool pins,
                         const Interposer& interpose) {
  initiator.set_channel(h.parameters.response, h.response_out.owner().domain());
  target.set_channel(h.parameters.request, h.request_out.owner().domain());
  const HopSite site = hop_site(h.name(), h.request_out.path());
  const HopOpening* opening = opener_.find(site);
  if (!bind_interposed(interpose, site, initiator, target)) {
    initiator.bind(target);
    if (pins || opening != nullptr) opener_.open(site, initiator, target, h.parameters, opening);
  } else if (pins || opening != nullptr) {
    throw std::invalid_argument(h.name() + ": a hop is opened as pins or has a module put into it, not both");
  }
}

void GpuModule::bind_foreign_slice(unsigned s, Netlist& netlist, const GpuParts& parts,
                                   const Targets& targets) {
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
  const SliceSockets sockets = parts.make_slice(site);
  if (sockets.from_crossbar == nullptr)
    throw std::invalid_argument(site.name + ": an L2 slice needs a socket from_crossbar");
  if (!sockets.to_dram.empty() && sockets.to_dram.size() != channels.size())
    throw std::invalid_argument(site.name + ": an L2 slice has no socket to_dram, or one for each of its " +
                                std::to_string(channels.size()) + " channels, not " +
                                std::to_string(sockets.to_dram.size()));
  const std::string slice = "l2[" + std::to_string(s) + "]";
  InitiatorSocket& to_slice = crossbar_.to_l2[s];
  to_slice.set_channel(config.hops.crossbar_l2.response, netlist.crossbar().domain());
  if (!bind_interposed(parts.interpose,
                       hop_site(slice + ".from_crossbar", netlist.crossbar().to_l2(s).path()), to_slice,
                       *sockets.from_crossbar))
    to_slice.bind(*sockets.from_crossbar);
  bind_slice_to_dram(s, netlist, sockets.to_dram, parts.interpose, targets);
  const In<RequestMessage>& link = netlist.link().from_l2(s);
  bind_foreign(sockets.to_pcie, *targets.at(&link), hop_site(link.path(), slice + ".to_pcie"),
               config.hops.l2_pcie.request, parts.interpose);
}

void GpuModule::bind_foreign(ForeignInitiator* initiator, TargetSocket& target, const HopSite& site,
                             const ChannelParameters& request, const Interposer& interpose) {
  target.set_channel(request, crossbar_.crossbar().domain());
  if (initiator == nullptr) {
    target.bind(idle_.emplace_back(socket_name("idle", idle_.size()).c_str()));
  } else if (!bind_interposed(interpose, site, *initiator, target)) {
    target.bind(*initiator);
  }
}

}  // namespace warpline
