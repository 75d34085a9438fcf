// What an NVMe controller that is served does for several of its machine's functions.
#include "tests/platform/serve/served_disk.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/platform/serve/served_gpu_bench.h"

namespace warpline {
namespace served_disk_test {

using test::GpuSoftware;
using test::ServedDisk;
using test::ServedGpuBench;

constexpr unsigned kPage = 4096, kBlock = 512;
constexpr unsigned kNvme = 1, kFirstGpu = 2;  // root ports, behind a queue device
constexpr unsigned kGpus = 2;

GpuConfig config() {
  return ServedGpuBench::config(
      {"gpus=2", "pcie_system.nvme.count=1", "pcie_system.nvme.namespace_bytes=4194304"});
}

std::string program() {
  std::ostringstream text;
  text << std::ifstream(WARPLINE_SOURCE_DIR "/sw/kernels/nvme_io.sm_80.ptx").rdbuf();
  return text.str();
}

/// A GPU whose kernel (sw/kernels/nvme_io.cu) uses a pair of queues in video memory, which the controller's
/// driver has made for it.
class GpuWithQueue {
 public:
  GpuWithQueue(vfio_user::ClientMachine& machine, vfio_user::ClientMachine& nvme, ServedDisk& disk,
               unsigned queue)
      : gpu_(machine), machine_(machine), queue_(queue) {
    first_ = (gpu_.at(0x40000) + kPage - 1) / kPage * kPage;
    const std::vector<std::uint8_t> zeros(kParts * kPage);
    gpu_.upload(first_, zeros.data(), zeros.size());
    gpu_.open_window(0, nvme.bars()[0].address + kDoorbells, WL_GPU_WINDOW_FIRST, kPage, false);
    const std::uint32_t which = (kEntries - 1) << 16U | queue;
    EXPECT_EQ(disk.run(0, 5, 0, bus(kCompletions), which, 1), 0U);
    EXPECT_EQ(disk.run(0, 1, 0, bus(kSubmissions), which, queue << 16U | 1U), 0U);
  }
  static constexpr unsigned kChunks = 4, kChunk = 3 * kPage, kBytes = kChunks * kChunk;
  /// Has the kernel read from block `from` on, add, and write from block `to` on.
  void start(std::uint64_t from, std::uint64_t to, std::uint32_t add) {
    const std::uint64_t doorbells = WL_GPU_WINDOW_FIRST + 8 * queue_, none = 0;
    const auto both = [](std::uint64_t low, std::uint64_t high) { return low | high << 32U; };
    gpu_.upload(at(kReport), std::array<std::uint64_t, 4>{}.data(), 32);
    gpu_.start({program(),
                "nvme_io",
                {address(kSubmissions), address(kCompletions), doorbells, doorbells + 4, address(kProgress),
                 both(kEntries, kPage), address(kData), bus(kData), address(kLists), bus(kLists),
                 both(kBuffers, none), from, to, kChunks, none, both(1, kBlock), both(kChunk / kBlock, add),
                 address(kReport)},
                {1, 1, 1},
                {128, 1, 1}});
  }
  /// How it ended: chunks that were written, those that were not, the sum of what was read, and the failure.
  [[nodiscard]] std::vector<std::uint64_t> report() {
    EXPECT_EQ(gpu_.wait(), WL_GPU_STATE_DONE) << gpu_.message();
    const std::vector<std::uint32_t> words = gpu_.words(at(kReport), 8);
    std::vector<std::uint64_t> out;
    for (unsigned i = 0; i < 8; i += 2) out.push_back(words[i] | std::uint64_t{words[i + 1]} << 32U);
    return out;
  }

 private:
  static constexpr unsigned kDoorbells = 0x1000, kEntries = 8, kBuffers = 3;
  // In pages.
  static constexpr unsigned kSubmissions = 0, kCompletions = 1, kProgress = 2, kReport = 3, kLists = 4,
                            kData = kLists + kBuffers, kParts = kData + kBuffers * (kChunk / kPage);
  [[nodiscard]] std::uint64_t at(unsigned part) const { return first_ + std::uint64_t{part} * kPage; }
  [[nodiscard]] std::uint64_t address(unsigned part) const { return gpu_.address(at(part)); }
  [[nodiscard]] std::uint64_t bus(unsigned part) const { return machine_.bars()[0].address + at(part); }

