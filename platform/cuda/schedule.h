#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpline::cuda {

/// A stream, by a number that no other one of the process ever had.
enum class StreamId : std::uint64_t {};

/// What a piece of work keeps busy.
enum class Engine : std::uint8_t {
  compute,   ///< the SMs: one grid at a time
  copy_in,   ///< of host memory to a GPU
  copy_out,  ///< of a GPU's memory to the host
  within,    ///< a GPU's memory alone: copies from one place of it to another
  none,      ///< nothing: a host function, a recorded event
};

/// From when until when something was done, nanoseconds of simulated time.
struct Span {
  double begin_ns = 0;
  double end_ns = 0;
};

/// When the work of a process's streams is done, in simulated time: each stream's in order, each engine's one
/// after the other, and nothing before the host had asked for it. Streams that block wait for the legacy
/// default stream of their device, and it for them (CUDA C++ Programming Guide, "Default Stream"). Work is
/// added in the order in which the host asked for it. The host's own computing takes no time; it gets on when
/// it waits.
class Schedule {
 public:
  /// `copy_engines`: of each device; with one alone, copies both ways take turns.
  Schedule(unsigned devices, unsigned copy_engines);

  /// Pre: no stream has that number. `blocking`: it and the legacy default stream wait for each other.
  void add_stream(StreamId stream, unsigned device, bool blocking);
  /// Makes it the legacy default stream of its device. Pre: it was added, and the device has none.
  void make_legacy(StreamId stream);
  /// Pre: the stream was added.
  [[nodiscard]] unsigned device_of(StreamId stream) const { return streams_.at(stream).device; }
  void remove_stream(StreamId stream) { streams_.erase(stream); }

  /// Work of `duration_ns` nanoseconds that comes next in a stream, and that the host asked for at
  /// `asked_ns`. Pre: the stream was added.
  Span add(StreamId stream, Engine engine, double duration_ns, double asked_ns);
  /// What comes next in a stream begins no sooner than `time_ns`: an event that it waits for.
  void wait(StreamId stream, double time_ns);
  /// When all that was added to a stream is done.
  /// 0: it was removed.
  [[nodiscard]] double done(StreamId stream) const {
    const auto found = streams_.find(stream);
    return found == streams_.end() ? 0 : found->second.done_ns;
  }
  /// When all that was added to a device is done.
  [[nodiscard]] double device_done(unsigned device) const { return devices_[device].done_ns; }

  /// The host has waited until `time_ns`, or does not get on before it.
  void host_waits(double time_ns) { host_ns_ = host_ns_ < time_ns ? time_ns : host_ns_; }
  [[nodiscard]] double host_now() const { return host_ns_; }

 private:
  struct Stream {
    unsigned device = 0;
    bool blocking = true;
    double done_ns = 0;
  };
  struct Device {
    std::array<double, 4> engine_free_ns{};  ///< by Engine
    double done_ns = 0;
    double blocking_done_ns = 0;  ///< of streams that block
    double legacy_done_ns = 0;
    StreamId legacy{};
    bool has_legacy = false;
  };
  [[nodiscard]] bool is_legacy(StreamId stream, const Device& device) const {
    return device.has_legacy && device.legacy == stream;
  }

  std::vector<Device> devices_;
  unsigned copy_engines_;
  std::unordered_map<StreamId, Stream> streams_;
  double host_ns_ = 0;
};

}  // namespace warpline::cuda
