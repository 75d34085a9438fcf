#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "platform/cli/commands.h"
#include "platform/cli/consistency_report.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/request_check.h"
#include "platform/cli/run_checkpoint.h"
#include "platform/cli/run_inputs.h"
#include "platform/cli/run_ranks.h"
#include "platform/cli/shared_options.h"
#include "platform/cli/signal_guard.h"
#include "platform/cli/standstill_text.h"
#include "platform/config/config_entries.h"
#include "platform/launch/fast_forward.h"
#include "platform/launch/launch_host.h"
#include "platform/launch/launch_runner.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/target_check.h"
#include "platform/live/live_run.h"
#include "platform/live/live_server.h"
#include "platform/machine/pcie_system.h"
#include "platform/metrics/energy.h"
#include "platform/metrics/nsight_metrics.h"
#include "platform/metrics/roofline.h"
#include "platform/mpi/mpi_job.h"
#include "platform/profile/profile_file.h"
#include "platform/profile/profiler.h"
#include "platform/series/figure_sampler.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/base/sha256.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

/// SystemC calls it in programs that leave main() to it. Here main() is ours, and simulations start as they
/// are needed. The library that SystemC is has to see it.
[[gnu::visibility("default")]] int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

namespace warpline {
namespace {

constexpr Cycle kProgressCycles = 2000;
constexpr std::size_t kShownFaults = 10;

/// Gigabytes per second, which are bytes per nanosecond.
double dram_peak(const GpuConfig& c) {
  return static_cast<double>(c.dram.channels) * kSectorBytes / c.dram.sector_cycles * c.clocks.dram / 1000.0;
}

std::string fault_text(const FaultRecord& f) {
  const auto triple = [](const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); };
  const std::string access = access_text(f), distance = distance_text(f);
  return fmt::format("fault: {}{}, {}by thread {} of block {}, {}{}{}, {}SM {}, warp {}, lane {}, cycle {}\n",
                     f.kind, f.address ? " " + hexadecimal(*f.address) : "",
                     access.empty() ? "" : access + " ", triple(f.thread), triple(f.cta), distance,
                     distance.empty() ? "" : ", ", f.where, f.gpu == 0 ? "" : fmt::format("GPU {}, ", f.gpu),
                     f.sm, f.warp, f.lane, f.cycle);
}

/// `written`: whether all that are kept go into the statistics.
void print_guest_faults(const std::vector<FaultRecord>& faults, std::uint64_t total, bool written) {
  for (std::size_t n = 0; n < std::min(faults.size(), kShownFaults); ++n)
    print_message(fault_text(faults[n]));
  if (total <= kShownFaults) return;
  const std::string which = faults.size() < total ? fmt::format("the first {}", faults.size()) : "all";
  print_message(
      fmt::format("{} faults in all, {} more than these: {}\n", total,
                  total - std::min<std::uint64_t>(faults.size(), kShownFaults),
                  written ? "--stats has records of " + which : "--stats FILE writes records of " + which));
}

/// A file that a run reads: as it was read, or as it is now.
InputFile described(const WorkloadFile& file) {
  if (file.contents) return {file.path, file.contents->size(), sha256_of(*file.contents)};
  std::vector<char> buffer(std::size_t{1} << 20U);
  std::ifstream in(file.path, std::ios::binary);
  InputFile out{file.path, 0, {}};
  Sha256 hash;
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    hash.add({buffer.data(), count});
    out.bytes += count;
  }
  out.sha256 = hash.digest();
  return out;
}

/// `limit`: --max-cycles, from cycle `begun` on.
std::string stuck_text(const RunEnd& end, Cycle now, Cycle limit, Cycle begun) {
  if (end.outcome == RunOutcome::deadlock)
    return fmt::format("kernel \"{}\" {} in cycle {}", end.stuck_kernel,
                       end.host_is_stuck ? "has ended, and the host waits for what never comes"
                       : end.standstill.repeats
                           ? "is stuck: its warps repeat themselves, and nothing can end that any more"
                           : "is deadlocked: nothing can move any more",
                       now);
  return fmt::format(
      "kernel \"{}\" {} at the cycle limit of {}{}", end.stuck_kernel,
      end.host_is_stuck ? "has ended, and the host is not done" : "is not done", limit,
      now - begun < limit ? fmt::format("; the last cycle in which anything moved is {}", now) : "");
}

/// How a run ended, for those who watch it.
std::string end_text(const RunEnd& end) {
  switch (end.outcome) {
    case RunOutcome::quiescent:
      return end.checks_stopped ? "interrupted while results were compared" : "finished";
    case RunOutcome::deadlock: return "deadlocked";
    case RunOutcome::cycle_limit: return "at the cycle limit";
    case RunOutcome::stopped: return "interrupted";
  }
  return "";
}

