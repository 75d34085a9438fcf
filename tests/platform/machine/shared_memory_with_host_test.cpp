// Memory that programs give back, and memory that this process has in common with kernels.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "tests/platform/machine/body_kernel.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {
namespace {

RunOptions in_process() {
  RunOptions options;
  options.in_process = true;
  options.max_cycles = 10'000'000;
  return options;
}

/// Buffers come and go; a twin keeps what each holds and where each lies.
TEST(GivenBackMemory, IsFoundAgainAndIsNobodysTwice) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 6; ++round) {
    GpuPlatform gpu(preset("mini", {"vidmem_bytes=33554432"}), in_process());
    const std::uint64_t all = gpu.free_bytes();
    struct Buffer {
      std::uint64_t address;
      std::vector<std::uint8_t> bytes;
    };
    std::vector<Buffer> twin;
    std::uint64_t held = 0;
    const auto taken = [](std::uint64_t bytes) {
      return (std::max<std::uint64_t>(bytes, 1) + 255) / 256 * 256;
    };
    for (unsigned step = 0; step < 150; ++step) {
      if (random() % 5 < 3) {
        const std::uint64_t bytes = random() % (random() % 16 == 0 ? 1'000'000 : 5000);
        const std::uint64_t address =
            random() % 2 == 0 ? gpu.allocate("", bytes) : gpu.allocate_shared(bytes);
        if (address == 0) {
          EXPECT_GT(held + 150 * 1'000'000, all) << "there was room";
          continue;
        }
        for (const Buffer& b : twin)
          EXPECT_TRUE(address + bytes <= b.address || b.address + b.bytes.size() <= address || bytes == 0 ||
                      b.bytes.empty());
        twin.push_back({address, std::vector<std::uint8_t>(bytes)});
        for (std::size_t i = 0; i < bytes; i += 97)
          twin.back().bytes[i] = static_cast<std::uint8_t>(random());
        gpu.write(address, twin.back().bytes.data(), bytes);
        held += taken(bytes);
      } else if (!twin.empty()) {
        const std::size_t i = random() % twin.size();
        std::vector<std::uint8_t> found(twin[i].bytes.size());
        gpu.read(twin[i].address, found.data(), found.size());
        EXPECT_EQ(found, twin[i].bytes);
        EXPECT_TRUE(gpu.free(twin[i].address));
        EXPECT_FALSE(gpu.physical_of(twin[i].address).has_value());
        EXPECT_FALSE(gpu.free(twin[i].address)) << "given back twice";
        held -= taken(twin[i].bytes.size());
        twin.erase(twin.begin() + static_cast<std::ptrdiff_t>(i));
      }
      EXPECT_EQ(gpu.free_bytes(), all - held);
    }
    for (const Buffer& b : twin) EXPECT_TRUE(gpu.free(b.address));
    EXPECT_EQ(gpu.free_bytes(), all);
    EXPECT_NE(gpu.allocate("", all), 0U) << "holes that are left have become one";
  }
}

TEST(GivenBackMemory, IsAFaultUntilSomebodyElseHasIt) {
  GpuPlatform gpu(preset("mini"), in_process());
  const std::uint64_t a = gpu.allocate("a", 256), b = gpu.allocate("b", 256);
  EXPECT_TRUE(gpu.free(a));
  const auto module = module_of_body("st.global.u32 [%a0], 7;\nst.global.u32 [%a1], 8;\n", 2);
  const auto store = [&](std::uint64_t to) {
    const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({b, to}));
    gpu.begin_run();
    gpu.launch(*kernel);
    return gpu.faults();
  };
  ASSERT_EQ(store(a).size(), 1U);
  EXPECT_EQ(store(a)[0].kind, "unmapped address");
  ASSERT_EQ(gpu.allocate("c", 100), a);
  EXPECT_TRUE(store(a).empty());
  std::uint32_t value = 0;
  gpu.read(a, &value, 4);
  EXPECT_EQ(value, 8U);
}

