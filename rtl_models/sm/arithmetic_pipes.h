#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rtl_models/base/types.h"
#include "rtl_models/sm/edge_wheel.h"
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
    for (unsigned s = 0; s < kSlots; ++s)
      first_of_[s] = static_cast<std::uint8_t>(s % parameters.partitions * kPipeClasses);
    std::size_t n = 1;
    pipes.each([&](unsigned per_cycle, unsigned latency) {
      cycles_.at(n) = per_cycle == 0 ? 0 : (kWarpLanes * parameters.partitions + per_cycle - 1) / per_cycle;
      latency_.at(n) = latency;
      present_ = present_ || per_cycle != 0 || latency != 0;
      ++n;
    });
    wants_ = first_of_;
  }
  /// Whether the preset has any; without, all that follows is not asked.
  [[nodiscard]] bool present() const { return present_; }
  /// For a new kernel: every pipe is free, and time is `edge`.
  void start(std::uint64_t edge) {
    if (!present_) return;
    pipes_ = {};
    wants_ = first_of_;
    waiting_ = {};
    blocked_ = 0;
    ends_.reset(edge);
  }
  /// Time is now `edge`: pipes that instructions took until then are free.
  void advance(std::uint64_t edge) {
    ends_.advance(edge, [this](unsigned word, std::uint64_t ended) {
      for (; ended != 0; ended &= ended - 1)
        blocked_ &= ~waiting_[64 * word + static_cast<unsigned>(__builtin_ctzll(ended))];
    });
  }
  /// What the warp in `slot` issues next goes to that pipe.
  void want(unsigned slot, PipeClass pipe) {
    const auto n = static_cast<std::uint8_t>(first_of_[slot] + index(pipe));
    const unsigned before = wants_[slot];
    if (before == n) return;
    const std::uint64_t bit = std::uint64_t{1} << slot;
    waiting_[before] &= ~bit;
    waiting_[n] |= bit;
    wants_[slot] = n;
    blocked_ = (blocked_ & ~bit) | (pipes_[n].free > ends_.now() ? bit : 0);
  }
  /// Warps that cannot issue now, as the pipes that they go to are taken.
  [[nodiscard]] std::uint64_t blocked() const { return blocked_; }
  /// The first edge from which on a pipe is free that is taken now; kNever: none is.
  [[nodiscard]] std::uint64_t next_end() const { return ends_.next(); }
  /// The edge from which on the pipe that the warp in `slot` issues to next is free.
  [[nodiscard]] std::uint64_t free_from(unsigned slot) const { return pipes_[wants_[slot]].free; }
  /// What an instruction that goes to its pipe waited for that, and for how long it takes it, in cycles.
  struct Taken {
    std::uint64_t waited = 0;  ///< for the instruction that had it last
    unsigned cycles = 0;
  };
  /// `i`, of the warp in `slot`, which could have issued from `since` on, goes to its pipe at `edge`.
  Taken take(unsigned slot, const Instruction& i, std::uint64_t since, std::uint64_t edge) {
    const unsigned cycles = cycles_[index(i.pipe)] * i.passes;
    if (cycles == 0) return {};
    const auto n = static_cast<unsigned>(first_of_[slot] + index(i.pipe));
    Pipe& p = pipes_[n];
    const std::uint64_t from = std::max(since, p.taken + 1);
    const std::uint64_t waited = p.free > from ? p.free - from : 0;
    p.taken = p.free = edge;
    if (cycles > 1) {
      p.free = edge + cycles;
      blocked_ |= waiting_[n];
      ends_.put(n, p.free);
    }
    return {waited, cycles};
  }
  /// SM cycles from the issue of `i` to a result that can be read.
  [[nodiscard]] unsigned latency(const Instruction& i) const {
    const unsigned of_class = latency_[index(i.pipe)];
    return of_class == 0 || i.passes != 1 ? i.latency : of_class;
  }

 private:
  /// SM edges: when an instruction took it last, and until when it keeps others out, if it does beyond the
  /// edge at which it issued, at which its partition issues nothing else.
  struct Pipe {
    std::uint64_t taken = 0, free = 0;
  };
  static constexpr unsigned kSlots = 64, kMostPartitions = 16, kPipes = kMostPartitions * kPipeClasses;
  static_assert(kPipes % 64 == 0);
  [[nodiscard]] static std::size_t index(PipeClass c) { return static_cast<std::size_t>(c); }

  bool present_ = false;
  std::array<unsigned, kPipeClasses> cycles_{}, latency_{};
  std::array<std::uint8_t, kSlots> first_of_{};  ///< by slot: the first pipe of its partition
  std::array<std::uint8_t, kSlots> wants_{};     ///< by slot: the pipe that its warp issues to next
  std::array<std::uint64_t, kPipes> waiting_{};  ///< by pipe: slots whose warps do
  std::array<Pipe, kPipes> pipes_{};             ///< by partition and class
  std::uint64_t blocked_ = 0;                    ///< slots whose warps go to pipes that are taken
  EdgeWheel<kPipes / 64> ends_;                  ///< from when on pipes are free that are taken now
};

}  // namespace warpline