class Run {
 public:
  Run(const RunRequest& request, const RunRanks& ranks)
      : request_(request), ranks_(ranks), consistency_(request.dot, request.model == "ptx75") {
    statistics_.version = WARPLINE_VERSION;
    statistics_.command = request.command;
  }

  int execute() {
    SignalGuard guard;
    if (const int status = ranks_.agreed("inputs", load()); status != kDone) return status;
    if (ranks_.exchange() != nullptr)
      if (const int status = ranks_.agreed("the same inputs", compare_inputs()); status != kDone)
        return status;
    RunOptions options;
    options.tags_only = request_.tags_only || inputs_->plan.without_data;
    options.seed = request_.seed;
    options.jitter = request_.jitter;
    options.threads = request_.threads;
    options.max_cycles = request_.max_cycles;
    const bool sockets = request_.transport == "at";
    if (sockets || request_.transport == "lt" || !request_.pins.empty())
      options.backend = std::make_shared<SystemCBackend>(
          inputs_->config.clocks, sockets ? HopTransport::socket : HopTransport::direct, TickMode::lazy,
          request_.seed, request_.pins);
    options.functional = request_.transport == "functional";
    options.loose = !is_timed(request_.transport);
    if (ranks_.exchange() != nullptr) {
      options.exchange = ranks_.exchange();
      if (const std::string why = GpuPlatform::why_no_ranks(inputs_->config, options); !why.empty())
        return bad_input(fmt::format("--mpi: {} ranks cannot run this together: {}", ranks_.count(), why));
    }
    if (const int status = serve(); status != kDone) return status;
    GpuPlatform platform(inputs_->config, options);
    std::optional<LaunchHost> host;
    if (inputs_->config.has_root_complex()) host.emplace(platform, request_.max_cycles);
    Farewell farewell{live_ ? &*live_ : nullptr};
    LaunchRunner runner(inputs_->plan, platform, options.tags_only, host ? &*host : nullptr);
    runner.fast_forward(inputs_->fast_forward);
    runner.stop_after(inputs_->rest);
    runner.write_dumps(ranks_.is_first());
    runner.cache_traces(request_.trace_cache == "on" ? sass::TraceCache::on : sass::TraceCache::off);
    // Devices are set up with the data, and by then they are observed.
    Diagnostics faults;
    if (request_.observation.wanted()) {
      observation_ = &platform.attach(make_watcher(platform, request_.observation));
      faults = observation_->start();
    }
    if (!request_.profile.empty()) profiler_ = &platform.attach(std::make_unique<Profiler>(platform));
    if (faults.empty() && request_.warm) {
      faults = restore(platform, nullptr);
      begun_ = platform.now();
      platform.begin_run(request_.max_cycles);
    }
    if (faults.empty()) faults = runner.prepare();
    if (faults.empty() && !request_.warm && !request_.restore.empty()) faults = restore(platform, &runner);
    if (faults.empty() && (!request_.series.empty() || request_.sample)) {
      SampleOptions sampling{request_.sample.value_or(SampleOptions{}.every), request_.series,
                             request_.figures};
      Watcher* const timeline =
          request_.sample && !request_.observation.timeline.empty() ? observation_ : nullptr;
      sampler_ = &platform.attach(std::make_unique<FigureSampler>(platform, std::move(sampling), timeline));
      runner.on_measuring([this] { sampler_->forget(); });
      faults = sampler_->start();
    }
    const int ready = faults.empty() ? kDone : bad_input(faults);
    if (const int status = ranks_.agreed("the GPUs made", ready); status != kDone) return status;
    if (request_.check_consistency) consistency_.follow(platform);
    if (const std::string why = platform.why_one_thread(); !why.empty())
      print_message(fmt::format("note: --threads {}: the run keeps to one, as {}\n", request_.threads, why));
    guard.stop_on_interrupt(request_.mpi);
    if (live_) {
      platform.build();
      live_->watch(platform);
    }
    const RunEnd end = launch_all(runner, platform);
    for (const std::string& note : end.notes) print_message("note: " + note + "\n");
    if (live_) live_->enter("writing results");
    if (!end.input_faults.empty()) return bad_input(end.input_faults);
    if (!request_.save.empty()) save(end, platform, runner);
    const int status = report(end, platform, host ? &*host : nullptr);
    farewell.all_done = end.outcome == RunOutcome::quiescent;
    farewell.how = end_text(end) + (status == kDone ? "" : fmt::format(" (exit status {})", status));
    return status;
  }

