#include <gtest/gtest.h>

#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "tests/sw/driver/bench_of_driver.h"

namespace warpline {
namespace registers_test {

using test::BenchOfDriver;
using Outcome = AccessOutcome;

/// A device that is enabled, and its registers as a driver sees them.
class PeerRegisters : public ::testing::Test {
 protected:
  void SetUp() override {
    bench.start(2, false);
    write(WL_PEER_ERROR_OFFSET, ~0U);
  }
  std::uint32_t read(std::uint64_t offset, unsigned bytes = 4) {
    return static_cast<std::uint32_t>(bench.port->read(bench.port->context, 0, offset, bytes));
  }
  void write(std::uint64_t offset, std::uint64_t value, unsigned bytes = 4) {
    bench.port->write(bench.port->context, 0, offset, bytes, value);
  }
  [[nodiscard]] const BusAccess& last() { return bench.system.peer(0).core().log().entries().back(); }
  BenchOfDriver bench;
};

TEST_F(PeerRegisters, AnAccessThatNoRegisterTakesIsNotedAndDoesNothing) {
  struct Row {
    const char* what;
    std::uint64_t offset;
    unsigned bytes;
    bool write;
    Outcome outcome;
  };
  const std::vector<Row> rows = {
      {"a hole", 0x3FC, 4, false, Outcome::no_register},
      {"a hole", 0x3000, 4, true, Outcome::no_register},
      {"half a register", WL_PEER_CONTROL_OFFSET, 2, true, Outcome::wrong_size},
      {"two registers", WL_PEER_IDENTITY_OFFSET, 8, false, Outcome::wrong_size},
      {"across", WL_PEER_IDENTITY_OFFSET + 2, 4, false, Outcome::misaligned},
      {"what is read only", WL_PEER_IDENTITY_OFFSET, 4, true, Outcome::read_only},
      {"what is write only", WL_PEER_SQ_TAIL_DOORBELL_OFFSET(3), 4, false, Outcome::write_only},
  };
  for (const Row& row : rows) {
    if (row.write) {
      write(row.offset, 0xFFFF'FFFF, row.bytes);
    } else {
      EXPECT_EQ(read(row.offset, row.bytes), 0U) << row.what;
    }
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), WL_PEER_ERROR_BAD_ACCESS_MASK) << row.what;
    EXPECT_EQ(read(WL_PEER_BAD_OFFSET_OFFSET), row.offset) << row.what;
    const auto& log = bench.system.peer(0).core().log().entries();
    const BusAccess& access = log[log.size() - 3];
    EXPECT_EQ(access.offset, row.offset) << row.what;
    EXPECT_EQ(access.bytes, row.bytes) << row.what;
    EXPECT_EQ(access.outcome, row.outcome) << row.what;
    write(WL_PEER_ERROR_OFFSET, WL_PEER_ERROR_BAD_ACCESS_MASK);
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), 0U);
  }
  EXPECT_EQ(read(WL_PEER_CONTROL_OFFSET), WL_PEER_CONTROL_ENABLE_MASK);
}

TEST_F(PeerRegisters, AnAccessThatTheMsixTableDoesNotTakeIsLogged) {
  const std::uint64_t pending = 16 * WL_PEER_QUEUES, end = pending + 8;
  struct Row {
    std::uint64_t offset;
    unsigned bytes;
    bool write;
    Outcome outcome;
  };
  const std::vector<Row> rows = {
      {16, 4, true, Outcome::done},
      {16, 4, false, Outcome::done},
      {pending, 8, false, Outcome::done},
      {pending - 8, 8, true, Outcome::done},
      {pending, 8, true, Outcome::read_only},
      {pending + 4, 4, true, Outcome::read_only},
      {end, 4, false, Outcome::no_register},
      {end, 4, true, Outcome::no_register},
      {4092, 2, false, Outcome::no_register},
      {16, 2, false, Outcome::wrong_size},
      {pending, 1, true, Outcome::wrong_size},
      {4, 8, false, Outcome::misaligned},
  };
  const wl_port& port = *bench.port;
  for (const Row& row : rows) {
    SCOPED_TRACE("offset " + std::to_string(row.offset) + (row.write ? ", write" : ", read"));
    const std::uint64_t bad = bench.device.core().counters().bad_accesses;
    if (row.write) {
      port.write(port.context, QueueDeviceCore::kMsixBar, row.offset, row.bytes, 0);
      static_cast<void>(
          bench.host.load(bench.host.devices()[0].bars[QueueDeviceCore::kBufferBar].address, 4));
    } else if (const std::uint64_t value =
                   port.read(port.context, QueueDeviceCore::kMsixBar, row.offset, row.bytes);
               row.outcome != Outcome::done) {
      EXPECT_EQ(value, 0U);
    }
    const auto& log = bench.device.core().log().entries();
    EXPECT_EQ(log[log.size() - (row.write ? 2 : 1)].outcome, row.outcome);
    EXPECT_EQ(bench.device.core().counters().bad_accesses - bad, row.outcome == Outcome::done ? 0U : 1U);
  }
}

TEST_F(PeerRegisters, ReadToClearAndTheFifoForgetWhatWasRead) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_NOTIFY;
    command.operand = 100 + i;
    wl_peer_completion completion{};
    ASSERT_EQ(bench.run(command, completion), WL_OK);
  }
  EXPECT_EQ(read(WL_PEER_EVENTS_OFFSET), WL_PEER_EVENTS_COMPLETED_MASK | WL_PEER_EVENTS_NOTIFIED_MASK);
  EXPECT_EQ(read(WL_PEER_EVENTS_OFFSET), 0U);
  EXPECT_EQ(read(WL_PEER_EVENT_LEVEL_OFFSET), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(read(WL_PEER_EVENT_FIFO_OFFSET), 100 + i);
  EXPECT_EQ(read(WL_PEER_EVENT_FIFO_OFFSET), 0U) << "empty";
  EXPECT_EQ(read(WL_PEER_EVENT_LEVEL_OFFSET), 0U);
}

