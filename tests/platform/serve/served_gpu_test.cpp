#include "platform/serve/served_gpu.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <tuple>

#include "platform/machine/system.h"
#include "platform/serve/control_client.h"
#include "platform/serve/served_function.h"
#include "rtl_models/base/bits.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/sim/engine.h"
#include "tests/platform/serve/served_gpu_bench.h"
#include "tests/platform/serve/served_peers.h"

namespace warpline {
namespace served_gpu_test {

using test::GpuSoftware;
using test::kGpuProgram;
using test::ServedDriver;
using test::ServedGpuBench;
using ::testing::HasSubstr;
using Launch = GpuSoftware::Launch;

std::vector<std::uint32_t> counted_from(std::uint32_t first, unsigned count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

class ServedGpuInEveryTime : public ::testing::TestWithParam<bool> {
 protected:
  ServedGpuBench bench_{GetParam()};
  /// A launch that ends well, by which the GPU is shown to be as good as new.
  static void expect_it_runs(GpuSoftware& gpu) {
    EXPECT_EQ(
        gpu.run(
            {kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 100}, {3, 1, 1}, {64, 1, 1}}),
        WL_GPU_STATE_DONE)
        << gpu.message();
    EXPECT_EQ(gpu.words(gpu.at(GpuSoftware::kData), 192), counted_from(100, 192));
  }
};

TEST_P(ServedGpuInEveryTime, SaysWhatItIs) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->class_code(), WL_GPU_CLASS_CODE);
  EXPECT_EQ(client->vectors(), 1U);
  GpuSoftware gpu(*client);
  EXPECT_EQ(gpu.word(WL_GPU_IDENTITY_OFFSET), WL_GPU_IDENTITY_VALUE);
  EXPECT_EQ(gpu.word(WL_GPU_VERSION_OFFSET), 0x10000U);
  EXPECT_GT(gpu.word(WL_GPU_SMS_OFFSET), 0U);
  EXPECT_GT(gpu.word(WL_GPU_CLOCK_MHZ_OFFSET), 0U);
  const std::uint64_t bytes = gpu.wide(WL_GPU_MEMORY_BYTES_OFFSET), end = gpu.wide(WL_GPU_MEMORY_END_OFFSET);
  EXPECT_EQ(bytes, std::uint64_t{1} << 30U);
  EXPECT_LT(gpu.wide(WL_GPU_MEMORY_FIRST_OFFSET), end);
  EXPECT_LT(end, bytes);
  gpu.set(WL_GPU_SCRATCH_OFFSET, 0x1234);
  EXPECT_EQ(gpu.word(WL_GPU_SCRATCH_OFFSET), 0x1234U);
  const std::uint64_t before = gpu.wide(WL_GPU_TIME_OFFSET);
  EXPECT_GT(gpu.wide(WL_GPU_TIME_OFFSET), before);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
}

TEST_P(ServedGpuInEveryTime, RunsAKernelThatSoftwarePutsIntoItsMemory) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  gpu.start({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 7}, {5, 1, 1}, {64, 1, 1}});
  ASSERT_TRUE(gpu.hears_interrupt());
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_DONE) << gpu.message();
  EXPECT_EQ(gpu.words(gpu.at(GpuSoftware::kData), 320), counted_from(7, 320));
  EXPECT_EQ(gpu.word(WL_GPU_COMPLETIONS_OFFSET), 1U);
  EXPECT_GT(gpu.wide(WL_GPU_CYCLES_OFFSET), 0U);
  EXPECT_EQ(gpu.word(WL_GPU_INTERRUPT_STATUS_OFFSET), WL_GPU_INTERRUPT_STATUS_ENDED_MASK);
  gpu.set(WL_GPU_INTERRUPT_STATUS_OFFSET, WL_GPU_INTERRUPT_STATUS_ENDED_MASK);
  EXPECT_EQ(gpu.word(WL_GPU_INTERRUPT_STATUS_OFFSET), 0U);
  // What the kernel finds is what software has written just before.
  for (std::uint32_t round = 1; round < 4; ++round) {
    const std::vector<std::uint32_t> data = counted_from(1000 * round, 32);
    gpu.upload(gpu.at(GpuSoftware::kData), data.data(), 128);
    const std::uint64_t from = gpu.address(gpu.at(GpuSoftware::kData));
    ASSERT_EQ(gpu.run({kGpuProgram, "twice", {from + 4096, from}}), WL_GPU_STATE_DONE) << gpu.message();
    EXPECT_EQ(gpu.words(gpu.at(GpuSoftware::kData) + 4096, 1).front(), 2000 * round);
  }
  EXPECT_EQ(gpu.word(WL_GPU_COMPLETIONS_OFFSET), 4U);
}

TEST_P(ServedGpuInEveryTime, HasSharedMemoryAndVariables) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::uint64_t data = gpu.at(GpuSoftware::kData);
  ASSERT_EQ(gpu.run({kGpuProgram, "sum", {gpu.address(data)}, {1, 1, 1}, {32, 1, 1}, 128}), WL_GPU_STATE_DONE)
      << gpu.message();
  EXPECT_EQ(gpu.words(data, 1).front(), 32U);
  // Each launch has the module anew.
  for (unsigned round = 0; round < 3; ++round) {
    ASSERT_EQ(gpu.run({kGpuProgram, "counter", {gpu.address(data)}, {1, 1, 1}, {1, 1, 1}}),
              WL_GPU_STATE_DONE);
    EXPECT_EQ(gpu.words(data, 1).front(), 5U);
  }
}

