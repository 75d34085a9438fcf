#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace warpline {

class Component;
class Engine;
class PortBase;
class Random;

/// Varies at random the times that hardware leaves open: how long messages lie in each queue, and which input
/// an arbiter grants first. Each draw of these is a machine that programs may run on. The law of the
/// transports holds under every draw, as the values that a block gets depend on the seed and the block's name
/// alone.
class Jitter {
 public:
  /// Of all blocks of `engine`, which outlives it. Pre: they are made, their channels are bound.
  explicit Jitter(Engine& engine);
  /// Draws all of it anew, by `seed`. Each queue gets 1 to 40 clock edges of its sender, now and then several
  /// round trips to L2. Pre: the engine is quiescent.
  void draw(std::uint64_t seed);
  /// How long one queue keeps what enters it: clock edges.
  [[nodiscard]] static unsigned residence(Random& random);

 private:
  Engine& engine_;
  std::vector<std::pair<PortBase*, std::uint64_t>> queues_;       ///< with what their names make of seeds
  std::vector<std::pair<Component*, std::uint64_t>> components_;  ///< with what their names make of seeds
};

}  // namespace warpline
