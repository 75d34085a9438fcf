#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/cluster_address.h"

namespace warpline {

/// The CTAs of a cluster, and where they run. All of them begin in the same cycle.
struct ClusterPlace {
  std::uint32_t number = 0;                          ///< among the clusters that run
  std::uint8_t ctas = 1;                             ///< in the cluster
  std::uint8_t rank = 0;                             ///< of the CTA whose place it is
  std::array<std::uint16_t, kMaxClusterCtas> sms{};  ///< by rank
};

/// A CTA starts on an SM; or all of a cluster's CTAs that run there.
struct CtaLaunch {
  Dim3 cta;                 ///< of a cluster the first, that of rank 0
  std::uint32_t ranks = 0;  ///< of a cluster, a bit for each rank that starts on this SM; 0: it is none
  ClusterPlace place;
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

/// An SM has finished a CTA.
struct CtaDone {
  std::uint32_t cluster = 0;  ///< the number of its cluster
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

}  // namespace warpline
