#include "platform/machine/system.h"

#include "rtl_models/base/contract.h"

namespace warpline {

System::System(const GpuConfig& config, Engine& engine, const std::vector<MemoryImage*>& vidmem,
               MemoryImage* sysmem, MemoryDevice* peer, Slices slices, Channels channels,
               const MulticastTable* multicasts) {
  WARPLINE_EXPECT(vidmem.empty() || vidmem.size() == config.gpus, "every GPU has video memory, or none");
  for (unsigned k = 0; k < config.gpu_switch.count; ++k) {
    engine.begin_cluster(k % engine.ranks());
    switches_.push_back(std::make_unique<GpuSwitch>(
        engine, "gpu_switch[" + std::to_string(k) + "]", domain_of(config.clocks.l2, config.clocks),
        config.gpus, config.gpu_switch,
        GpuSwitchWidths{config.hops.switch_crossbar.request.width,
                        config.hops.crossbar_switch.response.width},
        multicasts != nullptr ? *multicasts : no_multicasts_, !vidmem.empty()));
  }
  for (unsigned i = 0; i < config.gpus; ++i) {
    GpuPlace place;
    for (const auto& s : switches_) place.switches.push_back(s.get());
    place.number = i;
    place.rank = i * engine.ranks() / config.gpus;
    place.peer = peer;
    place.channels = channels;
    place.inbound = config.has_root_complex() && config.pcie.bar_bytes != 0;
    if (config.gpus > 1) place.prefix = "gpu[" + std::to_string(i) + "].";
    if (i != 0) place.beside = &netlists_[0]->link();
    netlists_.push_back(std::make_unique<Netlist>(config, engine, vidmem.empty() ? nullptr : vidmem[i],
                                                  sysmem, slices, place));
  }
}

RegionCounters System::region(std::size_t region) const {
  RegionCounters sum;
  for (const auto& n : netlists_) sum += n->region(region);
  return sum;
}

std::vector<std::string> System::unreconciled() const {
  std::vector<std::string> out;
  for (const auto& n : netlists_)
    for (std::string& sentence : n->unreconciled()) out.push_back(std::move(sentence));
  return out;
}

}  // namespace warpline
