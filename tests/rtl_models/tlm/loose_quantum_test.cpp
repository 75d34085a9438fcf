// How far an engine runs ahead of SystemC while its time is loose: by up to the global quantum.
#include <gtest/gtest.h>

#include <systemc>
// The keeper leaves the inclusion of SystemC to its users.
#include <tlm_utils/tlm_quantumkeeper.h>

#include "rtl_models/tlm/engine_process.h"

namespace warpline::test {
namespace loose_quantum_test {

/// Ticks every third cycle, a number of times, and notes how far ahead of SystemC that was.
class Watch final : public Component {
 public:
  explicit Watch(EngineProcess& module) : Component(module.engine(), "watch"), module_(module) {}
  void start(unsigned ticks) {
    left_ = ticks;
    most = sc_core::SC_ZERO_TIME;
    behind = false;
    wake(engine().now() + 1);
    module_.wake();
  }
  Cycle tick(Cycle now) override {
    if (left_ == 0) return kNever;
    engine().note_move(now);
    const sc_core::sc_time at = module_.tick_of(now);
    behind = behind || at < sc_core::sc_time_stamp();
    most = std::max(most, behind ? most : at - sc_core::sc_time_stamp());
    return --left_ == 0 ? kNever : now + 3;
  }
  [[nodiscard]] bool busy() const override { return left_ != 0; }
  void explain(std::vector<Wait>& /*waits*/) const override {}
  sc_core::sc_time most;  ///< ahead
  bool behind = false;

 private:
  EngineProcess& module_;
  unsigned left_ = 0;
};

TEST(LooseQuantum, AnEngineRunsAheadByTheQuantumAtMost) {
  const auto ns = [](double n) { return sc_core::sc_time(n, sc_core::SC_NS); };
  EngineProcess even("even", 1000), odd("odd", 987);
  Watch watches[] = {Watch{even}, Watch{odd}};
  constexpr unsigned kTicks = 5000;
  const auto run = [&](bool loose, sc_core::sc_time quantum) {
    tlm_utils::tlm_quantumkeeper::set_global_quantum(quantum);
    for (EngineProcess* e : {&even, &odd}) e->set_loose(loose);
    for (Watch& w : watches) w.start(kTicks);
    const sc_core::sc_time begun = sc_core::sc_time_stamp();
    sc_core::sc_start();
    for (EngineProcess* e : {&even, &odd}) EXPECT_EQ(e->outcome(), RunOutcome::quiescent);
    return sc_core::sc_time_stamp() - begun;
  };
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (unsigned round = 0; round < 3; ++round) {
    for (const sc_core::sc_time& quantum : {ns(0), ns(10), ns(333), ns(2000)}) {
      const sc_core::sc_time took = run(true, quantum);
      for (const Watch& w : watches) {
        EXPECT_FALSE(w.behind) << quantum;
        EXPECT_LE(w.most, quantum);
        EXPECT_GE(w.most, quantum / 2) << "of " << quantum;
      }
      // SystemC keeps up but for the last quantum.
      EXPECT_GE(took + quantum + ns(1), ns(3.0 * kTicks - 3));
      EXPECT_LE(took, ns(3.1 * kTicks));
    }
    run(false, ns(2000));
    for (const Watch& w : watches) {
      EXPECT_FALSE(w.behind);
      EXPECT_EQ(w.most, sc_core::SC_ZERO_TIME);
    }
  }
}

}  // namespace loose_quantum_test
}  // namespace warpline::test