 private:
  /// However a run ends, those who watch it are told while there is still a platform.
  struct Farewell {
    live::LiveRun* live;  ///< null: nobody watches
    std::string how = "ended by an error in the input";
    bool all_done = false;

    explicit Farewell(live::LiveRun* watched) : live(watched) {}
    ~Farewell() {
      if (live == nullptr) return;
      live->end(how, all_done);
      live->wait_until_told();
    }
    Farewell(const Farewell&) = delete;
    Farewell& operator=(const Farewell&) = delete;
  };

  /// Lets clients watch, where that was asked for: from before the GPU is made, which may take a while.
  int serve() {
    if (!request_.live) return kDone;
    live::LiveRun::Facts facts{WARPLINE_VERSION, inputs_->config.name, inputs_->config.gpus,
                               inputs_->plan.inputs, inputs_->plan.steps.size()};
    live_.emplace(std::move(facts), request_.paused);
    server_.emplace(*live_);
    if (const std::string failure = server_->start(*request_.live); !failure.empty())
      return bad_input(fmt::format("--live: port {} cannot be served: {}", *request_.live, failure),
                       "--live 0 takes any port that is free");
    print_message("live: " + server_->address() + "\n");
    live_->on_forgotten([this](Cycle now) {
      print_message(fmt::format(
          "note: --live: the run is paused in cycle {}, and nobody watches it: `warpline watch {} "
          "--resume` has it go on, Ctrl-C ends it\n",
          now, server_->address()));
    });
    return kDone;
  }

  int load() {
    auto inputs = read_run_inputs(request_);
    if (!inputs.ok()) return bad_input(inputs.faults());
    inputs_ = std::move(inputs.value());
    for (const std::string& w : inputs_->plan.warnings) print_message("warning: " + w + "\n");
    if (!request_.strict_target)
      for (const Diagnostic& d : unfit_targets(inputs_->plan, inputs_->config))
        print_message("warning: " + d.file + ": " + d.message + "; it runs here all the same\n");
    if (request_.check_consistency)
      for (const LoadedFile& loaded : inputs_->plan.files)
        for (const Launch& l : loaded.file.launches)
          if (l.dependent)
            return bad_input({loaded.file.document->fault(
                l.place,
                "--check-consistency judges grids one by one, and this one begins before another has ended",
                "leave dependent out")});
    for (const Problem& p : inputs_->config.shallow_channels())
      print_message("warning: " + p.path + ": " + p.message + "\n");
    if (!request_.stats.empty()) describe_request();
    return kDone;
  }

  /// Every rank reads the GPU and the files for itself: whether they are those of the first.
  int compare_inputs() {
    std::string gpu;
    for (const ConfigEntry& e : config_entries(inputs_->config)) gpu += e.path() + " = " + e.value + "\n";
    std::vector<std::pair<std::string, std::string>> read = {{"another GPU", sha256_of(gpu)}};
    for (const WorkloadFile& file : files_of(inputs_->plan))
      read.emplace_back("another " + file.path, described(file).sha256);
    std::string own;
    for (const auto& [what, hash] : read) own += hash + "\n";
    const std::string first = ranks_.exchange()->hear("hashes of inputs", 0, own);
    if (first == own) return kDone;
    const std::vector<std::string_view> hashes = split(first, '\n');
    const auto differs =
        std::find_if(read.begin(), read.end(), [&, n = std::size_t{0}](const auto& r) mutable {
          return n >= hashes.size() || hashes[n++] != r.second;
        });
    return bad_input("--mpi: this process reads " + (differs == read.end() ? "fewer files" : differs->first) +
                     " than the first rank does");
  }

  /// What has to be the same where this run is continued. The GPU's keys are the platform's to compare.
  RunIdentity identity() {
    RunIdentity out;
    for (const WorkloadFile& file : files_of(inputs_->plan)) out.files.push_back(described(file));
    out.choices = {
        {"--transport", is_timed(request_.transport) ? "timed" : request_.transport},
        {"--seed", std::to_string(request_.seed)},
        {"--schedule", request_.schedule.empty() ? "as files say" : request_.schedule},
        {"--fast-forward", request_.fast_forward.empty()
                               ? "none"
                               : request_.fast_forward + (request_.keep_warm ? " --keep-warm" : "")}};
    return out;
  }

  /// Makes the platform what the checkpoint says. `runner`: goes on where that run had got to; null: starts.
  Diagnostics restore(GpuPlatform& platform, LaunchRunner* runner) {
    const auto checkpoint = read_checkpoint(request_.restore);
    if (!checkpoint.ok()) return checkpoint.faults();
    std::string progress;
    if (runner != nullptr) {
      auto known = progress_in(checkpoint.value(), identity());
      if (!known.ok()) return known.faults();
      progress = std::move(known.value());
    }
    Diagnostics faults = platform.restore(checkpoint.value());
    if (faults.empty() && runner != nullptr) faults = runner->continue_from(progress);
    return faults;
  }

