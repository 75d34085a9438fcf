#pragma once

#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/cluster_address.h"

namespace warpline {

/// The CTAs of a cluster, and where they run. All of them begin in the same cycle.
struct ClusterPlace {
  std::uint32_t number = 0;                          ///< of the cluster: no two of a grid that run have one
  std::uint8_t ctas = 1;                             ///< in the cluster
  std::uint8_t rank = 0;                             ///< of the CTA whose place it is
  std::array<std::uint16_t, kMaxClusterCtas> sms{};  ///< by rank
};

/// What the work distributor tells an SM.
struct CtaLaunch {
  enum class Kind : std::uint8_t {
    start,    ///< a CTA starts, or all of a cluster's that run there
    end,      ///< a fault has ended the grid: its warps end
    flush,    ///< all that the SM's CTAs have written is to be performed at L2
    release,  ///< the grid that this one depends on is complete
    answer,   ///< to CtaDone::Kind::cancel
  };
  Dim3 cta;  ///< of a cluster the first, that of rank 0
  Kind kind = Kind::start;
  std::uint32_t grid = 0;   ///< of a CTA: its grid's number among those that were started together
  bool released = true;     ///< of a CTA: the grid that its own depends on is complete, if there is one
  std::uint32_t ranks = 0;  ///< of a cluster, a bit for each rank that starts on this SM; 0: it is none
  ClusterPlace place;
  std::uint32_t ticket = 0;  ///< of an answer: that of the question
  bool cancelled = false;    ///< likewise: `cta`, or the cluster that it is the first of, will not start
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

/// What an SM tells the work distributor.
struct CtaDone {
  enum class Kind : std::uint8_t {
    ended,      ///< a CTA has
    ends_grid,  ///< a fault ends the whole grid
    triggered,  ///< a CTA has said that dependent grids may begin
    flushed,    ///< what CtaLaunch::Kind::flush asks for is done
    cancel,     ///< asks that the next CTA, or cluster, of its grid does not start
  };
  Kind kind = Kind::ended;
  bool had_triggered = false;  ///< of a CTA that has ended
  std::uint32_t ticket = 0;    ///< of a question: comes back with its answer
  [[nodiscard]] unsigned beats(unsigned /*width*/) const { return 1; }
};

}  // namespace warpline