TEST_P(ServedGpuInEveryTime, RefusesWhatCannotRunAndSaysWhy) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::vector<std::uint64_t> two = {gpu.address(gpu.at(GpuSoftware::kData)), 0};
  const auto expect_refused = [&](const Launch& launch, std::uint32_t code, const std::string& why) {
    EXPECT_EQ(gpu.run(launch), WL_GPU_STATE_REFUSED);
    EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), code) << why;
    EXPECT_THAT(gpu.message(), HasSubstr(why));
  };
  expect_refused({"no program", "count", two}, WL_GPU_LAUNCH_ERROR_BAD_PROGRAM, "PROGRAM:1:1: error");
  expect_refused({"", "count", two}, WL_GPU_LAUNCH_ERROR_BAD_PROGRAM, "PROGRAM");
  // What an assembler would take, and this GPU does not, is no bad program.
  const auto with = [](const std::string& from, const std::string& to) {
    std::string out = kGpuProgram;
    return out.replace(out.find(from), from.size(), to);
  };
  expect_refused({with(".version 8.2", ".version 99.0"), "count", two}, WL_GPU_LAUNCH_ERROR_UNSUPPORTED,
                 "PTX versions");
  expect_refused({with("sm_80", "sm_999"), "count", two}, WL_GPU_LAUNCH_ERROR_UNSUPPORTED, "unknown target");
  expect_refused({with("_size 64", "_size 32"), "count", two}, WL_GPU_LAUNCH_ERROR_UNSUPPORTED,
                 "'.address_size 64'");
  expect_refused({with("_size 64", "_size 65"), "count", two}, WL_GPU_LAUNCH_ERROR_BAD_PROGRAM, "64 bits");
  expect_refused(
      {with("(.param .u64 to, .param .u64 first)\n", "(.param .u64 to, .param .u64 first) .maxnctapersm 2\n"),
       "count", two},
      WL_GPU_LAUNCH_ERROR_UNSUPPORTED, "'.maxnctapersm'");
  const std::string sampled =
      ".version 8.2\n.target sm_80\n.address_size 64\n.global .texref t;\n.visible .entry count()\n"
      "{ .reg .f32 %f<6>; tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5}]; ret; }\n";
  expect_refused({sampled, "count", {}}, WL_GPU_LAUNCH_ERROR_UNSUPPORTED, "not modelled");
  expect_refused({sampled + "nonsense", "count", {}}, WL_GPU_LAUNCH_ERROR_BAD_PROGRAM, "nonsense");
  expect_refused({kGpuProgram, "nobody", two}, WL_GPU_LAUNCH_ERROR_NO_ENTRY, "no kernel \"nobody\"");
  expect_refused({kGpuProgram, "count", {1}}, WL_GPU_LAUNCH_ERROR_BAD_PARAMETERS, "16 bytes, not 8");
  expect_refused({kGpuProgram, "count", two, {0, 1, 1}}, WL_GPU_LAUNCH_ERROR_BAD_SHAPE,
                 "a grid of 0 x 1 x 1");
  expect_refused({kGpuProgram, "count", two, {1, 70'000, 1}}, WL_GPU_LAUNCH_ERROR_BAD_SHAPE, "a grid of");
  expect_refused({kGpuProgram, "count", two, {1, 1, 1}, {1025, 1, 1}}, WL_GPU_LAUNCH_ERROR_BAD_SHAPE,
                 "a block of");
  expect_refused({kGpuProgram, "count", two, {1, 1, 1}, {65'536, 65'536, 1}}, WL_GPU_LAUNCH_ERROR_BAD_SHAPE,
                 "a block of");
  expect_refused({kGpuProgram, "sum", {two[0]}, {1, 1, 1}, {32, 1, 1}, 1U << 20U},
                 WL_GPU_LAUNCH_ERROR_NO_RESOURCES, "shared memory");
  expect_refused({kGpuProgram, "sum", {two[0]}, {1, 1, 1}, {32, 1, 1}, 0xFFFF'FFFF},
                 WL_GPU_LAUNCH_ERROR_NO_RESOURCES, "shared memory");
  expect_it_runs(gpu);
  EXPECT_EQ(gpu.message(), "");
}

TEST_P(ServedGpuInEveryTime, RefusesDescriptorsThatNameWhatIsNotSoftwares) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const auto good = gpu.lay({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 0}});
  const std::uint64_t end = gpu.wide(WL_GPU_MEMORY_END_OFFSET);
  for (const std::uint64_t bad :
       {std::uint64_t{0}, gpu.at(0) - 8, gpu.at(4), end - 8, end, ~std::uint64_t{7}}) {
    gpu.set(WL_GPU_LAUNCH_DESCRIPTOR_OFFSET, bad, 8);
    gpu.set(WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
    EXPECT_EQ(gpu.wait(), WL_GPU_STATE_REFUSED) << bad;
    EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_BAD_DESCRIPTOR) << bad;
  }
  for (const unsigned member : {WL_GPU_LAUNCH_PROGRAM_OFFSET, WL_GPU_LAUNCH_ENTRY_OFFSET,
                                WL_GPU_LAUNCH_PARAMETERS_OFFSET, WL_GPU_LAUNCH_MESSAGE_OFFSET})
    for (const std::uint64_t bad : {std::uint64_t{0}, end - 4, ~std::uint64_t{0} - 4}) {
      auto descriptor = good;
      std::memcpy(&descriptor[member], &bad, 8);
      gpu.start(descriptor.data());
      EXPECT_EQ(gpu.wait(), WL_GPU_STATE_REFUSED) << member;
      EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_BAD_RANGE) << member;
    }
  auto reserved = good;
  reserved[WL_GPU_LAUNCH_RESERVED_OFFSET] = 1;
  gpu.start(reserved.data());
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_REFUSED);
  EXPECT_THAT(gpu.message(), HasSubstr("RESERVED"));
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, TellsOfFaults) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::uint64_t data = gpu.address(gpu.at(GpuSoftware::kData));
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> bad = {
      {0x1000, WL_GPU_FAULT_CODE_UNMAPPED},
      {gpu.address(0), WL_GPU_FAULT_CODE_UNMAPPED},  // the constant banks
      {gpu.address(gpu.wide(WL_GPU_MEMORY_END_OFFSET) + 4096), WL_GPU_FAULT_CODE_UNMAPPED},
      {data + 2, WL_GPU_FAULT_CODE_MISALIGNED}};
  for (const auto& [address, kind] : bad) {
    EXPECT_EQ(gpu.run({kGpuProgram, "store", {address, 1}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_FAULTED);
    EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), kind);
    EXPECT_EQ(gpu.wide(WL_GPU_FAULT_ADDRESS_OFFSET), address);
    EXPECT_THAT(gpu.message(), HasSubstr("address"));
  }
  expect_it_runs(gpu);
  EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_NONE);
}

