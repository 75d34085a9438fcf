// Code that is fetched through the caches: where it lies, what it costs, and that time is the same however
// the netlist is ticked.
#include <gtest/gtest.h>

#include "platform/machine/cache_registers.h"
#include "platform/machine/gpu_memories.h"
#include "platform/programs/ptx/module.h"
#include "platform/programs/wls/module.h"
#include "tests/platform/machine/ptx_run.h"
#include "tests/platform/machine/random_code.h"
#include "tests/platform/machine/random_machine.h"

namespace warpline::test {
namespace fetch_test {

const char* const kModule = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry first(.param .u64 out) {
  .reg .u64 %p, %q;
  .reg .u32 %t;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %q, %t, 4;
  add.u64 %p, %p, %q;
  st.global.u32 [%p], %t;
  ret;
}
)";

TEST(Fetch, ASecondLaunchOfAKernelFindsItsCodeWarm) {
  std::map<std::string, std::uint64_t> once, twice;
  for (auto* counters : {&once, &twice}) {
    std::string file;
    for (int n = 0; n < (counters == &once ? 1 : 2); ++n) {
      file +=
          "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"first\"\ngrid = [1, 1, 1]\nblock = [32, 1, "
          "1]\n[[launch.argument]]\nbuffer "
          "= \"o\"\n";
      if (n == 0) file += "type = \"u32\"\ncount = 32\nexpect = { expression = \"i\" }\n";
    }
    PtxRun run(kModule, file);
    EXPECT_EQ(run.end().checks - run.end().failed_checks, 1U);
    *counters = AllCounters(run.gpu()).values();
  }
  EXPECT_GE(once.at("sm[0].fetch.requests"), 1U);
  EXPECT_EQ(once.at("sm[0].instruction.sector_misses"), once.at("sm[0].fetch.sectors"));
  EXPECT_EQ(twice.at("sm[0].fetch.requests"), once.at("sm[0].fetch.requests"));
  EXPECT_EQ(twice.at("sm[0].fetch.waits"), once.at("sm[0].fetch.waits"));
}

TEST(Fetch, AnotherTextOfTheSameNameIsOtherCode) {
  const auto program = [](const std::string& opcode) {
    return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .u32 %r;\n" + opcode +
           " %r, %tid.x;\nret;\n}\n";
  };
  const std::string sass = "MOV R0, 1;\n", other = "MOV R0, 2;\n";
  const auto ptx_name = [](const std::string& text) {
    auto module = ptx::parse(text, "k.ptx");
    return module.value()->make_kernel("k", {1, 1, 1}, {1, 1, 1}, 0, {})->info().code_name;
  };
  const auto wls_name = [](const std::string& text) {
    auto parsed = wls::parse(text, "k.wls");
    return parsed.value().module->make_kernel("main", {1, 1, 1}, {1, 1, 1}, 0, {})->info().code_name;
  };
  EXPECT_EQ(ptx_name(program("mov.u32")), ptx_name(program("mov.u32")));
  EXPECT_NE(ptx_name(program("mov.u32")), ptx_name(program("not.b32")));
  EXPECT_EQ(wls_name(sass), wls_name(sass));
  EXPECT_NE(wls_name(sass), wls_name(other));
}

TEST(Fetch, ASmallBufferIsServedByTheInstructionCache) {
  const GpuConfig config = preset("mini", {{"sm.instruction_buffer_lines=1"}});
  const FetchOutcome o = fetch_code(config, 3), whole = fetch_code(preset("mini"), 3);
  EXPECT_GT(o.counters.at("sm[0].instruction.sector_hits"),
            2 * whole.counters.at("sm[0].instruction.sector_hits"));
  EXPECT_GT(o.counters.at("sm[0].fetch.requests"), whole.counters.at("sm[0].fetch.requests"));
}

TEST(Fetch, ADriverThatInvalidatesInstructionsHasThemFetchedFromL2Again) {
  RunOptions options;
  options.tags_only = true;
  for (const bool invalidates : {false, true}) {
    GpuPlatform gpu(preset("mini", {{"sms=1"}}), options);
    gpu.map_everything();
    Random random(5);
    RandomCode kernel(random, "k", 4, false);
    ASSERT_EQ(gpu.launch(kernel).outcome, RunOutcome::quiescent);
    const AllCounters before(gpu);
    gpu.registers().write(CacheRegisters::kInvalidate, invalidates ? CacheRegisters::kInstruction : 0);
    ASSERT_EQ(gpu.launch(kernel).outcome, RunOutcome::quiescent);
    const AllCounters after(gpu);
    EXPECT_EQ(before.total("instruction.sector_misses"), 16U);
    EXPECT_EQ(after.total("instruction.sector_misses"), invalidates ? 32U : 16U);
    EXPECT_EQ(after.total("fetch.requests"), invalidates ? 8U : 4U);
  }
}

TEST(Fetch, EveryTickModeGivesTheSameRun) {
  std::uint64_t invalidations = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const GpuConfig config = random_machine(random);
    const FetchOutcome lazy = fetch_code(config, seed);
    ASSERT_EQ(lazy, fetch_code(config, seed, TickMode::every_cycle));
    ASSERT_EQ(lazy, fetch_code(config, seed, TickMode::spurious_and_shuffled));
    invalidations += lazy.counters.at("sm[0].instruction.invalidations");
  }
  EXPECT_GT(invalidations, 20U);
}

