// How many warp requests per second the model carries, next to what the look-ups of the same stream cost
// without time: the ratios are what counts, as all run in turn on the same machine.
#include <algorithm>
#include <cstdio>
#include <string>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/stream_kernel.h"
#include "tests/bench/stream_look_ups.h"

namespace warpline::bench {
namespace {

struct Case {
  const char* name;
  std::uint64_t bytes;
  double aim_millions;
  double bar_ratio;
};

/// Sectors per second of loads each of whose lanes reads a sector of its own, anywhere in 2 MiB.
constexpr std::uint64_t kScatteredBytes = 2U << 20U;
constexpr double kScatteredAimMillions = 1.6;

/// Seconds of CPU time per request, best of the repetitions.
struct Figure {
  double model = 1e99, tags = 1e99, cores = 1e99;
};

Figure measure(const GpuConfig& config, const Stream& stream, unsigned repetitions) {
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  platform.map_everything();
  StreamKernel kernel(stream);
  BareTags tags(config);
  TimelessCores cores(config);
  const auto seconds = [&stream](auto&& work) {
    const double start = cpu_seconds();
    work();
    return (cpu_seconds() - start) / static_cast<double>(stream.warps * stream.loads_per_warp);
  };
  const auto run_model = [&] { platform.launch(kernel, false); };
  const auto run_tags = [&] {
    replay(stream, config.sms, [&tags](unsigned sm, std::uint64_t n) { tags.look_up(sm, n); });
  };
  const auto run_cores = [&] {
    replay(stream, config.sms, [&cores](unsigned sm, std::uint64_t n) { cores.look_up(sm, n); });
  };
  run_model();
  run_tags();
  run_cores();
  Figure best;
  for (unsigned r = 0; r < repetitions; ++r) {
    best.model = std::min(best.model, seconds(run_model));
    best.tags = std::min(best.tags, seconds(run_tags));
    best.cores = std::min(best.cores, seconds(run_cores));
  }
  return best;
}

std::uint64_t loads_for(std::uint64_t requests, std::uint64_t warps) {
  return std::max<std::uint64_t>(1, requests / warps);
}

/// Requests per second, and how many times the cost of bare look-ups that is. `only`: the stream wanted, or
/// nothing for all.
void rates(const GpuConfig& config, const std::string& only) {
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  std::printf(
      "Warp requests per second of CPU time, tags only: %u SMs of %u warps, %u slices, %u channels; best of "
      "5\n\n",
      config.sms, kWarpsPerSm, config.l2.slices, config.dram.channels);
  std::printf("%-8s %12s %8s   %18s   %18s\n", "stream", "requests/s", "aim", "x bare tags (bar)",
              "x timeless cores");
  const Case cases[] = {
      {"L1 hit", 16384, 8, 10}, {"L2 hit", 4U << 20U, 1.5, 15}, {"DRAM", 256U << 20U, 1, 20}};
  for (const Case& c : cases) {
    if (!only.empty() && only != c.name) continue;
    const Stream s{c.bytes / kLineBytes, warps, loads_for(1'000'000, warps)};
    const Figure f = measure(config, s, 5);
    std::printf("%-8s %10.2f M %6.1f M   %11.1f  (%3.0f)   %18.1f\n", c.name, 1e-6 / f.model, c.aim_millions,
                f.model / f.tags, c.bar_ratio, f.model / f.cores);
    std::fflush(stdout);
  }
}

/// Sectors per second of a warm L2 where no two lanes of a load share a line, or hardly.
void scattered(const GpuConfig& config) {
  RunOptions options;
  options.tags_only = true;
  GpuPlatform platform(config, options);
  platform.map_everything();
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm, lines = kScatteredBytes / kLineBytes;
  StreamKernel warm({lines, warps, lines / warps + 1});
  platform.launch(warm, false);
  const std::uint64_t loads = loads_for(1'000'000 / kWarpLanes, warps);
  StreamKernel kernel({lines, warps, loads, true});
  double best = 1e99;
  for (unsigned r = 0; r < 5; ++r) {
    const double start = cpu_seconds();
    platform.launch(kernel, false);
    best = std::min(best, cpu_seconds() - start);
  }
  std::printf("\nLoads of %u sectors anywhere in %llu MiB: %.2f M sectors/s   (aim %.1f M)\n", kWarpLanes,
              static_cast<unsigned long long>(kScatteredBytes >> 20U),
              1e-6 * static_cast<double>(warps * loads * kWarpLanes) / best, kScatteredAimMillions);
}

/// Time per request must not grow with the length of a run or the size of the machine.
void growth(const GpuConfig& base) {
  std::printf("\nGrowth of the time per request, L2 hits\n\n");
  const std::uint64_t warps = std::uint64_t{base.sms} * kWarpsPerSm;
  const Stream million{(4U << 20U) / kLineBytes, warps, loads_for(1'000'000, warps)};
  Stream ten = million;
  ten.loads_per_warp *= 10;
  const Figure one = measure(base, million, 5);
  std::printf("%-28s %6.2f   (bar 1.15)\n", "10^7 to 10^6 requests", measure(base, ten, 1).model / one.model);
  GpuConfig small = base, large = base;
  small.sms = 8;
  large.sms = 144;
  const auto at = [](const GpuConfig& c) {
    const std::uint64_t w = std::uint64_t{c.sms} * kWarpsPerSm;
    return measure(c, {(4U << 20U) / kLineBytes, w, loads_for(1'000'000, w)}, 5);
  };
  const Figure few = at(small), many = at(large);
  std::printf("%-28s %6.2f   (bar 1.30)\n", "144 to 8 SMs", many.model / few.model);
  std::printf("%-28s %6.2f   (bar 1.15)\n", "the same, to the bare tags",
              many.model / many.tags / (few.model / few.tags));
}

int run(const std::string& only) {
  Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  if (only != "growth" && only != "scattered") rates(loaded.value(), only);
  if (only.empty() || only == "scattered") scattered(loaded.value());
  if (only.empty() || only == "growth") growth(loaded.value());
  return 0;
}

}  // namespace
}  // namespace warpline::bench

/// speed_bench ["L1 hit" | "L2 hit" | DRAM | scattered | growth]: all, or the one named.
int main(int argc, char** argv) {
  return warpline::bench::run(argc > 1 ? argv[1] : "");
}