TEST_P(ServedGpuInEveryTime, EndsAKernelThatSoftwareWantsToEnd) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::uint64_t flag = gpu.at(GpuSoftware::kData);
  const Launch spin{kGpuProgram, "spin", {gpu.address(flag)}, {4, 1, 1}};
  gpu.start(spin);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  gpu.set(WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
  EXPECT_EQ(gpu.word(WL_GPU_ERROR_OFFSET), WL_GPU_ERROR_BUSY_MASK);
  gpu.set(WL_GPU_CONTROL_OFFSET, WL_GPU_CONTROL_ABORT_MASK);
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_ABORTED);
  EXPECT_EQ(gpu.word(WL_GPU_COMPLETIONS_OFFSET), 1U);
  expect_it_runs(gpu);
  // One that waits for software sees what that writes.
  const std::uint32_t zero = 0, one = 1;
  gpu.upload(flag, &zero, 4);
  gpu.start(spin);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  gpu.upload(flag, &one, 4);
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_DONE);
}

TEST_P(ServedGpuInEveryTime, AResetInTheMiddleLeavesAFreshGpu) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  // By the protocol, and by the function itself.
  const auto reset = [&](bool by_function) {
    return by_function ? test::reset_function(*client) : client->connection().reset();
  };
  for (unsigned round = 0; round < 4; ++round) {
    GpuSoftware gpu(*client);
    const std::uint64_t data = gpu.at(GpuSoftware::kData);
    EXPECT_EQ(gpu.words(data, 1).front(), 0U);
    gpu.start({kGpuProgram, "spin", {gpu.address(data)}, {4, 1, 1}});
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
    ASSERT_EQ(reset(round % 2 == 1), 0);
    ASSERT_EQ(client->bring_up(), 0);
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
    EXPECT_EQ(gpu.wide(WL_GPU_LAUNCH_DESCRIPTOR_OFFSET), 0U);
    EXPECT_EQ(gpu.words(gpu.at(GpuSoftware::kProgram), 1).front(), 0U);
    expect_it_runs(gpu);
    ASSERT_EQ(reset(round % 2 == 1), 0);
    ASSERT_EQ(client->bring_up(), 0);
  }
}

TEST_P(ServedGpuInEveryTime, AFunctionThatSleptInTheMiddleRunsAgain) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.start({kGpuProgram, "spin", {gpu.address(gpu.at(GpuSoftware::kData))}, {4, 1, 1}});
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  constexpr unsigned kPowerControl = 0x44;
  for (const std::uint16_t state : {std::uint16_t{3}, std::uint16_t{0}})
    ASSERT_EQ(client->connection().write(vfio_user::kConfigRegion, kPowerControl, &state, 2), 0);
  ASSERT_EQ(client->bring_up(), 0);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, AClientThatGoesAwayInTheMiddleLeavesAFreshGpu) {
  for (unsigned round = 0; round < 4; ++round) {
    const auto client = bench_.client(ServedGpuBench::kGpu, round % 2 == 1);
    ASSERT_NE(client, nullptr);
    GpuSoftware gpu(*client);
    EXPECT_EQ(gpu.words(gpu.at(GpuSoftware::kData), 1).front(), 0U);
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
    expect_it_runs(gpu);
    // What it waits for lies in the memory of the client.
    constexpr std::uint64_t kWindow = WL_GPU_WINDOW_FIRST;
    gpu.open_window(0, vfio_user::ClientMachine::kMemory, kWindow, 4096, true);
    gpu.start({kGpuProgram, "spin", {kWindow}, {4, 1, 1}});
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  }
}

