#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/machine/netlist.h"
#include "rtl_models/base/counter.h"

namespace warpline {

/// The GPUs of a platform, config.gpus of them, all alike: a netlist each, on one engine, each with video
/// memory and a PCIe link of its own, and all with one system memory and one peer device.
///
/// What a GPU writes to system memory takes effect when its packet arrives there, in one order for all GPUs
/// (see PcieLink). So AtomicOps and compare-and-swap loops are atomic between GPUs; without AtomicOps atomics
/// are atomic among their own GPU's threads only. GPUs reach each other's video memory through BARs, and by
/// switches between them (config.gpu_switch), which do what multimem instructions ask of all at once.
///
/// A GPU that is alone has the names "sm[3]" and "l2[0]"; one of several, "gpu[1].sm[3]" and "gpu[1].l2[0]".
class System {
 public:
  /// GPUs without hops. `vidmem`: the video memory of each; empty: tags only. `sysmem`: null: tags only.
  /// `peer`: null: there is none. `multicasts`: null: there are none. Memories, engine and multicasts outlive
  /// it. Pre: config.problems() is empty; of `vidmem` there are none or config.gpus.
  System(const GpuConfig& config, Engine& engine, const std::vector<MemoryImage*>& vidmem,
         MemoryImage* sysmem, MemoryDevice* peer = nullptr, Slices slices = Slices::ours,
         Channels channels = Channels::ours, const MulticastTable* multicasts = nullptr);

  [[nodiscard]] const std::vector<std::unique_ptr<GpuSwitch>>& switches() const { return switches_; }
  /// Which of the engine's ranks runs a GPU; switches take turns, and links of PCI Express are rank 0's.
  [[nodiscard]] unsigned rank_of(unsigned gpu) const { return netlists_[gpu]->place().rank; }
  [[nodiscard]] unsigned gpus() const { return static_cast<unsigned>(netlists_.size()); }
  [[nodiscard]] Netlist& gpu(unsigned i) { return *netlists_[i]; }
  [[nodiscard]] const Netlist& gpu(unsigned i) const { return *netlists_[i]; }
  /// Calls make(Hop) for every hop, GPU by GPU.
  template <class F>
  void for_each_hop(F&& make) {
    for (const auto& n : netlists_) n->for_each_hop(make);
  }
  void connect_directly() {
    for (const auto& n : netlists_) n->connect_directly();
  }
  /// See Netlist::set_loose.
  void set_loose(bool loose) {
    for (const auto& n : netlists_) n->set_loose(loose);
  }
  void set_regions(std::size_t count) {
    for (const auto& n : netlists_) n->set_regions(count);
  }
  void visit(CounterVisitor& visitor) const {
    for (const auto& n : netlists_) n->visit(visitor);
    for (const auto& s : switches_)
      for (unsigned gpu = 0; gpu < gpus(); ++gpu)
        visit_counters(s->port_name(gpu), s->counters(gpu), visitor);
  }
  /// Look-ups and hits of region `region` in all slices of all GPUs.
  [[nodiscard]] RegionCounters region(std::size_t region) const;
  /// Each sum that does not hold, as a sentence. Pre: quiescent.
  [[nodiscard]] std::vector<std::string> unreconciled() const;

 private:
  MulticastTable no_multicasts_;
  std::vector<std::unique_ptr<GpuSwitch>> switches_;
  std::vector<std::unique_ptr<Netlist>> netlists_;
};

}  // namespace warpline
