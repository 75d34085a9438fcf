#include "warpline/cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "warpline/cli/command_line.h"
#include "warpline/cli/console.h"
#include "warpline/cli/progress.h"
#include "warpline/cli/signals.h"
#include "warpline/cli/standstill_text.h"
#include "warpline/config/loader.h"
#include "warpline/document/files.h"
#include "warpline/gpu/hop_names.h"
#include "warpline/gpu/launch_runner.h"
#include "warpline/gpu/record/execution_record.h"
#include "warpline/gpu/tlm_driver.h"
#include "warpline/host/launch_file_host.h"
#include "warpline/litmus/judge.h"

/// SystemC calls it in programs that leave main() to it. Here main() is ours, and simulations start as they
/// are needed.
int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace warpline {
namespace {

constexpr Cycle kProgressCycles = 2000;
constexpr std::size_t kShownFaults = 10;
/// Accesses, fences and barriers of a grid that are kept to be judged.
constexpr std::size_t kRecordedEvents = 1'000'000;

/// Gigabytes per second, which are bytes per nanosecond.
double dram_peak(const GpuConfig& c) {
  return static_cast<double>(c.dram.channels) * kSectorBytes / c.dram.sector_cycles * c.clocks.dram / 1000.0;
}

std::string fault_text(const FaultRecord& f) {
  return fmt::format("fault: {} 0x{:x}, {}, {}SM {}, warp {}, lane {}, CTA ({}, {}, {}), cycle {}\n", f.kind,
                     f.address, f.where, f.gpu == 0 ? "" : fmt::format("GPU {}, ", f.gpu), f.sm, f.warp,
                     f.lane, f.cta.x, f.cta.y, f.cta.z, f.cycle);
}

void print_guest_faults(const std::vector<FaultRecord>& faults, std::uint64_t total) {
  for (std::size_t n = 0; n < std::min(faults.size(), kShownFaults); ++n)
    print_message(fault_text(faults[n]));
  if (total > kShownFaults) print_message(fmt::format("{} faults in all\n", total));
}

void print_stuck(const RunEnd& end, Cycle now) {
  const bool dead = end.outcome == RunOutcome::deadlock;
  print_error(fmt::format("kernel \"{}\" {} in cycle {}", end.stuck_kernel,
                          end.host_is_stuck && dead ? "has ended, and the host waits for what never comes"
                          : end.host_is_stuck       ? "has ended, and the host is not done at the cycle limit"
                          : dead                    ? "is deadlocked: nothing can move any more"
                                                    : "is not done at the cycle limit, stopped",
                          now));
  print_message(standstill_text(end.standstill));
}

class Run {
 public:
  Run(const RunRequest& request, const std::string& version) : request_(request) {
    statistics_.version = version;
  }

  int execute() {
    if (const int status = load(); status != kDone) return status;
    RunOptions options;
    options.tags_only = request_.tags_only || plan_->without_data;
    options.seed = request_.seed;
    options.jitter = request_.jitter;
    options.max_cycles = request_.max_cycles;
    const bool sockets = request_.transport == "at";
    if (request_.transport != "fast" || !request_.pins.empty())
      options.driver = std::make_shared<SystemCDriver>(config_->clocks,
                                                       sockets ? HopTransport::socket : HopTransport::direct,
                                                       TickMode::lazy, request_.seed, request_.pins);
    options.loose = request_.transport == "lt";
    GpuPlatform platform(*config_, options);
    if (config_->pcie_system.peers != 0) host_.emplace(platform, request_.max_cycles);
    LaunchRunner runner(*plan_, platform, options.tags_only, host_ ? &*host_ : nullptr);
    runner.fast_forward(fast_forward_);
    // Devices are set up with the data, and by then they are observed.
    Diagnostics faults;
    if (request_.observation.wanted()) faults = platform.observe(request_.observation);
    if (faults.empty()) faults = runner.prepare();
    if (!faults.empty()) {
      print_faults(faults);
      return kBadInput;
    }
    if (request_.check_consistency) check_consistency(platform);
    const RunEnd end = launch_all(runner, platform);
    for (const std::string& note : end.notes) print_message("note: " + note + "\n");
    if (!end.input_faults.empty()) {
      print_faults(end.input_faults);
      return kBadInput;
    }
    return report(end, platform);
  }

 private:
  /// Reads the GPU and the inputs: faults of both are shown together.
  int load() {
    auto config = load_gpu(request_.gpu, overrides_of(request_.sets));
    auto plan = plan_run(request_.inputs, request_.tags_only);
    Diagnostics faults;
    if (!config.ok()) faults = config.faults();
    if (!plan.ok()) faults.insert(faults.end(), plan.faults().begin(), plan.faults().end());
    if (config.ok() && !request_.pins.empty()) {
      const Diagnostics unmatched = unmatched_hops("--pins", request_.pins, config.value());
      faults.insert(faults.end(), unmatched.begin(), unmatched.end());
    }
    if (config.ok() && config.value().pcie_system.peers != 0) {
      const auto clash = [&faults](const char* option, const char* why) {
        Diagnostic d;
        d.file = option;
        d.message = why;
        d.hint = "leave gpu.pcie_system.peers at 0";
        faults.push_back(std::move(d));
      };
      if (request_.tags_only || (plan.ok() && plan.value().without_data))
        clash(request_.tags_only ? "--tags-only" : "INPUT",
              "a host and its devices need data, and this run has none");
      if (request_.check_consistency)
        clash("--check-consistency", "what a host and its devices do to memory is not recorded");
    }
    if (plan.ok() && plan.value().without_data && request_.check_consistency) {
      Diagnostic d;
      d.file = "--check-consistency";
      d.message = "traces and generators carry no data, so there are no values to judge";
      faults.push_back(std::move(d));
    }
    if (plan.ok() && !request_.fast_forward.empty()) {
      const auto to = fast_forward_to(request_.fast_forward, plan.value());
      if (to.ok()) fast_forward_ = to.value();
      if (!to.ok()) faults.insert(faults.end(), to.faults().begin(), to.faults().end());
    }
    for (const auto& [option, path] :
         {std::pair{"--stats", &request_.stats}, std::pair{"--access-log", &request_.access_log}}) {
      if (path->empty()) continue;
      const std::filesystem::path folder = std::filesystem::absolute(*path).parent_path();
      if (std::filesystem::is_directory(folder)) continue;
      Diagnostic d;
      d.file = option;
      d.message = "there is no folder " + folder.string();
      faults.push_back(std::move(d));
    }
    if (config.ok() && config.value().pcie_system.peers == 0 && !request_.access_log.empty()) {
      Diagnostic d;
      d.file = "--access-log";
      d.message = "the platform has no devices whose accesses could be told";
      d.hint = "--set pcie_system.peers=1 --set peer_bytes=0";
      faults.push_back(std::move(d));
    }
    if (!faults.empty()) {
      print_faults(faults);
      return kBadInput;
    }
    config_ = std::move(config.value());
    plan_ = std::move(plan.value());
    for (const std::string& w : plan_->warnings) print_message("warning: " + w + "\n");
    for (const Problem& p : config_->shallow_channels())
      print_message("warning: " + p.path + ": " + p.message + "\n");
    return kDone;
  }

  /// Has every grid judged as it ends.
  void check_consistency(GpuPlatform& platform) {
    platform.record(kRecordedEvents, [this](const ExecutionRecord& record) {
      litmus::JudgeOptions options;
      options.draw = !request_.dot.empty();
      judgements_.push_back(litmus::judge(record, options));
    });
  }

  RunEnd launch_all(LaunchRunner& runner, GpuPlatform& platform) {
    const SignalGuard guard;
    ProgressBar bar(!request_.quiet && is_terminal(STDERR_FILENO), plan_->steps.size());
    runner.on_launch([&](std::size_t number, const std::string& kernel) { bar.launch(number, kernel); });
    platform.on_progress(kProgressCycles, [&](double fraction) {
      bar.update(fraction, platform.now());
      if (SignalGuard::take_listing_wanted()) {
        bar.clear();
        print_message(fmt::format("in cycle {}:\n", platform.now()) + standstill_text(platform.standstill()));
      }
      return !SignalGuard::stop_wanted();
    });
    const auto begin = std::chrono::steady_clock::now();
    RunEnd end = runner.run(statistics_.table, statistics_.launches);
    statistics_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return end;
  }

  int report(const RunEnd& end, GpuPlatform& platform) {
    statistics_.gpu = config_->name;
    statistics_.transport = request_.transport;
    statistics_.inputs = plan_->inputs;
    statistics_.fast_forwarded = end.fast_forwarded;
    statistics_.cycles = platform.now() - end.measured_from;
    statistics_.time_ns = platform.time_ns(statistics_.cycles);
    statistics_.standstill = end.standstill;
    statistics_.values = CounterTable::difference(
        statistics_.table.read([&](CounterVisitor& v) { platform.visit(v); }), end.before);
    if (!request_.quiet) {
      print_result(summary(statistics_, dram_peak(*config_), colours_on(STDOUT_FILENO)));
      if (end.checks != 0)
        print_result(
            fmt::format("\n{} of {} results as expected\n", end.checks - end.failed_checks, end.checks));
    }
    report_consistency();
    if (!end.shown.empty()) print_result((request_.quiet ? "" : "\n") + end.shown);
    int status = judge(end, platform);
    const auto write = [&status](const char* option, const std::string& path, const std::string& text) {
      const std::string failure = write_file_atomically(path, text);
      if (failure.empty()) return;
      print_error(std::string(option) + ": " + failure);
      status = kBadInput;
    };
    if (!request_.stats.empty()) write("--stats", request_.stats, to_json(statistics_));
    if (!request_.access_log.empty())
      write("--access-log", request_.access_log,
            host_->access_log(std::filesystem::path(request_.access_log).extension() == ".json"));
    for (const std::string& failure : platform.finish_observation()) {
      print_error(failure);
      status = kBadInput;
    }
    return status;
  }

  /// Grids come in the order of launches.
  void report_consistency() {
    using Verdict = litmus::Judgement::Verdict;
    for (std::size_t n = 0; n < judgements_.size(); ++n) {
      const litmus::Judgement& j = judgements_[n];
      const std::string kernel = judgements_.size() == 1 ? "" : "\"" + j.kernel + "\" ";
      if (j.verdict == Verdict::obeys && !request_.quiet)
        print_result((n == 0 ? "\n" : "") + ("consistency: " + kernel) + litmus::text_of(j) + "\n");
      if (n >= statistics_.launches.size()) continue;
      const char* word = j.verdict == Verdict::obeys      ? "obeys"
                         : j.verdict == Verdict::violates ? "violates"
                                                          : "not judged";
      statistics_.launches[n].consistency = {word, j.axiom, j.reason, j.threads, j.events, j.accesses};
    }
  }

  /// The exit status that the judgements ask for.
  int judge_consistency() {
    using Verdict = litmus::Judgement::Verdict;
    int status = kDone;
    bool drawn = request_.dot.empty();
    for (const litmus::Judgement& j : judgements_) {
      if (j.verdict == Verdict::obeys) continue;
      print_error("consistency: kernel \"" + j.kernel + "\" " + litmus::text_of(j));
      if (j.verdict == Verdict::refused && status == kDone) status = kBadInput;
      if (j.verdict == Verdict::violates) status = kCheckFailed;
      if (drawn || j.graph.empty()) continue;
      drawn = true;
      if (const std::string failure = write_file_atomically(request_.dot, j.graph); !failure.empty())
        print_error("--dot: " + failure);
    }
    return status;
  }

  int judge(const RunEnd& end, const GpuPlatform& platform) {
    const std::vector<FaultRecord> faults = platform.faults();
    const std::uint64_t counted = statistics_.table.value(statistics_.values, "sm.lsu.faults");
    print_guest_faults(faults, std::max<std::uint64_t>(counted, faults.size()));
    for (const std::string& failure : end.failures) print_error(failure);
    if (end.outcome == RunOutcome::stopped) {
      print_error(
          fmt::format("interrupted in cycle {}; the statistics are those of the work done", platform.now()));
      print_message(standstill_text(end.standstill));
      return kInterrupted;
    }
    if (end.outcome != RunOutcome::quiescent) {
      print_stuck(end, platform.now());
      return kStuck;
    }
    bool good = end.failures.empty() && faults.empty();
    for (const std::string& sentence : platform.unreconciled()) {
      print_error("counters do not reconcile: " + sentence);
      good = false;
    }
    const int consistent = judge_consistency();
    return good ? consistent : kCheckFailed;
  }

  const RunRequest& request_;
  std::optional<GpuConfig> config_;
  std::optional<RunPlan> plan_;
  FastForward fast_forward_;
  std::optional<LaunchFileHost> host_;  ///< where there are devices
  RunStatistics statistics_;
  std::vector<litmus::Judgement> judgements_;  ///< by grid
};

}  // namespace

int run_kernels(const RunRequest& request, const std::string& version) {
  return Run(request, version).execute();
}

}  // namespace warpline
