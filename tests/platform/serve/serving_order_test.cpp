// What clients do at once, in the middle of something, or behind each other's backs.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>

#include "rtl_models/pcie/root_complex/root_complex.h"
#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace serving_order_test {

using test::ServedDriver;
using test::ServedPeers;
using vfio_user::ClientMachine;
using vfio_user::Command;
using vfio_user::Connection;
using vfio_user::Header;
using vfio_user::kConfigRegion;
using vfio_user::RegionAccess;
using vfio_user::Writer;

constexpr unsigned kCommand = 4, kBar0 = 0x10, kPowerControl = 0x44, kMsixControl = 0x52;

/// Commands that are sent in one go, none of which waits for an answer.
class Burst {
 public:
  Burst& write(unsigned region, std::uint64_t offset, std::uint32_t value, std::uint32_t bytes) {
    Writer w;
    RegionAccess{offset, region, bytes}.put(w);
    return add(Command::region_write, w.data(&value, bytes).take());
  }
  Burst& reset() { return add(Command::reset, {}); }
  Burst& ask() { return add(Command::device_info, std::vector<std::uint8_t>(16)); }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  Burst& add(Command command, const std::vector<std::uint8_t>& payload) {
    Header header;
    header.command = static_cast<std::uint16_t>(command);
    header.flags = Header::kNoReply;
    header.bytes = static_cast<std::uint32_t>(Header::kBytes + payload.size());
    std::array<std::uint8_t, Header::kBytes> head{};
    header.put(head.data());
    bytes_.insert(bytes_.end(), head.begin(), head.end());
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    return *this;
  }
  std::vector<std::uint8_t> bytes_;
};

void send(Connection& connection, const Burst& burst) {
  ASSERT_EQ(connection.send_raw(burst.bytes().data(), burst.bytes().size()), 0);
}

std::uint32_t read(Connection& connection, unsigned region, std::uint64_t offset, std::uint32_t bytes = 4) {
  std::uint32_t value = 0;
  EXPECT_EQ(connection.read(region, offset, &value, bytes), 0);
  return value;
}

class OrderInEveryTime : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static ServedPeers::Options options(unsigned peers = 1) { return {peers, GetParam(), 0, {}}; }
};

TEST_P(OrderInEveryTime, AResetFollowsWhatWasAskedForBeforeIt) {
  const ServedPeers peers(options());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  send(client->connection(), Burst().write(kConfigRegion, kCommand, 6, 2).reset());
  EXPECT_EQ(read(client->connection(), kConfigRegion, kCommand, 2), 0U);
}

