// What loosely timed access costs: 32-byte reads by b_transport through the modules of a V100, for one
// initiator with a quantum keeper; beside them, modules at the same sockets that do nothing but look up their
// tags.
#include <systemc>
// The keeper leaves the inclusion of SystemC to its users.
#include <tlm_utils/tlm_quantumkeeper.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

#include "platform/config/load_gpu.h"
#include "rtl_models/base/random.h"
#include "rtl_models/cache/tag_array.h"
#include "rtl_models/crossbar/crossbar_core.h"
#include "rtl_models/crossbar/crossbar_module.h"
#include "rtl_models/dram/dram_module.h"
#include "rtl_models/l1_lg/l1_lg_module.h"
#include "rtl_models/l2/l2_slice_module.h"
#include "rtl_models/pcie/gpu_link/pcie_module.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/sim/memory_image.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"
#include "tests/bench/cpu_time.h"

int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace warpline::bench {
namespace {

constexpr std::uint64_t kFootprint = 256U << 20U;

/// One SM's share of the memory subsystem, as modules of ours.
struct Ours {
  Ours(const GpuConfig& c, EngineProcess& engine, MemoryImage& vidmem)
      : l1("l1", engine, {}, c.l1_lg, true),
        crossbar("crossbar", engine, {}, c.crossbar, 1, c.l2.slices, {}, true),
        pcie("pcie", engine, {}, c.pcie, nullptr, c.l2.slices) {
    l1.to_crossbar.bind(crossbar.from_client[0]);
    const unsigned per_channel = c.l2.slices / c.dram.channels;
    for (unsigned i = 0; i < c.dram.channels; ++i)
      dram.emplace_back(socket_name("dram", i).c_str(), engine, ClockDomain{}, c.dram, per_channel);
    for (unsigned i = 0; i < c.l2.slices; ++i) {
      L2SliceModule& s =
          l2.emplace_back(socket_name("l2", i).c_str(), engine, ClockDomain{}, c.l2, &vidmem, 1);
      crossbar.to_l2[i].bind(s.from_crossbar);
      s.to_dram[0].bind(dram[i % c.dram.channels].from_l2[i / c.dram.channels]);
      s.to_pcie.bind(pcie.from_l2[i]);
    }
  }
  L1LgModule l1;
  CrossbarModule crossbar;
  std::deque<L2SliceModule> l2;
  std::deque<DramModule> dram;
  PcieModule pcie;
};

/// Tags and nothing else; none: every look-up misses.
class Tags {
 public:
  Tags(const CacheGeometry* geometry, unsigned divisor) : divisor_(divisor) {
    if (geometry != nullptr) tags_ = std::make_unique<TagArray>(*geometry);
  }
  /// Whether the sectors are there; they are from now on.
  bool hit(std::uint64_t address, SectorMask sectors) {
    if (tags_ == nullptr) return false;
    const std::uint64_t number = address / kLineBytes;
    const std::uint64_t key = divisor_.quotient(number);
    std::uint32_t index = tags_->find(number, key);
    if (index == TagArray::kAbsent) {
      index = tags_->victim(key);
      tags_->install(index, number, EvictionClass::normal);
    } else {
      tags_->touch(index);
    }
    const bool found = (tags_->state(index).valid_sectors() & sectors) == sectors;
    tags_->state(index).add_valid(sectors);
    return found;
  }

 private:
  std::unique_ptr<TagArray> tags_;
  Divider divisor_;
};

/// A block at our ports that does nothing with a read but look up its tags, and hands misses on.
class LookUp final : public Component, public LooseTarget {
 public:
  LookUp(Engine& engine, const std::string& name, const CacheGeometry* geometry, unsigned divisor,
         unsigned below)
      : Component(engine, name), tags_(geometry, divisor) {
    from_sm.perform_by(*this);
    for (unsigned i = 0; i < below; ++i) {
      to.emplace_back(*this, "to");
      from.emplace_back(*this, "from");
    }
  }
  In<RequestMessage> from_sm{*this, "from_sm"};
  Out<ResponseMessage> to_sm{*this, "to_sm"};
  std::deque<Out<RequestMessage>> to;
  std::deque<In<ResponseMessage>> from;
  const CrossbarCore* slices = nullptr;

  void perform(Request& r, Cycle& at) override {
    if (tags_.hit(r.line.value, r.sectors) || to.empty()) return;
    const unsigned i = slices == nullptr ? 0 : slices->slice_of(r.line);
    at = perform_through(to[i], from[i], r, at);
  }
  Cycle tick(Cycle) override { return kNever; }
  [[nodiscard]] bool busy() const override { return false; }
  void explain(std::vector<Wait>&) const override {}

 private:
  Tags tags_;
};

/// A module that looks up its tags and hands misses on; without a cache, one that hands everything on.
class TagsOnly final : public sc_core::sc_module,
                       private tlm::tlm_fw_transport_if<>,
                       private tlm::tlm_bw_transport_if<> {
 public:
  TagsOnly(const sc_core::sc_module_name& name, const CacheGeometry* geometry, unsigned divisor,
           unsigned below)
      : sc_module(name), tags_(geometry, divisor) {
    for (unsigned i = 0; i < below; ++i) to.emplace_back(socket_name("to", i).c_str()).bind(*this);
    from.bind(*this);
  }
  tlm::tlm_target_socket<kBusBits> from{"from"};
  std::deque<tlm::tlm_initiator_socket<kBusBits>> to;
  const CrossbarCore* slices = nullptr;

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    const auto sector = static_cast<SectorMask>(1U << (p.get_address() % kLineBytes / kSectorBytes));
    if (tags_.hit(p.get_address(), sector)) {
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      return;
    }
    if (to.empty()) {
      p.set_response_status(tlm::TLM_OK_RESPONSE);
    } else {
      to[slices == nullptr ? 0 : slices->slice_of(PhysicalAddress{p.get_address()})]->b_transport(p, delay);
    }
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  Tags tags_;
};

struct BareModules {
  explicit BareModules(const GpuConfig& c)
      : core(c.crossbar, c.l2.slices),
        l1("tags_l1", &c.l1_lg.geometry, 1, 1),
        crossbar("tags_crossbar", nullptr, 1, c.l2.slices) {
    l1.to[0].bind(crossbar.from);
    crossbar.slices = &core;
    for (unsigned i = 0; i < c.l2.slices; ++i) {
      TagsOnly& slice = l2.emplace_back(socket_name("tags_l2", i).c_str(), &c.l2.geometry, c.l2.slices, 1);
      crossbar.to[i].bind(slice.from);
      slice.to[0].bind(dram.emplace_back(socket_name("tags_dram", i).c_str(), nullptr, 1, 0).from);
    }
  }
  CrossbarCore core;
  TagsOnly l1, crossbar;
  std::deque<TagsOnly> l2, dram;
};

/// The same netlist of LookUps, with our socket on top.
struct LookUps final : BlockModule {
  LookUps(const sc_core::sc_module_name& name, const GpuConfig& c, EngineProcess& module)
      : BlockModule(name),
        core(c.crossbar, c.l2.slices),
        l1(module.engine(), "l1", &c.l1_lg.geometry, 1, 1),
        crossbar(module.engine(), "crossbar", nullptr, 1, c.l2.slices),
        top("top", module, l1.from_sm, l1.to_sm, *this) {
    const auto link = [](LookUp& a, unsigned i, LookUp& b) {
      connect(a.to[i], b.from_sm, {});
      connect(b.to_sm, a.from[i], {});
    };
    link(l1, 0, crossbar);
    crossbar.slices = &core;
    for (unsigned i = 0; i < c.l2.slices; ++i) {
      link(crossbar, i, l2.emplace_back(module.engine(), "l2", &c.l2.geometry, c.l2.slices, 1));
      link(l2.back(), 0, dram.emplace_back(module.engine(), "dram", nullptr, 1, 0));
    }
  }
  CrossbarCore core;
  LookUp l1, crossbar;
  std::deque<LookUp> l2, dram;
  TargetSocket top;
};

/// Reads on and on, by way of a quantum keeper.
class Initiator final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  SC_HAS_PROCESS(Initiator);
  Initiator(const sc_core::sc_module_name& name, std::function<void(Initiator&)> body)
      : sc_module(name), body_(std::move(body)) {
    socket.bind(*this);
    look_ups.bind(*this);
    bare.bind(*this);
    payload_.set_command(tlm::TLM_READ_COMMAND);
    payload_.set_data_ptr(data_);
    payload_.set_data_length(sizeof data_);
    payload_.set_streaming_width(sizeof data_);
    SC_THREAD(run);
  }
  tlm::tlm_initiator_socket<kBusBits> socket{"socket"}, look_ups{"look_ups"}, bare{"bare"};

  /// Accesses per second of CPU time: reads of `count` sectors, `stride` bytes apart, around `bytes` bytes.
  double rate(tlm::tlm_initiator_socket<kBusBits>& to, std::uint64_t bytes, std::uint64_t stride,
              std::uint64_t count) {
    const double start = cpu_seconds();
    for (std::uint64_t i = 0; i < count; ++i) {
      payload_.set_address(at_);
      payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      sc_core::sc_time delay = keeper_.get_local_time();
      to->b_transport(payload_, delay);
      if (!payload_.is_response_ok()) std::abort();
      keeper_.set(delay);
      if (keeper_.need_sync()) keeper_.sync();
      at_ += stride;
      if (at_ >= bytes) at_ = (at_ + kSectorBytes) % kLineBytes;
    }
    return static_cast<double>(count) / (cpu_seconds() - start);
  }

 private:
  void run() {
    tlm_utils::tlm_quantumkeeper::set_global_quantum(sc_core::sc_time(10, sc_core::SC_US));
    keeper_.reset();
    body_(*this);
    sc_core::sc_stop();
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  std::function<void(Initiator&)> body_;
  tlm::tlm_generic_payload payload_;
  std::uint8_t data_[kSectorBytes] = {};
  std::uint64_t at_ = 0;
  tlm_utils::tlm_quantumkeeper keeper_;
};

struct Case {
  const char* name;
  std::uint64_t bytes;
  std::uint64_t stride;
  double bar;  ///< million accesses per second
};

void run_all(Initiator& initiator) {
  std::printf(
      "Loosely timed 32-byte reads per second of CPU time, one initiator, V100 caches, best of five\n\n");
  std::printf("%-6s %10s %8s %16s %26s %24s\n", "hits", "footprint", "stride", "b_transport (aim)",
              "look-ups only, share (bar)", "without our sockets");
  for (const Case& c : {Case{"L1", 16U << 10U, kSectorBytes, 20}, Case{"L2", 4U << 20U, kLineBytes, 4},
                        Case{"DRAM", kFootprint, kLineBytes, 2}}) {
    double ours = 0, look_ups = 0, bare = 0;
    const std::uint64_t count = c.bytes >= kFootprint ? kFootprint / kLineBytes : 1'000'000;
    for (unsigned i = 0; i < 5; ++i) {
      ours = std::max(ours, initiator.rate(initiator.socket, c.bytes, c.stride, count));
      look_ups = std::max(look_ups, initiator.rate(initiator.look_ups, c.bytes, c.stride, count));
      bare = std::max(bare, initiator.rate(initiator.bare, c.bytes, c.stride, count));
    }
    std::printf("%-6s %7.2f MB %6lu B %7.1f M (%2.0f M) %13.1f M %4.0f%% (50%%) %16.1f M %4.0f%%\n", c.name,
                static_cast<double>(c.bytes) / (1U << 20U), static_cast<unsigned long>(c.stride), 1e-6 * ours,
                c.bar, 1e-6 * look_ups, 100 * ours / look_ups, 1e-6 * bare, 100 * ours / bare);
    std::fflush(stdout);
  }
}

int run() {
  const Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  const GpuConfig& config = loaded.value();
  MemoryImage vidmem(kFootprint);
  EngineProcess engine("engine", 1000);
  Ours ours(config, engine, vidmem);
  LookUps look_ups("look_ups", config, engine);
  BareModules bare(config);
  Initiator initiator("initiator", run_all);
  initiator.socket.bind(ours.l1.from_sm);
  initiator.look_ups.bind(look_ups.top);
  initiator.bare.bind(bare.l1.from);
  engine.set_loose(true);
  sc_core::sc_start();
  return 0;
}

}  // namespace
}  // namespace warpline::bench

int main() {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return warpline::bench::run();
}
