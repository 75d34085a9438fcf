#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "rtl_models/cache/cache_mutations.h"
#include "rtl_models/crossbar/crossbar_mutations.h"
#include "rtl_models/gpu_switch/gpu_switch_mutations.h"
#include "rtl_models/l1_lg/l1_lg_mutations.h"
#include "rtl_models/l2/l2_mutations.h"
#include "rtl_models/pcie/gpu_link/pcie_mutations.h"
#include "rtl_models/sm/sm_mutations.h"

namespace warpline::test {

/// A deliberate bug of any block.
using Mutation = std::variant<CacheMutation, CrossbarMutation, GpuSwitchMutation, L1LgMutation, L2Mutation,
                              PcieMutation, SmMutation>;

/// What shows a bug: an experiment that no correct run can fail.
struct Catch {
  Mutation mutation;
  std::string name;  ///< of the bug, and behind a slash of the experiment, if it has several
  /// Runs the experiment, with what it draws from `seed`, and says whether it saw what may not be.
  std::function<bool(std::uint64_t seed)> shows_broken;
  /// Where to begin, of a bug that few seeds show: a search from there on is short.
  std::uint64_t first_seed = 1;
  /// How many seeds are tried. Some bugs need tens of thousands of runs to show.
  std::uint64_t tries = 150;
  /// For GoogleTest.
  friend std::ostream& operator<<(std::ostream& out, const Catch& c) { return out << c.name; }
};

/// Litmus tests whose outcome in question the memory model forbids.
[[nodiscard]] std::vector<Catch> catches_by_litmus();
/// One SM or L2 slice among flat memories, to the cycle.
[[nodiscard]] std::vector<Catch> catches_by_scene();
/// Kernels on two GPUs that share system memory.
[[nodiscard]] std::vector<Catch> catches_by_two_gpus();
/// A host, and a device, that write and read a GPU's video memory while a kernel looks.
[[nodiscard]] std::vector<Catch> catches_by_host();
/// Kernels of clusters, whose CTAs access each other's shared memory.
[[nodiscard]] std::vector<Catch> catches_by_clusters();
/// Random kernels, judged as they ran.
[[nodiscard]] std::vector<Catch> catches_by_kernels();

}  // namespace warpline::test