  GpuSoftware gpu_;
  vfio_user::ClientMachine& machine_;
  unsigned queue_;
  std::uint64_t first_ = 0;
};

class ServedDiskInEveryTime : public ::testing::TestWithParam<bool> {};

TEST_P(ServedDiskInEveryTime, KernelsOfSeveralGpusUseItAtTheSameTime) {
  ServedGpuBench bench(GetParam(), {config(), 0, nullptr});
  const auto nvme = bench.client(kNvme);
  ASSERT_NE(nvme, nullptr);
  ServedDisk disk(*nvme);
  std::uint8_t* const page = disk.page();
  const auto move = [&](unsigned opcode, std::uint64_t block) {
    EXPECT_EQ(
        disk.run(1, opcode, 1, disk.bus(page), static_cast<std::uint32_t>(block), 0, kPage / kBlock - 1), 0U);
  };
  constexpr unsigned kWrite = 1, kRead = 2, kWords = kPage / 4;
  std::vector<std::unique_ptr<vfio_user::ClientMachine>> clients;
  std::vector<GpuWithQueue> gpus;
  for (unsigned g = 0; g < kGpus; ++g) {
    clients.push_back(bench.client(kFirstGpu + g));
    ASSERT_NE(clients.back(), nullptr);
    gpus.emplace_back(*clients.back(), *nvme, disk, 2 + g);
  }
  // What word `i` of the disk is, in parts of each GPU, and the host's own behind them.
  constexpr std::uint64_t kBlocks = GpuWithQueue::kBytes / kBlock;
  const auto word = [](std::uint64_t i) { return static_cast<std::uint32_t>(i * 2654435761U); };
  auto* const words = static_cast<std::uint32_t*>(static_cast<void*>(page));
  const auto fill = [&](std::uint64_t block) {
    for (unsigned i = 0; i < kWords; ++i) words[i] = word(block * (kBlock / 4) + i);
  };
  for (std::uint64_t block = 0; block < kGpus * kBlocks; block += kPage / kBlock) {
    fill(block);
    move(kWrite, block);
  }
  for (std::uint32_t round = 1; round < 3; ++round) {
    for (unsigned g = 0; g < kGpus; ++g) gpus[g].start(g * kBlocks, (kGpus + g) * kBlocks, 100 * round + g);
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t block = 2 * kGpus * kBlocks + 8 * i;
      fill(block + round);
      move(kWrite, block);
      std::memset(page, 0, kPage);
      move(kRead, block);
      EXPECT_EQ(words[kWords - 1], word((block + round) * (kBlock / 4) + kWords - 1));
    }
    for (unsigned g = 0; g < kGpus; ++g) {
      std::uint64_t sum = 0;
      for (unsigned i = 0; i < GpuWithQueue::kBytes / 4; ++i) sum += word(g * (GpuWithQueue::kBytes / 4) + i);
      EXPECT_THAT(gpus[g].report(), testing::ElementsAre(GpuWithQueue::kChunks, 0, sum, 0)) << "gpu " << g;
    }
    for (unsigned g = 0; g < kGpus; ++g)
      for (std::uint64_t at = 0; at < kBlocks; at += kPage / kBlock) {
        move(kRead, (kGpus + g) * kBlocks + at);
        const std::uint64_t first = (g * kBlocks + at) * (kBlock / 4);
        unsigned wrong = 0;
        for (unsigned i = 0; i < kWords; ++i) wrong += words[i] != word(first + i) + 100 * round + g;
        EXPECT_EQ(wrong, 0U) << "gpu " << g << ", block " << at << ", round " << round;
      }
  }
}

TEST_P(ServedDiskInEveryTime, AFunctionLevelResetDisablesItAndKeepsItsBlocks) {
  ServedGpuBench bench(GetParam(), {config(), 0, nullptr});
  const auto nvme = bench.client(kNvme);
  ASSERT_NE(nvme, nullptr);
  constexpr unsigned kConfiguration = 0x14, kStatus = 0x1C, kAdminSubmissions = 0x28;
  for (unsigned round = 1; round < 3; ++round) {
    {
      ServedDisk disk(*nvme);
      std::uint8_t* const page = disk.page();
      EXPECT_EQ(disk.run(1, 2, 1, disk.bus(page), 0, 0, 7), 0U);
      EXPECT_EQ(page[4095], round - 1) << "what was written before";
      std::memset(page, static_cast<int>(round), kPage);
      EXPECT_EQ(disk.run(1, 1, 1, disk.bus(page), 0, 0, 7), 0U);
    }
    ASSERT_EQ(test::reset_function(*nvme), 0);
    ASSERT_EQ(nvme->bring_up(), 0);
    for (const unsigned offset : {kConfiguration, kStatus, kAdminSubmissions}) {
      std::uint32_t value = 1;
      ASSERT_EQ(nvme->connection().read(0, offset, &value, 4), 0);
      EXPECT_EQ(value, 0U) << offset;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ServedDisk, ServedDiskInEveryTime, ::testing::Bool(),
                         [](const auto& time) { return time.param ? "Loose" : "Timed"; });

}  // namespace served_disk_test
}  // namespace warpline
