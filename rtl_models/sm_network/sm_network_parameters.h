#pragma once

#include <string>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// The network between the SMs of a graphics processing cluster, over which the CTAs of a cluster reach each
/// other's shared memory. How wide and how long it is, its channels say (hops.sm_network, hops.network_sm).
struct WARPLINE_PUBLIC SmNetworkParameters {
  bool present = false;       ///< without it, the GPU has no clusters of more than one CTA
  unsigned cluster_ctas = 8;  ///< CTAs of a cluster at most, of a kernel that does not ask for more

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(cluster_ctas >= 1 && cluster_ctas <= 16, "cluster_ctas", "must be 1 to 16");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("present", present, "whether there is one: without, clusters have one CTA each");
    f("cluster_ctas", cluster_ctas,
      "CTAs of a cluster at most, 1 to 16; a kernel that asks for non-portable sizes may have 16");
  }
};

/// Widths of the channels that leave the network, bytes per beat: what its beats are counted by.
struct WARPLINE_PUBLIC SmNetworkWidths {
  unsigned request = 32;   ///< towards the SM whose shared memory is accessed
  unsigned response = 32;  ///< towards the SM that accesses it
};

}  // namespace warpline
