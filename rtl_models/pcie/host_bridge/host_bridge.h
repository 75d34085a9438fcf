#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rtl_models/pcie/host_bridge/host_bridge_mappings.h"
#include "rtl_models/pcie/host_bridge/host_bridge_parameters.h"
#include "rtl_models/pcie/host_bridge/read_ahead.h"
#include "rtl_models/pcie/host_bridge/write_combiner.h"
#include "rtl_models/pcie/packets/loose_tlp_target.h"
#include "rtl_models/pcie/packets/tag_table.h"
#include "rtl_models/pcie/packets/tlp_port.h"
#include "rtl_models/sim/engine.h"

namespace warpline {

/// An interrupt message as it reaches the host.
struct HostInterrupt {
  std::uint64_t address = 0;
  std::uint32_t data = 0;
  Cycle cycle = 0;
  template <class Archive>
  void archive(Archive& a) {
    a(address, data, cycle);
  }
};

/// What a host did over its bridge.
struct HostBridgeCounters {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t configurations = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t refused = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t unexpected = 0;
  std::uint64_t combined = 0;
  std::uint64_t read_ahead = 0;

  template <class F>
  void visit(F&& f) const {
    f("reads", reads, "packets", "loads from devices");
    f("writes", writes, "packets", "stores to devices");
    f("configurations", configurations, "packets", "accesses to configuration space");
    f("interrupts", interrupts, "packets", "interrupt messages that arrived");
    f("refused", refused, "packets", "that were answered as unsupported or aborted");
    f("timeouts", timeouts, "packets", "that were not answered in time");
    f("unexpected", unexpected, "packets", "completions of no access under way");
    f("combined", combined, "stores", "that gathered in a write-combining line before they became packets");
    f("read_ahead", read_ahead, "loads", "answered by what an earlier one had read ahead");
  }
};

/// The bridge between a host's processor and the root complex: loads and stores become packets of function 0
/// of bus 0, in the order in which they are made, and interrupt messages wait for the processor.
///
/// The processor is no block of the netlist: it acts between runs of the engine, and says when.
///
/// An access is one packet of just its bytes, but for those of prefetchable memory, of which it is told,
/// where that is mapped write-combining:
/// - Stores gather in lines (WriteCombiner) and leave as fewer packets: when a line is full, when another
///   line wants its buffer, `combining_cycles` after its first store, and before any other access, a barrier,
///   and an interrupt that arrives. Their order among each other is lost.
/// - With `read_ahead` a load reads on to the end of its aligned block. Loads that find all their bytes there
///   become no packet. What is there is dropped by any store, barrier, configuration access, interrupt, other
///   load or change of a mapping, and after `read_ahead_cycles`. A load that is refused is made again
///   without, as memory may end before the block.
class HostBridge final : public Component, public LooseTlpTarget {
 public:
  /// How a load or configuration access ended.
  struct Answer {
    TlpOutcome outcome = TlpOutcome::done;
    std::vector<std::uint8_t> data;  ///< of a load or configuration read that is done
    Cycle cycle = 0;                 ///< in which it came
    template <class Archive>
    void archive(Archive& a) {
      a(outcome, data, cycle);
    }
  };
  /// Names an access that is answered.
  using Ticket = std::uint64_t;

  /// The pool outlives it. Pre: the parameters have no problems.
  HostBridge(Engine& engine, std::string name, ClockDomain domain, TlpPool& pool, const LinkParameters& link,
             const HostBridgeParameters& parameters = {});

  [[nodiscard]] TlpPort& to_root() { return link_; }
  /// Who performs what is loosely timed.
  void perform_by(LooseTlpTarget& root) { loose_root_ = &root; }
  /// Whether accesses are loosely timed from now on: answered when the call returns. Pre: nothing is under
  /// way.
  void set_loose(bool loose) { loose_ = loose; }

  /// Accesses made in cycle `at`, or as soon after it as may be; not before what was made earlier. `bytes`: 1
  /// to 4096, not across 4 KiB; a load of 0 bytes comes back when the stores before it have arrived. Pre:
  /// `at` is later than the last tick.
  Ticket load(std::uint64_t address, std::uint32_t bytes, Cycle at);
  void store(std::uint64_t address, const void* data, std::uint32_t bytes, Cycle at);
  /// Configuration accesses; `offset` a multiple of 4, of a store any `bytes` within the register.
  Ticket load_config(FunctionId function, unsigned offset, Cycle at);
  Ticket store_config(FunctionId function, unsigned offset, std::uint32_t value, unsigned bytes, Cycle at);
  /// What gathers leaves, and what was read ahead is dropped.
  void barrier(Cycle at) { settle(at); }

