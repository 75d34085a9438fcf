#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/observe/timeline_writer.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// What a device does, in its row of a timeline: on one track every access to its BARs as an instant, with
/// register and value; on another one every interrupt that it raises; on the others its commands, from the
/// doorbell that told of them to their completion. Commands that are not over at the end have `unfinished` in
/// their arguments, those that a reset has lost `lost`.
class DeviceTimeline final : private QueueDeviceObserver {
 public:
  /// Both outlive it. Pre: the writer shows the device, and has not started.
  DeviceTimeline(QueueDevice& peer, TimelineWriter& writer, Window window);
  ~DeviceTimeline() override { peer_.observe_by(nullptr); }
  DeviceTimeline(const DeviceTimeline&) = delete;
  DeviceTimeline& operator=(const DeviceTimeline&) = delete;

  /// Nothing is observed after cycle `last`.
  void finish(Cycle last);

 private:
  struct Open {
    Cycle begin = 0;
    unsigned lane = 0;
  };
  using Key = std::pair<unsigned, std::uint64_t>;  ///< queue and number
  void accessed(const BusAccess& access) override;
  void submitted(unsigned queue, std::uint64_t first, unsigned count, Cycle now) override;
  void completed(unsigned queue, std::uint64_t number, const QueueDeviceCommand& command, unsigned status,
                 Cycle now) override;
  void forgotten(unsigned queue, Cycle now) override;
  void raised(unsigned vector, Cycle now) override;
  [[nodiscard]] bool is_shown(Cycle now) const { return now >= window_.first && now <= window_.last; }
  [[nodiscard]] Open begin(Cycle now);
  void close(const Key& key, const Open& open, const std::string& name, const std::string& more, Cycle end);
  void close_all(const std::string& what, Cycle end, const unsigned* queue);
  void name_thread(unsigned thread, const char* what);

  QueueDevice& peer_;
  TimelineWriter& writer_;
  Window window_;
  unsigned row_;
  std::map<Key, Open> open_;
  std::vector<bool> lanes_;  ///< whether each is in use
};

}  // namespace warpline