TEST(UnmappedMemory, IsWhereItIsMappedAndStaysWhenItIsNot) {
  GpuPlatform gpu(preset("mini"), in_process());
  constexpr std::uint64_t kBytes = 4096, kAt = 0x480000000000ULL, kElsewhere = 0x490000000000ULL;
  const std::uint64_t all = gpu.free_bytes();
  const auto a = gpu.allocate_unmapped(kBytes), b = gpu.allocate_unmapped(kBytes);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(gpu.free_bytes(), all - 2 * kBytes);
  // The later one comes first, so that what lies next to each other does not in memory.
  gpu.map_at(kAt, kBytes, *b);
  gpu.map_at(kAt + kBytes, kBytes, *a);
  const auto module = module_of_body("st.global.u32 [%a0], 7;\nst.global.u32 [%a1], 8;\n", 2);
  const auto store = [&](std::uint64_t one, std::uint64_t two) {
    const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({one, two}));
    gpu.begin_run();
    gpu.launch(*kernel);
    return gpu.faults().size();
  };
  EXPECT_EQ(store(kAt + kBytes - 4, kAt + kBytes), 0U);
  const std::uint64_t left = gpu.free_bytes();  // the kernel's code takes some
  std::uint32_t found[2] = {};
  gpu.read(kAt + kBytes - 4, found, sizeof found);
  EXPECT_EQ(found[0], 7U);
  EXPECT_EQ(found[1], 8U);
  EXPECT_TRUE(gpu.unmap(kAt));
  EXPECT_FALSE(gpu.unmap(kAt));
  EXPECT_EQ(store(kAt + kBytes - 4, kAt + kBytes), 1U) << "what is not mapped is a fault";
  gpu.map_at(kElsewhere, kBytes, *b);
  gpu.read(kElsewhere + kBytes - 4, found, 4);
  EXPECT_EQ(found[0], 7U);
  EXPECT_EQ(gpu.free_bytes(), left);
  gpu.unmap(kElsewhere);
  gpu.unmap(kAt + kBytes);
  gpu.free_unmapped(*a, kBytes);
  gpu.free_unmapped(*b, kBytes);
  EXPECT_EQ(gpu.free_bytes(), left + 2 * kBytes);
}

TEST(SharedMemoryWithHost, KernelsAndThisProcessHaveTheSameBytes) {
  for (const Aperture aperture : {Aperture::vidmem, Aperture::sysmem}) {
    GpuPlatform gpu(preset("mini"), in_process());
    const std::uint64_t address = gpu.allocate_shared(4096, aperture);
    auto* const words = reinterpret_cast<std::uint32_t*>(address);
    const auto module =
        module_of_body("ld.global.u32 %r1, [%a0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%a0 + 4], %r1;\n", 1);
    for (std::uint32_t i = 0; i < 5; ++i) {
      words[0] = i * 100;
      const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({address}));
      gpu.launch(*kernel);
      EXPECT_EQ(words[1], i * 100 + 1);
    }
    EXPECT_TRUE(gpu.faults().empty());
  }
}

