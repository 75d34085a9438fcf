// When completions raise their interrupt.
#include <gtest/gtest.h>

#include "rtl_models/pcie/host_bridge/host_bridge.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/sim/run_outcome.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace interrupts_test {

using test::BenchOfDriver;

/// With interrupts after several completions or some time, all completions are told of.
TEST(PeerInterrupts, AreCoalescedAsTheRegisterSays) {
  struct Row {
    unsigned count;
    std::uint32_t ns;
    std::uint64_t interrupts;
  };
  for (const Row& row : {Row{1, 0, 8}, Row{4, 0, 2}, Row{255, 5000, 1}, Row{3, 5000, 3}}) {
    BenchOfDriver bench;
    bench.start(4, true);
    wl_peer_queue_options options = bench.peer.queue[0].options;
    ASSERT_EQ(wl_peer_queue_destroy(&bench.peer, 0, 10), WL_OK);
    options.coalesce_count = row.count;
    options.coalesce_ns = row.ns;
    ASSERT_EQ(wl_peer_queue_create(&bench.peer, 0, &options), WL_OK);
    wl_peer_command nop{};
    for (unsigned i = 0; i < 8; ++i) ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &nop), WL_OK);
    ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
    bench.host.delay_ns(20000);
    EXPECT_EQ(bench.system.peer(0).core().counters().interrupts, row.interrupts);
    EXPECT_EQ(bench.system.bridge().counters().interrupts, row.interrupts);
    wl_peer_completion completion{};
    for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(wl_peer_poll(&bench.peer, 0, &completion), WL_OK);
  }
}

/// Two completions, of which what COALESCE says at first tells nobody: what it says then does.
TEST(PeerInterrupts, HoldForWhatIsUntoldWhenTheyAreSetAnew) {
  constexpr std::uint32_t kFive = 5000U << WL_PEER_COALESCE_TIME_SHIFT;
  for (const bool loose : {false, true}) {
    for (const std::uint32_t anew : {2U, 10U | kFive, 1U}) {
      BenchOfDriver bench({}, loose);
      bench.start(4, true);
      const wl_port& port = *bench.port;
      port.write(port.context, 0, WL_PEER_COALESCE_OFFSET(0), 4, 10);
      const wl_peer_command nop{};
      for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &nop), WL_OK);
      ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
      EXPECT_EQ(port.wait_irq(port.context, 0, 4), 0) << "COALESCE " << anew;
      port.write(port.context, 0, WL_PEER_COALESCE_OFFSET(0), 4, anew);
      EXPECT_EQ(port.wait_irq(port.context, 0, 4), 1) << "COALESCE " << anew << (loose ? ", loose" : "");
      EXPECT_EQ(port.wait_irq(port.context, 0, 20), 0) << "it comes once";
    }
  }
}

TEST(PeerInterrupts, AShortTimeIsNotNoLimit) {
  BenchOfDriver bench({}, false, 1U << 20U, TickMode::lazy, 300);
  bench.start(4, true);
  bench.port->write(bench.port->context, 0, WL_PEER_COALESCE_OFFSET(0), 4,
                    1U << WL_PEER_COALESCE_TIME_SHIFT | 255U);
  const wl_peer_command nop{};
  wl_peer_completion completion{};
  ASSERT_EQ(bench.run(nop, completion), WL_OK);
  EXPECT_EQ(bench.system.bridge().counters().interrupts, 1U);
}

}  // namespace interrupts_test
}  // namespace warpline
