#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/cache/read_only_cache.h"
#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/gpu_switch/gpu_switch.h"
#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sim/loose_hop.h"
#include "rtl_models/sm/sm.h"
#include "rtl_models/sm/work_distributor.h"
#include "rtl_models/sm_network/sm_network.h"

namespace warpline {

/// A hop of a GPU: who sends requests to whom, and the channels of both directions.
struct Hop {
  Out<RequestMessage>& request_out;
  In<RequestMessage>& request_in;
  Out<ResponseMessage>& response_out;
  In<ResponseMessage>& response_in;
  const HopParameters& parameters;

  /// The path of the port that receives its requests, such as "l2[0].from_crossbar".
  [[nodiscard]] std::string name() const { return request_in.path(); }
  /// Whether a pattern (see glob_matches) fits its name, or the path of the port that sends its requests.
  [[nodiscard]] bool matches(const std::string& pattern) const {
    return glob_matches(pattern, name()) || glob_matches(pattern, request_out.path());
  }
};

/// The clock of `mhz` among `clocks`, the fastest of which counts cycles.
[[nodiscard]] ClockDomain domain_of(unsigned mhz, const ClockParameters& clocks);

/// DRAM channels that a slice uses: `slice` mod channels, or where there are more channels than slices all
/// those that are `slice` mod slices. It enters each by the first input that no slice before it uses.
[[nodiscard]] std::vector<unsigned> dram_channels_of(const GpuConfig& config, unsigned slice);

/// Whose L2 slices a netlist has.
enum class Slices : std::uint8_t {
  ours,
  foreign,  ///< none: foreign modules will stand between crossbar and memory
};

/// Whose DRAM channels a netlist has.
enum class Channels : std::uint8_t {
  ours,
  foreign,  ///< none: foreign modules will be behind L2
};

/// Which GPU of a platform a netlist is.
struct GpuPlace {
  unsigned number = 0;
  unsigned rank = 0;           ///< that runs its blocks (Engine::share_with), but for the link
  std::string prefix;          ///< of the names of its blocks: "gpu[1].", or nothing where it is the only one
  PcieLink* beside = nullptr;  ///< a link of another GPU to the same memories; null: it is the first
  MemoryDevice* peer = nullptr;  ///< of a device beside the GPUs; null: there is none
  Channels channels = Channels::ours;
  bool inbound = false;              ///< whether hosts and devices reach its video memory, through its BAR
  std::vector<GpuSwitch*> switches;  ///< that its multimem instructions go by, and live as long
};

/// The blocks of one GPU, and the list of the hops between them. Whoever builds it makes the hops:
/// connect_directly() does, or a module per block with sockets (GpuModule).
///
/// Crossbar clients, clients_per_sm() for each SM: of SM n the first is its L1, then come its texture cache,
/// if it has one, its constant cache, its instruction cache; behind those of all SMs the link, if requests
/// come in by it (GpuPlace::inbound); behind that the bulk copies of each SM; behind those the switches
/// between GPUs, for what multimem asks of this GPU's memory. Slice s meets the channels dram_channels_of(s).
class Netlist {
 public:
  /// Blocks without hops. Null memories: tags only.
  Netlist(const GpuConfig& config, Engine& engine, MemoryImage* vidmem, MemoryImage* sysmem,
          Slices slices = Slices::ours, const GpuPlace& place = {});

