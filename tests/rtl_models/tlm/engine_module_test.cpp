// The engine in SystemC time, beside processes of other people.
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_process.h"
#include "tests/support/mock_components.h"

namespace warpline::test {
namespace engine_module_test {

/// Requests for thousands of cycles, port to port.
struct Busy {
  explicit Busy(const char* name)
      : module(name, 1000),
        requester(module.engine(), "requester", {}, items()),
        target(module.engine(), "target", {}) {
    connect(requester.out, target.in, {});
    connect(target.out, requester.in, {});
  }
  static std::vector<Item> items() {
    std::vector<Item> all;
    for (Cycle c = 0; c < 3000; c += 3) all.push_back(read_item(c, PhysicalAddress{c * kLineBytes}, 1));
    return all;
  }
  EngineProcess module;
  Requester requester;
  Target target;
};

/// Looks on at odd times, the first of them in cycle 0 after its tick.
struct Onlooker final : sc_core::sc_module {
  Onlooker(const sc_core::sc_module_name& name, Busy& watched, Busy& limited)
      : sc_module(name), watched_(watched), limited_(limited) {
    SC_HAS_PROCESS(Onlooker);
    SC_THREAD(look);
  }
  void look() {
    for (unsigned ps = 600; ps < 900000; ps += 1700) {
      wait(sc_core::sc_time(ps, sc_core::SC_PS) - sc_core::sc_time_stamp());
      ahead += watched_.module.engine().now() > watched_.module.cycle_of(sc_core::sc_time_stamp());
      limited_.module.wake();
    }
  }
  unsigned ahead = 0;

 private:
  Busy& watched_;
  Busy& limited_;
};

TEST(EngineProcess, RunsAheadOfNobodyAndStaysAtItsLimit) {
  Busy watched("watched"), limited("limited");
  Onlooker onlooker("onlooker", watched, limited);
  limited.module.set_limit(100);
  for (Busy* b : {&watched, &limited}) b->module.run_ahead(1000);
  sc_core::sc_start();
  EXPECT_EQ(onlooker.ahead, 0U);
  EXPECT_EQ(watched.module.outcome(), RunOutcome::quiescent);
  EXPECT_EQ(limited.module.outcome(), RunOutcome::cycle_limit);
  EXPECT_LE(limited.module.engine().now(), 100U);
}

}  // namespace engine_module_test
}  // namespace warpline::test
