#pragma once

#include <deque>
#include <memory>
#include <string>

#include "rtl_models/base/counter.h"
#include "rtl_models/base/random.h"
#include "rtl_models/cache/read_only_cache.h"
#include "rtl_models/cache/read_only_cache_module.h"
#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/l1_lg/l1_lg.h"
#include "rtl_models/l2/l2_slice.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/rtl_models/tlm/foreign_netlists.h"
#include "tests/rtl_models/tlm/loose_modules.h"

namespace warpline::test {

/// What a memory subsystem is made of.
struct Build {
  HopTransport transport = HopTransport::direct;
  bool loose = true;
  unsigned slices = 2;
  bool with_data = true;
  unsigned mhz = 987;
};

/// L1, texture and constant cache on a crossbar of two slices, with a fourth client's socket at the crossbar
/// itself. All caches are small enough to be fought for.
struct Subsystem final : private CounterVisitor {
  Subsystem(const std::string& name, const Build& b)
      : engine(text(name, "_engine").c_str(), b.mhz, b.transport),
        l1(text(name, "_l1").c_str(), engine, {}, l1_parameters(), b.with_data),
        texture(text(name, "_texture").c_str(), engine, {}, {{4, 2}, 4, {}}, b.with_data),
        constant(text(name, "_constant").c_str(), engine, {}, {{4, 2}, 4, {}}, b.with_data),
        crossbar(text(name, "_crossbar").c_str(), engine, {}, {}, 4, b.slices, {}, b.with_data),
        pcie(text(name, "_pcie").c_str(), engine, {}, {}, b.with_data ? &sysmem : nullptr, b.slices) {
    // Hops that are to be direct must have nothing between.
    const auto join = [&b](InitiatorSocket& from, TargetSocket& to) {
      if (b.transport == HopTransport::direct) {
        from.bind(to);
      } else {
        bind_checked(from, to);
      }
    };
    join(l1.to_crossbar, crossbar.from_client[0]);
    join(texture.to_crossbar, crossbar.from_client[1]);
    join(constant.to_crossbar, crossbar.from_client[2]);
    for (unsigned i = 0; i < b.slices; ++i) {
      l2.emplace_back(text(name, "_l2_", std::to_string(i)).c_str(), engine, ClockDomain{},
                      L2Parameters{b.slices, {4, 4}, 2}, b.with_data ? &vidmem : nullptr, 1U);
      dram.emplace_back(text(name, "_dram_", std::to_string(i)).c_str(), engine, ClockDomain{},
                        DramParameters{}, 1U);
      join(crossbar.to_l2[i], l2.back().from_crossbar);
      join(l2.back().to_dram[0], dram.back().from_l2[0]);
      join(l2.back().to_pcie, pcie.from_l2[i]);
    }
    if (b.loose) engine.set_loose(true);
  }
  static L1LgParameters l1_parameters() {
    L1LgParameters p;
    p.geometry = {4, 2};
    p.miss_registers = 2;
    return p;
  }
  /// Every counter.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() {
    counters_.clear();
    visit_counters("l1", l1.cache().counters(), *this);
    visit_counters("texture", texture.cache().counters(), *this);
    visit_counters("constant", constant.cache().counters(), *this);
    visit_counters("crossbar", crossbar.crossbar().counters(), *this);
    for (std::size_t i = 0; i < l2.size(); ++i)
      visit_counters("l2" + std::to_string(i), l2[i].slice().counters(), *this);
    for (std::size_t i = 0; i < dram.size(); ++i)
      visit_counters("dram" + std::to_string(i), dram[i].channel().counters(), *this);
    visit_counters("pcie", pcie.link().counters(), *this);
    return counters_;
  }
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    counters_[text(std::string(block), ".", std::string(name))] = value;
  }
  MemoryImage vidmem{kMemory}, sysmem{kMemory};
  EngineProcess engine;
  L1LgModule l1;
  ReadOnlyCacheModule texture;
  ReadOnlyCacheModule constant;
  CrossbarModule crossbar;
  std::deque<L2SliceModule> l2;
  std::deque<DramModule> dram;
  PcieModule pcie;

 private:
  std::map<std::string, std::uint64_t> counters_;
};

/// A subsystem with an initiator at each of its sockets. Those without a body do nothing.
struct Driven {
  Driven(const std::string& name, const Build& build, LooseInitiator::Body at_l1,
         LooseInitiator::Body at_crossbar = {}, LooseInitiator::Body at_texture = {},
         LooseInitiator::Body at_constant = {})
      : subsystem(name, build),
        l1(text(name, "_at_l1").c_str(), or_nothing(std::move(at_l1))),
        crossbar(text(name, "_at_crossbar").c_str(), or_nothing(std::move(at_crossbar))),
        texture(text(name, "_at_texture").c_str(), or_nothing(std::move(at_texture))),
        constant(text(name, "_at_constant").c_str(), or_nothing(std::move(at_constant))) {
    bind_checked(l1.socket, subsystem.l1.from_sm);
    bind_checked(texture.socket, subsystem.texture.from_sm);
    bind_checked(constant.socket, subsystem.constant.from_sm);
    bind_checked(crossbar.socket, subsystem.crossbar.from_client[3]);
  }
  static LooseInitiator::Body or_nothing(LooseInitiator::Body body) {
    return body ? std::move(body) : [](LooseInitiator&) {};
  }
  Subsystem subsystem;
  LooseInitiator l1, crossbar, texture, constant;
};

/// What was reported while it is installed as SystemC's report handler, instead of being thrown.
inline std::vector<std::string>& reports() {
  static std::vector<std::string> all;
  return all;
}
inline void note_report(const sc_core::sc_report& report, const sc_core::sc_actions& /*actions*/) {
  reports().emplace_back(report.get_msg());
}
/// How often something with `what` was reported of `who`.
inline std::ptrdiff_t reported(const std::string& who, const std::string& what = {}) {
  return std::count_if(reports().begin(), reports().end(), [&](const std::string& r) {
    return r.rfind(who + ":", 0) == 0 && r.find(what) != std::string::npos;
  });
}
inline sc_core::sc_time ns(double n) {
  return {n, sc_core::SC_NS};
}

}  // namespace warpline::test