TEST_P(OrderInEveryTime, WhatAClientHadAskedForGoesWithIt) {
  const ServedPeers peers(options());
  for (unsigned round = 0; round < 20; ++round) {
    {
      const auto client = peers.client();
      ASSERT_NE(client, nullptr);
      Burst burst;
      for (unsigned i = 0; i < 100; ++i)
        burst.write(kConfigRegion, kCommand, 6, 2).write(kConfigRegion, kBar0, 0xC000'0000, 4);
      send(client->connection(), burst);
    }
    auto next = Connection::to(peers.path(0));
    while (!next.ok()) next = Connection::to(peers.path(0));
    ASSERT_EQ(read(*next.value(), kConfigRegion, kCommand, 2), 0U) << round;
    ASSERT_EQ(read(*next.value(), kConfigRegion, kBar0) & ~0xFU, 0U) << round;
  }
}

TEST_P(OrderInEveryTime, WhatADeviceStillDoesForWhoHasGoneReachesNobodyElse) {
  const ServedPeers peers(options());
  for (unsigned round = 0; round < 10; ++round) {
    std::uint64_t to = 0;
    {
      const auto client = peers.client();
      ASSERT_NE(client, nullptr);
      ServedDriver driver(*client, false);
      constexpr std::uint32_t kBytes = 1U << 20U;
      auto* const memory = static_cast<std::uint8_t*>(client->allocate(std::size_t{2} * kBytes));
      std::memset(memory, 0x5A, kBytes);
      to = driver.bus(memory) + kBytes;
      wl_peer_command command{};
      command.opcode = WL_PEER_OPCODE_COPY;
      command.source = driver.bus(memory);
      command.destination = to;
      command.length = kBytes;
      ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
      ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
    }
    const auto next = peers.client();
    ASSERT_NE(next, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // All of its memory is as it came: nothing has been allocated in it.
    const auto* const bytes = static_cast<const std::uint8_t*>(next->allocate(4U << 20U));
    for (std::size_t i = 0; i < 4U << 20U; i += 64) ASSERT_EQ(bytes[i], 0) << round << ", byte " << i;
  }
}

TEST_P(OrderInEveryTime, ConfigurationComesBeforeWhatFollowsIt) {
  const ServedPeers peers(options());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  send(client->connection(), Burst()
                                 .write(kConfigRegion, kPowerControl, 3, 2)
                                 .write(kConfigRegion, kPowerControl, 0, 2)
                                 .write(kConfigRegion, kBar0, 0xD000'0000, 4)
                                 .write(kConfigRegion, kCommand, 6, 2)
                                 .write(0, 0x28, 77, 4));
  EXPECT_EQ(read(client->connection(), kConfigRegion, kBar0), 0xD000'0004U);
  EXPECT_EQ(read(client->connection(), kConfigRegion, kCommand, 2), 6U);
  EXPECT_EQ(read(client->connection(), 0, 0x28), 77U);
}

TEST_P(OrderInEveryTime, NothingOfAMachineIsTakenForAnInterrupt) {
  // The first machine's BAR 0 lies where interrupts are messages on the bus here.
  const ServedPeers peers(options(2));
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_EQ(one->bars()[0].address, std::uint64_t{1} << 40U);
  ServedDriver driver(*other);
  auto* const word = static_cast<std::uint32_t*>(other->allocate(64));
  *word = 0x1234;
  EXPECT_EQ(driver.copy(driver.bus(word), one->bars()[0].address + 0x28, 4), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(read(one->connection(), 0, 0x28), 0x1234U);
}

TEST_P(OrderInEveryTime, OtherFunctionsDoNotReachTheMessageTable) {
  const ServedPeers peers(options(2));
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ServedDriver driver(*one), others(*other);
  void* const memory = one->allocate(4096);
  std::memset(memory, 0xFF, 4096);
  static_cast<void>(driver.copy(driver.bus(memory), other->bars()[2].address, 256));
  void* const theirs = other->allocate(128);
  EXPECT_EQ(others.copy(others.bus(theirs), others.bus(theirs) + 64, 64), WL_PEER_STATUS_CODE_OK);
}

TEST_P(OrderInEveryTime, AFreshFunctionHasItsInterruptsOff) {
  const ServedPeers peers(options());
  const auto client = Connection::to(peers.path(0));
  ASSERT_TRUE(client.ok());
  constexpr std::uint32_t kEnable = 0x8000;
  EXPECT_EQ(read(*client.value(), kConfigRegion, kMsixControl, 2) & kEnable, 0U);
  const std::uint16_t on = kEnable;
  ASSERT_EQ(client.value()->write(kConfigRegion, kMsixControl, &on, 2), 0);
  EXPECT_EQ(read(*client.value(), kConfigRegion, kMsixControl, 2) & kEnable, kEnable);
}

INSTANTIATE_TEST_SUITE_P(Serving, OrderInEveryTime, ::testing::Bool(),
                         [](const auto& time) { return time.param ? "Loose" : "Timed"; });

/// A window of the client's that is no file.
constexpr std::uint64_t kAsked = 0x4'0000'0000;

void fill(ServedDriver& driver, std::uint64_t to, std::uint32_t bytes) {
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FILL;
  command.destination = to;
  command.length = bytes;
  ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
  ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
}

TEST(ServingOrder, ACompletionFollowsDataThatWentByMessage) {
  const ServedPeers peers(ServedPeers::Options{1, false, 0, {}});
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  std::atomic<unsigned> written{0};
  client->connection().answer_by([&](std::uint64_t, std::uint8_t*, std::size_t bytes, bool) {
    written += static_cast<unsigned>(bytes);
    return true;
  });
  ASSERT_EQ(client->connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
  ServedDriver driver(*client, false);
  fill(driver, kAsked, 4096);
  wl_peer_completion completion{};
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(wl_peer_poll(&driver.peer(), 0, &completion), WL_NONE);
  for (unsigned tries = 0; wl_peer_poll(&driver.peer(), 0, &completion) == WL_NONE; ++tries) {
    ASSERT_LT(tries, 2000U);
    static_cast<void>(client->connection().listen(1));
  }
  EXPECT_EQ(written, 4096U);
}

TEST(ServingOrder, WhatGoesToAnotherDeviceFollowsAWriteByMessage) {
  ServedPeers peers(ServedPeers::Options{2, false, 0, {}});
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_EQ(one->connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
  ServedDriver driver(*one, false);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FILL;
  command.operand = 0x5A5A'5A5A'5A5A'5A5A;
  command.length = 64;
  for (const std::uint64_t to : {kAsked, other->bars()[4].address}) {
    command.destination = to;
    ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
  }
  ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
  for (unsigned tries = 0; !peers.within([&] { return peers.machine().waits_for_client(); }); ++tries)
    ASSERT_LT(tries, 10'000U);
  // Reads take model time, far more than the second write needs; those of the device itself are answered,
  // too.
  for (unsigned i = 0; i < 100; ++i) {
    ASSERT_EQ(read(other->connection(), 0, 0), WL_PEER_IDENTITY_VALUE);
    ASSERT_EQ(read(other->connection(), 4, 0), 0U) << i;
  }
  unsigned asked = 0;
  one->connection().answer_by([&](std::uint64_t, std::uint8_t*, std::size_t bytes, bool) {
    asked += static_cast<unsigned>(bytes);
    return true;
  });
  ASSERT_EQ(read(one->connection(), 0, 0), WL_PEER_IDENTITY_VALUE);
  for (unsigned tries = 0; read(other->connection(), 4, 0) != 0x5A5A'5A5A; ++tries) {
    ASSERT_LT(tries, 10'000U);
    ASSERT_EQ(one->connection().listen(1), 0);
  }
  EXPECT_EQ(asked, 64U);
}

TEST(ServingOrder, ADeviceAnswersHoweverMuchForAnotherOneIsHeld) {
  ServedPeers peers(ServedPeers::Options{2, false, 0, {}});
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_EQ(one->connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
  ServedDriver driver(*one, false);
  constexpr std::uint32_t kBytes = 0x1'0000;  // many times what a root complex lets wait on its way
  fill(driver, kAsked, 64);
  fill(driver, other->bars()[4].address, kBytes);
  for (unsigned tries = 0; !peers.within([&] { return peers.machine().waits_for_client(); }); ++tries)
    ASSERT_LT(tries, 10'000U);
  // Reads take model time, in which all of it comes. The client hears nothing meanwhile, and so answers
  // nothing.
  for (unsigned i = 0; i < 100; ++i) {
    std::promise<std::uint32_t> answer;
    peers.within([&] {
      peers.machine().function(0).read(0, 0, 4, [&answer](const std::uint8_t* data) {
        std::uint32_t value = 0;
        if (data != nullptr) std::memcpy(&value, data, 4);
        answer.set_value(value);
      });
    });
    ASSERT_EQ(answer.get_future().get(), WL_PEER_IDENTITY_VALUE) << i;
  }
  one->connection().answer_by([&](std::uint64_t, std::uint8_t*, std::size_t, bool) { return true; });
  for (unsigned done = 0, tries = 0; done < 2; ++tries) {
    ASSERT_LT(tries, 10'000U);
    wl_peer_completion completion{};
    if (wl_peer_poll(&driver.peer(), 0, &completion) == WL_OK) {
      EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
      ++done;
    }
    ASSERT_EQ(one->connection().listen(1), 0);
  }
}

TEST(ServingOrder, WhatWaitsBehindAWriteByMessageIsBounded) {
  PcieSystemParameters parameters;
  parameters.root.outside_queue = 8;
  ServedPeers peers(ServedPeers::Options{1, false, 0, parameters});
  const auto client = peers.client(0);
  ASSERT_NE(client, nullptr);
  ASSERT_EQ(client->connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
  ServedDriver driver(*client, false);
  fill(driver, kAsked, 0x1'0000);
  for (unsigned tries = 0; !peers.within([&] { return peers.machine().waits_for_client(); }); ++tries)
    ASSERT_LT(tries, 10'000U);
  // Time passes in which all of it would come.
  const std::uint64_t taken = peers.within([&] {
    ServedMachine& machine = peers.machine();
    const Cycle end = machine.now() + 100'000;
    while (machine.next_activity() <= end) static_cast<void>(machine.advance(end, std::chrono::seconds(1)));
    return peers.system().root().to_device(0).counters().payload_received;
  });
  EXPECT_LT(taken, 0x8000U);
  unsigned written = 0;
  client->connection().answer_by([&](std::uint64_t, std::uint8_t*, std::size_t bytes, bool) {
    written += static_cast<unsigned>(bytes);
    return true;
  });
  wl_peer_completion completion{};
  for (unsigned tries = 0; wl_peer_poll(&driver.peer(), 0, &completion) == WL_NONE; ++tries) {
    ASSERT_LT(tries, 10'000U);
    ASSERT_EQ(client->connection().listen(1), 0);
  }
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(written, 0x1'0000U);
}

TEST(ServingOrder, NobodyWaitsLongForASilentClient) {
  const ServedPeers peers(ServedPeers::Options{2, true, 0, {}});
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_EQ(one->connection().map({3, 0, kAsked, 0x10'0000}, -1), 0);
  ServedDriver driver(*one, false);
  for (unsigned i = 0; i < 8; ++i) fill(driver, kAsked, 0x1'0000);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(read(other->connection(), 0, 0), WL_PEER_IDENTITY_VALUE);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));  // as QEMU waits
}

TEST(ServingOrder, AFloodLeavesTheModelItsTurn) {
  ServedPeers peers(ServedPeers::Options{3, true, 0, {}});
  std::atomic<bool> ends{false};
  std::vector<std::thread> floods;
  for (unsigned i = 0; i < 2; ++i)
    floods.emplace_back([&, i] {
      const auto client = peers.client(i);
      Burst burst;
      for (unsigned n = 0; n < 500; ++n) burst.ask();
      while (!ends) send(client->connection(), burst);
    });
  const auto client = peers.client(2);
  ASSERT_NE(client, nullptr);
  for (unsigned i = 0; i < 2; ++i)
    while (peers.within([&] { return peers.serving().counters(i).messages; }) < 2000) {
    }
  const auto before = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(read(client->connection(), 0, 0), WL_PEER_IDENTITY_VALUE);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
  ends = true;
  for (std::thread& flood : floods) flood.join();
}

TEST(ServingOrder, AWishForTheOtherTimeIsGivenUpAfterAWhile) {
  ServedPeers peers(ServedPeers::Options{2, false, 0, {}});
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_EQ(one->connection().map({3, 0, kAsked, 0x1'0000}, -1), 0);
  ServedDriver driver(*one, false);
  fill(driver, kAsked, 4096);  // which is never answered
  for (unsigned tries = 0; !peers.within([&] { return peers.machine().waits_for_client(); }); ++tries)
    ASSERT_LT(tries, 10'000U);
  peers.serving().post([&machine = peers.machine()] { machine.set_loose(true); });
  EXPECT_EQ(read(other->connection(), 0, 0), WL_PEER_IDENTITY_VALUE);
  EXPECT_FALSE(peers.within([&] { return peers.machine().is_loose(); }));
}

}  // namespace serving_order_test
}  // namespace warpline