  /// A prefetchable BAR, placed: reads of it have no side effects, and writes to it may be merged. Pre: it
  /// overlaps no other.
  void add_prefetchable(const BusRange& range) { mappings_.add_prefetchable(range); }
  /// Forgets all of them, and with them what is mapped write-combining.
  void forget_prefetchable() {
    mappings_.forget();
    drop_ahead();
  }
  /// Forgets those that lie there.
  void forget_prefetchable(const BusRange& range) {
    mappings_.forget(range);
    drop_ahead();
  }
  /// Maps addresses write-combining, or as at first not. False, and nothing changes: they are no whole pages,
  /// or not all prefetchable memory of one BAR.
  [[nodiscard]] bool set_combining(const BusRange& range, bool on) {
    if (!mappings_.set_combining(range, on)) return false;
    drop_ahead();
    return true;
  }

  /// Takes the answer, if it has come.
  bool take(Ticket ticket, Answer& answer);
  /// Interrupts that have arrived, oldest first.
  [[nodiscard]] std::deque<HostInterrupt>& interrupts() { return interrupts_; }
  /// Called when an answer or an interrupt comes, in the cycle in which it does.
  void on_event(std::function<void(Cycle)> heard) { heard_ = std::move(heard); }

  /// Packets that are made, and not on the wire yet.
  [[nodiscard]] std::size_t waiting() const { return made_.size() + link_.waiting(); }

  Cycle tick(Cycle now) override;
  /// An interrupt message.
  void perform(Tlp& tlp, Cycle& at) override;
  [[nodiscard]] bool busy() const override {
    return link_.busy() || !made_.empty() || under_way_ != 0 || !combiner_.empty();
  }
  void explain(std::vector<Wait>& waits) const override;
  void restart() override {
    forget_prefetchable();
    answers_.clear();
    interrupts_.clear();
    for (Access& access : accesses_) access = {};
  }
  void archive(StateArchive& a) override;
  [[nodiscard]] const HostBridgeCounters& counters() const { return counters_; }

 private:
  /// Of a load that reads ahead: what was asked for, and what came beyond that.
  struct Ahead {
    std::uint64_t address = 0;
    std::uint32_t asked = 0;  ///< bytes that the load asked for; 0: it does not read ahead
    std::uint64_t epoch = 0;  ///< in which it was made; what comes in another is not kept
    std::vector<std::uint8_t> beyond;
  };
  /// A request under way, by its tag.
  struct Access {
    Ticket ticket = 0;          ///< 0: the tag is free
    Cycle sent = kNever;        ///< kNever: it is not on the wire yet
    std::uint64_t address = 0;  ///< of the next byte to come
    std::uint32_t left = 0;     ///< bytes that have not come
    bool given_up = false;      ///< an answer may yet come: the tag is not used again while there are others
    Answer answer;              ///< the bytes that have come so far
    Ahead ahead;
  };
  Ticket submit(Tlp* tlp, Cycle at, Ahead ahead);
  void submit_write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, Cycle at);
  void send_leaving(Cycle at);
  void settle(Cycle at);
  void drop_ahead();
  [[nodiscard]] std::uint32_t length_ahead(std::uint64_t address, std::uint32_t bytes) const;
  void split(Ahead& ahead, std::vector<std::uint8_t>& data) const;
  void keep(const Ahead& ahead, Cycle now);
  void receive_ahead(Access& access, const Tlp& tlp, bool last, Cycle now);
  void issue(Cycle now);
  [[nodiscard]] Access* free_access(Cycle now);
  /// When the tag of an access that was given up is taken for lost.
  [[nodiscard]] Cycle lost(const Access& a) const { return a.sent + TagTable::kLostAfter * timeout(); }
  void receive(Tlp* tlp, Cycle now);
  void receive_completion(const Tlp& tlp, Cycle now);
  void finish(Access& access, TlpOutcome outcome, Cycle now);
  void expire(Cycle now);
  [[nodiscard]] Cycle timeout() const { return domain().cycles_in(link_.parameters().completion_timeout); }

  TlpPool& pool_;
  HostBridgeParameters parameters_;
  TlpPort link_;
  LooseTlpTarget* loose_root_ = nullptr;
  bool loose_ = false;
  /// An access that is made, and not yet on the link.
  struct Made {
    Cycle at = 0;
    Ticket ticket = 0;  ///< 0: of a store
    Tlp* tlp = nullptr;
    Ahead ahead;
  };
  std::deque<Made> made_;
  bool ticking_ = false;              ///< what is made then goes out in this very tick
  std::vector<Access> accesses_;      ///< by tag
  unsigned under_way_ = 0;            ///< accesses whose answers are awaited
  std::map<Ticket, Answer> answers_;  ///< that have come and are not taken yet
  Ticket tickets_ = 0;
  std::deque<HostInterrupt> interrupts_;
  std::function<void(Cycle)> heard_;
  HostBridgeMappings mappings_;
  WriteCombiner combiner_;
  std::vector<WriteCombiner::Write> leaving_;  ///< what is being sent, in order
  std::size_t left_ = 0;                       ///< how many of leaving_ have been sent
  ReadAhead ahead_;
  std::uint64_t epoch_ = 0;  ///< counts the events that make what was read ahead old
  HostBridgeCounters counters_;
};

}  // namespace warpline
