// What threads gain (Engine::set_threads): a stream that fills a GPU, on one thread and on several, in turn.
// From the work of each window, cluster by cluster, follows what more threads could gain at most, on a
// machine that has them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist_backend.h"
#include "rtl_models/sim/engine.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/stream_kernel.h"

namespace warpline::bench {
namespace {

constexpr std::array<unsigned, 6> kCounts = {1, 2, 4, 8, 16, 32};

struct Figure {
  double wall = 1e99, cpu = 1e99;  ///< seconds, of the fastest repetition
  Cycle cycles = 0;
};

struct Sums {
  double windows = 0, clusters = 0, work = 0, longest = 0, run = 0, handover = 0;
  std::array<double, kCounts.size()> least{};  ///< with so many threads: the longest cluster, or a fair share
  void add(const Engine::Window& w) {
    ++windows;
    clusters += w.clusters;
    work += static_cast<double>(w.work);
    longest += static_cast<double>(w.longest);
    run += static_cast<double>(w.run);
    handover += static_cast<double>(w.handover);
    for (std::size_t i = 0; i < kCounts.size(); ++i)
      least[i] += std::max(static_cast<double>(w.longest), static_cast<double>(w.work) / kCounts[i]);
  }
};

class Bench {
 public:
  Bench(const GpuConfig& config, const Stream& stream, unsigned threads) : kernel_(stream) {
    RunOptions options;
    options.tags_only = true;
    options.threads = threads;
    platform_.emplace(config, options);
    platform_->map_everything();
    platform_->launch(kernel_, false);
    platform_->backend().engine().on_window([this](const Engine::Window& w) { sums.add(w); });
  }
  void repeat() {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    figure.cycles = platform_->launch(kernel_, false).cycles;
    figure.wall = std::min(figure.wall,
                           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    figure.cpu = std::min(figure.cpu, cpu_seconds() - cpu);
  }
  Figure figure;
  Sums sums;

 private:
  StreamKernel kernel_;
  std::optional<GpuPlatform> platform_;
};

void compare(const GpuConfig& config, const char* name, std::uint64_t bytes, unsigned threads) {
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  const Stream stream{bytes / kLineBytes, warps, std::max<std::uint64_t>(1, 500'000 / warps)};
  Bench one(config, stream, 1), several(config, stream, threads);
  for (unsigned r = 0; r < 5; ++r) {
    one.repeat();
    several.repeat();
  }
  std::printf("%-8s 1 thread %.3f s, %u threads %.3f s (%.3f s CPU): %.2f%s\n", name, one.figure.wall,
              threads, several.figure.wall, several.figure.cpu, one.figure.wall / several.figure.wall,
              one.figure.cycles == several.figure.cycles ? "" : "; CYCLES DIFFER");
  const Sums& s = several.sums;
  if (s.windows == 0) return;
  std::printf(
      "         a window: %.0f clusters, work %.1f us, of which the longest %.1f us; run %.1f us, handed "
      "over in %.1f us\n",
      s.clusters / s.windows, 1e-3 * s.work / s.windows, 1e-3 * s.longest / s.windows,
      1e-3 * s.run / s.windows, 1e-3 * s.handover / s.windows);
  std::printf("         at most, by work and handing over:");
  for (std::size_t i = 0; i < kCounts.size(); ++i)
    std::printf(" %u: %.2f", kCounts[i], s.work / (s.least[i] + s.handover));
  std::printf("\n");
}

}  // namespace
}  // namespace warpline::bench

/// threads_bench [GPU [THREADS]]
int main(int argc, char** argv) {
  using namespace warpline::bench;
  const auto config = warpline::load_gpu(argc > 1 ? argv[1] : "v100", {});
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  if (!config.ok() || threads < 1) return 2;
  for (const auto& [name, bytes] :
       {std::pair{"L1 hit", 16384ULL}, {"L2 hit", 4ULL << 20U}, {"DRAM", 256ULL << 20U}})
    compare(config.value(), name, bytes, static_cast<unsigned>(threads));
  return 0;
}
