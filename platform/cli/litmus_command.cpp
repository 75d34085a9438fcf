#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/litmus_report.h"
#include "platform/cli/output_check.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/request_check.h"
#include "platform/cli/shared_options.h"
#include "platform/cli/signal_guard.h"
#include "platform/consistency/machine.h"
#include "platform/consistency/parser.h"
#include "platform/consistency/places.h"
#include "platform/consistency/program.h"
#include "platform/machine/hop_names.h"
#include "platform/systemc/systemc_backend.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

namespace fs = std::filesystem;

struct LitmusOptions {
  std::vector<std::string> inputs;
  litmus::RunSeries series;
  unsigned unroll = 3;
  GpuChoice gpu;
  std::string transport = "fast";
  std::vector<std::string> pins;
  std::string model = "ptx90";
  std::string dot;
  bool json = false;
};

/// Adds the files below `folder` that are called *.litmus. A folder that cannot be listed is a fault; links
/// to folders are not followed, for they may lead round in a circle.
void find_below(const fs::path& folder, std::vector<std::string>& found, Diagnostics& faults) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    const bool is_folder = entry->is_directory(unknown);
    if (is_folder && !entry->is_symlink(unknown)) {
      find_below(entry->path(), found, faults);
    } else if (!is_folder && entry->path().extension() == ".litmus") {
      found.push_back(entry->path().string());
    }
  }
  if (error) faults.push_back(Diagnostic::about(folder.string(), "cannot be listed: " + error.message()));
}