  struct SmCluster {
    std::unique_ptr<Sm> sm;
    std::unique_ptr<L1Lg> l1_lg;
    std::unique_ptr<ReadOnlyCache> texture;  ///< null: L1 serves its requests (SmParameters::unified_l1)
    std::unique_ptr<ReadOnlyCache> constant, instruction;
  };
  /// Calls make(Hop) for every hop between blocks of the netlist.
  template <class F>
  void for_each_hop(F&& make);
  void connect_directly() {
    for_each_hop([](const Hop& h) {
      connect(h.request_out, h.request_in, h.parameters.request);
      connect(h.response_out, h.response_in, h.parameters.response);
    });
  }
  /// Has the SMs' requests performed loosely timed, or timed again. Pre: the hops are made; quiescent.
  void set_loose(bool loose);
  /// Has what is loosely timed run functionally (Sm::run_functionally), or no longer. Pre: there is video
  /// memory; quiescent.
  void set_functional(bool functional);
  template <class Archive>
  void archive(Archive& a) {
    a(went_past_caches_);
  }
  [[nodiscard]] std::vector<SmCluster>& clusters() { return clusters_; }
  [[nodiscard]] Crossbar& crossbar() { return *crossbar_; }
  /// Null: there is none (GpuConfig::sm_network).
  [[nodiscard]] SmNetwork* sm_network() { return sm_network_.get(); }
  [[nodiscard]] unsigned crossbar_clients() const { return first_switch_client() + switches(); }
  /// Where each of them sits in the network between SMs and slices.
  [[nodiscard]] std::vector<NetworkPlace> network_places() const;
  /// The client that the bulk copies of SM 0 are.
  [[nodiscard]] unsigned first_bulk_client() const { return config_.sms * clients_per_sm() + place_.inbound; }
  [[nodiscard]] unsigned clients_per_sm() const { return config_.sm.unified_l1 ? 3 : 4; }
  /// The client that switch 0 is.
  [[nodiscard]] unsigned first_switch_client() const { return first_bulk_client() + config_.sms; }
  [[nodiscard]] unsigned switches() const { return static_cast<unsigned>(place_.switches.size()); }
  /// Whether the slices are to be foreign. There is no slice(i) then, and no hop at its ports.
  [[nodiscard]] bool lacks_slices() const { return slices_.empty(); }
  [[nodiscard]] L2Slice& slice(unsigned i) { return *slices_[i]; }
  /// Whole lines of `bytes` bytes of video memory stay in the slices, as L2Core::leave() says. Pre:
  /// quiescent; the slices are ours.
  void leave_in_l2(PhysicalAddress first, std::uint64_t bytes);
  /// Whether the DRAM channels are to be foreign. There is no channel(i) then, and no hop at its ports.
  [[nodiscard]] bool lacks_channels() const { return channels_.empty(); }
  [[nodiscard]] DramChannel& channel(unsigned i) { return *channels_[i]; }
  /// L2 slices that use DRAM channel `i`.
  [[nodiscard]] unsigned channel_inputs(unsigned i) const { return channel_inputs_[i]; }
  [[nodiscard]] PcieLink& link() { return *pcie_; }
  [[nodiscard]] const GpuConfig& config() const { return config_; }
  [[nodiscard]] const GpuPlace& place() const { return place_; }
  /// The memories; null: tags only.
  [[nodiscard]] MemoryImage* vidmem() { return vidmem_; }
  [[nodiscard]] MemoryImage* sysmem() { return sysmem_; }
  [[nodiscard]] WorkDistributor& distributor() { return *distributor_; }
  void set_regions(std::size_t count);
  void visit(CounterVisitor& visitor) const;
  /// Look-ups and hits of region `region` in all slices.
  [[nodiscard]] RegionCounters region(std::size_t region) const;
  /// Each sum between and within levels that does not hold, as a sentence. What ran functionally is in the
  /// counts of those who asked for it, and in no others: then nothing is said. Pre: quiescent.
  [[nodiscard]] std::vector<std::string> unreconciled() const;

 private:
  void build_clusters(const GpuConfig& config, Engine& engine, bool with_data);
  void build_memory(const GpuConfig& config, Engine& engine, Slices slices);
  void connect_distributor(const GpuConfig& config);

