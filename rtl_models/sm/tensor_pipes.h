#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// The tensor pipes of an SM, one in each issue partition: a product of matrices takes one for as many cycles
/// as its multiply-adds need there, and the next one waits. Nothing of it is kept where the SM is idle.
class TensorPipes {
 public:
  explicit TensorPipes(const SmParameters& parameters)
      : parameters_(parameters.tensor), free_(parameters.partitions, 0) {}
  /// For a new kernel: every pipe is free.
  void start() { std::fill(free_.begin(), free_.end(), 0); }
  /// The SM edge from which on the pipe of the warp in `slot` is free.
  [[nodiscard]] std::uint64_t free_from(unsigned slot) const { return free_[slot % free_.size()]; }
  /// `i`, of the warp in `slot`, takes its pipe from `edge` on, or from when it is free. Returns for how many
  /// cycles.
  std::uint64_t take(unsigned slot, const Instruction& i, std::uint64_t edge) {
    const std::uint64_t per_cycle = rate(i.matrix_class);
    const std::uint64_t cycles =
        std::max<std::uint64_t>(1, (std::uint64_t{i.products} * free_.size() + per_cycle - 1) / per_cycle);
    std::uint64_t& free = free_[slot % free_.size()];
    free = std::max(free, edge) + cycles;
    return cycles;
  }
  /// SM cycles from when the pipe is free again to a result that can be read.
  [[nodiscard]] unsigned latency() const { return parameters_.latency; }

 private:
  [[nodiscard]] unsigned rate(MatrixClass c) const {
    switch (c) {
      case MatrixClass::f16: return parameters_.f16_per_cycle;
      case MatrixClass::tf32: return parameters_.tf32_per_cycle;
      case MatrixClass::f8: return parameters_.f8_per_cycle;
      case MatrixClass::f64: return parameters_.f64_per_cycle;
      case MatrixClass::s8: return parameters_.s8_per_cycle;
      case MatrixClass::s4: return parameters_.s4_per_cycle;
      case MatrixClass::b1: return parameters_.b1_per_cycle;
    }
    return 1;
  }

  TensorParameters parameters_;
  std::vector<std::uint64_t> free_;  ///< by partition: an SM edge
};

}  // namespace warpline
