#pragma once

#include <string>
#include <utility>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Parameters of one direction of a hop.
struct WARPLINE_PUBLIC ChannelParameters {
  unsigned width = 32;          ///< bytes per beat
  unsigned latency = 1;         ///< edges of the sender from the last beat to the first possible pop
  unsigned depth = 4;           ///< credits: messages sent and not yet popped
  unsigned credit_latency = 1;  ///< cycles from a pop until its credit is back

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(width >= 1 && width <= kLineBytes, "width", "must be 1 to 128 bytes");
    rules.need(latency >= 1 && latency <= 100000, "latency", "must be 1 to 100000 cycles");
    rules.need(depth >= 1 && depth <= 65536, "depth", "must be 1 to 65536 messages");
    rules.need(credit_latency >= 1 && credit_latency <= 100000, "credit_latency",
               "must be 1 to 100000 cycles");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("width", width, "bytes per beat");
    f("latency", latency, "edges of the sender from the last beat to the first possible pop");
    f("depth", depth, "messages sent and not yet popped");
    f("credit_latency", credit_latency, "cycles from a pop until its credit is back");
  }
};

/// Both directions of a hop.
struct WARPLINE_PUBLIC HopParameters {
  ChannelParameters request;
  ChannelParameters response;
  [[nodiscard]] Problems problems(const std::string& path) const {
    Problems all = request.problems(path + ".request");
    for (Problem& p : response.problems(path + ".response")) all.push_back(std::move(p));
    return all;
  }
  template <class F>
  void visit(F&& f) {
    f("request", request, "towards memory");
    f("response", response, "towards the SM");
  }
};

}  // namespace warpline
