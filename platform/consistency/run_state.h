#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "platform/consistency/program.h"
#include "rtl_models/base/random.h"
#include "rtl_models/sim/cluster_address.h"

namespace warpline::litmus {

/// One thread of a run: a warp of which one lane lives.
struct ThreadState {
  const std::vector<Step>* code = nullptr;
  const Step* current = nullptr;  ///< that it executes next; null: it has ended
  unsigned at = 0;                ///< in `code`
  const Step* last = nullptr;     ///< of `code`, that it executed last
  unsigned cta = 0;
  bool at_barrier = false;
  std::uint32_t barrier = 0;
  unsigned delay = 0;                    ///< cycles that it sleeps before what comes next
  unsigned pace = 0;                     ///< now and then it sleeps up to so many cycles between instructions
  unsigned noise = 0;                    ///< loads to go, of a thread that makes noise
  std::vector<Step>::size_type own = 0;  ///< in what its CTA ends with
  unsigned entered = 0, left = 0;        ///< in Program::enter and ::leave
  bool ready = false;                    ///< Step::before of the next step has been executed
  const Step* behind = nullptr;          ///< Step::after of the last one has still to be
  bool rests = false;                    ///< its code is executed, and nothing of it is under way
  std::vector<std::int64_t> registers;
  Random random{0};
};

/// One CTA of a run. Its threads run on one SM.
struct CtaState {
  unsigned begun = 0;                        ///< initial values stored
  unsigned finished = 0;                     ///< threads that have executed their code
  std::array<std::uint16_t, 16> arrivals{};  ///< at its barriers
};

/// What one GPU does in a run.
struct GpuState {
  static constexpr unsigned kEmpty = ~0U;
  /// That it runs, in the order in which they start; kEmpty: one without threads, which makes a cluster
  /// whole.
  std::vector<unsigned> ctas;
  std::vector<unsigned> sms;  ///< on which each of them runs
};

/// Is told of the progress of a run's threads.
class ProgressObserver {
 public:
  virtual ~ProgressObserver() = default;
  /// A read has its value; of any other instruction: its thread goes on behind it.
  virtual void done(unsigned thread, unsigned instruction) = 0;
};

/// A run of a program: what it has drawn, and how far it has come.
struct RunState {
  const Program* program = nullptr;
  std::vector<std::uint32_t> offset;  ///< of each memory, in the arena
  std::vector<ThreadState> threads;   ///< the program's, and behind them those that make noise
  std::vector<CtaState> ctas;         ///< likewise
  std::vector<GpuState> gpus;
  ProgressObserver* observer = nullptr;
  std::vector<std::int64_t> shared_end;  ///< by memory, of shared memories: what they hold at the end

  /// The SM, of its GPU, that runs a thread of the program.
  [[nodiscard]] unsigned sm_of(unsigned thread) const;
  /// Draws everything for a run. `sms`: of a GPU, of that shape. `resident`: CTAs that an SM holds.
  void draw(const Test& test, std::uint64_t seed, unsigned sms, const GpcShape& shape, unsigned resident);
};

}  // namespace warpline::litmus
