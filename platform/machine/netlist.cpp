#include "platform/machine/netlist.h"

#include <algorithm>
#include <utility>

#include "rtl_models/base/counter.h"
#include "rtl_models/base/text.h"

namespace warpline {
ClockDomain domain_of(unsigned mhz, const ClockParameters& clocks) {
  return {clocks.fastest(), mhz};
}

std::vector<unsigned> dram_channels_of(const GpuConfig& config, unsigned slice) {
  if (config.dram.channels <= config.l2.slices) return {slice % config.dram.channels};
  std::vector<unsigned> out;
  for (unsigned channel = slice; channel < config.dram.channels; channel += config.l2.slices)
    out.push_back(channel);
  return out;
}

Netlist::Netlist(const GpuConfig& config, Engine& engine, MemoryImage* vidmem, MemoryImage* sysmem,
                 Slices slices, const GpuPlace& place)
    : config_(config), place_(place), vidmem_(vidmem), sysmem_(sysmem) {
  build_clusters(config, engine, vidmem != nullptr);
  build_memory(config, engine, slices);
  connect_distributor(config);
}

void Netlist::build_clusters(const GpuConfig& config, Engine& engine, bool with_data) {
  const ClockDomain sm_clock = domain_of(config.clocks.sm, config.clocks);
  const GpcShape shape{config.gpcs, config.sms_per_tpc};
  engine.begin_cluster(place_.rank);
  distributor_ =
      std::make_unique<WorkDistributor>(engine, place_.prefix + "distributor", sm_clock, config.sms, shape,
                                        config.cta_placement == "gpc" ? WorkDistributor::Placement::by_gpc
                                                                      : WorkDistributor::Placement::by_tpc);
  for (unsigned i = 0; i < config.sms; ++i) {
    const std::string name = indexed(place_.prefix + "sm", i);
    engine.begin_cluster(place_.rank);
    SmCluster c;
    c.sm = std::make_unique<Sm>(engine, name, sm_clock, config.sm, SmNumber{i, place_.number});
    c.l1_lg = std::make_unique<L1Lg>(engine, name + ".l1_lg", sm_clock, config.l1_lg, with_data,
                                     config.sm.l1_ports);
    const auto read_only = [&](const char* what, const ReadOnlyCacheParameters& parameters) {
      return std::make_unique<ReadOnlyCache>(engine, name + what, sm_clock, parameters, with_data);
    };
    if (!config.sm.unified_l1) c.texture = read_only(".texture", config.texture);
    c.constant = read_only(".constant", config.constant);
    c.instruction = read_only(".instruction", config.instruction);
    if (config.sm_network.present) c.sm->join_network();
    clusters_.push_back(std::move(c));
  }
  if (!config.sm_network.present) return;
  engine.begin_cluster(place_.rank);
  sm_network_ = std::make_unique<SmNetwork>(
      engine, place_.prefix + "sm_network", sm_clock, config.sms, shape,
      SmNetworkWidths{config.hops.network_sm.request.width, config.hops.sm_network.response.width});
}

std::vector<NetworkPlace> Netlist::network_places() const {
  std::vector<NetworkPlace> places(crossbar_clients());
  const GpcShape shape{config_.gpcs, config_.sms_per_tpc};
  const auto put = [&](unsigned client, unsigned sm) {
    places[client] = {sm, shape.tpc_of(sm), shape.gpc_of(sm)};
  };
  for (unsigned sm = 0; sm < config_.sms; ++sm) {
    for (unsigned k = 0; k < clients_per_sm(); ++k) put(sm * clients_per_sm() + k, sm);
    put(first_bulk_client() + sm, sm);
  }
  return places;
}

void Netlist::build_memory(const GpuConfig& config, Engine& engine, Slices whose) {
  const ClockDomain l2_clock = domain_of(config.clocks.l2, config.clocks);
  const unsigned slices = config.l2.slices;
  engine.begin_cluster(place_.rank);
  crossbar_ = std::make_unique<Crossbar>(
      engine, place_.prefix + "crossbar", l2_clock, config.crossbar, crossbar_clients(), slices,
      CrossbarWidths{config.hops.crossbar_l2.request.width, config.hops.l1_lg_crossbar.response.width},
      switches(), network_places());
  crossbar_->place_page_tables(config.vidmem_bytes);
  L2Parameters l2 = config.l2;
  l2.hash_masks = config.crossbar.hash_masks;
  l2.slice_shift = config.crossbar.slice_shift;
  channel_inputs_.assign(config.dram.channels, 0);
  for (unsigned s = 0; s < slices; ++s) {
    const std::vector<unsigned> channels = dram_channels_of(config, s);
    for (const unsigned c : channels) ++channel_inputs_[c];
    if (whose == Slices::foreign) continue;
    engine.begin_cluster(place_.rank);
    slices_.push_back(std::make_unique<L2Slice>(engine, indexed(place_.prefix + "l2", s), l2_clock, l2,
                                                vidmem_, static_cast<unsigned>(channels.size())));
    slices_.back()->set_place({place_.number, s, GpcShape{config.gpcs, config.sms_per_tpc}});
    slices_.back()->set_posted_atomics(!config.pcie.atomic_ops);
    // Behind a root complex, which `peer` is not, one device may end where the next begins.
    if (place_.peer != nullptr) slices_.back()->set_peer_block(std::uint64_t{1} << kApertureShift);
  }
  for (unsigned c = 0; c < config.dram.channels && place_.channels == Channels::ours; ++c) {
    engine.begin_cluster(place_.rank);
    channels_.push_back(std::make_unique<DramChannel>(engine, indexed(place_.prefix + "dram", c),
                                                      domain_of(config.clocks.dram, config.clocks),
                                                      config.dram, channel_inputs_[c]));
  }
  const std::string link = place_.prefix + "pcie";
  if (place_.beside != nullptr) {
    pcie_ = std::make_unique<PcieLink>(*place_.beside, link, slices);
  } else {
    // With the memories beyond the links, which all GPUs share, on the first rank.
    engine.begin_cluster();
    pcie_ = std::make_unique<PcieLink>(engine, link, domain_of(config.clocks.link, config.clocks),
                                       config.pcie, sysmem_, slices, place_.peer);
  }
  if (place_.inbound) pcie_->take_inbound(place_.number, config.vidmem_bytes);
}

void Netlist::connect_distributor(const GpuConfig& config) {
  const ChannelParameters launch{1, 16, std::max(32U, config.sm.cta_slots), 16};
  for (unsigned i = 0; i < clusters_.size(); ++i) {
    connect(distributor_->to_sm[i], clusters_[i].sm->from_distributor, launch);
    connect(clusters_[i].sm->to_distributor, distributor_->from_sm[i], launch);
  }
}

void Netlist::set_loose(bool loose) {
  if (loose && loose_hops_.empty()) {
    for (const SmCluster& c : clusters_) {
      Sm& sm = *c.sm;
      loose_hops_.push_back(std::make_unique<LooseHop>(sm.to_l1_lg, sm.from_l1_lg));
      for (L1Port& port : sm.more_l1_ports())
        loose_hops_.push_back(std::make_unique<LooseHop>(port.to_l1_lg, port.from_l1_lg));
      if (c.texture != nullptr)
        loose_hops_.push_back(std::make_unique<LooseHop>(sm.to_texture, sm.from_texture));
      loose_hops_.push_back(std::make_unique<LooseHop>(sm.to_constant, sm.from_constant));
      loose_hops_.push_back(std::make_unique<LooseHop>(sm.to_instruction, sm.from_instruction));
      loose_hops_.push_back(std::make_unique<LooseHop>(sm.to_crossbar, sm.from_crossbar));
      // Behind the network are other SMs, which a request must not find in the past.
      if (Sm::Network* n = sm.network(); n != nullptr)
        loose_hops_.push_back(std::make_unique<LooseHop>(n->to_network, n->from_network, true));
    }
  }
  for (const auto& hop : loose_hops_) hop->set_loose(loose);
  loose_ = loose;
  set_functional(past_caches_ != nullptr);
}

void Netlist::set_functional(bool functional) {
  if (functional && past_caches_ == nullptr) past_caches_ = std::make_unique<VidmemAccess>(*vidmem_);
  VidmemAccess* const to = functional && loose_ ? past_caches_.get() : nullptr;
  if (to != nullptr) {
    went_past_caches_ = true;
    // Local memory of grids before is nobody's any more, and is not to be written over that of those to come.
    for (const SmCluster& c : clusters_) c.l1_lg->forget_local();
  }
  for (const auto& hop : loose_hops_) hop->go_past(to);
  for (const SmCluster& c : clusters_) c.sm->run_functionally(to);
  if (!functional) past_caches_.reset();
}

void Netlist::leave_in_l2(PhysicalAddress first, std::uint64_t bytes) {
  const std::uint64_t begin = (offset_in_aperture(first) + kLineBytes - 1) / kLineBytes * kLineBytes;
  const std::uint64_t end = offset_in_aperture(first) + bytes;
  for (std::uint64_t offset = begin; offset + kLineBytes <= end; offset += kLineBytes) {
    const PhysicalAddress line = physical(Aperture::vidmem, offset);
    slices_[crossbar_->core().slice_of(line)]->core().leave(line);
  }
}

void Netlist::set_regions(std::size_t count) {
  for (const auto& s : slices_) s->core().set_regions(count);
}

RegionCounters Netlist::region(std::size_t region) const {
  RegionCounters sum;
  for (const auto& s : slices_)
    if (const auto& regions = s->core().regions(); region < regions.size()) sum += regions[region];
  return sum;
}

void Netlist::visit(CounterVisitor& visitor) const {
  for (const SmCluster& c : clusters_) {
    const std::string& name = c.sm->name();
    visit_counters(name, c.sm->counters(), visitor);
    visit_counters(name + ".lsu", c.sm->lsu_counters(), visitor);
    if (sm_network_ != nullptr) visit_counters(name + ".cluster", c.sm->cluster_counters(), visitor);
    visit_counters(name + ".fetch", c.sm->fetch_counters(), visitor);
    visit_counters(name + ".bulk_copy", c.sm->bulk_copy_counters(), visitor);
    visit_counters(name + ".l1_lg", c.l1_lg->counters(), visitor);
    if (c.texture != nullptr) visit_counters(name + ".texture", c.texture->counters(), visitor);
    visit_counters(name + ".constant", c.constant->counters(), visitor);
    visit_counters(name + ".instruction", c.instruction->counters(), visitor);
  }
  if (sm_network_ != nullptr) visit_counters(sm_network_->name(), sm_network_->counters(), visitor);
  visit_counters(crossbar_->name(), crossbar_->counters(), visitor);
  if (const Translation* const t = crossbar_->translation(); t != nullptr)
    visit_counters(crossbar_->name() + ".translation", t->counters(), visitor);
  for (const auto& s : slices_) visit_counters(s->name(), s->counters(), visitor);
  for (const auto& d : channels_) visit_counters(d->name(), d->counters(), visitor);
  visit_counters(pcie_->name(), pcie_->counters(), visitor);
  if (const GpuFunction* f = pcie_->function(); f != nullptr) {
    visit_counters(pcie_->name() + ".function", f->counters(), visitor);
    visit_counters(pcie_->name() + ".function.endpoint", f->endpoint().counters(), visitor);
  }
  if (const Inbound* in = std::as_const(*pcie_).inbound(); in != nullptr)
    visit_counters(pcie_->name() + ".inbound", in->counters(), visitor);
}

}  // namespace warpline