  void save(const RunEnd& end, GpuPlatform& platform, const LaunchRunner& runner) {
    if (end.outcome != RunOutcome::quiescent) {
      unsaved_ = "--save: the machine is not at rest, and nothing was saved";
      return;
    }
    const std::string failure = save_run(request_.save, platform, identity(), runner.progress());
    if (!failure.empty()) unsaved_ = "--save: " + failure;
  }

  /// What the statistics say of what was asked for.
  void describe_request() {
    if (preset_text(request_.gpu.name).empty())
      statistics_.files.push_back(described({request_.gpu.name, "", inputs_->gpu_text}));
    for (const WorkloadFile& file : files_of(inputs_->plan)) statistics_.files.push_back(described(file));
    for (const ConfigEntry& e : config_entries(inputs_->config))
      if (!e.value.empty()) statistics_.configuration.push_back({e.path(), e.value});
    std::string keys;
    for (const Setting& s : statistics_.configuration) keys += s.path + " = " + s.value + "\n";
    statistics_.configuration_sha256 = sha256_of(keys);
    RunChoices& c = statistics_.choices;
    c.seed = request_.seed;
    c.jitter = request_.jitter;
    if (request_.max_cycles != kNever) c.max_cycles = request_.max_cycles;
    c.fast_forward = request_.fast_forward;
    c.keep_warm = request_.keep_warm;
    c.pins = request_.pins;
    c.tags_only = request_.tags_only;
    c.check_consistency = request_.check_consistency;
  }

  RunEnd launch_all(LaunchRunner& runner, GpuPlatform& platform) {
    ProgressBar bar(!request_.mpi && !request_.quiet && is_terminal(STDERR_FILENO),
                    inputs_->plan.steps.size());
    const auto attend = [&](double fraction, const std::function<bool()>& stop) {
      return !live_ || live_->look(fraction, stop);
    };
    runner.on_launch([&](std::size_t number, const std::string& kernel) {
      bar.launch(number, kernel);
      if (live_) live_->launch(number, kernel);
      static_cast<void>(attend(0, [] { return !SignalGuard::stop_wanted(); }));
    });
    runner.on_printed([&](const std::string& text, bool assertion) {
      bar.clear();
      if (assertion) return print_message(text);
      print_result(text);
      printed_line_ = text.back() == '\n';
      printed_ = true;
    });
    const auto goes_on = [&] {
      if (listing_wanted()) {
        bar.clear();
        print_message(fmt::format("in cycle {}:\n", platform.now()) + standstill_text(platform.standstill()));
      }
      return !SignalGuard::stop_wanted();
    };
    platform.on_progress(live_ ? live::LiveRun::kCycles : kProgressCycles, [&](double fraction) {
      bar.update(fraction, platform.now());
      return attend(fraction, goes_on) && goes_on();
    });
    runner.on_check([&] {
      if (live_) live_->enter("comparing results");
      static_cast<void>(attend(1, [] { return !SignalGuard::stop_wanted(); }));
      if (listing_wanted()) {
        bar.clear();
        print_message(
            fmt::format("in cycle {}: all grids have ended, and results are compared\n", platform.now()));
      }
      return !ranks_.any("an interruption", SignalGuard::stop_wanted());
    });
    const auto begin = std::chrono::steady_clock::now();
    RunEnd end = runner.run(statistics_.table, statistics_.launches);
    statistics_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() -
                         (live_ ? live_->paused_seconds() : 0);
    return end;
  }

  [[nodiscard]] bool listing_wanted() const {
    return ranks_.any("a wish for a listing", SignalGuard::take_listing_wanted());
  }

