#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "warpline/base/problem.h"
#include "warpline/sm/kernel.h"

namespace warpline {

/// A synthetic access pattern over one buffer.
struct GeneratorParameters {
  std::string kind;                  ///< stream, strided, random, chase or reuse
  std::uint64_t base = 0;            ///< virtual address of the footprint
  std::uint64_t footprint = 0;       ///< bytes
  std::uint64_t stride = 4;          ///< bytes between the accesses of neighbouring lanes (strided), or nodes (chase)
  std::uint64_t accesses = 0;        ///< warp loads in all
  std::uint64_t seed = 1;
  Dim3 grid, block;
  [[nodiscard]] Problems problems(const std::string& path) const;
};

/// stream: consecutive 4-byte loads, each warp its own share; strided: lanes `stride` apart; random: lanes at random
/// 4-byte words; chase: one lane follows a random cycle over nodes `stride` apart, each load waiting for
/// the last; reuse: every warp sweeps the same footprint again and again. Addresses only, no data.
[[nodiscard]] std::unique_ptr<Kernel> make_generator(const GeneratorParameters& parameters);

}  // namespace warpline