TEST_P(ServedGpuInEveryTime, KernelsReachTheMemoryOfTheMachineByAWindow) {
  for (const bool by_message : {false, true})
    for (const bool prefetchable : {false, true}) {
      const auto client = bench_.client(ServedGpuBench::kGpu, by_message);
      ASSERT_NE(client, nullptr);
      GpuSoftware gpu(*client);
      auto* const memory = static_cast<std::uint32_t*>(client->allocate(8192, 4096));
      const std::uint64_t bus = client->port().dma_map(client->port().context, memory, 8192, WL_DMA_BOTH);
      const std::uint64_t window = WL_GPU_WINDOW_FIRST + 0x5000;
      gpu.open_window(3, bus, window, 8192, prefetchable);
      ASSERT_EQ(gpu.run({kGpuProgram, "count", {window, 50}, {2, 1, 1}}), WL_GPU_STATE_DONE) << gpu.message();
      EXPECT_EQ(std::vector<std::uint32_t>(memory, memory + 64), counted_from(50, 64));
      // And reads what is there.
      const std::uint64_t data = gpu.at(GpuSoftware::kData);
      ASSERT_EQ(gpu.run({kGpuProgram, "twice", {gpu.address(data), window}}), WL_GPU_STATE_DONE);
      EXPECT_EQ(gpu.words(data, 2), (std::vector<std::uint32_t>{100, 102}));
      // One byte beyond it nothing is mapped.
      EXPECT_EQ(gpu.run({kGpuProgram, "store", {window + 8192, 1}, {1, 1, 1}, {1, 1, 1}}),
                WL_GPU_STATE_FAULTED);
      gpu.set(WL_GPU_WINDOW_CONTROL_OFFSET(3), 0);
      EXPECT_EQ(gpu.run({kGpuProgram, "store", {window, 1}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_FAULTED);
    }
}

TEST_P(ServedGpuInEveryTime, AnswersForAKernelDoNotWaitForWritesOfRegisters) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  auto* const flag = static_cast<volatile std::uint32_t*>(client->allocate(4096, 4096));
  gpu.open_window(0, vfio_user::ClientMachine::kMemory, WL_GPU_WINDOW_FIRST, 4U << 20U, true);
  const std::uint64_t bus =
      client->port().dma_map(client->port().context, const_cast<std::uint32_t*>(flag), 4096, WL_DMA_BOTH);
  gpu.start(
      {kGpuProgram, "spin", {WL_GPU_WINDOW_FIRST + bus - vfio_user::ClientMachine::kMemory}, {2, 1, 1}});
  for (std::uint32_t round = 0; round < 300; ++round) gpu.set(WL_GPU_SCRATCH_OFFSET, round);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  *flag = 1;
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_DONE) << gpu.message();
  EXPECT_EQ(gpu.word(WL_GPU_SCRATCH_OFFSET), 299U);
}

TEST_P(ServedGpuInEveryTime, RefusesWindowsThatCannotBe) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::uint64_t first = WL_GPU_WINDOW_FIRST, end = WL_GPU_WINDOW_END;
  const auto expect_refused = [&](std::uint64_t bus, std::uint64_t address, std::uint64_t bytes) {
    gpu.open_window(0, first, first, 8192, true);
    gpu.open_window(1, bus, address, bytes, true);
    EXPECT_EQ(gpu.run({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 0}}),
              WL_GPU_STATE_REFUSED);
    EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_BAD_WINDOW);
    EXPECT_THAT(gpu.message(), HasSubstr("window 1"));
  };
  expect_refused(0, first + 0x10000, 0);
  expect_refused(0, first + 0x10000, 100);
  expect_refused(256, first + 0x10000, 4096);
  expect_refused(0, first + 0x10100, 4096);
  expect_refused(0, first - 4096, 4096);
  expect_refused(0, end - 4096, 8192);
  expect_refused(0, end, 4096);
  expect_refused(0, 0, 0ULL - 4096);
  expect_refused(0, first + 4096, 4096);
  expect_refused(0ULL - 4096, first + 0x10000, 4096);
  gpu.set(WL_GPU_WINDOW_CONTROL_OFFSET(1), 0);
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, AKernelRingsTheDoorbellOfAnotherFunctionOfTheMachine) {
  const auto client = bench_.client(ServedGpuBench::kGpu), other = bench_.client(ServedGpuBench::kPeer);
  ASSERT_TRUE(client != nullptr && other != nullptr);
  GpuSoftware gpu(*client);
  ServedDriver driver(*other);
  // The queue device copies from its machine's memory to the GPU's.
  constexpr std::uint32_t kBytes = 4096;
  auto* const from = static_cast<std::uint32_t*>(other->allocate(kBytes));
  std::iota(from, from + kBytes / 4, 9U);
  const std::uint64_t data = gpu.at(GpuSoftware::kData);
  wl_peer_command command{};
  command.opcode = WL_PEER_OPCODE_COPY;
  command.source = driver.bus(from);
  command.destination = client->bars()[0].address + data;
  command.length = kBytes;
  ASSERT_EQ(wl_peer_submit(&driver.peer(), 0, &command), WL_OK);
  const std::uint64_t window = WL_GPU_WINDOW_FIRST;
  gpu.open_window(0, other->bars()[WL_PEER_BAR].address, window, other->bars()[WL_PEER_BAR].bytes, false);
  ASSERT_EQ(
      gpu.run({kGpuProgram, "store", {window + WL_PEER_SQ_TAIL_DOORBELL_OFFSET(0), 1}, {1, 1, 1}, {1, 1, 1}}),
      WL_GPU_STATE_DONE)
      << gpu.message();
  wl_peer_completion completion{};
  ASSERT_EQ(wl_peer_wait(&driver.peer(), 0, 20'000'000, &completion), WL_OK);
  EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(gpu.words(data, kBytes / 4), counted_from(9, kBytes / 4));
}

TEST_P(ServedGpuInEveryTime, IsUnpluggedAndPluggedInTheMiddle) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.start({kGpuProgram, "spin", {gpu.address(gpu.at(GpuSoftware::kData))}, {4, 1, 1}});
  const auto plug = [&](bool present) {
    std::promise<void> done;
    bench_.within(
        [&] { bench_.machine().function(ServedGpuBench::kGpu).plug(present, [&] { done.set_value(); }); });
    done.get_future().wait();
  };
  plug(false);
  EXPECT_EQ(gpu.word(WL_GPU_IDENTITY_OFFSET), 0xFFFF'FFFFU);
  EXPECT_EQ(gpu.words(gpu.at(0), 1).front(), 0xFFFF'FFFFU);
  plug(true);
  ASSERT_EQ(client->bring_up(), 0);
  EXPECT_EQ(gpu.word(WL_GPU_IDENTITY_OFFSET), WL_GPU_IDENTITY_VALUE);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, TellsOfMistakesAtRegisters) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_MISTAKE_MASK);
  EXPECT_EQ(gpu.word(0x800), 0U);
  EXPECT_TRUE(gpu.hears_interrupt());
  EXPECT_EQ(gpu.word(WL_GPU_ERROR_OFFSET), WL_GPU_ERROR_BAD_ACCESS_MASK);
  EXPECT_EQ(gpu.word(WL_GPU_BAD_OFFSET_OFFSET), 0x800U);
  gpu.set(WL_GPU_SMS_OFFSET, 7);
  EXPECT_GT(gpu.word(WL_GPU_SMS_OFFSET), 0U);
  EXPECT_THAT(bench_.within([&] { return bench_.watches().findings(); }),
              testing::Contains(HasSubstr("gpu[0]: write of 4 bytes at BAR 2 0x0008 SMS")));
}

