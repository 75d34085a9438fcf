#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "platform/launch/launch_runner.h"
#include "platform/machine/direct_backend.h"
#include "platform/observe/watcher.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {

/// What a run is asked for beside its files.
struct Watch {
  std::vector<std::string> probes;
  Window window;
  Cycle max_cycles = kNever;
  TickMode mode = TickMode::lazy;
  bool off = false;  ///< nobody watches
};

/// What a run left.
struct Watched {
  std::string wave, timeline, latency, reuse;
  RunOutcome outcome = RunOutcome::quiescent;
  Cycle cycles = 0;
  std::uint64_t ticks = 0;
  std::map<std::string, std::uint64_t> counters;
};

/// Of the counters whose paths begin and end so.
inline std::uint64_t sum(const Watched& run, const std::string& begin, const std::string& end) {
  std::uint64_t n = 0;
  for (const auto& [path, value] : run.counters)
    if (path.rfind(begin, 0) == 0 && path.size() > end.size() &&
        path.compare(path.size() - end.size(), end.size(), end) == 0)
      n += value;
  return n;
}

inline std::string take_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

/// Plays `launches(platform)` on a GPU; says how the last one ended.
template <class Launches>
Watched watch(const GpuConfig& config, bool tags_only, const Watch& how, Launches&& launches) {
  RunOptions options;
  const auto backend = std::make_shared<DirectBackend>(how.mode, 7);
  options.backend = backend;
  options.tags_only = tags_only;
  options.max_cycles = how.max_cycles;
  GpuPlatform platform(config, options);
  if (tags_only) platform.map_everything();
  const std::string name = testing::TempDir() + "watched" + std::to_string(::getpid());
  WatchOptions o;
  o.wave = name + ".vcd";
  o.timeline = name + ".json";
  o.latency = name + ".latency.json";
  o.reuse = name + ".reuse.json";
  o.probes = how.probes;
  o.window = how.window;
  Watched out;
  Watcher* observation = nullptr;
  out.outcome = launches(platform, [&] {
    if (how.off) return;
    observation = &platform.attach(make_watcher(platform, o));
    for (const Diagnostic& d : observation->start()) ADD_FAILURE() << d.text();
  });
  if (observation != nullptr) {
    for (const std::string& failure : observation->finish()) ADD_FAILURE() << failure;
    out.wave = take_file(o.wave);
    out.timeline = take_file(o.timeline);
    out.latency = take_file(o.latency);
    out.reuse = take_file(o.reuse);
  }
  out.cycles = platform.now();
  out.ticks = backend->engine().ticks();
  out.counters = AllCounters(platform).values();
  return out;
}

/// Generators of all kinds, one after the other.
inline Watched watch_generators(const GpuConfig& config, std::uint64_t seed, const Watch& how) {
  return watch(config, true, how, [&](GpuPlatform& platform, const auto& observe) {
    observe();
    Random random(seed);
    LaunchResult result;
    for (const char* kind : {"stream", "strided", "random", "reuse", "chase"}) {
      GeneratorParameters p;
      p.kind = kind;
      p.base = 0x7F0000000000ULL;
      p.footprint = 1024 * (8 + random.below(64));
      if (std::string(kind) == "chase") p.stride = 128;
      if (std::string(kind) == "strided") p.stride = 4 * (1 + random.below(40));
      p.accesses = 20 + random.below(100);
      p.seed = seed;
      p.grid = {static_cast<std::uint32_t>(1 + random.below(5)), 1, 1};
      p.block = {static_cast<std::uint32_t>(32 * (1 + random.below(4))), 1, 1};
      const std::unique_ptr<Kernel> kernel = make_generator(p);
      result = platform.launch(*kernel, random.below(2) == 0);
      if (result.outcome != RunOutcome::quiescent) break;
    }
    return result.outcome;
  });
}

/// Launch files, one after the other.
inline Watched watch_files(const GpuConfig& config, const std::vector<std::string>& paths, const Watch& how) {
  auto plan = read_workload(paths, false);
  if (!plan.ok()) throw std::runtime_error(plan.faults().front().text());
  return watch(config, false, how, [&](GpuPlatform& platform, const auto& observe) {
    LaunchRunner runner(plan.value(), platform, false);
    for (const Diagnostic& d : runner.prepare()) ADD_FAILURE() << d.text();
    observe();
    CounterTable table;
    std::vector<LaunchStatistics> launches;
    const RunEnd end = runner.run(table, launches);
    if (end.outcome == RunOutcome::quiescent) {
      EXPECT_TRUE(end.failures.empty()) << end.failures.front();
    }
    return end.outcome;
  });
}

inline Watched watch_file(const GpuConfig& config, const std::string& path, const Watch& how) {
  return watch_files(config, {path}, how);
}

/// A kernel of ours, its buffers in system memory if so wished.
inline Watched watch_kernel(const GpuConfig& config, const std::string& kernel, bool sysmem,
                            const Watch& how) {
  const std::string folder = WARPLINE_SOURCE_DIR "/sw/kernels/";
  std::ostringstream text;
  text << std::ifstream(folder + kernel + ".toml").rdbuf();
  std::string launch = text.str();
  const auto replace = [&launch](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = launch.find(from, at)) != std::string::npos; at += to.size())
      launch.replace(at, from.size(), to);
  };
  replace("module = \"", "module = \"" + folder);
  if (sysmem) replace("\ncount ", "\naperture = \"sysmem\"\ncount ");
  const std::string path = testing::TempDir() + "watched" + std::to_string(::getpid()) + ".toml";
  std::ofstream(path) << launch;
  Watched out = watch_file(config, path, how);
  std::filesystem::remove(path);
  return out;
}

}  // namespace warpline::test
