#pragma once

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// The switches between GPUs, over which `multimem` instructions reach the memory of several GPUs at once (as
/// NVIDIA's NVSwitch with NVLink SHARP does). How wide and how long the ways are, their channels say
/// (hops.crossbar_switch, hops.switch_crossbar).
struct WARPLINE_PUBLIC GpuSwitchParameters {
  unsigned count = 0;      ///< switches, each with a way to every GPU; lines take turns. 0: there are none
  unsigned requests = 64;  ///< of one GPU, that a switch has under way

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(count <= 64, "count", "must be at most 64");
    rules.need(requests >= 1 && requests <= 4096, "requests", "must be 1 to 4096");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("count", count, "switches, which all GPUs are connected to, and lines take turns at; 0: no multimem");
    f("requests", requests, "requests of one GPU that a switch has under way");
  }
};

/// Widths of the channels that leave a switch, bytes per beat: what its beats are counted by.
struct WARPLINE_PUBLIC GpuSwitchWidths {
  unsigned request = 32;   ///< towards the GPU whose memory is accessed
  unsigned response = 32;  ///< towards the GPU that accesses it
};

}  // namespace warpline
