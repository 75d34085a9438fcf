// Runs that are recorded, and replayed without sockets and clients.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "platform/machine/device_log.h"
#include "platform/serve/control_client.h"
#include "platform/serve/record_stream.h"
#include "platform/serve/recorded_machine.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/sim/engine.h"
#include "tests/platform/serve/served_disk.h"
#include "tests/platform/serve/served_gpu_bench.h"
#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace record_test {

using test::GpuSoftware;
using test::kGpuProgram;
using test::reset_function;
using test::ServedDisk;
using test::ServedDriver;
using test::ServedGpuBench;
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

/// What is left of the clients' going happens first.
template <class Served>
Ended end_of_served(Served& peers) {
  for (unsigned quiet = 0; quiet < 20;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    quiet = peers.within([&] {
      bool goes_on = peers.machine().next_activity() != kNever;
      for (unsigned f = 0; f < peers.machine().functions(); ++f)
        goes_on = goes_on || peers.machine().function(f).client() != nullptr;
      return !goes_on;
    })
                ? quiet + 1
                : 0;
  }
  return peers.within([&] {
    peers.machine().end_tape();
    return end_of(peers.machine().system());
  });
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
        EXPECT_EQ(reset_function(*one), 0);
        peers.within([&] {
          peers.machine().function(1).plug(false, [] {});
          peers.machine().function(1).plug(true, [] {});
        });
      }
    }
    recorded.end = end_of_served(peers);
  }
  recorded.file = out.str();
  return recorded;
}

struct Replayed {
  ReplayEnd how;
  Ended end;
};
Replayed replay_of(const std::string& file, PcieSystem& system, const std::vector<ServedGpu*>& gpus) {
  std::istringstream in(file);
  auto reader = RecordReader::open(in, "record");
  EXPECT_TRUE(reader.ok());
  Replayed out;
  if (!reader.ok()) return out;
  EXPECT_EQ(reader.value()->machine(), "two peers");
  ServedMachine machine(system, gpus);
  out.how = replay(machine, *reader.value());
  out.end = end_of(system);
  return out;
}

Replayed replay_of(const std::string& file, ServedSystem& all) {
  return replay_of(file, all.system(), all.gpus());
}
Replayed replay_of(const std::string& file, const PcieSystemParameters& of = parameters()) {
  PcieSystem system(of, ServedPeers::kMegahertz, 1U << 20U);
  return replay_of(file, system, {});
}

TEST(Record, AReplayEndsAsTheRunDid) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Recorded recorded = record(seed, seed == 1);
    const Replayed again = replay_of(recorded.file);
    EXPECT_EQ(again.how.difference, "") << "seed " << seed;
    EXPECT_TRUE(again.how.ended && !again.how.cut);
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
  // A piece has its length in front, and 16 bytes of that.
  std::vector<std::size_t> starts;
  for (std::size_t at = recorded.file.find('\n') + 1; at < recorded.file.size();) {
    starts.push_back(at);
    at += 16 + number_at(reinterpret_cast<const std::uint8_t*>(recorded.file.data()) + at, 4);
  }
  for (unsigned tenths = 3; tenths < 10; tenths += 2) {
    std::size_t cut = recorded.file.size() * tenths / 10;
    if (std::binary_search(starts.begin(), starts.end(), cut)) ++cut;  // in a piece, not before it
    const Replayed again = replay_of(recorded.file.substr(0, cut));
    EXPECT_EQ(again.how.difference, "");
    EXPECT_TRUE(again.how.cut);
    EXPECT_LT(again.how.events, whole.how.events);
  }
  // Where a piece ends, as one that was killed leaves it.
  for (std::size_t piece = 1; piece < starts.size(); piece += 8) {
    const Replayed again = replay_of(recorded.file.substr(0, starts[piece]));
    EXPECT_EQ(again.how.difference, "") << "piece " << piece;
    EXPECT_FALSE(again.how.cut || again.how.ended);
  }
  EXPECT_GT(starts.size(), 8U);
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
  EXPECT_THAT(end.difference, HasSubstr(", cycle "));
  EXPECT_THAT(end.difference, HasSubstr("an answer by peer[0] in cycle"));
  EXPECT_THAT(end.difference, HasSubstr("recorded is, in cycle"));
  PcieSystemParameters fewer;
  fewer.peers = 1;
  EXPECT_THAT(replay_of(recorded.file, fewer).how.difference, HasSubstr("event 0, cycle"));
}

