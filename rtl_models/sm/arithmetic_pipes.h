#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// The arithmetic pipes of an SM: each issue partition has one for each class of arithmetic. A pipe that has
/// fewer lanes than a warp takes a warp in over several cycles, in which its partition issues to other pipes
/// only. Nothing of it is kept where the SM is idle.
class ArithmeticPipes {
 public:
  explicit ArithmeticPipes(const SmParameters& parameters) {
    PipeParameters pipes = parameters.pipes;
    for (unsigned s = 0; s < wants_.size(); ++s) {
      partition_of_[s] = static_cast<std::uint8_t>(s % parameters.partitions);
      members_[partition_of_[s]] |= std::uint64_t{1} << s;
    }
    std::size_t n = 1;
    pipes.each([&](unsigned per_cycle, unsigned latency) {
      cycles_.at(n) = per_cycle == 0 ? 0 : (kWarpLanes * parameters.partitions + per_cycle - 1) / per_cycle;
      latency_.at(n) = latency;
      present_ = present_ || per_cycle != 0 || latency != 0;
      limited_ = limited_ || per_cycle != 0;
      ++n;
    });
  }
  /// Whether the preset has any; without, all that follows is not asked.
  [[nodiscard]] bool present() const { return present_; }
  /// For a new kernel: every pipe is free.
  void start() {
    if (!present_) return;
    pipes_ = {};
    wants_ = {};
    taken_ = {};
    blocked_ = 0;
    waiting_ = {};
  }
  /// What the warp in `slot` issues next goes to that pipe.
  void want(unsigned slot, PipeClass pipe) {
    if (wants_[slot] == pipe) return;
    const std::uint64_t bit = std::uint64_t{1} << slot;
    waiting_[index(wants_[slot])] &= ~bit;
    waiting_[index(pipe)] |= bit;
    wants_[slot] = pipe;
    const bool taken = (taken_[partition_of_[slot]] >> index(pipe) & 1U) != 0;
    blocked_ = taken ? blocked_ | bit : blocked_ & ~bit;
  }
  /// Whether a pipe has fewer lanes than a warp, so that warps may wait for it.
  [[nodiscard]] bool limited() const { return limited_; }
  /// Of the warps `ready`, of one partition, those that can issue at `edge`: their pipes are free then.
  [[nodiscard]] std::uint64_t free_of(unsigned partition, std::uint64_t ready, std::uint64_t edge) {
    if (taken_[partition] != 0 && next_free_[partition] <= edge) free(partition, edge);
    return ready & ~blocked_;
  }
  /// Of the warps `ready`, of any partition, some that can issue from the edge on that free_of() was last
  /// asked about: all others wait for pipes that were taken then.
  [[nodiscard]] std::uint64_t known_free_of(std::uint64_t ready) const { return ready & ~blocked_; }
  /// The edge from which on the first pipe is free that one of `ready`, of that partition, waits for at
  /// `edge`; kNever: none does.
  [[nodiscard]] std::uint64_t next_edge(unsigned partition, std::uint64_t ready, std::uint64_t edge) const {
    std::uint64_t best = kNever;
    for (unsigned m = taken_[partition]; m != 0; m &= m - 1) {
      const auto n = static_cast<unsigned>(__builtin_ctz(m));
      if (pipes_[partition][n].free > edge && (ready & waiting_[n]) != 0)
        best = std::min(best, pipes_[partition][n].free);
    }
    return best;
  }
  /// The edge from which on the pipe that the warp in `slot` issues to next is free.
  [[nodiscard]] std::uint64_t free_from(unsigned slot) const {
    return pipes_[partition_of_[slot]][index(wants_[slot])].free;
  }
  /// What an instruction that goes to its pipe waited for that, and for how long it takes it, in cycles.
  struct Taken {
    std::uint64_t waited = 0;  ///< for the instruction that had it last
    unsigned cycles = 0;
  };
  /// `i`, of the warp in `slot`, which could have issued from `since` on, goes to its pipe at `edge`.
  Taken take(unsigned slot, const Instruction& i, std::uint64_t since, std::uint64_t edge) {
    const unsigned partition = partition_of_[slot];
    const std::size_t n = index(i.pipe);
    const unsigned cycles = cycles_[n] * i.passes;
    if (cycles == 0) return {};
    Pipe& p = pipes_[partition][n];
    const std::uint64_t waited = p.free - std::min(p.free, std::max(since, p.taken + 1));
    p = {edge, edge + cycles};
    if (cycles > 1) {
      next_free_[partition] = taken_[partition] == 0 ? p.free : std::min(next_free_[partition], p.free);
      taken_[partition] |= static_cast<std::uint8_t>(1U << n);
      blocked_ |= waiting_[n] & members_[partition];
    }
    return {waited, cycles};
  }
  /// SM cycles from the issue of `i` to a result that can be read.
  [[nodiscard]] unsigned latency(const Instruction& i) const {
    const unsigned of_class = latency_[index(i.pipe)];
    return of_class == 0 || i.passes != 1 ? i.latency : of_class;
  }

 private:
  struct Pipe {
    std::uint64_t taken = 0, free = 0;  ///< SM edges: when an instruction took it last, and until when
  };
  static constexpr unsigned kMostPartitions = 16;
  static_assert(kPipeClasses <= 8, "a bit each in taken_");
  [[nodiscard]] static std::size_t index(PipeClass c) { return static_cast<std::size_t>(c); }
  /// Pipes of the partition may be free at `edge`.
  void free(unsigned partition, std::uint64_t edge) {
    std::uint64_t next = kNever;
    for (unsigned m = taken_[partition]; m != 0; m &= m - 1) {
      const auto n = static_cast<unsigned>(__builtin_ctz(m));
      if (const std::uint64_t at = pipes_[partition][n].free; at > edge) {
        next = std::min(next, at);
        continue;
      }
      taken_[partition] &= static_cast<std::uint8_t>(~(1U << n));
      blocked_ &= ~(waiting_[n] & members_[partition]);
    }
    next_free_[partition] = next;
  }

  bool present_ = false, limited_ = false;
  std::array<unsigned, kPipeClasses> cycles_{}, latency_{};
  std::array<std::uint8_t, 64> partition_of_{};             ///< by slot
  std::array<std::uint64_t, kMostPartitions> members_{};    ///< slots of each partition
  std::uint64_t blocked_ = 0;                               ///< slots whose instruction goes to one of taken_
  std::array<std::uint8_t, kMostPartitions> taken_{};       ///< by partition, pipes that may be, a bit each
  std::array<std::uint64_t, kMostPartitions> next_free_{};  ///< the edge at which the first of them is free
  std::array<std::uint64_t, kPipeClasses> waiting_{};  ///< slots whose instruction goes there, a bit each
  std::array<PipeClass, 64> wants_{};                  ///< the same by slot
  std::array<std::array<Pipe, kPipeClasses>, kMostPartitions> pipes_{};  ///< by partition
};

}  // namespace warpline
