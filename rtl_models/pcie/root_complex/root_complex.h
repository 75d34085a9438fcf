#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/memory_writers.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/pcie/root_complex/egress_queue.h"
#include "rtl_models/pcie/root_complex/root_complex_core.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// The root complex: system memory, the host, and the links to devices meet here (see RootComplexCore).
///
/// - What a device does to memory takes effect `memory_latency` after it has arrived, and a little later in
///   channels that are farther away. A posted write waits for the posted writes before it over the same link,
///   unless its ordering is relaxed; so do interrupt messages and reads.
/// - What goes on to another port leaves `forward_latency` after it has arrived, and unless its ordering is
///   relaxed not before the posted writes before it over the same link have taken effect in memory: who has
///   the answer to a load finds in memory what the device wrote before it answered. A refusal takes as long.
///   Where memory outside has such a write under way, only what goes to another device waits for that: the
///   host may be who has to end it. Once `outside_queue` packets of a port wait there, no more posted
///   requests are taken from it, nor what must stay behind these.
/// - What leaves by a port leaves in the order in which it came, from whichever port and from memory, but for
///   what may pass (EgressQueue). No more than `forward_queue` posted requests of one port wait for that, and
///   as many others.
/// - A write of more bytes than the link that it leaves by allows goes on as several, in order (PCI Express
///   base specification, root complex).
///
/// What takes effect in memory in one cycle does so in one order, whoever else writes it (MemoryWriters).
class RootComplex final : public Component, public LooseTlpTarget, private MemoryWriter {
 public:
  /// Memory, pool and writers outlive it. `links`: to devices, port by port; 1 to 254 of them.
  RootComplex(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool,
              const RootComplexParameters& parameters, MemoryImage& sysmem, const LinkParameters& host,
              const std::vector<LinkParameters>& links);
  /// In the cluster and with the clock of a link of a GPU to the same memory, one of `writers`.
  RootComplex(const Component& beside, std::string name, std::shared_ptr<MemoryWriters> writers,
              TlpPool& pool, const RootComplexParameters& parameters, MemoryImage& sysmem,
              const LinkParameters& host, const std::vector<LinkParameters>& links);

  /// The end of the link to device i, and to the host.
  [[nodiscard]] TlpPort& to_device(unsigned i) { return *ports_[i + 1].link; }
  [[nodiscard]] TlpPort& to_host() { return *ports_[0].link; }
  /// Who performs loosely timed requests for device i, and interrupts for the host. They live as long.
  void perform_by(unsigned device, LooseTlpTarget& target) { ports_[device + 1].loose = &target; }
  void interrupt_by(LooseTlpTarget& host) { ports_[0].loose = &host; }

  /// Takes the link to device i down, as removal does, or up again. What is on it then is lost, either way.
  /// What waits to go there, or comes for it while the link is down, is answered as unsupported. Neither the
  /// device nor who asked it hears an answer to what was asked before, even if the link is up again by then:
  /// whoever was reset would take it for another. What the device wrote and has arrived here is still
  /// written.
  void set_link(unsigned i, bool up);
  /// Resets the link to device i: down, and up at once.
  void reset_link(unsigned i) {
    set_link(i, false);
    set_link(i, true);
  }

  /// Devices reach memory outside of the model from now on. It lives as long. Pre: nothing is under way.
  void reach_outside(OutsideMemory& memory) { core_.reach_outside(memory); }
  /// Memory outside is done with a request that it had under way, whose data is the answer by now. Pre: the
  /// engine is not ticking.
  void finish_outside(const Tlp& request, CompletionStatus status);

  /// Asks of every packet that leaves. For tests of drivers and devices; loosely timed packets are not asked
  /// about.
  void inject(std::function<Injection(unsigned port, const Tlp& tlp)> decide) { decide_ = std::move(decide); }

