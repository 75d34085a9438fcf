#include "platform/cuda/schedule.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline::cuda {

Schedule::Schedule(unsigned devices, unsigned copy_engines)
    : devices_(devices), copy_engines_(copy_engines) {}

void Schedule::add_stream(StreamId stream, unsigned device, bool blocking) {
  const bool is_new = streams_.emplace(stream, Stream{device, blocking, 0}).second;
  WARPLINE_EXPECT(is_new && device < devices_.size(), "a stream is added once, to a device that there is");
}

void Schedule::make_legacy(StreamId stream) {
  Device& device = devices_[streams_.at(stream).device];
  WARPLINE_EXPECT(!device.has_legacy, "a device has one legacy default stream");
  device.has_legacy = true;
  device.legacy = stream;
}

Span Schedule::add(StreamId stream, Engine engine, double duration_ns, double asked_ns) {
  Stream& s = streams_.at(stream);
  Device& device = devices_[s.device];
  Span span;
  span.begin_ns = std::max(s.done_ns, asked_ns);
  if (is_legacy(stream, device)) span.begin_ns = std::max(span.begin_ns, device.blocking_done_ns);
  if (s.blocking) span.begin_ns = std::max(span.begin_ns, device.legacy_done_ns);
  if (engine == Engine::copy_out && copy_engines_ == 1) engine = Engine::copy_in;
  if (engine != Engine::none) {
    double& free_ns = device.engine_free_ns[static_cast<std::size_t>(engine)];
    span.begin_ns = std::max(span.begin_ns, free_ns);
    free_ns = span.begin_ns + duration_ns;
  }
  span.end_ns = span.begin_ns + duration_ns;
  s.done_ns = span.end_ns;
  device.done_ns = std::max(device.done_ns, span.end_ns);
  if (is_legacy(stream, device)) {
    device.legacy_done_ns = span.end_ns;
  } else if (s.blocking) {
    device.blocking_done_ns = std::max(device.blocking_done_ns, span.end_ns);
  }
  return span;
}

void Schedule::wait(StreamId stream, double time_ns) {
  Stream& s = streams_.at(stream);
  s.done_ns = std::max(s.done_ns, time_ns);
}

}  // namespace warpline::cuda