TEST(Record, ADiskIsReplayed) {
  PcieSystemParameters with_disk;
  with_disk.nvme.count = 1;
  with_disk.nvme.namespace_bytes = 1U << 20U;
  with_disk.peers = 1;
  for (const bool loose : {false, true}) {
    std::ostringstream out;
    RecordWriter writer(out, "two peers");
    Ended ended;
    {
      ServedPeers served(ServedPeers::Options{1, loose, 0, with_disk, &writer});
      {
        const auto client = served.client(1);
        ASSERT_TRUE(client != nullptr);
        ServedDisk driver(*client);
        std::uint8_t* const data = driver.page();
        EXPECT_EQ(driver.run(0, 6, 0, driver.bus(data), 1), 0U);
        EXPECT_EQ(number_at(data, 2), client->vendor());
        for (unsigned i = 0; i < 12; ++i) {
          std::memset(data, static_cast<int>(i + 1), 4096);
          EXPECT_EQ(driver.run(1, 1, 1, driver.bus(data), 8 * i, 0, 7), 0U);
          std::memset(data, 0, 4096);
          EXPECT_EQ(driver.run(1, 2, 1, driver.bus(data), 8 * i, 0, 7), 0U);
          EXPECT_EQ(data[4095], i + 1);
        }
        EXPECT_NE(driver.run(1, 2, 1, driver.bus(data), 1U << 20U, 0, 7), 0U);
        EXPECT_NE(driver.run(1, 1, 1, 0x1000, 0, 0, 7), 0U);
        // What is injected at the control socket is part of the record.
        auto control = ControlClient::connect(served.control());
        ASSERT_TRUE(control.ok());
        ControlRequest request;
        request.kind = ControlRequest::Kind::inject;
        request.name = "nvme[0]";
        request.rule.fault = NvmeFault::read_error;
        request.rule.first_block = request.rule.last_block = 9;
        EXPECT_TRUE(control.value().ask(request).ok());
        EXPECT_EQ(driver.run(1, 2, 1, driver.bus(data), 0, 0, 7), 0U);
        EXPECT_EQ(driver.run(1, 2, 1, driver.bus(data), 8, 0, 7) & 0x7FFU, 0x281U);
        request.kind = ControlRequest::Kind::forget;
        EXPECT_TRUE(control.value().ask(request).ok());
        EXPECT_EQ(driver.run(1, 2, 1, driver.bus(data), 8, 0, 7), 0U);
      }
      ended = end_of_served(served);
    }
    const Replayed again = replay_of(out.str(), with_disk);
    EXPECT_EQ(again.how.difference, "") << "loosely timed: " << loose;
    EXPECT_TRUE(again.how.ended);
    EXPECT_TRUE(again.end == ended);
  }
}