TEST_P(ServedGpuInEveryTime, GivesBackWhatLaunchesHadOfItsMemory) {
  // An eighth of it is for kernels.
  ServedGpuBench bench(GetParam(), {ServedGpuBench::config({"vidmem_bytes=2097152"}), 0, nullptr});
  const auto client = bench.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::string head = ".version 8.2\n.target sm_80\n.address_size 64\n";
  const std::string aligned = head + R"(
.global .b8 before[256];
.global .align 4096 .b8 table[100000];
.visible .entry look()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  mov.u64 %d1, table;
  ld.global.u32 %r1, [%d1+2];
  ret;
}
)";
  for (unsigned round = 0; round < 4; ++round) {
    ASSERT_EQ(gpu.run({aligned, "look", {}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_FAULTED) << gpu.message();
    EXPECT_THAT(gpu.message(), HasSubstr("variable table"));
    gpu.open_window(0, 1, WL_GPU_WINDOW_FIRST, 4096, true);
    ASSERT_EQ(gpu.run({aligned, "look", {}}), WL_GPU_STATE_REFUSED);
    ASSERT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_BAD_WINDOW) << gpu.message();
    gpu.set(WL_GPU_WINDOW_CONTROL_OFFSET(0), 0);
  }
  // Code of programs that differ: together more than there is room for.
  std::string body;
  for (unsigned i = 0; i < 1500; ++i) body += "add.u32 %r1, %r1, 1;\n";
  for (unsigned round = 0; round < 12; ++round) {
    const std::string program =
        head + ".visible .entry add(.param .u64 to)\n{\n.reg .b32 %r<2>;\n.reg .b64 %d<2>;\n" +
        "ld.param.u64 %d1, [to];\nmov.u32 %r1, " + std::to_string(round) + ";\n" + body +
        "st.global.u32 [%d1], %r1;\nret;\n}\n";
    const std::uint64_t data = gpu.at(GpuSoftware::kData);
    ASSERT_EQ(gpu.run({program, "add", {gpu.address(data)}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_DONE)
        << round << gpu.message();
    EXPECT_EQ(gpu.words(data, 1).front(), 1500 + round);
  }
}

TEST_P(ServedGpuInEveryTime, TellsOfAFaultThoughOthersWaitForEver) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  // Block 0 stores where nothing is; block 1 waits for threads that it does not have.
  gpu.start({R"(
.version 8.2
.target sm_80
.address_size 64
.visible .entry part()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra STORE;
  bar.sync 0, 64;
  ret;
STORE:
  mov.u64 %d1, 16;
  st.global.u32 [%d1], %r1;
  ret;
}
)",
             "part",
             {},
             {2, 1, 1}});
  // Nobody looks meanwhile: no time passes by that.
  ASSERT_TRUE(gpu.hears_interrupt());
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_FAULTED);
  EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_UNMAPPED);
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, AResetForgetsWhatIsOnItsWayToRegisters) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  for (Cycle later = 0; later < 2000; later += 50) {
    bench_.within([&] {
      ServedMachine& machine = bench_.machine();
      ServedFunction& function = machine.function(ServedGpuBench::kGpu);
      const std::uint32_t value = 3;
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
      for (const unsigned offset :
           {WL_GPU_SCRATCH_OFFSET, WL_GPU_WINDOW_CONTROL_OFFSET(0), WL_GPU_LAUNCH_DOORBELL_OFFSET})
        function.write(WL_GPU_BAR, offset, bytes, 4, true, [] {});
      machine.advance(machine.now() + later, std::chrono::seconds(1));
      bool done = false;
      function.reset([&done] { done = true; });
      while (!done) machine.advance(machine.now() + 1, std::chrono::seconds(1));
    });
    ASSERT_EQ(client->bring_up(), 0);
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE) << later;
    EXPECT_EQ(gpu.word(WL_GPU_SCRATCH_OFFSET), 0U) << later;
    EXPECT_EQ(gpu.word(WL_GPU_WINDOW_CONTROL_OFFSET(0)), 0U) << later;
    EXPECT_EQ(gpu.word(WL_GPU_COMPLETIONS_OFFSET), 0U) << later;
  }
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, AKernelBeginsNoEarlierThanSoftwareHasActed) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  bench_.within([&] { bench_.machine().pass_until(bench_.machine().now() + 1'000'000); });
  const std::uint64_t before = gpu.wide(WL_GPU_TIME_OFFSET);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  gpu.start({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 7}});
  ASSERT_TRUE(gpu.hears_interrupt());
  const Cycle now = bench_.within([&] { return bench_.machine().system().engine().now(); });
  EXPECT_GT(now, before);
}

