#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/host/host_machine.h"
#include "rtl_models/base/types.h"
#include "rtl_models/pcie/root_complex/outside_memory.h"

namespace warpline {

class CounterVisitor;
class PcieSystem;
class ServedTape;
struct ServedEvent;
class ServedFunction;
class ServedGpu;
class HostBridge;

/// What clients of served functions did, and what was done to them.
struct ServeCounters {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t configurations = 0;
  std::uint64_t failed_reads = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t unheard_interrupts = 0;
  std::uint64_t resets = 0;

  template <class F>
  void visit(F&& f) const {
    f("reads", reads, "accesses", "of BARs, by clients and at the control socket");
    f("writes", writes, "accesses", "of BARs, by clients and at the control socket");
    f("configurations", configurations, "accesses", "of configuration space by clients");
    f("failed_reads", failed_reads, "accesses", "that nobody answered in time: they read all ones");
    f("interrupts", interrupts, "interrupts", "that went to clients");
    f("unheard_interrupts", unheard_interrupts, "interrupts", "that came while there was no client");
    f("resets", resets, "resets", "that clients asked for, or left behind");
  }
};

/// The functions of a PCIe system as devices of machines outside, such as guests of an emulator: their
/// software's accesses go over the host bridge as packets; what functions ask of memory goes to the memory of
/// their guest, and what names a BAR of a function that the same guest has goes there, at the addresses that
/// the guest has given.
///
/// All is called by one thread, which calls advance() again and again. Time passes in there, and while a
/// function is set up.
class ServedMachine final : private OutsideMemory {
 public:
  /// The system outlives it, has no other host, and nothing under way. The machine brings up its functions.
  /// `gpus`: run kernels for the registers of the system's GPUs, if it has some that have some: all of one
  /// platform, and outlive it, too.
  explicit ServedMachine(PcieSystem& system, std::vector<ServedGpu*> gpus = {});
  ~ServedMachine();
  ServedMachine(const ServedMachine&) = delete;
  ServedMachine& operator=(const ServedMachine&) = delete;

  [[nodiscard]] PcieSystem& system() { return system_; }
  [[nodiscard]] unsigned functions() const { return static_cast<unsigned>(functions_.size()); }
  /// The function behind root port `port`.
  [[nodiscard]] ServedFunction& function(unsigned port) { return *functions_[port]; }
  [[nodiscard]] const ServeCounters& counters() const { return counters_; }
  /// The counters of what is served: of GPUs their totals, as those of a run (total_path()), then those of
  /// the PCIe system.
  void visit(CounterVisitor& visitor) const;
  /// Lets clients map what is behind BAR `bar` of a function, if that is memory and nothing else. Why not, a
  /// sentence; empty: they may. Pre: no client has come yet.
  [[nodiscard]] std::string map(unsigned port, unsigned bar);

  /// Lets the model do what it has to do, up to cycle `limit`, until somebody outside hears of something, but
  /// no longer than about `most`. Whether it has more to do by then.
  bool advance(Cycle limit, std::chrono::microseconds most);
  /// When the model next has something to do, or a kernel has run for too long; kNever: not before somebody
  /// asks for it.
  [[nodiscard]] Cycle next_activity();
  /// Time passes up to `cycle` at least before the next access. Nothing if it is past.
  void pass_until(Cycle cycle) { now_ = std::max(now_, cycle); }
  /// The cycle up to which everything has happened.
  [[nodiscard]] Cycle now();
  /// Whether packets are loosely timed, as soon as what is under way has ended; accesses wait until then, for
  /// kLongestSwitch: a client may keep a request waiting, and devices may go on for ever.
  /// `done`, unless null: it is so, or somebody has since wished otherwise and that is so; or if `gave_up`,
  /// timing is as it was, as something was still under way.
  using Switched = std::function<void(bool gave_up)>;
  void set_loose(bool loose, Switched done = nullptr);
  static constexpr std::chrono::seconds kLongestSwitch{1};
  [[nodiscard]] bool is_loose() const;
  /// Whether a kernel is under way, in the middle of which nothing is switched.
  [[nodiscard]] bool runs_kernel();