/// The litmus files that `inputs` name: files as they are, of folders all that are called *.litmus.
std::vector<std::string> files_of(const std::vector<std::string>& inputs, Diagnostics& faults) {
  std::vector<std::string> out;
  for (const std::string& input : inputs) {
    std::error_code unknown;
    if (!fs::is_directory(input, unknown)) {
      out.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    const std::size_t before = faults.size();
    find_below(input, found, faults);
    std::sort(found.begin(), found.end());
    if (found.empty() && faults.size() == before) out.push_back(input);  // read_tests says what is wrong
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

/// A file, and the test in it or what is wrong with it.
struct LitmusInput {
  std::string file;
  Result<litmus::Test> test;
};

std::vector<LitmusInput> read_tests(const std::vector<std::string>& files) {
  std::vector<LitmusInput> out;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) {
      out.push_back({file, Diagnostic::about(file, "is a folder without any file called *.litmus")});
      continue;
    }
    constexpr std::uint64_t kMostBytes = 1U << 18U;  // nobody's test is longer
    const auto text = read_file(file, kMostBytes);
    out.push_back(
        {file, text.ok() ? litmus::parse(text.value(), file) : Result<litmus::Test>(text.faults())});
  }
  return out;
}

/// More than a platform has are refused by the machine.
unsigned gpus_of(const litmus::Test& test) {
  return std::min(litmus::places_of(test).gpus, kMaxGpus);
}

/// A machine for each number of GPUs that tests ask for, with clusters and without, made when the first does.
/// Where hops are SystemC's there is one for all, for it elaborates once.
class LitmusMachines {
 public:
  LitmusMachines(GpuConfig config, const LitmusOptions& options, const std::vector<LitmusInput>& inputs)
      : config_(std::move(config)), options_(options) {
    if (!in_systemc()) return;
    for (const LitmusInput& i : inputs)
      if (i.test.ok()) config_ = fit_for(i.test.value());
  }

  /// The GPUs that any machine has at least; in SystemC all.
  [[nodiscard]] const GpuConfig& config() const { return config_; }

  [[nodiscard]] litmus::Machine& of(const litmus::Test& test) {
    const GpuConfig config = fit_for(test);
    std::unique_ptr<litmus::Machine>& machine = made_[{config.gpus, config.sm_network.present}];
    if (machine == nullptr) {
      std::shared_ptr<NetlistBackend> backend;
      if (in_systemc())
        backend = std::make_shared<SystemCBackend>(
            config.clocks, options_.transport == "at" ? HopTransport::socket : HopTransport::direct,
            TickMode::lazy, 1, options_.pins);
      machine = std::make_unique<litmus::Machine>(config, backend, options_.transport == "lt");
    }
    return *machine;
  }

 private:
  /// With as many GPUs as `test` has, and a network between SMs where its CTAs are in clusters.
  [[nodiscard]] GpuConfig fit_for(const litmus::Test& test) const {
    GpuConfig config = config_;
    config.gpus = std::max(config.gpus, gpus_of(test));
    config.sm_network.present = config.sm_network.present || litmus::needs_clusters(test);
    return config;
  }
  [[nodiscard]] bool in_systemc() const { return options_.transport == "at" || !options_.pins.empty(); }

  GpuConfig config_;
  const LitmusOptions& options_;
  /// By GPUs, and whether there is a network between SMs.
  std::map<std::pair<unsigned, bool>, std::unique_ptr<litmus::Machine>> made_;
};

/// Asks the model and the platform, test after test.
class LitmusSession {
 public:
  /// `bad`: some tests are known to be lost already.
  LitmusSession(const LitmusOptions& options, LitmusMachines& machines, std::size_t tests, bool bad)
      : options_(options), machines_(machines), bar_(is_terminal(STDERR_FILENO), tests, "runs"), bad_(bad) {}

  int run(const std::vector<LitmusInput>& tests) {
    for (std::size_t n = 0; n < tests.size() && !stopped_ && !results_unread(); ++n) {
      const auto& [file, test] = tests[n];
      bar_.launch(n, fs::path(file).filename().string());
      if (test.ok()) {
        judge(file, test.value());
      } else {
        bar_.clear();
        print_faults(test.faults());
        bad_ = true;
      }
    }
    bar_.clear();
    if (results_.size() == 1) {
      print_result(litmus_text(results_.front()));
    } else if (!results_.empty()) {
      print_result(litmus_table(results_));
    }
    if (stopped_) {
      print_error("interrupted; what was seen is of the runs done");
      return kInterrupted;
    }
    return violated_ ? kCheckFailed : bad_ ? kBadInput : kDone;
  }

 private:
  /// Says what is wrong with a test; the others go on.
  void bad(const std::string& message) {
    bar_.clear();
    print_error(message);
    bad_ = true;
  }

  void judge(const std::string& file, const litmus::Test& test) {
    if (options_.model == "ptx75")
      if (const auto newer = litmus::beyond_ptx75(test); !newer.empty())
        return bad(file + ": the PTX 7.5 model cannot judge it: " + newer.front() + "; ask --model ptx90");
    LitmusResult result;
    result.file = file;
    result.test = test;
    litmus::CheckOptions check;
    check.unroll = options_.unroll;
    check.draw = !options_.dot.empty();
    check.stop = [] { return SignalGuard::stop_wanted(); };
    result.verdict = litmus::check(test, check);
    stopped_ = SignalGuard::stop_wanted();
    if (stopped_) return;
    if (result.is_undecided()) bad(file + ": the model gives up: " + result.verdict.gave_up);
    result.barriers_can_be_met = litmus::barriers_can_be_met(test);
    if (options_.series.runs != 0) run(result);
    violated_ = violated_ || result.is_violation();
    if (!options_.dot.empty()) draw(result);
    if (options_.json) {
      bar_.clear();
      print_result(litmus_json(result));
    } else {
      results_.push_back(std::move(result));
    }
  }

  void run(LitmusResult& result) {
    litmus::Machine& machine = machines_.of(result.test);
    const std::vector<std::string> refused = machine.refusals(result.test);
    for (const std::string& why : refused) bad(result.file + " cannot run: " + why);
    if (!refused.empty()) return;
    const auto begin = std::chrono::steady_clock::now();
    result.report = litmus::run(machine, result.test, options_.series, [&](std::uint64_t done) {
      bar_.update(static_cast<double>(done) / static_cast<double>(options_.series.runs), done);
      return !SignalGuard::stop_wanted();
    });
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    stopped_ = SignalGuard::stop_wanted();
  }

  void draw(const LitmusResult& result) {
    if (result.verdict.graph.empty())
      return bad("--dot: the model finds no execution that ends so, not even a forbidden one");
    if (const std::string failure = write_file_atomically(options_.dot, result.verdict.graph);
        !failure.empty())
      bad("--dot: " + failure);
  }

  const LitmusOptions& options_;
  LitmusMachines& machines_;
  ProgressBar bar_;
  std::vector<LitmusResult> results_;
  bool bad_, violated_ = false, stopped_ = false;
};

int run_litmus(const LitmusOptions& o) {
  if (!is_one_of("--model", o.model, {"ptx75", "ptx90"}) ||
      !is_one_of("--transport", o.transport, {"fast", "at", "lt"}))
    return kBadInput;
  Diagnostics unlisted;
  const std::vector<std::string> files = files_of(o.inputs, unlisted);
  if (!o.dot.empty() && files.size() != 1)
    return bad_input("--dot draws one test, not " + std::to_string(files.size()));
  const auto config = o.gpu.load();
  if (!config.ok()) return bad_input(config.faults());
  if (config.value().has_root_complex())
    return bad_input("--gpu: litmus tests have peer memory, and no devices",
                     std::string("leave gpu.") + config.value().without_root_complex());
  if (!pins_fit(o.transport, o.pins)) return kBadInput;
  OutputCheck outputs;
  for (const std::string& file : files) outputs.add_input(file, "an input");
  outputs.add_output("--dot", o.dot);
  if (!outputs.faults().empty()) return bad_input(outputs.faults());
  print_faults(unlisted);  // the other tests go on
  SignalGuard guard;
  guard.stop_on_interrupt();
  const std::vector<LitmusInput> tests = read_tests(files);
  LitmusMachines machines(config.value(), o, tests);
  if (const Diagnostics unmatched = unmatched_hops("--pins", o.pins, machines.config()); !unmatched.empty())
    return bad_input(unmatched);
  return LitmusSession(o, machines, tests.size(), !unlisted.empty()).run(tests);
}

}  // namespace

