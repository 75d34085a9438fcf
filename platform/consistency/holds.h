#pragma once

#include <deque>
#include <vector>

#include "platform/consistency/run_state.h"
#include "platform/machine/system.h"

namespace warpline::litmus {

/// The holds of a test on the machine that runs it.
class Holds final : public ProgressObserver {
 public:
  /// For the next run: closes a gate at every queue that a hold of `test` is about. Pre: quiescent.
  void begin(const Test& test, const RunState& run, System& system, Engine& engine);
  void done(unsigned thread, unsigned instruction) override;
  /// Ends all holds. False: none was left.
  bool let_go();
  /// Whether a message has been held since begin().
  [[nodiscard]] bool held() const;

 private:
  /// A hold in a run: what it is about.
  struct Active {
    const Hold* of = nullptr;
    PhysicalAddress line;
    unsigned gpu = 0, sm = 0;
    bool open = false;
    mutable bool held = false;
    [[nodiscard]] bool holds(const Request& r) const;
  };
  /// The gate of one queue, for all the holds that are about it.
  template <class M, class Q>
  struct QueueGate final : Gate<M> {
    Q* queue = nullptr;
    std::vector<const Active*> active;
    [[nodiscard]] bool holds(const M& message) const override {
      bool any = false;
      for (const Active* a : active) any = a->holds(*message.request) || any;
      return any;
    }
  };
  using FillGate = QueueGate<ResponseMessage, In<ResponseMessage>>;
  using WriteGate = QueueGate<RequestMessage, Crossbar>;
  template <class G, class Q>
  static void close(std::deque<G>& gates, Q& queue, const Active& active);
  void open(Active& active);

  Engine* engine_ = nullptr;
  std::deque<Active> active_;
  std::deque<FillGate> fills_;
  std::deque<WriteGate> writes_;  ///< in the crossbar's queues of clients and slices
};

}  // namespace warpline::litmus
