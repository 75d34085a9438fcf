#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace driver_misuse_test {

using test::BenchOfDriver;

/// Loses the `which`th completion to a port from now on, counting from 0.
void lose(BenchOfDriver& bench, unsigned port, std::vector<unsigned> which) {
  bench.system.root().inject([port, which = std::move(which), n = 0U](unsigned to, const Tlp& tlp) mutable {
    if (to != port || tlp.kind != TlpKind::completion) return Injection::none;
    const unsigned number = n++;
    return std::find(which.begin(), which.end(), number) != which.end() ? Injection::lose : Injection::none;
  });
}

PcieSystemParameters impatient() {
  PcieSystemParameters p;
  p.device.completion_timeout = 3000;
  p.host.completion_timeout = 4000;
  return p;
}

/// Every call but probe and teardown.
void expect_refused(wl_peer& peer) {
  wl_peer_command command{};
  wl_peer_completion completion{};
  wl_peer_queue_options options{};
  std::uint32_t errors = 7;
  EXPECT_EQ(wl_peer_start(&peer), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_queue_create(&peer, 0, &options), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_queue_destroy(&peer, 0, 1), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_submit(&peer, 0, &command), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_ring(&peer, 0), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_poll(&peer, 0, &completion), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_wait(&peer, 0, 1, &completion), WL_BAD_ARGUMENT);
  EXPECT_EQ(wl_peer_check(&peer, &errors), WL_BAD_ARGUMENT);
  EXPECT_EQ(errors, 0U);
  EXPECT_EQ(wl_peer_recover(&peer), WL_BAD_ARGUMENT);
}

TEST(DriverMisuse, CallsBeforeProbeAndAfterTeardownAreRefused) {
  wl_peer peer{};
  expect_refused(peer);
  wl_peer_teardown(&peer);
  BenchOfDriver bench;
  bench.start();
  wl_peer_teardown(&bench.peer);
  expect_refused(bench.peer);
  wl_peer_teardown(&bench.peer);
  EXPECT_EQ(wl_peer_check(nullptr, nullptr), WL_BAD_ARGUMENT);
}

TEST(DriverMisuse, ADeviceOfSomebodyElseIsNeverWrittenTo) {
  unsigned writes = 0;
  wl_port port{};
  port.context = &writes;
  port.read = [](void*, unsigned, std::uint64_t, unsigned) -> std::uint64_t { return 0x12345678; };
  port.write = [](void* count, unsigned, std::uint64_t, unsigned, std::uint64_t) {
    ++*static_cast<unsigned*>(count);
  };
  port.delay = [](void*, std::uint32_t) {};
  port.log = [](void*, wl_log_level, const char*) {};
  wl_peer peer{};
  EXPECT_EQ(wl_peer_probe(&peer, &port), WL_NOT_OURS);
  expect_refused(peer);
  wl_peer_teardown(&peer);
  EXPECT_EQ(writes, 0U);
}

TEST(DriverMisuse, ACommandSubmittedAfterARecoveryIsNotTakenForOneThatItLost) {
  BenchOfDriver bench;
  bench.start(3);
  const auto memory = bench.share(64);
  wl_peer_command command{};
  for (command.cookie = 0; command.cookie < 3; ++command.cookie)
    ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  ASSERT_EQ(wl_peer_recover(&bench.peer), WL_OK);
  command.opcode = WL_PEER_OPCODE_FILL;
  command.destination = memory.bus;
  command.length = 8;
  command.operand = 0x55;
  command.cookie = 50;
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
  unsigned aborted = 0;
  for (unsigned i = 0; i < 4; ++i) {
    wl_peer_completion completion{};
    ASSERT_EQ(wl_peer_wait(&bench.peer, 0, 100, &completion), WL_OK);
    const bool lost = completion.cookie != 50;
    EXPECT_EQ(completion.status, lost ? WL_PEER_STATUS_CODE_ABORTED : WL_PEER_STATUS_CODE_OK);
    aborted += lost;
  }
  EXPECT_EQ(aborted, 3U);
  EXPECT_EQ(memory.bytes[0], 0x55);
}

TEST(DriverMisuse, AQueueIsDestroyedWhenAllThatWasSubmittedIsDone) {
  BenchOfDriver bench;
  bench.start(3);
  const auto memory = bench.share(64);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FILL;
  command.destination = memory.bus;
  command.length = 8;
  command.operand = 0x66;
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  EXPECT_EQ(wl_peer_queue_destroy(&bench.peer, 0, 100), WL_OK);
  EXPECT_EQ(memory.bytes[0], 0x66);
}

