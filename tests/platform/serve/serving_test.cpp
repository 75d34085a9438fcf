#include "platform/serve/serving.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace serving_test {

using test::ServedDriver;
using test::ServedPeers;

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out(count);
  for (std::uint8_t& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

class InEveryTime : public ::testing::TestWithParam<ServedPeers::Options> {};

TEST_P(InEveryTime, TheDriverCopiesMemoryAndHearsOfIt) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  constexpr std::uint32_t kBytes = 10'000;
  auto* const from = static_cast<std::uint8_t*>(client->allocate(kBytes));
  auto* const to = static_cast<std::uint8_t*>(client->allocate(kBytes));
  for (unsigned round = 0; round < 20; ++round) {
    const std::vector<std::uint8_t> bytes = random_bytes(kBytes, round);
    std::memcpy(from, bytes.data(), kBytes);
    ASSERT_EQ(driver.copy(driver.bus(from), driver.bus(to), kBytes), WL_PEER_STATUS_CODE_OK);
    ASSERT_EQ(std::memcmp(from, to, kBytes), 0);
  }
  EXPECT_EQ(client->lost(), 0);
}

TEST_P(InEveryTime, MemoryThatIsNotMappedIsAskedFor) {
  ServedPeers peers(GetParam());
  const auto client = peers.client(0, {4U << 20U, true, 0});
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  constexpr std::uint32_t kBytes = 3000;
  auto* const from = static_cast<std::uint8_t*>(client->allocate(kBytes));
  auto* const to = static_cast<std::uint8_t*>(client->allocate(kBytes));
  const std::vector<std::uint8_t> bytes = random_bytes(kBytes, 1);
  std::memcpy(from, bytes.data(), kBytes);
  ASSERT_EQ(driver.copy(driver.bus(from), driver.bus(to), kBytes), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(std::memcmp(from, to, kBytes), 0);
  EXPECT_GE(peers.within([&] { return peers.serving().counters(0).dma_message_bytes; }), 2 * kBytes);
}

TEST_P(InEveryTime, AtomicsAreTheMachinesOwn) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  auto* const word = static_cast<std::uint64_t*>(client->allocate(8));
  *word = 40;
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_FETCH_ADD;
  command.destination = driver.bus(word);
  command.length = 8;
  command.operand = 2;
  const wl_peer_completion completion = driver.done(command);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(completion.result, 40U);
  EXPECT_EQ(*word, 42U);
}

TEST_P(InEveryTime, MemoryThatNobodyHasFailsTheCommandAndIsTold) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  void* const to = client->allocate(64);
  EXPECT_EQ(driver.copy(0x1000, driver.bus(to), 64), WL_PEER_STATUS_CODE_UNSUPPORTED_REQUEST);
  const auto refused = peers.within([&] { return peers.system().refused_accesses(); });
  ASSERT_FALSE(refused.empty());
  EXPECT_THAT(refused.front(),
              testing::HasSubstr("peer[0]: a read of 64 bytes at bus address 0x1000: nobody"));
}