  /// `host`: null: there are no devices, and their log was not asked for.
  int report(const RunEnd& end, GpuPlatform& platform, LaunchHost* host) {
    statistics_.gpu = inputs_->config.name;
    statistics_.transport = request_.transport;
    statistics_.inputs = inputs_->plan.inputs;
    statistics_.fast_forwarded = end.fast_forwarded;
    statistics_.cycles = platform.now() - end.measured_from;
    statistics_.time_ns = platform.time_ns(statistics_.cycles);
    statistics_.standstill = end.standstill;
    statistics_.values = CounterTable::difference(
        statistics_.table.read([&](CounterVisitor& v) { platform.visit(v); }), end.before);
    if (!printed_line_) print_result("\n");
    if (printed_ && !request_.quiet) print_result("\n");
    if (!request_.quiet) {
      // mpirun shows each rank a terminal, wherever what it prints goes.
      print_coloured_result(
          summary(statistics_, dram_peak(inputs_->config), !request_.mpi && colours_on(STDOUT_FILENO)));
      if (end.checks != 0)
        print_result(
            fmt::format("\n{} of {} results as expected\n", end.checks - end.failed_checks, end.checks));
    }
    if (!request_.metrics.empty() || request_.energy || request_.roofline) {
      std::vector<MetricSource> sources =
          metric_sources(statistics_, inputs_->config.clocks.sm, inputs_->config.gpus);
      std::map<std::string, double> keys;
      for (const ConfigEntry& e : config_entries(inputs_->config))
        // Texts are in quotes, lists in brackets.
        if (char* rest = nullptr; !e.value.empty())
          if (const double number = std::strtod(e.value.c_str(), &rest); *rest == '\0')
            keys[e.path()] = number;
      for (MetricSource& source : sources)
        source.key = [&keys](const std::string& path) {
          const auto found = keys.find(path);
          return found == keys.end() ? std::nan("") : found->second;
        };
      std::string between = request_.quiet ? "" : "\n";
      if (!request_.metrics.empty())
        print_result(std::exchange(between, "\n") +
                     metrics_text(NsightMetric::named(request_.metrics).value(), sources));
      if (request_.roofline) print_result(std::exchange(between, "\n") + roofline_text(sources));
      if (request_.energy) print_result(between + energy_text(sources));
    }
    consistency_.print(statistics_.launches, request_.quiet);
    if (!end.shown.empty()) print_result((request_.quiet ? "" : "\n") + end.shown);
    if (const PcieSystem* const bus = platform.pcie(); bus != nullptr) note_refusals(*bus);
    if (profiler_ != nullptr) profile_ = profiler_->kernels();
    int status = judge(end, platform);
    statistics_.checks = end.checks;
    statistics_.failed_checks = end.failed_checks;
    statistics_.comparisons = end.comparisons;
    const auto write = [this](const char* option, const std::string& path, const std::string& text) {
      const std::string failure = write_file_atomically(path, text);
      if (!failure.empty()) fail_to_write(std::string(option) + ": " + failure);
    };
    if (!request_.access_log.empty())
      write("--access-log", request_.access_log,
            host->access_log(std::filesystem::path(request_.access_log).extension() == ".json"));
    if (profiler_ != nullptr)
      write("--profile", request_.profile, profile_text(profile_, inputs_->config.name, request_.transport));
    if (sampler_ != nullptr)
      if (const std::string failure = sampler_->finish(); !failure.empty())
        fail_to_write("--series: " + failure);
    if (observation_ != nullptr)
      for (const std::string& failure : observation_->finish()) fail_to_write(failure);
    if (!unsaved_.empty() && end.outcome == RunOutcome::quiescent) fail_to_write(unsaved_);
    if (!unsaved_.empty() && end.outcome != RunOutcome::quiescent) print_message("note: " + unsaved_ + "\n");
    if (end.stopped_early && unsaved_.empty() && !request_.quiet)
      print_result(fmt::format("\nsaved to {} after {}; --restore goes on from there\n", request_.save,
                               counted(statistics_.launches.size(), "launch")));
    if (unwritten_) status = kBadInput;
    statistics_.exit_status = status;
    // Last, so that they say what became of the other files.
    if (!request_.stats.empty()) write("--stats", request_.stats, to_json(statistics_, counters_wanted()));
    return unwritten_ ? kBadInput : status;
  }

  [[nodiscard]] StatisticsCounters counters_wanted() const {
    return request_.stats_counters == "counted"  ? StatisticsCounters::counted
           : request_.stats_counters == "totals" ? StatisticsCounters::totals
                                                 : StatisticsCounters::all;
  }

  /// Says what is not as it should be, here and in the statistics.
  void fail(const std::string& sentence) {
    statistics_.failures.push_back(sentence);
    print_error(sentence);
  }

  /// The same of a file that was asked for.
  void fail_to_write(const std::string& sentence) {
    fail(sentence);
    unwritten_ = true;
    if (statistics_.verdict == RunVerdict::finished) statistics_.verdict = RunVerdict::incomplete;
  }

  /// What the bus refused to devices is no failure of the run: a driver may try what is there.
  void note_refusals(const PcieSystem& bus) {
    statistics_.refused_accesses = bus.refused_accesses();
    statistics_.refusals = bus.refusals();
    for (std::size_t n = 0; n < std::min(statistics_.refused_accesses.size(), kShownFaults); ++n)
      print_message("refused: " + statistics_.refused_accesses[n] + "\n");
    if (statistics_.refusals > kShownFaults)
      print_message(fmt::format("{} refused accesses in all\n", statistics_.refusals));
  }