  /// Tells what happens from now on; null: nobody hears it. The tape lives as long, and who replays is all
  /// that uses the machine. Pre: nothing has happened yet.
  void tape_by(ServedTape* tape) { tape_ = tape; }
  /// Tells the last, that nothing more is told.
  void end_tape();
  /// Of replays. Does the one next thing that the model has to do, and what was done to the machine. Pre:
  /// can_step(); is_input().
  [[nodiscard]] bool can_step();
  void step_once();
  void apply(const ServedEvent& event);
  /// Of step_once(), since what was told last.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  /// Whether a switch waits for what is under way.
  [[nodiscard]] bool is_switching() const { return wants_loose_.has_value(); }
  /// Whether requests wait for a client to answer for its memory.
  [[nodiscard]] bool waits_for_client() const { return asked_ != 0; }
  /// Lets clients answer, for a while, within a loosely timed request that waits for one. False: `since` then
  /// it has taken too long.
  using Pump = std::function<bool(std::chrono::steady_clock::time_point since)>;
  void pump_by(Pump pump) { pump_ = std::move(pump); }

 private:
  friend class ServedFunction;

  // For functions.
  [[nodiscard]] HostBridge& bridge();
  [[nodiscard]] HostMachine& host() { return host_; }
  /// The cycle in which an access that comes now is made.
  [[nodiscard]] Cycle next_cycle() { return now() + 1; }
  [[nodiscard]] bool takes_accesses() const { return !inside_ && !pumping_ && !wants_loose_.has_value(); }
  /// Posted writes that may be made before the first of them has to leave the bridge.
  [[nodiscard]] bool has_room();

  [[nodiscard]] Place find(const Tlp& request) override;
  [[nodiscard]] std::optional<CompletionStatus> perform(Tlp& request, bool may_wait) override;
  [[nodiscard]] std::optional<CompletionStatus> transfer(Tlp& request, bool may_wait);
  [[nodiscard]] Place find_outside(const Tlp& request);
  [[nodiscard]] std::optional<CompletionStatus> perform_outside(Tlp& request, bool may_wait);
  void finish(std::uint64_t transfer, CompletionStatus status);
  void tell(ServedEvent& event);
  void tell_output(ServedEvent& event);
  void look_at_what_came();
  [[nodiscard]] ServedFunction* requester_of(const Tlp& request);
  void step(Cycle limit, std::chrono::microseconds most);
  void settle(unsigned port);
  [[nodiscard]] ServedGpu* gpu_at(unsigned port);
  void attend(ServedGpu& gpu);
  void end_within();
  void set_time(bool loose);
  void deliver();
  void switch_time();
  [[nodiscard]] bool is_quiet();
  void make_accesses();

  PcieSystem& system_;
  std::vector<ServedGpu*> gpus_;
  HostMachine host_;
  std::vector<std::unique_ptr<ServedFunction>> functions_;
  ServeCounters counters_;
  Cycle now_ = 0;
  bool heard_ = false;   ///< something has come that somebody outside waits for
  bool inside_ = false;  ///< the engine runs
  std::optional<bool> wants_loose_;
  std::vector<Switched> switched_;  ///< who hears of it when that is so
  Pump pump_;
  bool pumping_ = false;
  ServedTape* tape_ = nullptr;  ///< null: nobody hears what happens
  std::uint64_t steps_ = 0;
  bool told_turn_ = false;
  std::map<std::uint64_t, Tlp*> transfers_;  ///< of the root complex, that wait for clients
  std::uint64_t last_transfer_ = 0;
  unsigned asked_ = 0;  ///< requests that clients have not answered
  std::vector<std::pair<std::uint64_t, CompletionStatus>> ended_within_;  ///< while the engine ran
  std::chrono::steady_clock::time_point wanted_since_;
};

}  // namespace warpline
