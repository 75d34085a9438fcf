#pragma once

#include <string>
#include <vector>

#include "platform/consistency/run_state.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline::litmus {

/// What one SM runs of a litmus test: each thread is lane 0 of a warp, so that the threads of a CTA are
/// scheduled independently. Loads are not waited for until their registers are used.
class Source final : public InstructionSource {
 public:
  /// Of GPU number `gpu`. `run` outlives it; runs are drawn while nothing is under way.
  Source(RunState& run, unsigned gpu, unsigned slots) : run_(run), gpu_(gpu), threads_(slots, nullptr) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override;
  [[nodiscard]] WarpState state(unsigned slot) const override {
    const ThreadState* t = threads_[slot];
    if (t != nullptr && t->at_barrier) return WarpState::at_barrier;
    return t == nullptr || t->current == nullptr ? WarpState::exited : WarpState::runnable;
  }
  [[nodiscard]] const warpline::Instruction& next(unsigned slot) override { return *threads_[slot]->current; }
  void execute(unsigned slot, Issue& issue) override;
  void complete(unsigned slot, const warpline::Instruction& instruction, const MemoryAccess& access,
                bool with_data) override;
  void release_barrier(unsigned slot, std::uint32_t id) override;
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override {
    return state(slot) == WarpState::exited ? 0 : 1;
  }
  void kill(unsigned slot) override {
    if (threads_[slot] == nullptr) return;
    threads_[slot]->current = nullptr;
    threads_[slot]->at_barrier = false;
  }
  [[nodiscard]] std::string where(const warpline::Instruction& instruction) const override;

 private:
  /// Whether the CTA's shared memory has still to get its initial values.
  [[nodiscard]] bool begins(const ThreadState& t) const {
    return run_.ctas[t.cta].begun < run_.program->ctas[t.cta].begin.size();
  }
  void choose_next(ThreadState& t);
  void tell(const ThreadState& t, const Step* done) const;
  void access(const ThreadState& t, const Step& s, MemoryAccess& out) const;
  static void jump(ThreadState& t, unsigned target);
  void compute(ThreadState& t, const litmus::Instruction& i);
  void barrier(ThreadState& t, const Step& s, BarrierOp& out);

  RunState& run_;
  unsigned gpu_;
  std::vector<ThreadState*> threads_;  ///< by slot; null: no thread of the run
};

}  // namespace warpline::litmus