TEST_P(ServedGpuInEveryTime, AnInterruptThatWasHeldBackComesWhenItMay) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  const auto config = [&](unsigned offset) {
    std::uint16_t value = 0;
    EXPECT_EQ(client->connection().read(vfio_user::kConfigRegion, offset, &value, 2), 0);
    return value;
  };
  unsigned msix = config(0x34) & 0xFFU;
  while (msix != 0 && (config(msix) & 0xFFU) != 0x11) msix = config(msix) >> 8U;
  ASSERT_NE(msix, 0U);
  constexpr std::uint16_t kFunctionMask = 1U << 14U, kBusMaster = 4;
  const std::vector<std::pair<unsigned, std::uint16_t>> holds = {
      {msix + 2, static_cast<std::uint16_t>(config(msix + 2) | kFunctionMask)},
      {4, static_cast<std::uint16_t>(config(4) & ~kBusMaster)}};
  for (const auto& [offset, held] : holds) {
    const std::uint16_t before = config(offset);
    ASSERT_EQ(client->connection().write(vfio_user::kConfigRegion, offset, &held, 2), 0);
    ASSERT_EQ(gpu.run({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 7}}),
              WL_GPU_STATE_DONE);
    EXPECT_FALSE(gpu.hears_interrupt(1000));
    ASSERT_EQ(client->connection().write(vfio_user::kConfigRegion, offset, &before, 2), 0);
    EXPECT_TRUE(gpu.hears_interrupt()) << offset;
  }
}

TEST_P(ServedGpuInEveryTime, TakesDescriptorsAtTheirLimits) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  const std::vector<std::uint64_t> two = {gpu.address(gpu.at(GpuSoftware::kData)), 0};
  auto silent = gpu.lay({kGpuProgram, "count", two});
  std::memset(&silent[WL_GPU_LAUNCH_MESSAGE_OFFSET], 0, 8);
  std::memset(&silent[WL_GPU_LAUNCH_MESSAGE_LENGTH_OFFSET], 0, 4);
  gpu.start(silent.data());
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_DONE);
  for (const std::uint32_t bytes : {WL_GPU_PROGRAM_LIMIT, WL_GPU_PROGRAM_LIMIT + 1}) {
    auto large = gpu.lay({kGpuProgram + std::string(1, '\0'), "count", two});
    std::memcpy(&large[WL_GPU_LAUNCH_PROGRAM_LENGTH_OFFSET], &bytes, 4);
    gpu.start(large.data());
    EXPECT_EQ(gpu.wait(), bytes == WL_GPU_PROGRAM_LIMIT ? WL_GPU_STATE_DONE : WL_GPU_STATE_REFUSED);
  }
  EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_NO_RESOURCES);
  EXPECT_THAT(gpu.message(), HasSubstr("PROGRAM_LENGTH"));
  EXPECT_EQ(gpu.run({kGpuProgram, "count", two, {1, 1, 1}, {1, 1, 64}}), WL_GPU_STATE_DONE) << gpu.message();
  EXPECT_EQ(gpu.run({kGpuProgram, "count", two, {1, 1, 1}, {1, 1, 65}}), WL_GPU_STATE_REFUSED);
  EXPECT_EQ(gpu.word(WL_GPU_ERROR_CODE_OFFSET), WL_GPU_LAUNCH_ERROR_BAD_SHAPE);
}

TEST_P(ServedGpuInEveryTime, TimingDoesNotChangeInTheMiddleOfAKernel) {
  const auto client = bench_.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  auto control = ControlClient::connect(bench_.control());
  ASSERT_TRUE(control.ok());
  ControlRequest request;
  request.kind = ControlRequest::Kind::timing;
  request.loose = !GetParam();
  // It waits for threads that never come: nothing is due meanwhile.
  gpu.start(
      {".version 8.2\n.target sm_80\n.address_size 64\n.visible .entry wait() { bar.sync 0, 64; ret; }\n",
       "wait",
       {}});
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  const auto refused = control.value().ask(request);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.faults().front().text(), HasSubstr("a kernel is under way"));
  request.loose = GetParam();
  EXPECT_TRUE(control.value().ask(request).ok());
  gpu.set(WL_GPU_CONTROL_OFFSET, WL_GPU_CONTROL_ABORT_MASK);
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_ABORTED);
  request.loose = !GetParam();
  const auto switched = control.value().ask(request);
  ASSERT_TRUE(switched.ok()) << switched.faults().front().text();
  EXPECT_EQ(switched.value().loose, !GetParam());
  expect_it_runs(gpu);
}