  int judge(const RunEnd& end, const GpuPlatform& platform) {
    statistics_.faults = platform.faults();
    const std::vector<FaultRecord>& faults = statistics_.faults;
    const std::uint64_t counted = statistics_.table.value(statistics_.values, "sm.lsu.faults");
    statistics_.fault_count = std::max<std::uint64_t>(counted, faults.size());
    print_guest_faults(faults, statistics_.fault_count, !request_.stats.empty());
    unwritten_ = end.unwritten != 0;
    for (const std::string& failure : end.failures) fail(failure);
    // What grids did before a run stopped stays forbidden; that those it stopped in are not judged goes
    // without saying.
    const ConsistencyFindings consistency = consistency_.findings();
    for (const std::string& sentence : consistency.violations) fail(sentence);
    if (!consistency.unwritten.empty()) fail_to_write(consistency.unwritten);
    if (end.checks_stopped)
      fail("interrupted while results were compared: " + std::to_string(end.checks) +
           " were; the statistics are those of the whole run");
    if (end.outcome == RunOutcome::stopped) {
      fail(fmt::format("interrupted in cycle {}; the statistics are those of the work done", platform.now()));
      print_message(standstill_text(end.standstill));
      statistics_.verdict = RunVerdict::interrupted;
      return kInterrupted;
    }
    if (end.outcome != RunOutcome::quiescent) {
      fail(stuck_text(end, platform.now(), request_.max_cycles, begun_));
      if (!faults.empty())
        print_message("hint: faults have ended warps, for which others may wait; the first was: " +
                      faults.front().kind + " in " + faults.front().where + "\n");
      print_message(standstill_text(end.standstill));
      statistics_.verdict = end.outcome == RunOutcome::deadlock ? RunVerdict::deadlocked : RunVerdict::limit;
      return kStuck;
    }
    std::vector<std::string> unreconciled = platform.unreconciled();
    for (const KernelProfile& kernel : profile_)
      for (std::string& sentence : warpline::unreconciled(kernel))
        unreconciled.push_back("profile: " + std::move(sentence));
    for (const std::string& sentence : unreconciled) fail("counters do not reconcile: " + sentence);
    for (const std::string& sentence : consistency.unjudged) fail(sentence);
    if (end.checks_stopped || consistency.stopped) {
      statistics_.verdict = RunVerdict::interrupted;
      return kInterrupted;
    }
    const bool wrong = end.failed_checks != 0 || !unreconciled.empty() || !consistency.violations.empty();
    statistics_.verdict = !faults.empty()                               ? RunVerdict::faulted
                          : wrong                                       ? RunVerdict::failed_check
                          : !consistency.unjudged.empty() || unwritten_ ? RunVerdict::incomplete
                                                                        : RunVerdict::finished;
    if (!faults.empty() || wrong) return kCheckFailed;
    return consistency.unjudged.empty() ? kDone : kBadInput;
  }

  const RunRequest& request_;
  const RunRanks& ranks_;
  std::optional<RunInputs> inputs_;
  RunStatistics statistics_;
  ConsistencyReport consistency_;
  Watcher* observation_ = nullptr;    ///< null: nothing is watched
  FigureSampler* sampler_ = nullptr;  ///< null: nothing is sampled
  Profiler* profiler_ = nullptr;      ///< null: nothing is profiled
  std::vector<KernelProfile> profile_;
  std::optional<live::LiveRun> live_;       ///< nothing: nobody watches
  std::optional<live::LiveServer> server_;  ///< likewise
  std::string unsaved_;       ///< why there is no checkpoint; empty: there is, or none was asked for
  bool printed_ = false;      ///< kernels have printed something
  bool printed_line_ = true;  ///< whose last line has an end
  bool unwritten_ = false;    ///< a file that was asked for could not be written
  Cycle begun_ = 0;           ///< when the run did, on a machine that had run before
};

int run_on(const RunRequest& request, const RunRanks& ranks) {
  RunRequest checked = request;
  if (const int status = check_request(checked); status != kDone) return status;
  if (ranks.count() > 1)
    if (const std::string why = why_not_on_ranks(checked, ranks.count()); !why.empty()) return bad_input(why);
  if (!ranks.is_first()) {
    checked.writes = false;
    checked.stats.clear();
  }
  return Run(checked, ranks).execute();
}

