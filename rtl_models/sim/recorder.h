#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/sim/port_base.h"

namespace warpline {

/// A value that changes in time: "l2[0].miss_registers", "l2[0].from_crossbar.occupancy".
struct Signal {
  std::string path;
  std::uint64_t most = 1;  ///< the largest value it can have
  std::string description;
};

/// A message has begun to occupy a channel, or was taken off it, as far as it can be told by a request.
struct MessageEvent {
  Cycle cycle = 0;
  const PortBase* port = nullptr;    ///< the receiving one
  std::uint32_t order = 0;           ///< of the port among those observed
  bool response = false;             ///< what the channel carries; false: requests
  bool taken = false;                ///< false: begun
  const Request* request = nullptr;  ///< names it while it is under way; not to be followed
  const void* maker = nullptr;       ///< the block that made the request
  std::uint64_t id = 0;
  PhysicalAddress line;
  Command command = Command::read;
  SectorMask sectors = 0;
  Status status = Status::ok;
  AnsweredBy answered_by = AnsweredBy::first_level;  ///< of a response
  std::uint16_t region = 0;                          ///< the declared buffer that it falls in; 0: none
  std::uint16_t sm = 0;
  std::uint16_t warp = 0;
};

/// Hears what was observed in order of time; of one cycle, in an order that depends on nothing but the
/// netlist.
class Observer {
 public:
  virtual ~Observer() = default;
  /// First, and once: all signals, with their values at the beginning of cycle `first`.
  virtual void start(Cycle first, const std::vector<Signal>& signals,
                     const std::vector<std::uint64_t>& values) = 0;
  /// From cycle `cycle` on a signal has another value.
  virtual void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) = 0;
  /// Of one cycle: taken messages first, then responses begun, then requests begun.
  virtual void message(const MessageEvent& event) = 0;
  /// Last: nothing is observed after cycle `last`.
  virtual void finish(Cycle last) = 0;
};

/// Puts what is observed of one netlist in order. Clusters run ahead of each other, and a message is seen
/// when its receiver looks; an event is handed on when no earlier one can follow.
class Recorder {
 public:
  /// What is seen late: asked for what it has to tell before events are handed on.
  class Source {
   public:
    virtual ~Source() = default;
    /// Every tick before cycle `settled` has been made.
    virtual void catch_up(Cycle settled) = 0;
    /// Fills in what was not known of its signals before the netlist was bound.
    virtual void describe(std::vector<Signal>& signals) = 0;
  };

  /// Both outlive it.
  Recorder(Engine& engine, Window window, Observer& observer)
      : engine_(engine), window_(window), observer_(observer) {}

  [[nodiscard]] const Window& window() const { return window_; }
  void add_source(Source& source) { sources_.push_back(&source); }
  /// Its value is 0 until it is set. Pre: nothing was recorded yet.
  std::uint32_t add_signal(Signal signal);
  /// The value of a signal when the window opens.
  void set_initial(std::uint32_t signal, std::uint64_t value) {
    WARPLINE_EXPECT(!started_, "values are initial before anything is handed on");
    values_[signal] = value;
  }
  /// From cycle `cycle` on the signal is `value`. What lies before the window counts for the value at its
  /// start.
  void set(Cycle cycle, std::uint32_t signal, std::uint64_t value) { record({cycle, value, signal, false}); }
  /// From cycle `cycle` on the signal is larger by `delta`, modulo 2^64.
  void add(Cycle cycle, std::uint32_t signal, std::uint64_t delta) { record({cycle, delta, signal, true}); }
  void message(const MessageEvent& event) {
    if (event.cycle <= window_.last) messages_.push_back(event);
  }
  /// Called now and then by those who record, when they have nothing half told: hands on what is certain to
  /// be in order, if it is much.
  void hand_on_settled() {
    if (changes_.size() >= batch_ || messages_.size() >= batch_) hand_on_batch();
  }
  /// Hands on what is certain to be in order, however little it is.
  void hand_on_batch();
  /// The netlist is at rest, and its time goes on from engine.now(): what happened later is taken to have
  /// happened then.
  void settle();
  /// Hands on all that is left. Nothing is recorded afterwards.
  void finish();

 private:
  struct Change {
    Cycle cycle = 0;
    std::uint64_t value = 0;
    std::uint32_t signal = 0;
    bool relative = false;
  };
  static constexpr std::size_t kBatch = std::size_t{1} << 15U;

  void record(const Change& change) {
    if (change.cycle <= window_.last) changes_.push_back(change);
  }
  void hand_on(Cycle end);
  void hand_on_changes(Cycle end);
  void hand_on_messages(Cycle end);
  void start();
  [[nodiscard]] Cycle settled() const;

  Engine& engine_;
  Window window_;
  Observer& observer_;
  std::vector<Source*> sources_;
  std::vector<Signal> signals_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> told_;  ///< the same, as the observer knows them
  std::vector<Change> changes_;      ///< not handed on yet
  std::vector<MessageEvent> messages_;
  std::size_t batch_ = kBatch;
  bool started_ = false;
};

}  // namespace warpline