TEST_P(ServedGpuInEveryTime, SeveralRunKernelsAtTheSameTime) {
  constexpr unsigned kGpus = 3;
  ServedGpuBench bench(GetParam(), {ServedGpuBench::config({"gpus=3"}), 0, nullptr});
  std::vector<std::unique_ptr<vfio_user::ClientMachine>> clients;
  std::vector<GpuSoftware> gpus;
  for (unsigned i = 0; i < kGpus; ++i) {
    clients.push_back(bench.client(ServedGpuBench::kGpu + i));
    ASSERT_NE(clients.back(), nullptr);
    gpus.emplace_back(*clients.back());
  }
  // The first waits for software; the others run, fault and are reset meanwhile, each for itself.
  GpuSoftware &waits = gpus[0], &runs = gpus[1], &faults = gpus[2];
  const std::uint64_t flag = waits.at(GpuSoftware::kData);
  waits.start({kGpuProgram, "spin", {waits.address(flag)}, {4, 1, 1}});
  expect_it_runs(runs);
  EXPECT_EQ(faults.run({kGpuProgram, "store", {0x1000, 1}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_FAULTED);
  EXPECT_EQ(faults.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_UNMAPPED);
  faults.start({kGpuProgram, "spin", {faults.address(flag)}});
  ASSERT_EQ(clients[2]->connection().reset(), 0);
  ASSERT_EQ(clients[2]->bring_up(), 0);
  expect_it_runs(faults);
  EXPECT_EQ(waits.state(), WL_GPU_STATE_RUNNING);
  EXPECT_EQ(runs.word(WL_GPU_COMPLETIONS_OFFSET), 1U);
  EXPECT_EQ(runs.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_NONE);
  const std::uint32_t one = 1;
  waits.upload(flag, &one, 4);
  EXPECT_EQ(waits.wait(), WL_GPU_STATE_DONE);
  // Each has its own in names, counters and logs.
  const auto names = bench.within([&] {
    std::vector<std::string> out;
    for (unsigned port = 0; port < bench.machine().functions(); ++port)
      out.push_back(bench.machine().system().at_port(port).name);
    return out;
  });
  EXPECT_THAT(names, testing::ElementsAre("peer[0]", "gpu[0]", "gpu[1]", "gpu[2]"));
  std::map<std::string, std::uint64_t> launches;
  EachCounter counters([&launches](std::string_view block, std::string_view name, std::uint64_t value,
                                   std::string_view /*unit*/, std::string_view /*meaning*/) {
    if (name == "launches") launches[std::string(block)] = value;
  });
  bench.within([&] { bench.machine().system().visit(counters); });
  EXPECT_THAT(launches, testing::ElementsAre(testing::Pair("gpu[0]", 1), testing::Pair("gpu[1]", 1),
                                             testing::Pair("gpu[2]", 2)));
}

TEST_P(ServedGpuInEveryTime, WhatItsBlocksCountedIsToldInTotalsOfAllGpus) {
  ServedGpuBench bench(GetParam(), {ServedGpuBench::config({"gpus=2"}), 0, nullptr});
  const auto counted = [&bench] {
    std::vector<std::pair<std::string, std::uint64_t>> out;
    EachCounter counters([&out](std::string_view block, std::string_view name, std::uint64_t value,
                                std::string_view /*unit*/, std::string_view /*meaning*/) {
      out.emplace_back(std::string(block).append(".").append(name), value);
    });
    bench.within([&] { bench.serving().visit(counters); });
    return out;
  };
  const auto value = [&counted](const std::string& path) {
    std::vector<std::uint64_t> values;
    for (const auto& [its, v] : counted())
      if (its == path) values.push_back(v);
    EXPECT_EQ(values.size(), 1U) << path;
    return values.empty() ? 0 : values.front();
  };
  EXPECT_EQ(value("sm.instructions"), 0U);
  std::uint64_t before = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const auto client = bench.client(ServedGpuBench::kGpu + i);
    ASSERT_NE(client, nullptr);
    GpuSoftware gpu(*client);
    expect_it_runs(gpu);
    EXPECT_EQ(value("sm.ctas"), 3U * (i + 1));
    EXPECT_GT(value("sm.instructions"), before) << "of GPU " << i << ", too";
    before = value("sm.instructions");
    EXPECT_GT(value("sm.lsu.global_stores"), 0U);
    EXPECT_GT(value("l2.sector_accesses"), 0U);
  }
  // The protocol's own first, then those of GPUs as a run has them, then those of the bus.
  std::vector<std::string> order;
  for (const auto& [path, v] : counted())
    if (const std::string first = path.substr(0, path.find_first_of(".["));
        (first == "serve" || first == "sm" || first == "root") && (order.empty() || order.back() != first))
      order.push_back(first);
  EXPECT_THAT(order, testing::ElementsAre("serve", "sm", "root"));
}

TEST_P(ServedGpuInEveryTime, GpusOfOneMachineReachEachOthersMemory) {
  ServedGpuBench bench(GetParam(), {ServedGpuBench::config({"gpus=2"}), 0, nullptr});
  const auto one = bench.client(ServedGpuBench::kGpu), other = bench.client(ServedGpuBench::kGpu + 1),
             peer = bench.client(ServedGpuBench::kPeer);
  ASSERT_TRUE(one != nullptr && other != nullptr && peer != nullptr);
  GpuSoftware gpu(*one), far(*other);
  const std::uint64_t data = gpu.at(GpuSoftware::kData), window = WL_GPU_WINDOW_FIRST;
  // Both show their kernels the other's memory, at the same address; a kernel each writes there.
  const auto open = [&](GpuSoftware& of, const vfio_user::ClientMachine& to, unsigned number) {
    of.open_window(number, to.bars()[0].address + (data & ~std::uint64_t{4095}), window, 65536, true);
  };
  open(gpu, *other, 0);
  open(far, *one, 5);
  const std::uint64_t within = window + data % 4096;
  gpu.start({kGpuProgram, "count", {within, 1000}, {2, 1, 1}, {64, 1, 1}});
  far.start({kGpuProgram, "count", {within, 5000}, {2, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(gpu.wait(), WL_GPU_STATE_DONE) << gpu.message();
  EXPECT_EQ(far.wait(), WL_GPU_STATE_DONE) << far.message();
  EXPECT_EQ(far.words(data, 128), counted_from(1000, 128));
  EXPECT_EQ(gpu.words(data, 128), counted_from(5000, 128));
  // And one reads what the other has.
  ASSERT_EQ(gpu.run({kGpuProgram, "twice", {gpu.address(data), within}}), WL_GPU_STATE_DONE) << gpu.message();
  EXPECT_EQ(gpu.words(data, 2), (std::vector<std::uint32_t>{2000, 2002}));
  // A device copies from one to the other.
  ServedDriver driver(*peer);
  EXPECT_EQ(driver.copy(one->bars()[0].address + data, other->bars()[0].address + data, 256),
            WL_PEER_STATUS_CODE_OK);
  EXPECT_EQ(far.words(data, 2), (std::vector<std::uint32_t>{2000, 2002}));
  EXPECT_EQ(gpu.run({kGpuProgram, "store", {window + 65536, 1}, {1, 1, 1}, {1, 1, 1}}), WL_GPU_STATE_FAULTED);
  EXPECT_THAT(gpu.message(), HasSubstr("past the end of a window"));
}

/// Launches of kernels that never end, with a limit.
class GpuWithLimit : public ::testing::TestWithParam<std::tuple<bool, double>> {};

TEST_P(GpuWithLimit, AKernelThatRunsForTooLongIsFaulted) {
  ServedGpuBench bench(
      std::get<0>(GetParam()),
      {ServedGpuBench::config({"pcie.launch_limit_us=20", "gpus=2"}), std::get<1>(GetParam()), nullptr});
  const auto client = bench.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.set(WL_GPU_INTERRUPT_ENABLE_OFFSET, WL_GPU_INTERRUPT_ENABLE_ENDED_MASK);
  const std::uint64_t limit = 20ULL * gpu.word(WL_GPU_CLOCK_MHZ_OFFSET);
  const std::string stands =
      ".version 8.2\n.target sm_80\n.address_size 64\n.visible .entry wait() { bar.sync 0, 64; ret; }\n";
  for (const Launch& launch :
       {Launch{kGpuProgram, "spin", {gpu.address(gpu.at(GpuSoftware::kData))}, {4, 1, 1}},
        Launch{stands, "wait", {}}}) {
    gpu.start(launch);
    // Nobody looks meanwhile: no time passes by that.
    ASSERT_TRUE(gpu.hears_interrupt());
    EXPECT_EQ(gpu.state(), WL_GPU_STATE_FAULTED);
    EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_TIMEOUT);
    EXPECT_EQ(gpu.wide(WL_GPU_FAULT_ADDRESS_OFFSET), 0U);
    EXPECT_THAT(gpu.message(), HasSubstr("20 microseconds"));
    EXPECT_GE(gpu.wide(WL_GPU_CYCLES_OFFSET), limit);
    EXPECT_LT(gpu.wide(WL_GPU_CYCLES_OFFSET), 2 * limit);
  }
  EXPECT_EQ(gpu.run({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 7}}), WL_GPU_STATE_DONE);
  EXPECT_EQ(gpu.word(WL_GPU_FAULT_KIND_OFFSET), WL_GPU_FAULT_CODE_NONE);
}

TEST_P(GpuWithLimit, AResetEndsAKernelThatSpins) {
  ServedGpuBench bench(std::get<0>(GetParam()),
                       {ServedGpuBench::config({}), std::get<1>(GetParam()), nullptr});
  const auto client = bench.client(ServedGpuBench::kGpu);
  ASSERT_NE(client, nullptr);
  GpuSoftware gpu(*client);
  gpu.start({kGpuProgram, "spin", {gpu.address(gpu.at(GpuSoftware::kData))}, {4, 1, 1}});
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_RUNNING);
  ASSERT_EQ(client->connection().reset(), 0);
  ASSERT_EQ(client->bring_up(), 0);
  EXPECT_EQ(gpu.state(), WL_GPU_STATE_IDLE);
  EXPECT_EQ(gpu.run({kGpuProgram, "count", {gpu.address(gpu.at(GpuSoftware::kData)), 7}}), WL_GPU_STATE_DONE);
}

INSTANTIATE_TEST_SUITE_P(Serving, GpuWithLimit,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0.0, 0.01)),
                         [](const auto& time) {
                           return std::string(std::get<0>(time.param) ? "Loose" : "Timed") +
                                  (std::get<1>(time.param) == 0 ? "" : "Paced");
                         });

