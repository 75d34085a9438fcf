// What SystemC and sockets cost: the same streams through a GPU in plain C++, in SystemC with every hop
// negotiated to be direct, the same with a foreign monitor on one hop, with DRAM of somebody else's (the
// example custom_dram), which must cost the rest of the machine nothing, and with every hop over sockets.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/config/load_gpu.h"
#include "platform/machine/gpu_platform.h"
#include "platform/systemc/systemc_backend.h"
#include "sw/examples/custom_dram/my_dram.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/stream_kernel.h"
#include "tests/support/monitor.h"

int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace warpline::bench {
namespace {

enum class Way { plain, negotiated, monitored, own_dram, sockets };
constexpr Way kWays[] = {Way::plain, Way::negotiated, Way::monitored, Way::own_dram, Way::sockets};

/// A machine that others use, too, is slow for seconds at a time: every way has its turn in every round, and
/// the best round counts.
constexpr unsigned kRounds = 4;
constexpr unsigned kLaunches = 3;

/// The hop that is monitored.
constexpr const char* kMonitored = "l2[0].from_crossbar";

/// Requests per second of CPU time, best of all launches; in this process, as SystemC elaborates once.
double measure(const GpuConfig& config, const Stream& stream, Way way) {
  RunOptions options;
  options.tags_only = true;
  std::optional<test::Monitor> monitor;
  std::vector<std::unique_ptr<MyDram>> channels;
  if (way != Way::plain) {
    const auto backend = std::make_shared<SystemCBackend>(
        config.clocks, way == Way::sockets ? HopTransport::socket : HopTransport::direct);
    if (way == Way::monitored)
      backend->interpose([&monitor](const HopSite& site) -> HopSockets {
        if (site.name != kMonitored) return {};
        monitor.emplace(site.module_name.c_str());
        return {&monitor->from_initiator, &monitor->to_target};
      });
    if (way == Way::own_dram)
      backend->replace_dram([&channels](const DramSite& site) {
        MyDram::Parameters p;
        p.inputs = site.inputs;
        MyDram& channel = *channels.emplace_back(std::make_unique<MyDram>(site.name.c_str(), p));
        DramSockets sockets;
        for (const auto& socket : channel.from_l2) sockets.from_l2.push_back(socket.get());
        return sockets;
      });
    options.backend = backend;
  }
  GpuPlatform platform(config, options);
  platform.map_everything();
  StreamKernel kernel(stream);
  platform.launch(kernel, false);
  double best = 0;
  for (unsigned i = 0; i < kLaunches; ++i) {
    const double start = cpu_seconds();
    platform.launch(kernel, false);
    best =
        std::max(best, static_cast<double>(stream.warps * stream.loads_per_warp) / (cpu_seconds() - start));
  }
  return best;
}

/// The same in a process of its own.
double measure_apart(const GpuConfig& config, const Stream& stream, Way way) {
  int ends[2] = {};
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const double rate = measure(config, stream, way);
    const bool sent = write(ends[1], &rate, sizeof rate) == sizeof rate;
    _exit(sent ? 0 : 1);
  }
  double rate = 0;
  if (read(ends[0], &rate, sizeof rate) != sizeof rate) rate = 0;
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return rate;
}

int run(const std::string& only) {
  const Result<GpuConfig> loaded = load_gpu("v100", {});
  if (!loaded.ok()) return 2;
  const GpuConfig& config = loaded.value();
  const std::uint64_t warps = std::uint64_t{config.sms} * kWarpsPerSm;
  std::printf("Warp requests per second of CPU time, tags only, %u SMs: what SystemC and sockets cost\n\n",
              config.sms);
  std::printf("%-8s %12s %22s %28s %28s %28s\n", "stream", "plain C++", "SystemC, direct (bar)",
              "one monitored, of direct", "own DRAM, of direct", "SystemC, sockets (bar)");
  struct Case {
    const char* name;
    std::uint64_t bytes;
    double bar;
    const char* dram_bar;  ///< with own DRAM, of direct; where it is DRAM that works, it is what it is
  };
  for (const Case& c : {Case{"L1 hit", 16384, 0, " (90%)"}, Case{"L2 hit", 4U << 20U, 0.6, " (90%)"},
                        Case{"DRAM", 256U << 20U, 0.5, ""}}) {
    if (!only.empty() && only != c.name) continue;
    const Stream s{c.bytes / kLineBytes, warps, 1'000'000 / warps};
    std::array<double, std::size(kWays)> best{};
    for (unsigned round = 0; round < kRounds; ++round)
      for (std::size_t w = 0; w < best.size(); ++w)
        best[w] = std::max(best[w], measure_apart(config, s, kWays[w]));
    const auto [plain, direct, monitored, own_dram, sockets] = best;
    std::printf(
        "%-8s %10.2f M %10.2f M %4.0f%% (95%%) %16.2f M %4.0f%% (90%%) %14.2f M %4.0f%%%-6s %10.2f M %4.0f%% "
        "(%.1f M)\n",
        c.name, 1e-6 * plain, 1e-6 * direct, 100 * direct / plain, 1e-6 * monitored, 100 * monitored / direct,
        1e-6 * own_dram, 100 * own_dram / direct, c.dram_bar, 1e-6 * sockets, 100 * sockets / plain, c.bar);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace warpline::bench

/// transport_bench ["L1 hit" | "L2 hit" | DRAM]: all streams, or the one named.
int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  try {
    return warpline::bench::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "transport_bench: %s\n", e.what());
    return 1;
  }
}
