#pragma once

#include <string>

#include "rtl_models/base/random.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline::test {

/// No arithmetic pipes, or some of odd widths and latencies, the longest of which lie behind the scheduler's
/// wheel.
inline void draw_pipes(Random& random, PipeParameters& pipes) {
  if (random.below(2) == 0) return;
  pipes.visit([&random](const char* key, unsigned& value, const char*) {
    constexpr unsigned kLanes[] = {0, 1, 7, 16, 64, 128}, kLatencies[] = {0, 1, 5, 90};
    const bool latency = std::string(key).find("latency") != std::string::npos;
    value = latency ? kLatencies[random.below(4)] : kLanes[random.below(6)];
  });
}

}  // namespace warpline::test
