#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "platform/config/load_gpu.h"
#include "platform/machine/checkpoint.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/namespace_stores.h"
#include "tests/platform/nvme/nvme_bench.h"
#include "tests/support/scratch_folder.h"

namespace warpline {
namespace nvme_files_test {

using namespace regs::nvme;
using test::Cqe;
using test::nvme_parameters;
using test::NvmeBench;
using test::Sqe;
using ::testing::HasSubstr;

void make_file(const std::string& path, std::uint64_t bytes) {
  std::ofstream(path) << "";
  std::filesystem::resize_file(path, bytes);
}

TEST(NvmeFiles, HoldWhatWasFlushed) {
  const ScratchFolder folder;
  const std::string disk = folder.path("disk");
  make_file(disk, 65536);
  PcieSystemParameters p = nvme_parameters();
  p.nvme.files = "," + disk;  // the second namespace
  {
    NvmeBench bench(p);
    EXPECT_THROW(static_cast<void>(open_stores(p.nvme, 0)), NamespaceFileError) << "in use";
    bench.start();
    ASSERT_EQ(bench.create(1).code, 0U);
    EXPECT_EQ(bench.core().space(2).blocks(), 128U);
    const NvmeBench::Memory m = bench.share(8192);
    std::memset(m.bytes, 0x77, 4096);
    EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWrite, 16, 8, m, 0, 2)).code, 0U);
    EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWriteZeroes, 17, 2, m, 0, 2)).code, 0U);
    EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 2}).code, 0U);
  }
  std::ifstream in(disk);
  std::stringstream text;
  text << in.rdbuf();
  const std::string expected = std::string(8192, '\0') + std::string(512, '\x77') + std::string(1024, '\0') +
                               std::string(2560, '\x77') + std::string(53248, '\0');
  EXPECT_EQ(text.str(), expected);
}

TEST(NvmeFiles, ThatBecomeShorterFailCommands) {
  const ScratchFolder folder;
  const std::string disk = folder.path("disk");
  make_file(disk, 65536);
  PcieSystemParameters p = nvme_parameters();
  p.nvme.files = disk;
  NvmeBench bench(p, true);
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  std::filesystem::resize_file(disk, 4096);
  for (const unsigned opcode : {kNvmOpcodeRead, kNvmOpcodeVerify, kNvmOpcodeWriteZeroes}) {
    EXPECT_EQ(bench.run(1, bench.blocks(opcode, 100, 1, m)).code, kStatusCodeInternalError) << opcode;
    EXPECT_EQ(bench.run(1, bench.blocks(opcode, 7, 1, m)).code, 0U) << opcode;
  }
}

/// A process that may not write beyond some length of a file is as one whose disk is full.
TEST(NvmeFiles, ThatHaveNoRoomFailWrites) {
  const ScratchFolder folder;
  const std::string disk = folder.path("disk");
  make_file(disk, 65536);
  PcieSystemParameters p = nvme_parameters();
  p.nvme.files = disk;
  NvmeBench bench(p, true);
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 32768;
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Cqe beyond = bench.run(1, bench.blocks(kNvmOpcodeWrite, 100, 1, m));
  const Cqe within = bench.run(1, bench.blocks(kNvmOpcodeWrite, 7, 1, m));
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(beyond.code, kStatusCodeCapacityExceeded);
  EXPECT_TRUE(beyond.do_not_retry);
  EXPECT_EQ(within.code, 0U);
  EXPECT_EQ(bench.core().counters().written_bytes, 512U);
}

