#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/observe/timeline_writer.h"
#include "rtl_models/pcie/endpoint/endpoint_device.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// What a device does, in its row of a timeline: on one track every access to its BARs as an instant, with
/// register and value; on another one every interrupt that it raises; on the others, which a queue has for
/// itself, its commands, from the doorbell that told of them to their completion, and within these the steps
/// of their execution, where the device tells of them. Commands that are not over at the end have
/// `unfinished` in their arguments, those that a reset has lost `lost`.
class DeviceTimeline final : private DeviceObserver {
 public:
  /// What the device does while it is loosely timed: of a run that is its setting up, which takes no time.
  enum class Loosely { hidden, shown };
  /// Both outlive it. Pre: the writer shows the device, and has not started.
  DeviceTimeline(EndpointDevice& device, TimelineWriter& writer, Window window, Loosely loosely);
  ~DeviceTimeline() override { device_.observe_by(nullptr); }
  DeviceTimeline(const DeviceTimeline&) = delete;
  DeviceTimeline& operator=(const DeviceTimeline&) = delete;

  /// Nothing is observed after cycle `last`.
  void finish(Cycle last);

 private:
  struct Open {
    Cycle begin = 0;
    unsigned thread = 0;
    const char* step = nullptr;  ///< that it is in, since `entered`; null: none
    Cycle entered = 0;
  };
  using Key = std::pair<unsigned, std::uint64_t>;  ///< queue and number
  /// A track of a queue. A device that is loosely timed may have been ahead of what is submitted next, so it
  /// is free for that from some cycle on.
  struct Lane {
    unsigned thread = 0;
    bool used = false;
    Cycle free_from = 0;
  };
  void accessed(const BusAccess& access) override;
  void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) override;
  void entered(unsigned queue, std::uint64_t number, const char* step, Cycle now) override;
  void completed(unsigned queue, std::uint64_t number, const ObservedCommand& command, Cycle now) override;
  void forgotten(unsigned queue, Cycle now) override;
  void raised(unsigned vector, Cycle now) override;
  [[nodiscard]] bool is_heard() const { return loosely_ == Loosely::shown || !device_.is_loose(); }
  [[nodiscard]] bool is_shown(Cycle now) const { return now >= window_.first && now <= window_.last; }
  [[nodiscard]] Open begin(unsigned queue, Cycle now);
  [[nodiscard]] Open& open(const Key& key, Cycle now);
  void end_step(Open& open, Cycle end);
  void close(const Key& key, Open& open, const std::string& name, const std::string& more, Cycle end);
  void close_all(const std::string& what, Cycle end, const unsigned* queue);
  /// A slice of a track, as far as it lies in the window.
  void add_slice(const std::string& name, const char* category, unsigned thread, Cycle begin, Cycle end,
                 const std::string& arguments);
  void name_thread(unsigned thread, const std::string& what);

  EndpointDevice& device_;
  TimelineWriter& writer_;
  Window window_;
  Loosely loosely_;
  unsigned row_;
  std::map<Key, Open> open_;
  std::map<unsigned, std::vector<Lane>> lanes_;  ///< by queue
  unsigned threads_ = 0;                         ///< of commands, in all
};

}  // namespace warpline