/// What all ranks have to be started with: the command itself may lie anywhere.
std::string words_of(const RunRequest& request) {
  std::string words = WARPLINE_VERSION;
  for (std::size_t n = 1; n < request.command.size(); ++n) words += '\0' + request.command[n];
  return words;
}

/// In one process of several that run the GPUs of a platform.
int run_by_mpi(const RunRequest& request) {
  std::shared_ptr<MpiJob> job;
  try {
    job = MpiJob::start();
  } catch (const ExchangeError& error) {
    return bad_input(std::string("--mpi: ") + error.what());
  }
  std::string failure;
  try {
    if (job->ranks() == 1)
      print_message("note: --mpi: there is one process only; mpirun -n 2 warpline run ... starts two\n");
    if (job->rank() != 0) keep_silent();
    const RunRanks ranks(job->ranks() == 1 ? nullptr : job);
    // The first one, which writes the files, ends with a status; mpirun ends all others where one does.
    int status =
        ranks.agreed("a command", job->hear("words", 0, words_of(request)) == words_of(request)
                                      ? kDone
                                      : bad_input("--mpi: these are other words, or another version, than "
                                                  "the first rank's"));
    if (status == kDone) status = run_on(request, ranks);
    static_cast<void>(job->all("the end", true));
    job->end();
    return job->rank() == 0 ? status : kDone;
  } catch (const ExchangeError& error) {
    failure = error.what();
  } catch (const std::bad_alloc&) {
    failure = "the host has not enough memory for this run";
  } catch (const std::exception& error) {
    failure = error.what();  // such as what other ranks tell of hardware that is not here
  }
  // Others may wait for this one.
  static_cast<void>(end_silence());
  print_error("--mpi: " + failure);
  job->abort(kBadInput);
}

int run(const RunRequest& request) {
  return request.mpi ? run_by_mpi(request) : run_on(request, RunRanks(nullptr));
}

}  // namespace

