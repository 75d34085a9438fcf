#pragma once

#include <string>

#include "rtl_models/base/problem.h"

namespace warpline {

/// Parameters of one direction of a hop.
struct ChannelParameters {
  unsigned width = 32;          ///< bytes per beat
  unsigned latency = 1;         ///< edges of the sender from the last beat to the first possible pop
  unsigned depth = 4;           ///< credits: messages sent and not yet popped
  unsigned credit_latency = 1;  ///< cycles from a pop until its credit is back

  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("width", width, "bytes per beat");
    f("latency", latency, "edges of the sender from the last beat to the first possible pop");
    f("depth", depth, "messages sent and not yet popped");
    f("credit_latency", credit_latency, "cycles from a pop until its credit is back");
  }
};

/// Both directions of a hop.
struct HopParameters {
  ChannelParameters request;
  ChannelParameters response;
  [[nodiscard]] Problems problems(const std::string& path) const;
  template <class F>
  void visit(F&& f) {
    f("request", request, "towards memory");
    f("response", response, "towards the SM");
  }
};

}  // namespace warpline