  GpuConfig config_;
  GpuPlace place_;
  MemoryImage* vidmem_;
  MemoryImage* sysmem_;
  std::vector<SmCluster> clusters_;
  std::unique_ptr<WorkDistributor> distributor_;
  std::unique_ptr<SmNetwork> sm_network_;
  std::unique_ptr<Crossbar> crossbar_;
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::vector<unsigned> channel_inputs_;
  std::unique_ptr<PcieLink> pcie_;
  std::vector<std::unique_ptr<LooseHop>> loose_hops_;  ///< of the SMs; made when first needed
  bool loose_ = false;
  bool went_past_caches_ = false;              ///< something was functional
  std::unique_ptr<VidmemAccess> past_caches_;  ///< null: what is loosely timed is not functional
};

template <class F>
void Netlist::for_each_hop(F&& make) {
  const HopsParameters& hops = config_.hops;
  for (unsigned i = 0; i < clusters_.size(); ++i) {
    SmCluster& c = clusters_[i];
    Crossbar& x = *crossbar_;
    make(Hop{c.sm->to_l1_lg, c.l1_lg->from_sm, c.l1_lg->to_sm, c.sm->from_l1_lg, hops.sm_l1_lg});
    for (std::size_t k = 0; k < c.sm->more_l1_ports().size(); ++k) {
      L1Port& sm = c.sm->more_l1_ports()[k];
      L1Lg::Port& l1 = c.l1_lg->more_ports()[k];
      make(Hop{sm.to_l1_lg, l1.from_sm, l1.to_sm, sm.from_l1_lg, hops.sm_l1_lg});
    }
    if (c.texture != nullptr)
      make(Hop{c.sm->to_texture, c.texture->from_sm, c.texture->to_sm, c.sm->from_texture, hops.sm_texture});
    make(Hop{c.sm->to_constant, c.constant->from_sm, c.constant->to_sm, c.sm->from_constant,
             hops.sm_constant});
    make(Hop{c.sm->to_instruction, c.instruction->from_sm, c.instruction->to_sm, c.sm->from_instruction,
             hops.sm_instruction});
    unsigned client = clients_per_sm() * i;
    const auto join = [&](auto& cache, const HopParameters& hop) {
      make(Hop{cache.to_crossbar, x.from_client(client), x.to_client(client), cache.from_crossbar, hop});
      ++client;
    };
    join(*c.l1_lg, hops.l1_lg_crossbar);
    if (c.texture != nullptr) join(*c.texture, hops.texture_crossbar);
    join(*c.constant, hops.constant_crossbar);
    join(*c.instruction, hops.instruction_crossbar);
  }
  for (unsigned i = 0; i < clusters_.size() && sm_network_ != nullptr; ++i) {
    Sm::Network& sm = *clusters_[i].sm->network();
    SmNetwork& n = *sm_network_;
    make(Hop{sm.to_network, n.from_sm(i), n.to_sm(i), sm.from_network, hops.sm_network});
    make(Hop{n.to_shared(i), sm.from_cluster, sm.to_cluster, n.from_shared(i), hops.network_sm});
  }
  if (Inbound* in = pcie_->inbound(); in != nullptr) {
    const unsigned last = first_bulk_client() - 1;
    make(Hop{in->to_crossbar, crossbar_->from_client(last), crossbar_->to_client(last), in->from_crossbar,
             hops.pcie_crossbar});
  }
  for (unsigned i = 0; i < clusters_.size(); ++i) {
    Sm& sm = *clusters_[i].sm;
    const unsigned client = first_bulk_client() + i;
    make(Hop{sm.to_crossbar, crossbar_->from_client(client), crossbar_->to_client(client), sm.from_crossbar,
             hops.sm_crossbar});
  }
  for (unsigned k = 0; k < switches(); ++k) {
    GpuSwitch& s = *place_.switches[k];
    Crossbar& x = *crossbar_;
    const unsigned gpu = place_.number, client = first_switch_client() + k;
    make(Hop{x.to_switch(k), s.from_gpu(gpu), s.to_gpu(gpu), x.from_switch(k), hops.crossbar_switch});
    make(Hop{s.to_replica(gpu), x.from_client(client), x.to_client(client), s.from_replica(gpu),
             hops.switch_crossbar});
  }
  std::vector<unsigned> used(channel_inputs_.size(), 0);
  for (unsigned s = 0; s < slices_.size(); ++s) {
    L2Slice& slice = *slices_[s];
    make(Hop{crossbar_->to_l2(s), slice.from_crossbar, slice.to_crossbar, crossbar_->from_l2(s),
             hops.crossbar_l2});
    make(Hop{slice.to_pcie, pcie_->from_l2(s), pcie_->to_l2(s), slice.from_pcie, hops.l2_pcie});
    if (lacks_channels()) continue;
    const std::vector<unsigned> channels = dram_channels_of(config_, s);
    for (std::size_t k = 0; k < channels.size(); ++k) {
      DramChannel& channel = *channels_[channels[k]];
      const unsigned port = used[channels[k]]++;
      make(Hop{slice.to_dram[k], channel.from_l2(port), channel.to_l2(port), slice.from_dram[k],
               hops.l2_dram});
    }
  }
}

}  // namespace warpline