/// A write of a register, or a read, by hand.
std::uint32_t access(GpuRegisters& registers, TlpKind kind, std::uint64_t offset, std::uint32_t value = 0) {
  Tlp tlp;
  tlp.kind = kind;
  tlp.bytes = 4;
  if (kind == TlpKind::memory_write) tlp.carry(value);
  static_cast<void>(registers.perform({GpuRegisters::kRegisterBar, offset}, tlp, 1));
  return kind == TlpKind::memory_read ? static_cast<std::uint32_t>(number_at(tlp.data.data(), 4)) : 0;
}

TEST(UnservedGpu, RefusesLaunchesAndItsStateIsSaved) {
  const auto config = load_gpu("mini", {"pcie.registers=true"});
  ASSERT_TRUE(config.ok());
  std::string saved;
  for (const bool restores : {false, true}) {
    GpuPlatform platform(config.value(), {});
    platform.build();
    GpuRegisters& registers = *platform.system().gpu(0).link().function()->registers();
    if (restores) {
      StateArchive archive{std::string_view(saved)};
      registers.archive(archive);
    } else {
      access(registers, TlpKind::memory_write, WL_GPU_LAUNCH_DOORBELL_OFFSET, 1);
      StateArchive archive(saved);
      registers.archive(archive);
    }
    EXPECT_EQ(access(registers, TlpKind::memory_read, WL_GPU_STATUS_OFFSET), WL_GPU_STATE_REFUSED);
    EXPECT_EQ(access(registers, TlpKind::memory_read, WL_GPU_ERROR_CODE_OFFSET),
              WL_GPU_LAUNCH_ERROR_NOT_SERVED);
  }
}

std::string name_of_gpu_time(const ::testing::TestParamInfo<bool>& tested) {
  return tested.param ? "Loose" : "Timed";
}

INSTANTIATE_TEST_SUITE_P(Serving, ServedGpuInEveryTime, ::testing::Bool(), name_of_gpu_time);

}  // namespace served_gpu_test
}  // namespace warpline