/// What the host has lost is never said to be safe.
TEST(NvmeFiles, ThatLoseWhatWasWrittenFailFlushes) {
  /// Keeps nothing.
  class LostStore final : public BlockStore {
   public:
    [[nodiscard]] std::uint64_t size() const override { return 1U << 20U; }
    [[nodiscard]] bool read(std::uint64_t, std::uint8_t*, std::uint64_t) override { return false; }
    [[nodiscard]] BlockOutcome write(std::uint64_t, const std::uint8_t*, std::uint64_t) override {
      return BlockOutcome::done;
    }
    [[nodiscard]] BlockOutcome clear(std::uint64_t, std::uint64_t) override { return BlockOutcome::done; }
    [[nodiscard]] bool flush() override { return false; }
  };
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  const NvmeBench::Memory m = bench.share(4096);
  const auto good = bench.core().space(1).exchange_store(std::make_unique<LostStore>());
  EXPECT_EQ(bench.run(1, bench.blocks(kNvmOpcodeWrite, 0, 1, m)).code, 0U) << "in the cache";
  EXPECT_EQ(bench.run(1, {kNvmOpcodeFlush, 1}).code, kStatusCodeInternalError);
  Sqe through = bench.blocks(kNvmOpcodeWrite, 0, 1, m);
  through.dword12 |= 1U << 30U;
  EXPECT_EQ(bench.run(1, through).code, kStatusCodeInternalError);
  // The cache is not turned off, and a shutdown does not complete, while it cannot be written back.
  EXPECT_EQ(bench.set_feature(kFeatureWriteCache, 0).code, kStatusCodeInternalError);
  EXPECT_EQ(bench.run(0, {kAdminOpcodeGetFeatures, 0, 0, 0, kFeatureWriteCache}).result, 1U);
  bench.write(0x14, bench.read(0x14) | 1U << 14U);
  bench.host.pass(10'000);
  EXPECT_EQ(bench.read(0x1C), 0x7U) << "ready, a fatal error, a shutdown under way";
}

/// Counts flushes, which fail if they are to.
class CountingStore final : public BlockStore {
 public:
  [[nodiscard]] std::uint64_t size() const override { return its_.size(); }
  [[nodiscard]] bool read(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) override {
    return its_.read(offset, to, bytes);
  }
  [[nodiscard]] BlockOutcome write(std::uint64_t offset, const std::uint8_t* from,
                                   std::uint64_t bytes) override {
    return its_.write(offset, from, bytes);
  }
  [[nodiscard]] BlockOutcome clear(std::uint64_t offset, std::uint64_t bytes) override {
    return its_.clear(offset, bytes);
  }
  [[nodiscard]] bool flush() override {
    ++flushes;
    return !fails;
  }
  unsigned flushes = 0;
  bool fails = false;

 private:
  MemoryStore its_{1U << 20U};
};

/// Who asks for it finds it gone, whatever becomes of the process.
TEST(NvmeFiles, WhatIsErasedIsFlushed) {
  NvmeBench bench;
  bench.start();
  ASSERT_EQ(bench.create(1).code, 0U);
  auto* const store = new CountingStore;
  const auto before = bench.core().space(1).exchange_store(std::unique_ptr<BlockStore>(store));
  const Sqe format{kAdminOpcodeFormatNvm, 1, 0, 0, 1U << 9U};
  EXPECT_EQ(bench.run(0, format).code, 0U);
  EXPECT_EQ(store->flushes, 1U);
  store->fails = true;
  EXPECT_EQ(bench.run(0, format).code, kStatusCodeInternalError);
  store->fails = false;
  const NvmeBench::Memory m = bench.share(4096);
  put_number(m.bytes + 4, 4, 1);
  const Sqe discard{kNvmOpcodeDatasetManagement, 1, m.bus, 0, 0, 4};
  store->flushes = 0;
  EXPECT_EQ(bench.run(1, discard).code, 0U);
  EXPECT_EQ(store->flushes, 0U) << "the cache has it";
  ASSERT_EQ(bench.set_feature(kFeatureWriteCache, 0).code, 0U);
  store->flushes = 0;
  EXPECT_EQ(bench.run(1, discard).code, 0U);
  EXPECT_EQ(store->flushes, 1U);
}

TEST(NvmeFiles, AFailedShutdownIsTriedOnce) {
  NvmeBench bench;
  bench.start();
  auto* const store = new CountingStore;
  const auto before = bench.core().space(1).exchange_store(std::unique_ptr<BlockStore>(store));
  store->fails = true;
  bench.write(0x14, bench.read(0x14) | 1U << 14U);
  bench.host.pass(1000);
  for (int i = 0; i < 3; ++i) bench.write(0x1000, 0);
  bench.host.pass(1000);
  EXPECT_EQ(bench.read(0x1C), 0x7U);
  EXPECT_EQ(store->flushes, 1U);
  // While it is disabled, too; it is as good as before when it is enabled.
  bench.write(0x14, 0);
  bench.wait_ready(false);
  bench.write(0x14, 1U << 14U);
  EXPECT_EQ(bench.read(0x1C), 0x6U);
  bench.write(0x14, 0x46'0001);
  EXPECT_EQ(bench.read(0x1C), 1U);
}

TEST(NvmeFiles, ThatCannotBeNamespacesAreNamed) {
  const ScratchFolder folder;
  make_file(folder.path("odd"), 5000);
  make_file(folder.path("good"), 8192);
  const auto load = [](const std::string& files) {
    return load_gpu("mini", {{"pcie_system.nvme.count=1"},
                             {"pcie_system.nvme.namespaces=4"},
                             {"peer_bytes=0"},
                             {"pcie_system.nvme.files=\"" + files + "\""}});
  };
  EXPECT_TRUE(load(folder.path("good")).ok());
  const std::string good = folder.path("good");
  const auto wrong = load(folder.path("none") + "," + folder.path("odd") + "," + folder.path() + "," + good);
  ASSERT_EQ(wrong.faults().size(), 3U);
  EXPECT_THAT(wrong.faults()[0].text(), HasSubstr("none: No such file"));
  EXPECT_THAT(wrong.faults()[1].text(), HasSubstr("odd: has 5000 bytes: a namespace has a multiple of 4096"));
  EXPECT_THAT(wrong.faults()[2].text(), HasSubstr("gpu.pcie_system.nvme.files"));
  EXPECT_THAT(load(good + "," + good).faults()[0].text(), HasSubstr("named twice"));
  std::filesystem::create_symlink(good, folder.path("link"));
  const std::string other = folder.path() + "/./good";
  EXPECT_THAT(load(good + "," + other).faults()[0].text(), HasSubstr(other + ": is named twice, also as"));
  EXPECT_THAT(load(folder.path("link") + "," + good).faults()[0].text(), HasSubstr("named twice"));
  EXPECT_THAT(load("a,b,c,d,e").faults()[0].text(), HasSubstr("more files than there are namespaces"));
  PcieSystemParameters p = nvme_parameters();
  p.nvme.files = folder.path("none");
  EXPECT_THROW(NvmeBench{p}, NamespaceFileError);
}

TEST(NvmeFiles, AreNoPartOfACheckpoint) {
  const ScratchFolder folder;
  make_file(folder.path("disk"), 8192);
  const auto save = [](const std::vector<std::string>& settings) {
    GpuPlatform platform(load_gpu("mini", settings).value(), {});
    platform.build();
    std::stringstream out;
    const Diagnostics faults = platform.save(out, "");
    return faults.empty() ? std::string() : faults[0].text();
  };
  std::vector<std::string> settings = {"pcie_system.nvme.count=1", "peer_bytes=0"};
  EXPECT_EQ(save(settings), "");
  settings.push_back("pcie_system.nvme.files=\"" + folder.path("disk") + "\"");
  EXPECT_THAT(save(settings), HasSubstr("namespaces of NVMe controllers are files"));
}

}  // namespace nvme_files_test
}  // namespace warpline
