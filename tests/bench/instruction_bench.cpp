// One stream of requests through a V100, the loads of a trace as its SMs would ask for them, or the warp
// instructions of a timed PTX kernel, of which `tests/bench/instructions` has the host's instructions
// counted; or how many of them the host does in a second.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/programs/ptx/module.h"
#include "platform/programs/sass_trace/trace.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/base/counter.h"
#include "rtl_models/sm/instruction_source.h"
#include "tests/bench/arithmetic_kernel.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/stream_kernel.h"

int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace {

using namespace warpline;
using namespace warpline::bench;

struct Case {
  const char* name;
  std::uint64_t bytes;
  std::uint64_t loads_per_warp;
  bool warm;             ///< its lines have been read before
  bool scattered;        ///< what is counted is sectors
  bool sockets = false;  ///< every hop is one of TLM sockets
};

constexpr Case kCases[] = {{"l1_hit", 16384, 100, true, false},
                           {"l2_hit", 1U << 20U, 100, true, false},
                           {"dram", 256U << 20U, 100, false, false},
                           {"random_sectors", 2U << 20U, 4, true, true},
                           {"l2_sockets", 1U << 20U, 30, true, false, true},
                           {"dram_sockets", 256U << 20U, 30, false, false, true}};

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

/// What main() is asked for: instructions are counted by others, once; the rate is that of the best of some
/// launches.
enum class Mode { count, rate };

/// Has `launch` make `requests` of a stream, and prints what is asked for: how many there were, or how many
/// millions in a second of CPU time.
void measure(Mode mode, std::uint64_t requests, const std::function<void()>& launch) {
  if (mode == Mode::count) {
    counted_launch(launch);
    std::printf("%llu\n", static_cast<unsigned long long>(requests));
    return;
  }
  constexpr unsigned kLaunches = 3;
  double best = 1e99;
  for (unsigned i = 0; i < kLaunches; ++i) {
    const double start = cpu_seconds();
    launch();
    best = std::min(best, cpu_seconds() - start);
  }
  std::printf("%.2f\n", 1e-6 * static_cast<double>(requests) / best);
}

class WarpInstructions final : public CounterVisitor {
 public:
  explicit WarpInstructions(GpuPlatform& platform) { platform.visit(*this); }
  void counter(std::string_view, std::string_view name, std::uint64_t value, std::string_view,
               std::string_view) override {
    if (name == "instructions") total += value;
  }
  std::uint64_t total = 0;
};

/// Arithmetic of warps that fill the SMs, timed and with data.
void measure_arithmetic(Mode mode) {
  // Valgrind maps no more than some GiB.
  const Result<GpuConfig> loaded = load_gpu("v100", {"vidmem_bytes=1073741824", "sysmem_bytes=1073741824"});
  if (!loaded.ok()) std::exit(2);
  const GpuConfig& config = loaded.value();
  const auto module = ptx::parse(kArithmetic, "arithmetic");
  if (!module.ok()) std::exit(2);
  GpuPlatform platform(config, RunOptions{});
  const std::uint64_t out = platform.allocate("", 4);
  const auto launch = [&](std::uint32_t iterations) {
    std::vector<std::uint8_t> parameters(sizeof out + sizeof iterations);
    std::memcpy(parameters.data(), &out, sizeof out);
    std::memcpy(parameters.data() + sizeof out, &iterations, sizeof iterations);
    platform.launch(
        *module.value()->make_kernel("arithmetic", {2 * config.sms, 1, 1}, {1024, 1, 1}, 0, parameters));
  };
  // What is built at the first launch is no instruction's; and so many that launches weigh little.
  launch(1);
  const std::uint64_t before = WarpInstructions(platform).total;
  const std::uint32_t iterations = mode == Mode::rate ? 100 : 20;
  launch(iterations);
  const std::uint64_t instructions = WarpInstructions(platform).total - before;
  measure(mode, instructions, [&] { launch(iterations); });
}

/// The reading of a trace: its text, or (`packed`) what a run before has packed it to.
void measure_trace(Mode mode, bool packed) {
  std::string folder = (std::filesystem::temp_directory_path() / "warpline_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) std::exit(2);
  const std::string path = folder + "/kernel-1.traceg";
  write_trace(path);
  const sass::TraceCache cache = packed ? sass::TraceCache::on : sass::TraceCache::off;
  if (packed) play(path, cache);
  measure(mode, kTraceBlocks * kTraceWarps * kTraceLoads, [&] { play(path, cache); });
  std::filesystem::remove_all(folder);
}

void measure_stream(Mode mode, const Case& c, const GpuConfig& config) {
  RunOptions options;
  options.tags_only = true;
  if (c.sockets) options.backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::socket);
  GpuPlatform platform(config, options);
  platform.map_everything();
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm, lines = c.bytes / kLineBytes;
  // Timed, so many that launches weigh nothing, and that they come around no sooner than the stream's lines
  // do.
  constexpr std::uint64_t kTimesAsMany = 30;
  const std::uint64_t loads = c.loads_per_warp * (mode == Mode::rate ? kTimesAsMany : 1);
  StreamKernel kernel({lines, warps, loads, c.scattered});
  // What is built at the first launch is no request's.
  const std::uint64_t warm_loads = std::max(c.scattered ? 0 : c.loads_per_warp, lines / warps + 1);
  StreamKernel before({lines, warps, c.warm ? warm_loads : 0, false});
  platform.launch(before, false);
  measure(mode, warps * loads * (c.scattered ? kWarpLanes : 1), [&] { platform.launch(kernel, false); });
}

}  // namespace

/// instruction_bench STREAM: has counted_launch() make requests, or loads, and prints how many.
/// instruction_bench STREAM --rate: prints how many millions of them are made in a second of CPU time.
int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  const std::string name = argc > 1 ? argv[1] : "";
  const bool rate = argc == 3 && std::string(argv[2]) == "--rate";
  const Mode mode = rate ? Mode::rate : Mode::count;
  if (argc == 2 || rate) {
    if (name == "trace_text" || name == "trace_packed") {
      measure_trace(mode, name == "trace_packed");
      return 0;
    }
    if (name == "arithmetic") {
      measure_arithmetic(mode);
      return 0;
    }
    Result<GpuConfig> loaded = load_gpu("v100", {});
    if (!loaded.ok()) return 2;
    for (const Case& c : kCases) {
      if (name != c.name) continue;
      measure_stream(mode, c, loaded.value());
      return 0;
    }
  }
  std::fprintf(
      stderr,
      "usage: instruction_bench l1_hit | l2_hit | dram | random_sectors | l2_sockets | dram_sockets | "
      "arithmetic | trace_text | trace_packed [--rate]\n");
  return 2;
}
