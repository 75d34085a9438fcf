// Launch files that name GPUs, and memory that all of them reach.
#include <gtest/gtest.h>

#include "rtl_models/isa/mem_op.h"
#include "tests/platform/machine/ptx_run.h"

namespace warpline::test {
namespace launch_gpus_test {

const std::string kModule =
    ".version 8.5\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .u64 %x<2>;\n.reg .u32 %r;\n"
    "ld.param.u64 %x0, [a];\nld.param.u64 %x1, [b];\nld.global.u32 %r, [%x0];\nadd.u32 %r, %r, 1;\n"
    "st.global.u32 [%x0], %r;\nst.global.u32 [%x1], %r;\nret;\n}\n";

std::string launch(unsigned gpu, const std::string& arguments) {
  return "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\ngpu = " +
         std::to_string(gpu) + "\n" + arguments;
}

std::string argument(const std::string& name, const std::string& more = {}) {
  return "[[launch.argument]]\nbuffer = \"" + name + "\"\n" + more;
}

std::string declared(const std::string& aperture, unsigned expect) {
  return "type = \"u32\"\ncount = 1\naperture = \"" + aperture +
         "\"\nexpect = { value = " + std::to_string(expect) + " }\n";
}

/// What is wrong with running these launches.
std::string refusal(const std::string& launches, const std::vector<std::string>& overrides,
                    const std::string& module = kModule) {
  try {
    const PtxRun run(module, launches, overrides);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(LaunchGpus, BuffersBeyondTheLinksAreEveryGpus) {
  for (const char* shared : {"sysmem", "peer"}) {
    PtxRun run(kModule,
               launch(1, argument("s", declared(shared, 3)) + argument("one", declared("vidmem", 1))) +
                   launch(0, argument("s") + argument("zero", declared("vidmem", 2))) +
                   launch(1, argument("s") + argument("one")),
               {{"gpus=2"}});
    EXPECT_EQ(run.end().checks, 3U);
    // GPU 1 writes its own buffer twice.
    EXPECT_EQ(run.end().failures.size(), 1U);
    EXPECT_NE(run.end().failures.at(0).find("\"one\""), std::string::npos);
    EXPECT_TRUE(run.gpu().unreconciled().empty());
  }
}

TEST(LaunchGpus, WhatNoGpuReachesIsRefusedWhereItStands) {
  const std::string shared = argument("s", declared("sysmem", 1));
  const std::string own = argument("v", declared("vidmem", 1));
  EXPECT_NE(refusal(launch(1, shared + own), {}).find("the platform has no GPU 1"), std::string::npos);
  EXPECT_NE(refusal(launch(0, shared + own) + launch(1, argument("s") + argument("v")), {{"gpus=2"}})
                .find("buffer \"v\" lies in the video memory of GPU 0, which GPU 1 does not reach"),
            std::string::npos);
  EXPECT_NE(refusal(launch(8, shared + own), {{"gpus=8"}}).find("gpu"), std::string::npos);
  EXPECT_NE(refusal(launch(0, argument("p", declared("peer", 1)) + own), {{"peer_bytes=0"}})
                .find("does not fit the peer's memory"),
            std::string::npos);
}

TEST(LaunchGpus, AModuleWithVariablesRunsOnOneGpu) {
  const std::string module =
      ".version 8.5\n.target sm_90\n.address_size 64\n.global .u32 v = 5;\n"
      ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .u64 %x<2>;\n.reg .u32 %r;\n"
      "ld.param.u64 %x0, [a];\nld.global.u32 %r, [v];\nst.global.u32 [%x0], %r;\nret;\n}\n";
  const std::string first = argument("s", declared("sysmem", 5)) + argument("v", declared("vidmem", 0));
  PtxRun run(module, launch(1, first), {{"gpus=2"}});
  EXPECT_TRUE(run.end().failures.empty());
  EXPECT_EQ(run.end().checks, 2U);
  EXPECT_NE(refusal(launch(1, first) + launch(0, argument("s") + argument("s")), {{"gpus=2"}}, module)
                .find("has variables, which lie in the memory of GPU 1"),
            std::string::npos);
}

TEST(LaunchGpus, GeneratorsRunOnAnyGpu) {
  GpuConfig config = preset("mini", {{"gpus=3"}});
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  GeneratorParameters p;
  p.kind = "stream";
  p.footprint = 4096;
  p.accesses = 64;
  p.base = platform.allocate("", p.footprint, Aperture::vidmem, 2);
  const std::unique_ptr<Kernel> kernel = make_generator(p);
  EXPECT_EQ(platform.launch({GridLaunch{kernel.get(), 2, true}}).outcome, RunOutcome::quiescent);
  const auto counters = AllCounters(platform).values();
  EXPECT_GT(counters.at("gpu[2].sm[0].instructions"), 0U);
  EXPECT_EQ(counters.at("gpu[0].sm[0].instructions"), 0U);
  EXPECT_TRUE(platform.unreconciled().empty());
}

}  // namespace launch_gpus_test
}  // namespace warpline::test
