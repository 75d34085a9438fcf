#pragma once

#include <cstdint>
#include <vector>

#include "platform/programs/generators/generator.h"
#include "rtl_models/sm/instruction.h"

namespace warpline::generators {

/// Loads in flight per warp: each writes a register of its own, in turn.
inline constexpr unsigned kRotation = 16;
/// Bytes of a line of stream and reuse: a word for each lane.
inline constexpr std::uint64_t kWord = 4;
/// Bytes of a node's pointer.
inline constexpr std::uint64_t kPointer = 8;

/// What all SMs share of a generator.
struct Plan {
  GeneratorParameters parameters;
  KernelInfo info;
  std::uint64_t warps = 1;                ///< in the grid
  std::uint64_t accesses = 0;             ///< in all, chosen if the parameters do not say
  std::uint64_t unit = 128;               ///< bytes from one access of a sweep to the next
  std::uint64_t units = 1;                ///< accesses of a sweep
  std::vector<Instruction> instructions;  ///< kRotation loads; one for chase
  std::vector<std::uint32_t> next_node;   ///< the cycle of chase; made when its warp begins

  /// Loads of warp `warp`, counted over the grid.
  [[nodiscard]] std::uint64_t share(std::uint64_t warp) const {
    return accesses / warps + (warp < accesses % warps ? 1 : 0);
  }
  /// Makes `next_node`: one cycle through all nodes (Sattolo's shuffle).
  void make_cycle();
};

/// Pre: parameters.problems() is empty.
[[nodiscard]] Plan make_plan(const GeneratorParameters& parameters);

}  // namespace warpline::generators