TEST_P(InEveryTime, FunctionsOfOneMachineReachEachOther) {
  ServedPeers::Options options = GetParam();
  options.peers = 2;
  ServedPeers peers(options);
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ServedDriver driver(*one);
  constexpr std::uint32_t kBytes = 5000;
  auto* const from = static_cast<std::uint8_t*>(one->allocate(kBytes));
  const std::vector<std::uint8_t> bytes = random_bytes(kBytes, 2);
  std::memcpy(from, bytes.data(), kBytes);
  const std::uint64_t buffer = other->bars()[4].address;
  ASSERT_EQ(driver.copy(driver.bus(from), buffer + 0x100, kBytes), WL_PEER_STATUS_CODE_OK);
  std::vector<std::uint8_t> there(kBytes);
  ASSERT_EQ(other->connection().read(4, 0x100, there.data(), kBytes), 0);
  EXPECT_EQ(there, bytes);
  // And back, into another place.
  auto* const to = static_cast<std::uint8_t*>(one->allocate(kBytes));
  ASSERT_EQ(driver.copy(buffer + 0x100, driver.bus(to), kBytes), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(std::memcmp(to, bytes.data(), kBytes), 0);
}

TEST_P(InEveryTime, AResetForgetsWhatSoftwareDidAndLeavesOthersAlone) {
  ServedPeers::Options options = GetParam();
  options.peers = 2;
  ServedPeers peers(options);
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ServedDriver driver(*one), others(*other);
  ASSERT_EQ(one->connection().reset(), 0);
  std::uint32_t command = 1, bar = 1;
  ASSERT_EQ(one->connection().read(vfio_user::kConfigRegion, 4, &command, 2), 0);
  ASSERT_EQ(one->connection().read(vfio_user::kConfigRegion, 0x10, &bar, 4), 0);
  EXPECT_EQ(command & 0xFFFFU, 0U);
  EXPECT_EQ(bar & ~0xFU, 0U);
  // A function that decodes no memory does not answer.
  std::uint32_t identity = 0;
  ASSERT_EQ(one->connection().read(0, 0, &identity, 4), 0);
  EXPECT_EQ(identity, 0xFFFF'FFFFU);
  ASSERT_EQ(one->bring_up(), 0);
  ServedDriver again(*one);
  void* const memory = one->allocate(128);
  EXPECT_EQ(again.copy(again.bus(memory), again.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
  void* const theirs = other->allocate(128);
  EXPECT_EQ(others.copy(others.bus(theirs), others.bus(theirs) + 64, 64), WL_PEER_STATUS_CODE_OK);
}

TEST_P(InEveryTime, AFunctionLevelResetLeavesAFreshFunctionInTheMiddleOfItsWork) {
  ServedPeers::Options options = GetParam();
  options.peers = 2;
  ServedPeers peers(options);
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ServedDriver others(*other);
  vfio_user::Connection& connection = one->connection();
  constexpr unsigned kCapabilities = 0x64, kControl = 0x68;
  std::uint32_t capabilities = 0;
  ASSERT_EQ(connection.read(vfio_user::kConfigRegion, kCapabilities, &capabilities, 4), 0);
  ASSERT_NE(capabilities & 1U << 28U, 0U) << "it is offered";
  for (unsigned round = 0; round < 3; ++round) {
    ServedDriver driver(*one);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_COPY;
    command.length = 100'000;
    void* const memory = one->allocate(command.length);
    command.source = command.destination = driver.bus(memory);
    for (unsigned i = 0; i < 8; ++i) ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
    ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
    const std::uint32_t scratch = 0x5A5A;
    ASSERT_EQ(connection.write(WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), &scratch, 4), 0);
    std::uint16_t control = 0;
    ASSERT_EQ(connection.read(vfio_user::kConfigRegion, kControl, &control, 2), 0);
    const unsigned payload = round == 1 ? 1 : 0;
    control = static_cast<std::uint16_t>((control & ~0xE0U) | payload << 5U | 0x8000U);
    ASSERT_EQ(connection.write(vfio_user::kConfigRegion, kControl, &control, 1), 0);
    const auto high = static_cast<std::uint8_t>(control >> 8U);
    ASSERT_EQ(connection.write(vfio_user::kConfigRegion, kControl + 1, &high, 1), 0);
    ASSERT_EQ(connection.read(vfio_user::kConfigRegion, kControl, &control, 2), 0);
    EXPECT_EQ(control & 0x8000U, 0U);
    EXPECT_EQ(control >> 5U & 7U, payload) << "Max_Payload_Size stays";
    std::uint32_t command_register = 1, bar = 1, word = 0, msix = 0;
    ASSERT_EQ(connection.read(vfio_user::kConfigRegion, 4, &command_register, 2), 0);
    ASSERT_EQ(connection.read(vfio_user::kConfigRegion, 0x10, &bar, 4), 0);
    ASSERT_EQ(connection.read(vfio_user::kConfigRegion, 0x50, &msix, 4), 0);
    EXPECT_EQ(command_register & 0xFFFFU, 0U);
    EXPECT_EQ(bar & ~0xFU, 0U);
    EXPECT_EQ(msix >> 31U, 0U) << "MSI-X is off";
    ASSERT_EQ(connection.read(WL_PEER_BAR, 0, &word, 4), 0);
    EXPECT_EQ(word, 0xFFFF'FFFFU) << "it decodes no memory";
    ASSERT_EQ(one->bring_up(), 0);
    ASSERT_EQ(connection.read(WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), &word, 4), 0);
    EXPECT_EQ(word, 0U);
    ASSERT_EQ(connection.read(WL_PEER_BAR, WL_PEER_STATUS_OFFSET, &word, 4), 0);
    EXPECT_EQ(word & WL_PEER_STATUS_READY_MASK, 0U);
  }
  ServedDriver again(*one);
  void* const memory = one->allocate(128);
  EXPECT_EQ(again.copy(again.bus(memory), again.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
  void* const theirs = other->allocate(128);
  EXPECT_EQ(others.copy(others.bus(theirs), others.bus(theirs) + 64, 64), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(peers.within([&] { return peers.machine().counters().resets; }), 3U);
}

TEST_P(InEveryTime, AClientThatNeverStopsAskingKeepsNobodyOut) {
  ServedPeers::Options options = GetParam();
  options.peers = 2;
  ServedPeers peers(options);
  const auto one = peers.client(0), other = peers.client(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  std::atomic<bool> answered{false};
  std::atomic<unsigned> posted{0};
  std::thread flood([&] {
    // It stops in the end, so that a server that hears nobody else fails, and does not hang.
    constexpr unsigned kMost = 2'000'000;
    const std::uint32_t value = 1;
    while (!answered && posted < kMost &&
           one->connection().post(WL_PEER_BAR, WL_PEER_SCRATCH_OFFSET(0), &value, 4) == 0)
      ++posted;
  });
  while (posted < 100) std::this_thread::yield();
  for (unsigned n = 0; n < 10; ++n) {
    std::uint32_t word = 0;
    EXPECT_EQ(other->connection().read(WL_PEER_BAR, WL_PEER_PRESENT_OFFSET, &word, 4), 0);
    EXPECT_EQ(word, WL_PEER_PRESENT_VALUE);
  }
  const unsigned by_then = posted;
  answered = true;
  flood.join();
  EXPECT_LT(by_then, 2'000'000U);
}

TEST_P(InEveryTime, AClientThatGoesAwayInTheMiddleLeavesAFreshFunction) {
  ServedPeers peers(GetParam());
  for (unsigned round = 0; round < 10; ++round) {
    const auto client = peers.client(0, {4U << 20U, round % 3 == 2, 0});
    ASSERT_NE(client, nullptr);
    ServedDriver driver(*client);
    wl_peer_command command{};
    command.opcode = WL_PEER_OPCODE_COPY;
    command.length = 100'000;
    void* const memory = client->allocate(command.length);
    command.source = command.destination = driver.bus(memory);
    for (unsigned i = 0; i < 8; ++i) ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
    ASSERT_EQ(wl_peer_ring(&driver.peer(), 0), WL_OK);
  }
  const auto last = peers.client();
  ASSERT_NE(last, nullptr);
  ServedDriver driver(*last);
  void* const memory = last->allocate(128);
  EXPECT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
}

TEST_P(InEveryTime, AFunctionThatSleptIsPlacedAgain) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  vfio_user::Connection& connection = client->connection();
  constexpr unsigned kPowerControl = 0x44;
  const std::uint16_t asleep = 3, awake = 0;
  ASSERT_EQ(connection.write(vfio_user::kConfigRegion, kPowerControl, &asleep, 2), 0);
  std::uint32_t identity = 0;
  ASSERT_EQ(connection.read(0, 0, &identity, 4), 0);
  EXPECT_EQ(identity, 0xFFFF'FFFFU);
  ASSERT_EQ(connection.write(vfio_user::kConfigRegion, kPowerControl, &awake, 2), 0);
  ASSERT_EQ(client->bring_up(), 0);
  ServedDriver driver(*client);
}

TEST_P(InEveryTime, TimeIsSwitchedWhileCommandsRun) {
  ServedPeers peers(GetParam());
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  ServedDriver driver(*client);
  void* const memory = client->allocate(40'000);
  bool loose = GetParam().loose;
  for (unsigned round = 0; round < 20; ++round) {
    loose = !loose;
    peers.serving().post([&machine = peers.machine(), loose] { machine.set_loose(loose); });
    ASSERT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 20'000, 20'000), WL_PEER_STATUS_CODE_OK);
    // What is under way ends first.
    for (unsigned tries = 0; peers.within([&] { return peers.machine().is_loose(); }) != loose; ++tries) {
      ASSERT_LT(tries, 1000U);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

std::string name_of_time(const ::testing::TestParamInfo<ServedPeers::Options>& info) {
  return info.param.loose ? "Loose" : info.param.pace > 0 ? "Paced" : "Timed";
}

INSTANTIATE_TEST_SUITE_P(Serving, InEveryTime,
                         ::testing::Values(ServedPeers::Options{1, true, 0, {}},
                                           ServedPeers::Options{1, false, 0, {}},
                                           ServedPeers::Options{1, false, 1, {}}),
                         name_of_time);

TEST(Serving, AMachineThatIsNotTheirsIsNotReached) {
  ServedPeers peers(ServedPeers::Options{2, true, 0, {}});
  const auto one = peers.client(0);
  ASSERT_NE(one, nullptr);
  // The other function belongs to nobody: its BARs lie nowhere.
  ServedDriver driver(*one);
  void* const memory = one->allocate(64);
  EXPECT_EQ(driver.copy(driver.bus(memory), std::uint64_t{2} << 40U, 64), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(driver.copy(std::uint64_t{2} << 40U, driver.bus(memory), 64),
            WL_PEER_STATUS_CODE_UNSUPPORTED_REQUEST);
}

TEST(Serving, MemoryBehindABarIsMappedWhereThatIsChosen) {
  PcieSystemParameters parameters;
  parameters.nvme.count = 1;
  parameters.nvme.buffer_bytes = 65536;
  ServedPeers peers(ServedPeers::Options{2, true, 0, parameters});
  const auto map = [&](unsigned port, unsigned bar) {
    return peers.within([&] { return peers.machine().map(port, bar); });
  };
  EXPECT_EQ(map(0, 4), "");
  EXPECT_EQ(map(2, 4), "");
  EXPECT_THAT(map(0, 0), testing::HasSubstr("registers"));
  EXPECT_THAT(map(0, 2), testing::HasSubstr("interrupts"));
  EXPECT_THAT(map(2, 0), testing::HasSubstr("registers"));
  EXPECT_THAT(map(1, 1), testing::HasSubstr("no such BAR"));
  EXPECT_THAT(map(1, 6), testing::HasSubstr("no such BAR"));

  const auto one = peers.client(0), other = peers.client(1), nvme = peers.client(2);
  ASSERT_TRUE(one != nullptr && other != nullptr && nvme != nullptr);
  EXPECT_NE(one->bars()[4].memory.bytes, nullptr);
  EXPECT_EQ(one->bars()[0].memory.bytes, nullptr);
  EXPECT_EQ(other->bars()[4].memory.bytes, nullptr);
  EXPECT_NE(nvme->bars()[4].memory.bytes, nullptr);
  // What the device writes and what software does is one memory, by whichever way.
  // Another device reaches it on the bus.
  ServedDriver driver(*other);
  constexpr std::uint32_t kBytes = 5000;
  auto* const from = static_cast<std::uint8_t*>(other->allocate(kBytes));
  const std::vector<std::uint8_t> bytes = random_bytes(kBytes, 4);
  std::memcpy(from, bytes.data(), kBytes);
  const std::uint64_t memory = one->bars()[4].address;
  ASSERT_EQ(driver.copy(driver.bus(from), memory + 64, kBytes), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(std::memcmp(one->bars()[4].memory.bytes.get() + 64, bytes.data(), kBytes), 0);
  const auto reads = [&] { return peers.within([&] { return peers.machine().counters().reads; }); };
  const std::uint64_t before = reads();
  std::memset(one->bars()[4].memory.bytes.get(), 0x5A, 64);
  const wl_port& port = one->port();
  port.write(port.context, 4, 64, 8, 0x0123'4567'89AB'CDEF);
  EXPECT_EQ(port.read(port.context, 4, 0, 4), 0x5A5A'5A5AU);
  EXPECT_EQ(reads(), before);
  auto* const to = static_cast<std::uint64_t*>(other->allocate(16));
  ASSERT_EQ(driver.copy(memory + 56, driver.bus(to), 16), WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(to[0], 0x5A5A'5A5A'5A5A'5A5AU);
  EXPECT_EQ(to[1], 0x0123'4567'89AB'CDEFU);
  // Messages see it, too.
  std::uint64_t word = 0;
  ASSERT_EQ(one->connection().read(4, 64, &word, 8), 0);
  EXPECT_EQ(word, 0x0123'4567'89AB'CDEFU);
  // The file keeps its length, whatever its client wants: an access of what is gone would end the server.
  const int file = one->bars()[4].memory.file.number();
  for (const off_t length : {off_t{0}, off_t{1} << 30U}) {
    EXPECT_EQ(ftruncate(file, length), -1);
    ASSERT_EQ(one->connection().read(4, 64, &word, 8), 0);
    EXPECT_EQ(word, 0x0123'4567'89AB'CDEFU);
  }
  EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST(Serving, TheMessageTableIsTheClients) {
  ServedPeers peers;
  const auto client = peers.client();
  ASSERT_NE(client, nullptr);
  const std::vector<std::uint8_t> garbage = random_bytes(4096, 3);
  ASSERT_EQ(client->connection().write(2, 0, garbage.data(), 256), 0);
  std::array<std::uint8_t, 256> read{};
  ASSERT_EQ(client->connection().read(2, 0, read.data(), 256), 0);
  EXPECT_THAT(read, testing::Each(0));
  ServedDriver driver(*client);
  void* const memory = client->allocate(128);
  EXPECT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 64, 64), WL_PEER_STATUS_CODE_OK);
}

}  // namespace serving_test
}  // namespace warpline