TEST(DriverMisuse, WhoeverDestroysAQueueThatHangsLosesNoOtherQueue) {
  BenchOfDriver bench(impatient());
  bench.start(3);
  bench.create(3, false, 1);
  wl_peer_command nop{};
  nop.cookie = 9;
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &nop), WL_OK);
  ASSERT_EQ(wl_peer_submit(&bench.peer, 1, &nop), WL_OK);
  lose(bench, 0, {0});
  EXPECT_EQ(wl_peer_queue_destroy(&bench.peer, 0, 30), WL_STOPPED);
  EXPECT_EQ(wl_peer_poll(&bench.peer, 0, nullptr), WL_BAD_ARGUMENT);
  wl_peer_completion completion{};
  ASSERT_EQ(wl_peer_poll(&bench.peer, 1, &completion), WL_OK);
  EXPECT_EQ(completion.cookie, 9U);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_ABORTED);
  ASSERT_EQ(bench.run(nop, completion, 1), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
}

TEST(DriverMisuse, AQueueOfWhichNoAnswerCameDoesNotKeepItsRings) {
  BenchOfDriver bench(impatient());
  bench.start(3);
  bench.create(3, false, 1);
  wl_peer_queue_options options = bench.peer.queue[1].options;
  ASSERT_EQ(wl_peer_queue_destroy(&bench.peer, 1, 10), WL_OK);
  lose(bench, RootComplexCore::kHost, {0, 2, 4});
  EXPECT_EQ(wl_peer_queue_create(&bench.peer, 1, &options), WL_TIMEOUT);
  bench.create(4, false, 1);
  if (HasFatalFailure()) return;
  const wl_peer_command nop{};
  wl_peer_completion completion{};
  EXPECT_EQ(bench.run(nop, completion, 1), WL_OK);
}

/// Creates queue 1, of which a device that does not serve it must keep nothing.
void expect_no_queue(BenchOfDriver& bench, wl_peer_queue_options& options) {
  const wl_port& port = *bench.port;
  EXPECT_EQ(wl_peer_queue_create(&bench.peer, 1, &options), WL_STOPPED);
  EXPECT_EQ(wl_peer_submit(&bench.peer, 1, nullptr), WL_BAD_ARGUMENT);
  EXPECT_EQ(port.read(port.context, 0, WL_PEER_QUEUE_CONTROL_OFFSET(1), 4), 0U);
  for (const std::uint32_t base : {WL_PEER_SQ_BASE_OFFSET(1), WL_PEER_CQ_BASE_OFFSET(1)})
    EXPECT_FALSE(bench.host.unmap_dma(0, port.read(port.context, 0, base, 8))) << "it is still mapped";
}

TEST(DriverMisuse, AQueueIsMadeOnlyWhereItIsServed) {
  BenchOfDriver bench(impatient());
  bench.port = &bench.host.port_of(0);
  ASSERT_EQ(wl_peer_probe(&bench.peer, bench.port), WL_OK);
  wl_peer_queue_options options{};
  options.order = 2;
  bench.place_rings(options);
  options.slots = bench.slots.emplace_back(4).data();
  expect_no_queue(bench, options);
  ASSERT_EQ(wl_peer_start(&bench.peer), WL_OK);
  bench.create(3, false, 0);
  lose(bench, 0, {0});
  const wl_peer_command nop{};
  wl_peer_completion completion{};
  EXPECT_EQ(bench.run(nop, completion), WL_STOPPED);
  expect_no_queue(bench, options);
  ASSERT_EQ(wl_peer_recover(&bench.peer), WL_OK);
  ASSERT_EQ(wl_peer_queue_create(&bench.peer, 1, &options), WL_OK);
  EXPECT_EQ(bench.run(nop, completion, 1), WL_OK);
}

TEST(DriverMisuse, ANotifyBehindALostCommandIsAborted) {
  BenchOfDriver bench(impatient());
  bench.start(3);
  wl_peer_command command{};
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  command.opcode = WL_PEER_OPCODE_NOTIFY;
  command.cookie = 1;
  ASSERT_EQ(wl_peer_submit(&bench.peer, 0, &command), WL_OK);
  lose(bench, 0, {0});
  ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
  wl_peer_completion completion{};
  ASSERT_EQ(wl_peer_wait(&bench.peer, 0, 30, &completion), WL_OK);
  EXPECT_EQ(completion.cookie, 1U);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_ABORTED);
  EXPECT_EQ(bench.port->read(bench.port->context, 0, WL_PEER_EVENT_LEVEL_OFFSET, 4), 0U);
  EXPECT_EQ(wl_peer_check(&bench.peer, nullptr), WL_STOPPED);
}

}  // namespace driver_misuse_test
}  // namespace warpline