TEST(Fetch, LooselyTimedTheSameInstructionsRunAndInvalidateAsOften) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const GpuConfig config = random_machine(random);
    const FetchOutcome timed = fetch_code(config, seed);
    const FetchOutcome loose = fetch_code(config, seed, TickMode::lazy, nullptr, true);
    for (const char* name : {".instructions", ".instruction.invalidations"}) {
      std::uint64_t a = 0, b = 0;
      for (unsigned i = 0; i < config.sms; ++i) {
        a += timed.counters.at("sm[" + std::to_string(i) + "]" + name);
        b += loose.counters.at("sm[" + std::to_string(i) + "]" + name);
      }
      EXPECT_EQ(a, b) << name;
    }
  }
}

TEST(GpuMemories, CodeLiesAtTheEndAndMovesNoBuffer) {
  GpuConfig config = preset("mini");
  config.vidmem_bytes = std::uint64_t{4} << 20U;
  GpuMemories memory(config), without(config);
  EXPECT_EQ(memory.allocate("a", 1000, Aperture::vidmem, 0),
            without.allocate("a", 1000, Aperture::vidmem, 0));
  const auto first = memory.place_code(0, "k", 1000, true);
  const auto second = memory.place_code(0, "l", 256, true);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, config.vidmem_bytes - 1024);
  EXPECT_EQ(*second, *first - 256);
  EXPECT_EQ(memory.place_code(0, "k", 1000, true), first) << "it lies there already";
  EXPECT_NE(memory.place_code(0, "k", 1001, true), first) << "other code of the same name";
  EXPECT_EQ(memory.allocate("b", 1000, Aperture::vidmem, 0),
            without.allocate("b", 1000, Aperture::vidmem, 0));
  EXPECT_EQ(memory.local_base(0, 512, true), *second - 1024 - 512);
  const std::uint64_t left = memory.free_vidmem(0);
  EXPECT_FALSE(memory.place_code(0, "m", left + 1, true));
  EXPECT_NE(memory.allocate("", left, Aperture::vidmem, 0), 0U);
  EXPECT_EQ(memory.allocate("", 1, Aperture::vidmem, 0), 0U) << "code is nobody's buffer";
  EXPECT_FALSE(memory.place_code(0, "m", 1, true));
  EXPECT_TRUE(memory.place_code(0, "m", std::uint64_t{1} << 32U, false)) << "without data it needs no room";
}

TEST(GpuMemories, WhatLiesBelow4GiBIsNobodyElses) {
  GpuConfig config = preset("mini", {{"gpus=2"}, {"wls_window=0xFFFFF000"}});
  GpuMemories memory(config);
  const std::uint64_t buffer = memory.allocate("a", 1000, Aperture::vidmem, 0);
  EXPECT_EQ(memory.allocate_below_4g(256, 0), 0xFFFF'F000U);
  EXPECT_EQ(memory.allocate_below_4g(1, 1), 0xFFFF'F100U) << "on another GPU, at another address";
  EXPECT_EQ(memory.allocate_below_4g(3584, 0), 0xFFFF'F200U);
  EXPECT_EQ(memory.allocate_below_4g(1, 0), 0U) << "no room below 4 GiB";
  EXPECT_EQ(memory.allocate("b", 1, Aperture::vidmem, 0), buffer + 1024 + 256 + 3584)
      << "each takes its place in video memory";
  const std::uint32_t written = 42;
  memory.write(0xFFFF'F100U, &written, 1);
  EXPECT_EQ(*memory.vidmem(1).at(ConstantBanks::kBanks * ConstantBanks::kBankBytes), 42U);
}

TEST(Fetch, CodeThatDoesNotFitIsRefusedWithTheReason) {
  GpuPlatform gpu(preset("mini"), RunOptions{});
  KernelInfo info;
  info.name = info.code_name = "k";
  info.grid = info.block = {1, 1, 1};
  info.code_bytes = gpu.config().vidmem_bytes;
  const std::vector<std::string> why = gpu.refusals(info);
  ASSERT_EQ(why.size(), 1U);
  EXPECT_EQ(why.front(), "its 1073741824 bytes of code do not fit video memory");
}

TEST(Platform, ProgramsThatNeedDataAreRefusedWhereThereIsNone) {
  RunOptions options;
  options.tags_only = true;
  const GpuPlatform without(preset("mini"), options);
  const GpuPlatform with(preset("mini"), RunOptions{});
  KernelInfo info;
  info.grid = info.block = {1, 1, 1};
  EXPECT_EQ(with.refusals(info), std::vector<std::string>{});
  EXPECT_EQ(without.refusals(info),
            std::vector<std::string>{"the program needs data, and the platform has none (tags only)"});
  info.carries_data = false;
  EXPECT_EQ(without.refusals(info), std::vector<std::string>{});
  EXPECT_EQ(with.refusals(info).size(), 1U);
}

}  // namespace fetch_test
}  // namespace warpline::test
