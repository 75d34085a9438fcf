#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A root complex; times in cycles of the link clock.
struct WARPLINE_PUBLIC RootComplexParameters {
  unsigned memory_latency = 100;   ///< from a packet's arrival to its effect in the nearest memory channel
  unsigned memory_channels = 2;    ///< of system memory, which take turns page by page
  unsigned channel_distance = 20;  ///< what each channel is farther away than the one before it
  unsigned forward_latency = 20;   ///< from a packet's arrival to its departure to another port
  unsigned forward_queue = 8;  ///< requests of one port, and as many posted, that wait before more is taken
  /// What came from one port and waits behind a posted write that memory outside has under way, before no
  /// more posted requests are taken from there.
  unsigned outside_queue = 65536;
  bool peer_to_peer = true;  ///< whether devices reach each other

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(memory_latency >= 1, "memory_latency", "must be at least 1");
    rules.need(memory_channels >= 1 && memory_channels <= 64, "memory_channels", "must be between 1 and 64");
    rules.need(forward_latency >= 1, "forward_latency", "must be at least 1");
    rules.need(forward_queue >= 1, "forward_queue", "must be at least 1");
    rules.need(outside_queue >= 1, "outside_queue", "must be at least 1");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("memory_latency", memory_latency,
      "from arrival to the effect in the nearest memory channel, link cycles");
    f("memory_channels", memory_channels, "of system memory, which take turns page by page");
    f("channel_distance", channel_distance,
      "what each channel is farther away than the one before, link cycles");
    f("forward_latency", forward_latency, "from arrival to departure to another port, link cycles");
    f("forward_queue", forward_queue,
      "requests of one port that wait there at most, and as many posted ones");
    f("outside_queue", outside_queue,
      "packets of one port that wait there at most behind a write that a client of `warpline serve` has not "
      "answered, before no more is taken");
    f("peer_to_peer", peer_to_peer, "whether devices reach each other");
  }
};

}  // namespace warpline
