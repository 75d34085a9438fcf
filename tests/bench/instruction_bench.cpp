// One stream of requests through a V100, or the loads of a trace as its SMs would ask for them, of which
// `tests/bench/instructions` has the host's instructions counted.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/sass_trace/trace.h"
#include "rtl_models/sm/instruction_source.h"
#include "tests/bench/stream_kernel.h"

namespace {

using namespace warpline;
using namespace warpline::bench;

struct Case {
  const char* name;
  std::uint64_t bytes;
  std::uint64_t loads_per_warp;
  bool warm;       ///< its lines have been read before
  bool scattered;  ///< what is counted is sectors
};

constexpr Case kCases[] = {{"l1_hit", 16384, 100, true, false},
                           {"l2_hit", 1U << 20U, 100, true, false},
                           {"dram", 256U << 20U, 100, false, false},
                           {"random_sectors", 2U << 20U, 4, true, true}};

constexpr unsigned kTraceBlocks = 40, kTraceWarps = 8, kTraceLoads = 200;

/// A trace of loads, each of a line of its own.
void write_trace(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out << "-kernel name = loads\n-grid dim = (" << kTraceBlocks << ",1,1)\n-block dim = ("
      << kTraceWarps * kWarpLanes
      << ",1,1)\n-nregs = 16\n-binary version = 70\n-accelsim tracer version = 5\n\n";
  unsigned line = 0;
  for (unsigned b = 0; b < kTraceBlocks; ++b) {
    out << "#BEGIN_TB\nthread block = " << b << ",0,0\n";
    for (unsigned w = 0; w < kTraceWarps; ++w) {
      out << "warp = " << w << "\ninsts = " << kTraceLoads << '\n';
      for (unsigned i = 0; i < kTraceLoads; ++i) {
        char text[96];
        std::snprintf(text, sizeof text, "%04x ffffffff 1 R%u LDG.E 1 R4 4 1 0x%llx 4 0\n", i % 64 * 16,
                      8 + i % 8, 0x7f0000000000ULL + kLineBytes * std::uint64_t{line++});
        out << text;
      }
    }
    out << "#END_TB\n";
  }
}

/// Executes a trace, warp after warp.
void play(const std::string& path, sass::TraceCache cache) {
  auto opened = sass::open_trace(path, cache);
  if (!opened.ok()) std::exit(2);
  const auto source = opened.value()->make_source({0, kTraceWarps});
  MemoryAccess access;
  Issue issue;
  issue.access = &access;
  for (std::uint32_t b = 0; b < kTraceBlocks; ++b)
    for (unsigned w = 0; w < kTraceWarps; ++w) {
      source->begin_warp(w, {b, 0, 0}, w, ~LaneMask{0});
      for (unsigned i = 0; i < kTraceLoads; ++i) {
        static_cast<void>(source->next(w));
        source->execute(w, issue);
      }
    }
}

}  // namespace

/// What is counted: all within.
extern "C" __attribute__((noinline)) void counted_launch(const std::function<void()>& launch) {
  launch();
}

namespace {

/// Counts the reading of a trace: its text, or (`packed`) what a run before has packed it to.
void count_trace(bool packed) {
  std::string folder = (std::filesystem::temp_directory_path() / "warpline_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) std::exit(2);
  const std::string path = folder + "/kernel-1.traceg";
  write_trace(path);
  const sass::TraceCache cache = packed ? sass::TraceCache::on : sass::TraceCache::off;
  if (packed) play(path, cache);
  counted_launch([&] { play(path, cache); });
  std::filesystem::remove_all(folder);
  std::printf("%u\n", kTraceBlocks * kTraceWarps * kTraceLoads);
}

}  // namespace

/// instruction_bench l1_hit | l2_hit | dram | random_sectors | trace_text | trace_packed: prints how many
/// requests, or loads, counted_launch() made.
int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  if (name == "trace_text" || name == "trace_packed") {
    count_trace(name == "trace_packed");
    return 0;
  }
  Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  const GpuConfig& config = loaded.value();
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  for (const Case& c : kCases) {
    if (name != c.name) continue;
    RunOptions options;
    options.tags_only = true;
    GpuPlatform platform(config, options);
    platform.map_everything();
    StreamKernel kernel({c.bytes / kLineBytes, warps, c.loads_per_warp, c.scattered});
    // What is built at the first launch is no request's.
    std::uint64_t loads = 0;
    if (c.warm) loads = std::max(c.scattered ? 0 : c.loads_per_warp, c.bytes / kLineBytes / warps + 1);
    StreamKernel before({c.bytes / kLineBytes, warps, loads, false});
    platform.launch(before, false);
    counted_launch([&] { platform.launch(kernel, false); });
    std::printf("%llu\n",
                static_cast<unsigned long long>(warps * c.loads_per_warp * (c.scattered ? kWarpLanes : 1)));
    return 0;
  }
  std::fprintf(
      stderr,
      "usage: instruction_bench l1_hit | l2_hit | dram | random_sectors | trace_text | trace_packed\n");
  return 2;
}
