#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Sizes and latency of an SM's unit for bulk copies.
struct WARPLINE_PUBLIC BulkCopyParameters {
  unsigned copies = 32;           ///< under way or waiting for their turn
  unsigned requests = 64;         ///< lines under way
  unsigned latency = 100;         ///< from the load/store unit to a copy's first request, SM cycles
  unsigned request_interval = 1;  ///< from one request to the next, SM cycles
  unsigned tensor_maps = 16;      ///< descriptors held

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(copies >= 1 && copies <= 1024, "copies", "must be 1 to 1024");
    rules.need(requests >= 1 && requests <= 4096, "requests", "must be 1 to 4096");
    rules.need(latency <= 10000, "latency", "must be at most 10000 cycles");
    rules.need(request_interval >= 1 && request_interval <= 1000, "request_interval",
               "must be 1 to 1000 cycles");
    rules.need(tensor_maps >= 1 && tensor_maps <= 1024, "tensor_maps", "must be 1 to 1024");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("copies", copies, "bulk copies of an SM under way or waiting for their turn");
    f("requests", requests, "lines that the bulk copies of an SM have under way");
    f("latency", latency, "from the load/store unit to the first request of a bulk copy, SM cycles");
    f("request_interval", request_interval, "from one request of bulk copies to the next, SM cycles");
    f("tensor_maps", tensor_maps, "tensor maps that an SM holds, so that it need not read them again");
  }
};

}  // namespace warpline