// As GPUs map pages of 2 MiB; buffers begin at multiples of 512 bytes.
TEST(PageSlack, AccessesALittleOutOfABufferGoThrough) {
  RunOptions options = in_process();
  options.page_slack = true;
  GpuPlatform gpu(preset("mini"), options);
  const std::uint64_t a = gpu.allocate("", 400), b = gpu.allocate("", 4);
  const auto module = module_of_body("ld.global.u32 %r1, [%a0];\nst.global.u32 [%a1], %r1;\n", 2);
  const auto faults_at = [&](std::uint64_t address) {
    const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({address, b}));
    gpu.begin_run();
    gpu.launch(*kernel);
    return gpu.faults().size();
  };
  EXPECT_EQ(faults_at(a + 396), 0U);
  EXPECT_EQ(gpu.take_slack_used(), 0U);
  EXPECT_EQ(faults_at(a + 400), 0U);
  EXPECT_EQ(gpu.take_slack_used(), a + 400);
  EXPECT_EQ(gpu.take_slack_used(), 0U) << "it is told once";
  EXPECT_EQ(faults_at(a + (256U << 10U)), 0U);
  EXPECT_EQ(gpu.take_slack_used(), a + (256U << 10U));
  EXPECT_EQ(faults_at(a + (4U << 20U)), 1U) << "no page that holds anything";
  EXPECT_EQ(faults_at(a - (1U << 21U)), 1U);
  EXPECT_FALSE(gpu.physical_of(a + 400)) << "for the host it is no memory";

  // Lanes in two buffers are in buffers.
  const auto gather = module_of_body(
      "mov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, 1;\nsetp.eq.u32 %p, %r1, 0;\n"
      "@%p ld.global.u32 %r2, [%a0];\nselp.b64 %a0, %a0, %a1, %p;\nld.global.u32 %r2, [%a0];\n",
      2);
  const auto kernel = gather->make_kernel("k", {1, 1, 1}, {32, 1, 1}, 0, block_of({a, b}));
  gpu.begin_run();
  gpu.launch(*kernel);
  EXPECT_TRUE(gpu.faults().empty());
  EXPECT_EQ(gpu.take_slack_used(), 0U);

  // What was given back is no neighbour.
  const std::uint64_t large = gpu.allocate("", 32U << 20U), behind = gpu.allocate("", 4);
  EXPECT_NE(behind, 0U);
  gpu.free(large);
  EXPECT_EQ(faults_at(large + (16U << 20U)), 1U);
}

/// A kernel and its host call each other by turns, each spinning on what the other writes.
TEST(SharedMemoryWithHost, AGridThatSpinsSeesWhatTheHostWritesMeanwhile) {
  GpuPlatform gpu(preset("mini"), in_process());
  const std::uint64_t address = gpu.allocate_shared(4096, Aperture::sysmem);
  auto* const call = reinterpret_cast<std::atomic<std::uint32_t>*>(address);
  auto* const answer = reinterpret_cast<std::atomic<std::uint32_t>*>(address + 256);
  const auto module = module_of_body(
      "mov.u32 %r1, 1;\n"
      "NEXT: ld.acquire.sys.global.u32 %r2, [%a0];\nsetp.ne.u32 %p, %r2, %r1;\n@%p bra NEXT;\n"
      "st.release.sys.global.u32 [%a0 + 256], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.le.u32 %p, %r1, 5;\n@%p bra "
      "NEXT;\n",
      1);
  const auto kernel = module->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, block_of({address}));
  std::uint32_t turns = 0;
  call->store(1);
  gpu.on_progress(100, [&](double) {
    if (answer->load() == call->load() && call->load() < 5) {
      call->store(call->load() + 1);
      ++turns;
    }
    return true;
  });
  EXPECT_EQ(gpu.launch(*kernel).outcome, RunOutcome::quiescent);
  EXPECT_EQ(turns, 4U);
  EXPECT_EQ(answer->load(), 5U);
}

TEST(SharedMemoryWithHost, AddressesOfBuffersAreNobodyElsesInTheProcess) {
  GpuPlatform gpu(preset("mini", {"gpus=2"}), in_process());
  for (const unsigned g : {0U, 1U}) {
    const std::uint64_t buffer = gpu.allocate("", 1 << 20, Aperture::vidmem, g);
    void* const taken = mmap(reinterpret_cast<void*>(buffer), 1 << 20, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT_EQ(taken, MAP_FAILED);
    EXPECT_LT(buffer, 0x5500'0000'0000U) << "where programs have code, heap and stack";
  }
  GpuPlatform other(preset("mini"), in_process());
  EXPECT_NE(other.allocate("", 256), 0U) << "a second platform finds other addresses";
}

}  // namespace
}  // namespace warpline::test
