// Runs that are recorded, and replayed without sockets and clients.
#include <gmock/gmock.h>

#include <cstring>
#include <random>
#include <sstream>

#include "platform/machine/device_log.h"
#include "platform/serve/record_stream.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/sim/engine.h"
#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace record_test {

using test::ServedDriver;
using test::ServedPeers;
using ::testing::HasSubstr;

/// How a machine has ended.
struct Ended {
  std::string log;
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  Cycle cycle = 0;
  [[nodiscard]] bool operator==(const Ended& other) const {
    return log == other.log && counters == other.counters && cycle == other.cycle;
  }
};
Ended end_of(PcieSystem& system) {
  Ended out;
  out.log = device_log(system, {}, false);
  EachCounter counters([&out](std::string_view block, std::string_view name, std::uint64_t value,
                              std::string_view /*unit*/, std::string_view /*meaning*/) {
    out.counters.emplace_back(std::string(block).append(".").append(name), value);
  });
  system.visit(counters);
  out.cycle = system.engine().now();
  return out;
}

struct Recorded {
  std::string file;
  Ended end;
};

PcieSystemParameters parameters() {
  PcieSystemParameters out;
  out.peers = 2;
  return out;
}

/// Random traffic: copies, small accesses, resets, unplugging, switches of timing, by two clients.
Recorded record(unsigned seed, bool by_message) {
  std::ostringstream out;
  Recorded recorded;
  {
    RecordWriter writer(out, "two peers");
    ServedPeers peers(ServedPeers::Options{2, seed % 2 == 0, 0, parameters(), &writer});
    std::mt19937 random(seed);
    for (unsigned round = 0; round < 2; ++round) {
      const auto one = peers.client(0, {4U << 20U, by_message, 0}), other = peers.client(1);
      EXPECT_TRUE(one != nullptr && other != nullptr);
      ServedDriver driver(*one), others(*other);
      auto* const memory = static_cast<std::uint8_t*>(one->allocate(16384));
      for (unsigned i = 0; i < 16384; ++i) memory[i] = static_cast<std::uint8_t>(random());
      const std::uint64_t buffer = other->bars()[4].address;
      for (unsigned i = 0; i < 12; ++i) {
        const auto bytes = static_cast<std::uint32_t>(1 + random() % 6000);
        switch (random() % 5) {
          case 0: EXPECT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 8192, bytes), 0); break;
          case 1: EXPECT_EQ(driver.copy(driver.bus(memory), buffer, bytes), 0); break;
          case 2: EXPECT_NE(driver.copy(0x1000, driver.bus(memory), bytes), 0); break;
          case 3: {
            // Loosely timed, a client that is asked for its memory would have to answer at once.
            if (by_message) break;
            const bool loose = random() % 2 == 0;
            peers.serving().post([&machine = peers.machine(), loose] { machine.set_loose(loose); });
            break;
          }
          default: {
            std::uint32_t value = 0;
            EXPECT_EQ(other->connection().read(4, random() % 4096, &value, 4), 0);
          }
        }
      }
      if (round == 0) {
        EXPECT_EQ(other->connection().reset(), 0);
        peers.within([&] {
          peers.machine().function(1).plug(false, [] {});
          peers.machine().function(1).plug(true, [] {});
        });
      }
    }
    // What is left of the clients' going happens first.
    for (unsigned quiet = 0; quiet < 20;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      quiet = peers.within([&] {
        return peers.machine().next_activity() == kNever && peers.machine().function(0).client() == nullptr &&
               peers.machine().function(1).client() == nullptr;
      })
                  ? quiet + 1
                  : 0;
    }
    recorded.end = peers.within([&] {
      writer.rest();
      return end_of(peers.system());
    });
  }
  recorded.file = out.str();
  return recorded;
}

struct Replayed {
  ReplayEnd how;
  Ended end;
};
Replayed replay_of(const std::string& file) {
  std::istringstream in(file);
  auto reader = RecordReader::open(in, "record");
  EXPECT_TRUE(reader.ok());
  Replayed out;
  if (!reader.ok()) return out;
  EXPECT_EQ(reader.value()->machine(), "two peers");
  PcieSystem system(parameters(), ServedPeers::kMegahertz, 1U << 20U);
  ServedMachine machine(system);
  out.how = replay(machine, *reader.value());
  out.end = end_of(system);
  return out;
}

TEST(Record, AReplayEndsAsTheRunDid) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Recorded recorded = record(seed, seed == 1);
    const Replayed again = replay_of(recorded.file);
    EXPECT_EQ(again.how.difference, "") << "seed " << seed;
    EXPECT_FALSE(again.how.cut);
    EXPECT_TRUE(again.how.faults.empty());
    EXPECT_GT(again.how.events, 100U);
    EXPECT_EQ(again.end.log, recorded.end.log);
    EXPECT_EQ(again.end.counters, recorded.end.counters);
    EXPECT_EQ(again.end.cycle, recorded.end.cycle);
  }
}

TEST(Record, AFileThatIsCutOffIsReplayedUpToThere) {
  const Recorded recorded = record(0, false);
  const Replayed whole = replay_of(recorded.file);
  for (unsigned tenths = 3; tenths < 10; tenths += 2) {
    const Replayed again = replay_of(recorded.file.substr(0, recorded.file.size() * tenths / 10));
    EXPECT_EQ(again.how.difference, "");
    EXPECT_TRUE(again.how.cut);
    EXPECT_LT(again.how.events, whole.how.events);
  }
}

TEST(Record, DamageIsFound) {
  const Recorded recorded = record(2, false);
  std::mt19937 random(1);
  const std::size_t heading = recorded.file.find("two peers") + 9;
  for (unsigned round = 0; round < 20; ++round) {
    std::string file = recorded.file;
    file[heading + random() % (file.size() - heading)] ^= static_cast<char>(1U << random() % 8);
    const Replayed again = replay_of(file);
    EXPECT_EQ(again.how.difference, "");
    EXPECT_TRUE(again.how.cut || !again.how.faults.empty());
  }
  std::istringstream other("warpline serve record 2\n");
  EXPECT_FALSE(RecordReader::open(other, "record").ok());
}

/// Another machine, of which the recorded one is not told, does something else.
TEST(Record, TheFirstDifferenceIsNamed) {
  const Recorded recorded = record(0, false);
  std::istringstream in(recorded.file);
  auto reader = RecordReader::open(in, "record");
  ASSERT_TRUE(reader.ok());
  PcieSystemParameters slower = parameters();
  slower.peer.access_latency += 3;
  PcieSystem system(slower, ServedPeers::kMegahertz, 1U << 20U);
  ServedMachine machine(system);
  const ReplayEnd end = replay(machine, *reader.value());
  EXPECT_THAT(end.difference, HasSubstr("cycle"));
}

}  // namespace record_test
}  // namespace warpline