  Cycle tick(Cycle now) override;
  void perform(Tlp& tlp, Cycle& at) override;
  [[nodiscard]] bool busy() const override;
  void explain(std::vector<Wait>& waits) const override;
  void visit_gauges(GaugeVisitor& visitor) const override;
  void restart() override {
    core_.restart();
    for (Port& p : ports_) p.ordered = 0;
  }
  void archive(StateArchive& a) override {
    a(core_);
    a.same(ports_.size(), "ports");
    for (Port& p : ports_) a(*p.link, p.ordered);
  }
  [[nodiscard]] RootComplexCore& core() { return core_; }
  [[nodiscard]] const RootComplexCore& core() const { return core_; }

 private:
  /// What takes effect in its turn: on memory, or by going on to the port that is its packet's route.
  struct Effect {
    EgressQueue::Entry entry;
    bool goes_on = false;
  };
  /// Where packets come and go: the host's is the first.
  struct Port {
    std::unique_ptr<TlpPort> link;
    LooseTlpTarget* loose = nullptr;
    std::uint64_t ordered = 0;          ///< edge at which the last ordered posted write takes effect
    std::array<unsigned, 2> waiting{};  ///< requests that came here and wait to leave, by class
    EgressQueue leaving;                ///< packets that leave by this port
    unsigned unfinished = 0;            ///< posted writes of its that memory outside has under way
    std::deque<Effect> held;            ///< what came behind them, for memory or another device
  };
  void make_ports(const LinkParameters& host, const std::vector<LinkParameters>& links);
  void arrive(Cycle now) override;
  void take_effect(const Effect& effect, Cycle now);
  void answer(const EgressQueue::Entry& effect, CompletionStatus status, std::uint64_t t);
  void take(std::uint64_t t, unsigned from, Tlp* tlp);
  [[nodiscard]] std::uint64_t effect_edge(std::uint64_t t, unsigned from, const Tlp& tlp, unsigned distance);
  void refuse(std::uint64_t t, unsigned from, Tlp* tlp) {
    completions_.clear();
    core_.complete(route_of(from), tlp, CompletionStatus::unsupported_request, completions_);
    for (Tlp* c : completions_) delay(t, from, from, c);
  }
  void cut_and_delay(std::uint64_t t, unsigned from, unsigned to, Tlp* tlp);
  void delay(std::uint64_t t, unsigned from, unsigned to, Tlp* tlp);
  void forward(std::uint64_t t, unsigned to);
  void leave(std::uint64_t t, unsigned to, const EgressQueue::Entry& entry);
  void send(unsigned to, Tlp* tlp);
  /// Whether a port's link is up.
  [[nodiscard]] bool leads_on(unsigned port) const { return port == 0 || core_.up(port - 1); }
  [[nodiscard]] std::uint64_t downs(unsigned port) const { return core_.downs(route_of(port)); }
  [[nodiscard]] unsigned most_payload(unsigned port) const {
    return ports_[port].link->parameters().max_payload;
  }
  [[nodiscard]] bool too_long(const Tlp& tlp, unsigned port) const {
    const bool may_be_cut = tlp.posted() || tlp.kind == TlpKind::completion;
    return may_be_cut && tlp.payload() > most_payload(port);
  }
  [[nodiscard]] static unsigned route_of(unsigned port) {
    return port == 0 ? RootComplexCore::kHost : port - 1;
  }
  [[nodiscard]] static unsigned number_of(unsigned route) {
    return route == RootComplexCore::kHost ? 0 : route + 1;
  }

  RootComplexCore core_;
  std::shared_ptr<MemoryWriters> writers_;
  std::vector<Port> ports_;
  std::multimap<std::uint64_t, Effect> effects_;  ///< by edge and then in order of arrival
  std::vector<EgressQueue::Entry> outside_;       ///< requests that memory outside has under way
  std::vector<Tlp*> completions_;                 ///< scratch
  std::function<Injection(unsigned, const Tlp&)> decide_;
};

}  // namespace warpline