void add_run(CLI::App& app, int& status, const std::vector<std::string>& typed) {
  CLI::App& command =
      *app.add_subcommand("run", "Runs kernels: launch files, programs, trace lists and kernel traces");
  RunRequest& r = options_of(command, status, run);
  r.command = typed;
  command
      .add_option(
          "INPUT", r.inputs,
          "launch file (.toml), SASS-style program (.wls), trace list (.g) or kernel trace (.traceg, .xz, "
          ".gz); several run one after the other on the same GPU, as dependent grids")
      ->required();
  r.gpu.add_options(command);
  command
      .add_option("--transport", r.transport,
                  "how hops are carried: fast (timed, port to port), at (timed, TLM-2.0 sockets), lt "
                  "(loosely timed: no contention) or functional (results alone: no caches, no time)")
      ->capture_default_str();
  command.add_option(
      "--schedule", r.schedule,
      "the order of instructions in PTX: ptx (the text's) or assembler (as ptxas would have it; "
      "the default, unless the launch file says otherwise)");
  command
      .add_option("--pins", r.pins,
                  "opens hops as clocked wires: those whose name matches, such as \"l2[0].from_crossbar\" or "
                  "\"dram*\"; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--fast-forward", r.fast_forward,
                  "KERNEL or N: runs functionally up to the first grid of that kernel, or over the first N "
                  "grids, and measures from there on, what runs at the same time included")
      ->type_name("KERNEL|N");
  command.add_flag("--keep-warm", r.keep_warm,
                   "with --fast-forward, runs loosely timed up to there, which takes longer, and leaves the "
                   "caches as warm as they would be; so does --check-consistency");
  command.add_flag(
      "--strict-target", r.strict_target,
      "refuses modules that such a GPU would not load, by their .target and its compute_capability");
  command.add_flag("--tags-only", r.tags_only,
                   "addresses and time only: traces and access patterns; what needs data is refused");
  command
      .add_option(
          "--trace-cache", r.trace_cache,
          "on: keeps the binary form of each trace beside it (TRACE.wlt; where that cannot be, in the "
          "user's cache folder), which is read the next time; or off")
      ->capture_default_str();
  command.add_option("--stats", r.stats, "writes every counter to this JSON file");
  command
      .add_option(
          "--stats-counters", r.stats_counters,
          "which of them: all; counted: totals, and those of blocks that counted something; or totals")
      ->check(CLI::IsMember({"all", "counted", "totals"}));
  command.add_option("--profile", r.profile,
                     "writes what warps did and waited for, line by line, to this JSON file (`warpline "
                     "profile show`)");
  command
      .add_option("--metrics", r.metrics,
                  "shows these metrics at the end, by their names in Nsight Compute, with commas between "
                  "(`warpline metrics --list`)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--roofline", r.roofline,
                   "shows at the end how near each kernel came to the roofs of DRAM, L2 and issue slots");
  command.add_flag("--energy", r.energy, "shows an estimate of the energy at the end, by figures of an H200");
  command.add_option(
      "--series", r.series,
      "writes figures over time to this CSV file: a row for every --sample cycles of each launch");
  command
      .add_option("--sample", r.sample,
                  "cycles of a row of --series, which are 1000 unless this says otherwise; given with "
                  "--timeline, its tracks have the same figures")
      ->transform(kWholeNumber)
      ->type_name("CYCLES");
  command
      .add_option("--figures", r.figures,
                  "which figures: names of docs/series.md, and counters or patterns of them, such as "
                  "\"l2[*].sector_hits\", between commas; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command.add_option("--access-log", r.access_log,
                     "writes every access that arrived at devices to this file: lines of text, or JSON if it "
                     "ends in .json");
  command.add_option("--seed", r.seed, "of all random choices of the model")
      ->check(kWholeNumber)
      ->capture_default_str();
  command
      .add_option("--jitter", r.jitter,
                  "draw anew, before every launch, how long messages lie in queues and whose turn it is")
      ->transform(kWholeNumber)
      ->type_name("SEED");
  add_threads(command, r.threads);
  command.add_flag(
      "--mpi", r.mpi,
      "this is one of several processes (mpirun -n 2 warpline run --mpi ...) that run the GPUs of a "
      "platform together; results are the same");
  command.add_option("--max-cycles", r.max_cycles, "gives up after this many cycles, with exit status 3")
      ->check(kWholeNumber);
  command.add_option(
      "--save", r.save,
      "writes a checkpoint to this file after the last grid: memory, caches, counters and the time");
  command
      .add_option(
          "--save-after", r.save_after,
          "of --save: KERNEL or N: after the first grid of that kernel, or after N grids; the run ends there")
      ->type_name("KERNEL|N");
  command.add_option(
      "--restore", r.restore,
      "goes on where the run that saved this checkpoint, of the same inputs and GPU, had got to");
  command.add_flag(
      "--warm", r.warm,
      "of --restore: runs any inputs from their beginning, on the machine as the checkpoint has it");
  command.add_flag("--check-consistency", r.check_consistency,
                   "records what threads read and write, and judges every grid by the PTX memory consistency "
                   "model");
  command
      .add_option("--model", r.model,
                  "of --check-consistency: the memory model that judges, ptx90 (PTX ISA 9.0) or ptx75 (7.5)")
      ->capture_default_str();
  command.add_option(
      "--dot", r.dot,
      "of --check-consistency: draws an execution that the model forbids to this Graphviz file");
  command
      .add_option("--live", r.live,
                  "lets a browser or `warpline watch` on this machine watch the run at the address printed: "
                  "a port, or 0 "
                  "for any that is free")
      ->check(CLI::Validator(
          [](std::string& text) {
            return number_from<std::uint16_t>(text)
                       ? std::string{}
                       : "\"" + text + "\" is no port, a whole number from 0 to 65535";
          },
          ""))
      ->type_name("PORT");
  command.add_flag("--paused", r.paused,
                   "of --live: waits before its first launch until a client has it go on");
  command.add_flag("--quiet", r.quiet, "no summary and no progress bar");
  command.add_option("--wave", r.observation.wave,
                     "writes what the blocks held, cycle by cycle, to this VCD file (GTKWave: waveforms/)");
  command.add_option(
      "--timeline", r.observation.timeline,
      "writes the way of each request through the blocks to this JSON file (Chrome trace events)");
  command.add_option(
      "--latency", r.observation.latency,
      "writes where requests of SMs spent their time, block by block, to this file: a table, or "
      "JSON if it ends in .json");
  command.add_option(
      "--reuse", r.observation.reuse,
      "writes how buffers were used (what was touched, how soon again, by how many SMs, what was "
      "fetched in vain) to this file: tables, or JSON if it ends in .json");
  command
      .add_option("--probe", r.observation.probes,
                  "of --wave and --timeline: only blocks and ports whose name matches, such as "
                  "\"l2[0]*\"; may be "
                  "repeated")
      ->allow_extra_args(false);
  command.add_option_function<std::string>(
      "--window", [&r](const std::string& text) { r.window = text; },
      "of --wave, --timeline, --latency and --reuse: only cycles FIRST:LAST");
  command.footer(
      "Signals: SIGINT stops soon, SIGUSR1 goes on; both show every request in flight and what it waits "
      "for.\n"
      "Example: warpline run kernel.toml --gpu a100 --set l2.slices=40 --stats out.json");
}

}  // namespace warpline