/// What a machine with two GPUs, a queue device and a disk does for its software: kernels that run at the
/// same time, fault, run for too long, are aborted, reach the machine's memory and each other's, and are
/// reset.
void use_gpus(ServedGpuBench& bench) {
  const auto one = bench.client(2), other = bench.client(3), peer = bench.client(0);
  ASSERT_TRUE(one != nullptr && other != nullptr && peer != nullptr);
  GpuSoftware gpu(*one), far(*other);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  const std::uint64_t data = gpu.at(GpuSoftware::kData);
  auto* const memory = static_cast<std::uint32_t*>(one->allocate(8192, 4096));
  const std::uint64_t bus = one->port().dma_map(one->port().context, memory, 8192, WL_DMA_BOTH);
  gpu.open_window(0, bus, WL_GPU_WINDOW_FIRST, 8192, false);
  gpu.open_window(1, other->bars()[0].address, WL_GPU_WINDOW_FIRST + 0x1000'0000, 1U << 22U, true);
  for (std::uint32_t round = 0; round < 2; ++round) {
    far.start({kGpuProgram, "spin", {far.address(data)}, {2, 1, 1}});
    gpu.start({kGpuProgram, "count", {WL_GPU_WINDOW_FIRST, round}, {2, 1, 1}});
    EXPECT_TRUE(gpu.hears_interrupt());
    EXPECT_EQ(gpu.wait(), WL_GPU_STATE_DONE) << gpu.message();
    EXPECT_EQ(memory[63], 63 + round);
    EXPECT_EQ(gpu.run({kGpuProgram, "count", {WL_GPU_WINDOW_FIRST + 0x1000'0000 + data, 8}, {2, 1, 1}}),
              WL_GPU_STATE_DONE);
    // Which the other one's kernel waits for, if it may for so long.
    EXPECT_NE(far.wait(), WL_GPU_STATE_RUNNING);
    EXPECT_EQ(gpu.run({kGpuProgram, "count", {0x1000, 0}}), WL_GPU_STATE_FAULTED);
    EXPECT_EQ(gpu.run({"no program", "count", {0, 0}}), WL_GPU_STATE_REFUSED);
    gpu.start({kGpuProgram, "spin", {gpu.address(gpu.at(0x40000))}, {2, 1, 1}});
    gpu.set(WL_GPU_CONTROL_OFFSET, WL_GPU_CONTROL_ABORT_MASK);
    EXPECT_NE(gpu.wait(), WL_GPU_STATE_RUNNING);
    gpu.start({kGpuProgram, "spin", {gpu.address(gpu.at(0x40000))}, {2, 1, 1}});
    EXPECT_EQ(gpu.wait(), WL_GPU_STATE_FAULTED);
    EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_TIMEOUT);
    ServedDriver driver(*peer);
    EXPECT_EQ(driver.copy(one->bars()[0].address + data, other->bars()[0].address + data, 4000), 0);
    far.start({kGpuProgram, "spin", {far.address(far.at(0x40000))}, {2, 1, 1}});
    ASSERT_EQ(round == 0 ? other->connection().reset() : reset_function(*other), 0);
    ASSERT_EQ(other->bring_up(), 0);
    ASSERT_EQ(peer->connection().reset(), 0);
    ASSERT_EQ(peer->bring_up(), 0);
  }
  // What goes away in the middle.
  far.start({kGpuProgram, "spin", {far.address(far.at(0x40000))}, {2, 1, 1}});
}

TEST(Record, KernelsOfGpusAreReplayed) {
  const GpuConfig config =
      ServedGpuBench::config({"gpus=2", "pcie_system.nvme.count=1",
                              "pcie_system.nvme.namespace_bytes=1048576", "pcie.launch_limit_us=100"});
  for (const bool loose : {false, true}) {
    std::ostringstream out;
    RecordWriter writer(out, "two peers");
    Ended ended;
    {
      ServedGpuBench bench(loose, {config, 0, &writer});
      use_gpus(bench);
      ended = end_of_served(bench);
    }
    ServedSystem again(config);
    const Replayed replayed = replay_of(out.str(), again);
    EXPECT_EQ(replayed.how.difference, "") << "loosely timed: " << loose;
    EXPECT_TRUE(replayed.how.ended);
    EXPECT_GT(replayed.how.events, 500U);
    EXPECT_EQ(replayed.end.log, ended.log);
    EXPECT_EQ(replayed.end.counters, ended.counters);
    EXPECT_EQ(replayed.end.cycle, ended.cycle);
    // Another machine does something else, and that is found.
    GpuConfig slower = config;
    slower.pcie_system.gpu.latency += 50;
    ServedSystem other(slower);
    EXPECT_THAT(replay_of(out.str(), other).how.difference, HasSubstr("recorded is"));
  }
}

/// Takes a number of bytes, and no more, as a disk that is full.
class SmallDisk final : public std::stringbuf {
 public:
  explicit SmallDisk(std::streamsize bytes) : left_(bytes) {}

 protected:
  std::streamsize xsputn(const char* from, std::streamsize bytes) override {
    const std::streamsize taken = std::stringbuf::xsputn(from, std::min(bytes, left_));
    left_ -= taken;
    if (taken != bytes) errno = ENOSPC;
    return taken;
  }

 private:
  std::streamsize left_;
};

TEST(Record, WhatFitOnAFullDiskIsReplayed) {
  SmallDisk disk(16000);
  std::ostream out(&disk);
  std::atomic<unsigned> told = 0;
  RecordWriter writer(out, "two peers", [&told](int error) {
    EXPECT_EQ(error, ENOSPC);
    ++told;
  });
  {
    ServedPeers peers(ServedPeers::Options{2, true, 0, parameters(), &writer});
    const auto client = peers.client(0);
    ASSERT_TRUE(client != nullptr);
    ServedDriver driver(*client);
    auto* const memory = static_cast<std::uint8_t*>(client->allocate(16384));
    std::mt19937 random(1);
    for (unsigned round = 0; round < 5; ++round) {
      for (unsigned i = 0; i < 4096; ++i) memory[i] = static_cast<std::uint8_t>(random());
      EXPECT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 8192, 4096), 0);
      peers.within([&writer] { writer.rest(); });
    }
  }
  EXPECT_EQ(told, 1U);
  EXPECT_FALSE(writer.good());
  const Replayed again = replay_of(disk.str());
  EXPECT_EQ(again.how.difference, "");
  EXPECT_GT(again.how.events, 10U);
  EXPECT_FALSE(again.how.ended);
}

TEST(Record, SaysWhichMachineItIsOf) {
  const ScratchFolder folder;
  const std::string disk = folder.path("disk"), other = folder.path("other");
  const auto fill = [](const std::string& path, char with) {
    std::ofstream(path) << std::string(8192, with);
  };
  fill(disk, 'a');
  fill(other, 'a');
  GpuConfig config;
  config.peer_bytes = 0;
  config.clocks.sm = 1234;
  PcieSystemParameters& p = config.pcie_system;
  p = parameters();
  p.peer.access_latency = 17;
  p.nvme.count = 1;
  p.nvme.namespaces = 3;
  p.nvme.seed = ~std::uint64_t{0} >> 1U;
  p.nvme.files = "," + disk;
  const auto of = RecordedMachine::of(config);
  ASSERT_TRUE(of.ok());
  const std::string text = of.value().to_text();
  auto parsed = RecordedMachine::parse("record", text);
  ASSERT_TRUE(parsed.ok()) << parsed.faults().front().text();
  RecordedMachine& machine = parsed.value();
  EXPECT_EQ(machine.to_text(), text);
  EXPECT_EQ(machine.gpu.clocks.sm, 1234U);
  EXPECT_THAT(machine.disks(), ::testing::ElementsAre(disk));

  EXPECT_EQ(machine.give_disks({}).size(), 1U);
  EXPECT_EQ(machine.give_disks({disk, other}).size(), 1U);
  fill(other, 'b');
  RecordedMachine changed = machine;
  EXPECT_THAT(changed.give_disks({other}).front().text(), HasSubstr("is not what " + disk + " was"));
  fill(other, 'a');
  EXPECT_TRUE(machine.give_disks({other}).empty());
  EXPECT_EQ(machine.gpu.pcie_system.nvme.file_of(0, 0), "");
  EXPECT_EQ(machine.gpu.pcie_system.nvme.file_of(0, 1), other);

  const auto refused = [](std::string t, const std::string& from, const std::string& to) {
    t.replace(t.find(from), from.size(), to);
    const auto result = RecordedMachine::parse("record", t);
    return result.ok() ? std::string() : result.faults().front().text();
  };
  EXPECT_THAT(refused(text, "warpline = \"", "warpline = \"99."), HasSubstr("and this is Warpline"));
  EXPECT_THAT(refused(text, "peers = 2", "peers = 9"), HasSubstr("must be at most 8"));
  EXPECT_THAT(refused(text, "sm = 1234", "sm = 0"), HasSubstr("clocks"));
  EXPECT_THAT(refused(text, "disk_sums", "disk_sum"), HasSubstr("disk_sum"));
}

}  // namespace record_test
}  // namespace warpline
