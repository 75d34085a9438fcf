// What observing costs: a stream through a GPU unobserved, with a wave of one L2 slice, and with everything.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/observe/watcher.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/stream_kernel.h"

namespace warpline::bench {
namespace {

enum class What { nothing, slice_wave, slice_both, all_wave };
constexpr double kBar = 1.5;  ///< a wave of one slice, times the run without

/// CPU seconds of one launch. The files are removed.
double measure(const GpuConfig& config, const Stream& stream, What what) {
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  platform.map_everything();
  WatchOptions o;
  if (what != What::nothing) o.wave = "observe_bench.vcd";
  if (what == What::slice_both) o.timeline = "observe_bench.json";
  if (what == What::slice_wave || what == What::slice_both) o.probes = {"l2[0]*"};
  Watcher* observation = nullptr;
  if (o.wanted()) {
    observation = &platform.attach(make_watcher(platform, o));
    if (!observation->start().empty()) return 0;
  }
  StreamKernel kernel(stream);
  const double start = cpu_seconds();
  platform.launch(kernel, false);
  if (observation != nullptr) static_cast<void>(observation->finish());
  const double seconds = cpu_seconds() - start;
  std::remove(o.wave.c_str());
  std::remove(o.timeline.c_str());
  return seconds;
}

int run() {
  std::printf("CPU time of a stream that hits in L2, times that of the run that nobody observes\n\n");
  std::printf("%-6s %18s %18s %18s\n", "gpu", "wave of l2[0]", "and its timeline", "wave of all");
  bool good = true;
  for (const char* gpu : {"mini", "v100"}) {
    const Result<GpuConfig> loaded = load_gpu(gpu, {});
    if (!loaded.ok()) return 2;
    const GpuConfig& config = loaded.value();
    const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
    const Stream s{(256U << 10U) / kLineBytes, warps, 400'000 / warps};
    double best[4] = {1e9, 1e9, 1e9, 1e9};
    // Interleaved, so that what else the host does meets all alike.
    for (unsigned i = 0; i < 5; ++i)
      for (const What what : {What::nothing, What::slice_wave, What::slice_both, What::all_wave}) {
        double& b = best[static_cast<unsigned>(what)];
        b = std::min(b, measure(config, s, what));
      }
    const double slice = best[1] / best[0];
    std::printf("%-6s %9.2f (%.1f)%s %18.2f %18.2f\n", gpu, slice, kBar, slice < kBar ? "    " : " !!!",
                best[2] / best[0], best[3] / best[0]);
    std::fflush(stdout);
    good = good && slice < kBar;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace warpline::bench

int main() {
  return warpline::bench::run();
}
