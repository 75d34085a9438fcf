#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/config/gpu_config.h"
#include "rtl_models/base/random.h"

namespace warpline::test {

/// A random program of everything that kernels for Hopper have beside plain loads and stores: mbarriers,
/// asynchronous copies and bulk copies, of tensors too, shared memory of other CTAs, matrix products,
/// packed arithmetic, textures, printf and malloc, dependent and cooperative launches. It has no race: what
/// it leaves does not depend on time.
///
/// Two launches of one kernel. The kernel is a chain of parts, each of which is whole in itself, so that any
/// of them may be left out.
struct MixedKernel {
  std::string ptx;                 ///< k.ptx
  std::string launch;              ///< the launch file, beside it
  std::vector<std::string> files;  ///< that it dumps
  std::vector<std::string> parts;  ///< names of all parts, those left out included
  bool dependent = false;          ///< the second launch begins before the first has ended
};

/// For a machine with a network between SMs. Of its parts, only those in `kept`, a bit each, are there.
[[nodiscard]] MixedKernel mixed_kernel(std::uint64_t seed, const GpuConfig& config, std::uint64_t kept);

}  // namespace warpline::test
