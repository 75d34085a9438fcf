#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/launch/launch_runner.h"
#include "tests/platform/machine/harness.h"

namespace warpline::test {

/// Runs a PTX module on the preset mini. Throws what is wrong with it.
class PtxRun {
 public:
  /// `launch`: the launch file; the module lies beside it as k.ptx, and so do `files`, by name. `before` gets
  /// the platform before anything runs.
  PtxRun(const std::string& ptx, const std::string& launch, const std::vector<std::string>& overrides = {},
         const std::map<std::string, std::string>& files = {}, const RunOptions& options = {},
         const std::function<void(GpuPlatform&)>& before = {})
      : folder_(std::filesystem::temp_directory_path() / ("warpline-ptx-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    write("k.ptx", ptx);
    write("l.toml", launch);
    for (const auto& [name, bytes] : files) write(name, bytes);
    auto plan = read_workload({(folder_ / "l.toml").string()}, false);
    if (!plan.ok()) throw std::runtime_error(plan.faults().front().text());
    gpu_.emplace(preset("mini", overrides), options);
    if (before) before(*gpu_);
    LaunchRunner runner(plan.value(), *gpu_, false);
    if (const Diagnostics faults = runner.prepare(); !faults.empty())
      throw std::runtime_error(faults.front().text());
    CounterTable table;
    std::vector<LaunchStatistics> launches;
    end_ = runner.run(table, launches);
  }
  ~PtxRun() { std::filesystem::remove_all(folder_); }
  PtxRun(const PtxRun&) = delete;
  PtxRun& operator=(const PtxRun&) = delete;

  [[nodiscard]] const RunEnd& end() const { return end_; }
  [[nodiscard]] GpuPlatform& gpu() { return *gpu_; }

 private:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::filesystem::path folder_;
  std::optional<GpuPlatform> gpu_;
  RunEnd end_;
};

}  // namespace warpline::test
