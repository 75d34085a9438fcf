// One stream of requests through a V100, of which `tests/bench/instructions` has the host's instructions
// counted.
#include <cstdio>
#include <string>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "tests/bench/stream_kernel.h"

namespace {

using namespace warpline;
using namespace warpline::bench;

constexpr std::uint64_t kLoadsPerWarp = 100;

struct Case {
  const char* name;
  std::uint64_t bytes;
  bool warm;  ///< the stream has run before
};

constexpr Case kCases[] = {
    {"l1_hit", 16384, true}, {"l2_hit", 1U << 20U, true}, {"dram", 256U << 20U, false}};

}  // namespace

/// What is counted: all within.
extern "C" __attribute__((noinline)) void counted_launch(GpuPlatform& platform, StreamKernel& kernel) {
  platform.launch(kernel, false);
}

/// instruction_bench l1_hit | l2_hit | dram: prints how many requests counted_launch() made.
int main(int argc, char** argv) {
  Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  const GpuConfig& config = loaded.value();
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  for (const Case& c : kCases) {
    if (argc != 2 || argv[1] != std::string(c.name)) continue;
    RunOptions options;
    options.tags_only = true;
    GpuPlatform platform(config, options);
    platform.map_everything();
    StreamKernel kernel({c.bytes / kLineBytes, warps, kLoadsPerWarp});
    if (c.warm) platform.launch(kernel, false);
    counted_launch(platform, kernel);
    std::printf("%llu\n", static_cast<unsigned long long>(warps * kLoadsPerWarp));
    return 0;
  }
  std::fprintf(stderr, "usage: instruction_bench l1_hit | l2_hit | dram\n");
  return 2;
}