TEST_F(PeerRegisters, TheFifoThatIsFullLosesTheNewestAndSaysSo) {
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_NOTIFY;
  for (command.operand = 0; command.operand <= WL_PEER_EVENT_FIFO_DEPTH; ++command.operand) {
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), 0U);
    wl_peer_completion completion{};
    ASSERT_EQ(bench.run(command, completion), WL_OK);
  }
  EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), WL_PEER_ERROR_EVENT_OVERFLOW_MASK);
  for (std::uint32_t i = 0; i < WL_PEER_EVENT_FIFO_DEPTH; ++i) EXPECT_EQ(read(WL_PEER_EVENT_FIFO_OFFSET), i);
}

TEST_F(PeerRegisters, AResetKeepsScratchAlone) {
  write(WL_PEER_SCRATCH_OFFSET(1), 0x1234);
  write(WL_PEER_SQ_BASE_OFFSET(5), 0x40, 8);
  write(WL_PEER_CONTROL_OFFSET, WL_PEER_CONTROL_RESET_MASK);
  EXPECT_EQ(read(WL_PEER_STATUS_OFFSET), 0U);
  EXPECT_EQ(read(WL_PEER_SCRATCH_OFFSET(1)), 0x1234U);
  EXPECT_EQ(read(WL_PEER_SQ_BASE_OFFSET(5)), 0U);
  EXPECT_EQ(read(WL_PEER_QUEUE_CONTROL_OFFSET(0)), 0U);
  bench.host.system().hot_reset(0);
  bench.host.enumerate();
  bench.port = &bench.host.port_of(0);
  EXPECT_EQ(read(WL_PEER_SCRATCH_OFFSET(1)), 0U) << "the link's reset keeps nothing";
}

TEST_F(PeerRegisters, AQueueThatCannotBeStaysDisabled) {
  const std::vector<std::pair<std::uint32_t, std::uint64_t>> rows = {
      {0U << WL_PEER_QUEUE_CONTROL_ORDER_SHIFT, 0x1000},
      {13U << WL_PEER_QUEUE_CONTROL_ORDER_SHIFT, 0x1000},
      {3U << WL_PEER_QUEUE_CONTROL_ORDER_SHIFT | 16U << WL_PEER_QUEUE_CONTROL_VECTOR_SHIFT, 0x1000},
      {3U << WL_PEER_QUEUE_CONTROL_ORDER_SHIFT, 0x1020},
  };
  for (const auto& [control, base] : rows) {
    write(WL_PEER_SQ_BASE_OFFSET(2), base, 8);
    write(WL_PEER_CQ_BASE_OFFSET(2), 0x2000, 8);
    write(WL_PEER_QUEUE_CONTROL_OFFSET(2), control | WL_PEER_QUEUE_CONTROL_ENABLE_MASK);
    EXPECT_EQ(read(WL_PEER_QUEUE_CONTROL_OFFSET(2)), control);
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), WL_PEER_ERROR_BAD_QUEUE_MASK);
    write(WL_PEER_ERROR_OFFSET, ~0U);
    write(WL_PEER_SQ_TAIL_DOORBELL_OFFSET(2), 1);
    EXPECT_EQ(read(WL_PEER_ERROR_OFFSET), WL_PEER_ERROR_BAD_DOORBELL_MASK);
    write(WL_PEER_ERROR_OFFSET, ~0U);
  }
}

TEST_F(PeerRegisters, ItsOwnMemoryTakesAccessesOfAnySize) {
  const auto& bars = bench.host.devices()[0].bars;
  for (const unsigned bytes : {1U, 2U, 4U, 8U}) {
    bench.host.store(bars[4].address + 0x108, bytes, 0x1122334455667788ULL);
    EXPECT_EQ(bench.host.load(bars[4].address + 0x108, bytes),
              0x1122334455667788ULL & (bytes == 8 ? ~0ULL : (1ULL << 8 * bytes) - 1));
  }
  EXPECT_EQ(last().bar, 4U);
  EXPECT_EQ(last().value, 0x1122334455667788ULL);
}

TEST_F(PeerRegisters, TheLogEqualsWhatWasDoneInNumberOrderAndSize) {
  read(WL_PEER_PRESENT_OFFSET);
  const std::uint64_t before = bench.system.peer(0).core().log().total();
  Random random(5);
  std::vector<std::pair<std::uint64_t, bool>> done;
  for (unsigned i = 0; i < 2000; ++i) {
    const std::uint64_t offset = WL_PEER_SCRATCH_OFFSET(random.below(2));
    const bool writes = random.below(2) == 0;
    if (writes) {
      write(offset, i);
    } else {
      read(offset);
    }
    done.emplace_back(offset, writes);
  }
  read(WL_PEER_PRESENT_OFFSET);
  const AccessLog& log = bench.system.peer(0).core().log();
  ASSERT_EQ(log.total(), before + done.size() + 1);
  for (std::size_t i = 0; i < done.size(); ++i) {
    const BusAccess& access = log.entries()[before + i];
    ASSERT_EQ(access.offset, done[i].first);
    ASSERT_EQ(access.kind == AccessKind::write, done[i].second);
    ASSERT_EQ(access.bytes, 4U);
    ASSERT_EQ(done[i].second ? access.value : i, i);
  }
}

}  // namespace registers_test
}  // namespace warpline