void add_litmus(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("litmus", "Runs litmus tests of the memory model, and says what the model allows");
  LitmusOptions& o = options_of(command, status, run_litmus);
  command.add_option("TEST", o.inputs, "litmus files, or folders of them")->required();
  command.add_option("--runs", o.series.runs, "runs of each test; 0 asks the model alone")
      ->check(kWholeNumber)
      ->capture_default_str();
  command.add_option("--seed", o.series.seed, "from which the seeds of the runs follow")
      ->check(kWholeNumber)
      ->capture_default_str();
  command.add_option("--max-cycles", o.series.most_cycles, "a run that takes longer counts as stuck")
      ->check(kWholeNumber)
      ->capture_default_str();
  command
      .add_option("--model", o.model,
                  "the memory model that judges: ptx90 (PTX ISA 9.0) or ptx75 (7.5, with proxies; it has no "
                  "cluster scope)")
      ->capture_default_str();
  command.add_option("--unroll", o.unroll, "how often the model follows a loop")
      ->check(CLI::Range(0U, 64U))
      ->capture_default_str();
  o.gpu.add_options(command);
  command.add_option("--transport", o.transport, "how hops are carried: fast, at or lt; see warpline run")
      ->capture_default_str();
  command
      .add_option("--pins", o.pins, "opens hops as clocked wires: those whose name matches; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("--json", o.json, "one line of JSON for each test");
  command.add_option("--dot", o.dot,
                     "of one test: draws an execution with the outcome to this Graphviz file");
  command.footer(
      "Exit status: 0 done; 1 an outcome was seen that the model forbids; 2 bad input, or the model gave "
      "up.\n"
      "Example: warpline litmus litmus --runs 10000");
}

}  // namespace warpline
