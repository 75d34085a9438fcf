#include "warpline/gpu/netlist.h"

#include <algorithm>

namespace warpline {
namespace {

/// DRAM channels that slice `s` uses.
std::vector<unsigned> channels_of(unsigned s, const GpuConfig& c) {
  if (c.dram.channels <= c.l2.slices) return {s % c.dram.channels};
  std::vector<unsigned> out;
  for (unsigned channel = s; channel < c.dram.channels; channel += c.l2.slices) out.push_back(channel);
  return out;
}

ClockDomain domain_of(unsigned mhz, const ClockParameters& clocks) {
  return {std::max({clocks.sm, clocks.l2, clocks.dram, clocks.link}), mhz};
}

std::string indexed(const char* name, unsigned i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

}  // namespace

Netlist::Netlist(const GpuConfig& config, Engine& engine, MemoryImage* vidmem, MemoryImage* sysmem) {
  build_clusters(config, engine, vidmem != nullptr);
  build_memory(config, engine, vidmem, sysmem);
  connect_clusters(config);
  connect_memory(config);
}

void Netlist::build_clusters(const GpuConfig& config, Engine& engine, bool with_data) {
  const ClockDomain sm_clock = domain_of(config.clocks.sm, config.clocks);
  distributor_ = std::make_unique<WorkDistributor>(engine, "distributor", sm_clock, config.sms);
  for (unsigned i = 0; i < config.sms; ++i) {
    const std::string name = indexed("sm", i);
    engine.begin_cluster();
    SmCluster c;
    c.sm = std::make_unique<Sm>(engine, name, sm_clock, config.sm, i);
    c.l1_lg = std::make_unique<L1Lg>(engine, name + ".l1_lg", sm_clock, config.l1_lg, with_data);
    c.texture =
        std::make_unique<TextureCache>(engine, name + ".texture", sm_clock, config.texture, with_data);
    c.constant =
        std::make_unique<ConstantCache>(engine, name + ".constant", sm_clock, config.constant, with_data);
    clusters_.push_back(std::move(c));
  }
}

void Netlist::build_memory(const GpuConfig& config, Engine& engine, MemoryImage* vidmem,
                           MemoryImage* sysmem) {
  const ClockDomain l2_clock = domain_of(config.clocks.l2, config.clocks);
  const unsigned slices = config.l2.slices;
  engine.begin_cluster();
  crossbar_ = std::make_unique<Crossbar>(
      engine, "crossbar", l2_clock, config.crossbar, config.sms * 3, slices,
      CrossbarWidths{config.hops.crossbar_l2.request.width, config.hops.l1_lg_crossbar.response.width});
  std::vector<unsigned> inputs(config.dram.channels, 0);
  for (unsigned s = 0; s < slices; ++s) {
    const std::vector<unsigned> channels = channels_of(s, config);
    for (const unsigned c : channels) ++inputs[c];
    engine.begin_cluster();
    slices_.push_back(std::make_unique<L2Slice>(engine, indexed("l2", s), l2_clock, config.l2, vidmem,
                                                static_cast<unsigned>(channels.size())));
  }
  for (unsigned c = 0; c < config.dram.channels; ++c) {
    engine.begin_cluster();
    channels_.push_back(std::make_unique<DramChannel>(
        engine, indexed("dram", c), domain_of(config.clocks.dram, config.clocks), config.dram, inputs[c]));
  }
  engine.begin_cluster();
  pcie_ = std::make_unique<PcieLink>(engine, "pcie", domain_of(config.clocks.link, config.clocks),
                                     config.pcie, sysmem, slices);
}

void Netlist::connect_clusters(const GpuConfig& config) {
  const HopsParameters& hops = config.hops;
  const ChannelParameters launch{1, 16, std::max(32U, config.sm.cta_slots), 16};
  for (unsigned i = 0; i < clusters_.size(); ++i) {
    SmCluster& c = clusters_[i];
    connect(distributor_->to_sm[i], c.sm->from_distributor, launch);
    connect(c.sm->to_distributor, distributor_->from_sm[i], launch);
    connect(c.sm->to_l1_lg, c.l1_lg->from_sm, hops.sm_l1_lg.request);
    connect(c.l1_lg->to_sm, c.sm->from_l1_lg, hops.sm_l1_lg.response);
    connect(c.sm->to_texture, c.texture->from_sm, hops.sm_texture.request);
    connect(c.texture->to_sm, c.sm->from_texture, hops.sm_texture.response);
    connect(c.sm->to_constant, c.constant->from_sm, hops.sm_constant.request);
    connect(c.constant->to_sm, c.sm->from_constant, hops.sm_constant.response);
    connect(c.l1_lg->to_crossbar, crossbar_->from_client(3 * i), hops.l1_lg_crossbar.request);
    connect(crossbar_->to_client(3 * i), c.l1_lg->from_crossbar, hops.l1_lg_crossbar.response);
    connect(c.texture->to_crossbar, crossbar_->from_client(3 * i + 1), hops.texture_crossbar.request);
    connect(crossbar_->to_client(3 * i + 1), c.texture->from_crossbar, hops.texture_crossbar.response);
    connect(c.constant->to_crossbar, crossbar_->from_client(3 * i + 2), hops.constant_crossbar.request);
    connect(crossbar_->to_client(3 * i + 2), c.constant->from_crossbar, hops.constant_crossbar.response);
  }
}

void Netlist::connect_memory(const GpuConfig& config) {
  const HopsParameters& hops = config.hops;
  std::vector<unsigned> used(channels_.size(), 0);
  for (unsigned s = 0; s < slices_.size(); ++s) {
    L2Slice& slice = *slices_[s];
    connect(crossbar_->to_l2(s), slice.from_crossbar, hops.crossbar_l2.request);
    connect(slice.to_crossbar, crossbar_->from_l2(s), hops.crossbar_l2.response);
    connect(slice.to_pcie, pcie_->from_l2(s), hops.l2_pcie.request);
    connect(pcie_->to_l2(s), slice.from_pcie, hops.l2_pcie.response);
    const std::vector<unsigned> channels = channels_of(s, config);
    for (std::size_t k = 0; k < channels.size(); ++k) {
      DramChannel& channel = *channels_[channels[k]];
      const unsigned port = used[channels[k]]++;
      connect(slice.to_dram[k], channel.from_l2(port), hops.l2_dram.request);
      connect(channel.to_l2(port), slice.from_dram[k], hops.l2_dram.response);
    }
  }
}

void Netlist::set_regions(std::size_t count) {
  for (const auto& s : slices_) s->set_regions(count);
}

RegionCounters Netlist::region(std::size_t region) const {
  RegionCounters sum;
  for (const auto& s : slices_) {
    if (region >= s->regions().size()) continue;
    sum.sector_accesses += s->regions()[region].sector_accesses;
    sum.sector_hits += s->regions()[region].sector_hits;
  }
  return sum;
}

void Netlist::visit(CounterVisitor& visitor) const {
  for (const SmCluster& c : clusters_) {
    const std::string& name = c.sm->name();
    visit_counters(name, c.sm->counters(), visitor);
    visit_counters(name + ".lsu", c.sm->lsu_counters(), visitor);
    visit_counters(name + ".l1_lg", c.l1_lg->counters(), visitor);
    visit_counters(name + ".texture", c.texture->counters(), visitor);
    visit_counters(name + ".constant", c.constant->counters(), visitor);
  }
  visit_counters("crossbar", crossbar_->counters(), visitor);
  for (const auto& s : slices_) visit_counters(s->name(), s->counters(), visitor);
  for (const auto& d : channels_) visit_counters(d->name(), d->counters(), visitor);
  visit_counters("pcie", pcie_->counters(), visitor);
}

}  // namespace warpline
