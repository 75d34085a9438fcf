#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/random.h"

namespace warpline::test {

/// A random program whose CTAs access each other's shared memory, without races: in each phase every word is
/// written by one thread at most, or added to, or read; between phases lie barriers of the cluster. What is
/// written asynchronously, by threads and by bulk copies, is waited for by an mbarrier of each CTA. Some
/// threads may exit before the end.
struct ClusterProgram {
  unsigned ctas = 2;  ///< of a cluster
  unsigned clusters = 1;
  unsigned threads = 32;  ///< of a CTA
  /// Entry "k" of three addresses: `left` of all threads, `shared` of all CTAs, and `given`.
  std::string text;
  std::vector<std::uint32_t> left;
  std::vector<std::uint32_t> shared;  ///< words, CTA after CTA
  std::vector<std::uint32_t> given;   ///< what it reads of global memory
};

/// Draws one that a GPU of this configuration has room for, which has a network.
[[nodiscard]] ClusterProgram random_cluster_program(Random& random, const GpuConfig& config);
/// A machine that has a network between SMs.
[[nodiscard]] GpuConfig random_machine_of_clusters(Random& random);

}  // namespace warpline::test
