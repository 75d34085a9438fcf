#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "warpline/base/random.h"
#include "warpline/base/types.h"
#include "warpline/fabric/clock.h"
#include "warpline/fabric/request.h"

namespace warpline {

class Engine;
class PortBase;

/// One side of a wait, for the explanation of a deadlock: "sm[0] warp 3" waits for "bar.sync 1".
struct Wait {
  std::string who;
  std::string what;
};

/// A hardware block in time. The engine ticks it in cycles that fall on an edge of its domain:
/// when it asked for it, when a port woke it, and possibly in any other cycle. A tick that moves
/// no message and reaches no announced deadline must change nothing.
class Component {
 public:
  Component(Engine& engine, std::string name, ClockDomain domain = {});
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  /// Does the work of cycle `now`. Returns the cycle in which it next has work of its own
  /// (later than `now`), or kNever to sleep until a port wakes it.
  virtual Cycle tick(Cycle now) = 0;
  /// Whether it holds unfinished work (messages on channels excluded).
  [[nodiscard]] virtual bool busy() const = 0;
  /// Says what its unfinished work waits for.
  virtual void explain(std::vector<Wait>& waits) const = 0;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ClockDomain& domain() const { return domain_; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  /// Asks for a tick on the first own edge at or after `cycle`. Pre: cycle is in the future, or
  /// the engine is not ticking.
  void wake(Cycle cycle);

 private:
  Engine& engine_;
  std::string name_;
  ClockDomain domain_;
  std::uint32_t index_;
};

/// Which ticks a component gets beyond those it needs. Results are the same in all three;
/// the equivalence tests hold every block to that.
enum class TickMode : std::uint8_t { lazy, every_cycle, spurious_and_shuffled };

enum class RunOutcome : std::uint8_t {
  quiescent,    ///< nothing is left to do
  deadlock,     ///< work is left and nothing will ever move it
  cycle_limit,  ///< the limit was reached
  stopped,      ///< the progress callback asked to stop
};

/// Runs the components of one netlist: a calendar of ticks, one bit per component and cycle.
/// Order within a cycle has no effect, because every channel takes at least one cycle.
class Engine {
 public:
  explicit Engine(TickMode mode = TickMode::lazy, std::uint64_t seed = 1);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Ticks until the calendar is empty or the next tick would lie beyond cycle `limit`.
  RunOutcome run_until(Cycle limit);
  /// The cycle being ticked; after a run that ended quiescent, the one in which the last message
  /// was taken off a channel, however many idle ticks followed.
  [[nodiscard]] Cycle now() const { return now_; }
  /// Who waits for what; meaningful after `deadlock` and `cycle_limit`.
  [[nodiscard]] std::vector<Wait> explain() const;
  /// Quiescent means no message on any channel and no component busy.
  [[nodiscard]] bool quiescent() const;
  /// Every fault in the channels as they are bound.
  [[nodiscard]] std::vector<std::string> channel_problems() const;
  /// Called about every `cycles` cycles; returning false stops the run.
  void on_progress(Cycle cycles, std::function<bool(Cycle)> callback);

  /// A message was taken off a channel in cycle `now`: called by ports.
  void note_move(Cycle now) { last_move_ = now; }
  [[nodiscard]] RequestPool& pool() { return pool_; }
  [[nodiscard]] std::uint64_t next_sequence() { return ++sequence_; }
  /// Ticks executed so far: the cost of the run in component visits.
  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }

 private:
  friend class Component;
  friend class PortBase;
  static constexpr std::size_t kWheel = 1024;

  std::uint32_t add(Component* component);
  void add(PortBase* port) { ports_.push_back(port); }
  void schedule(std::uint32_t index, Cycle cycle) {
    if (cycle - now_ < kWheel) {
      wheel_[(cycle % kWheel) * words_ + index / 64] |= std::uint64_t{1} << (index % 64);
      occupied_[cycle % kWheel / 64] |= std::uint64_t{1} << (cycle % 64);
    } else if (cycle != kNever) {
      far_.push({cycle, index});
    }
  }
  [[nodiscard]] Cycle next_scheduled();
  void tick_component(std::uint32_t index);
  void tick_cycle();
  void tick_all();

  TickMode mode_;
  Random random_;
  std::vector<Component*> components_;
  std::vector<PortBase*> ports_;
  std::size_t words_ = 0;             ///< words of a wheel slot
  std::vector<std::uint64_t> wheel_;  ///< kWheel slots of one bit per component
  std::array<std::uint64_t, kWheel / 64> occupied_{};
  using Far = std::pair<Cycle, std::uint32_t>;
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
  Cycle now_ = 0;
  Cycle last_move_ = 0;
  Cycle progress_every_ = kNever;
  Cycle progress_at_ = kNever;
  std::function<bool(Cycle)> progress_;
  RequestPool pool_;
  std::uint64_t sequence_ = 0;
  std::uint64_t ticks_ = 0;
};

inline void Component::wake(Cycle cycle) {
  engine_.schedule(index_, domain_.align(cycle));
}

}  // namespace warpline
