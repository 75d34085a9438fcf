#include "platform/cli/litmus_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "platform/cli/litmus_machines.h"
#include "platform/cli/litmus_report.h"
#include "platform/cli/progress_bar.h"
#include "platform/cli/request_check.h"
#include "platform/cli/signal_guard.h"
#include "platform/cli/whole_number.h"
#include "platform/config/load_gpu.h"
#include "platform/consistency/parser.h"
#include "platform/machine/hop_names.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

namespace fs = std::filesystem;

/// The litmus files that `inputs` name: files as they are, of folders all that are called *.litmus.
std::vector<std::string> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> out;
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      out.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry :
         fs::recursive_directory_iterator(input, fs::directory_options::skip_permission_denied, ignored))
      if (entry.path().extension() == ".litmus" && !entry.is_directory(ignored))
        found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    if (found.empty()) out.push_back(input);  // read_tests says what is wrong
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

std::vector<LitmusInput> read_tests(const std::vector<std::string>& files) {
  std::vector<LitmusInput> out;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) {
      Diagnostic empty;
      empty.file = file;
      empty.message = "is a folder without any file called *.litmus";
      out.push_back({file, empty});
      continue;
    }
    constexpr std::uint64_t kMostBytes = 1U << 18U;  // nobody's test is longer
    const auto text = read_file(file, kMostBytes);
    out.push_back(
        {file, text.ok() ? litmus::parse(text.value(), file) : Result<litmus::Test>(text.faults())});
  }
  return out;
}

bool is_one_of(const char* option, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return true;
  std::string all;
  for (const std::string& k : known) all += (all.empty() ? "" : ", ") + k;
  print_error(fmt::format("{}: \"{}\" is none of {}", option, word, all), did_you_mean(word, known));
  return false;
}

/// Runs `result.test`, which the machine does not refuse. False: it was interrupted.
bool run_test(litmus::Machine& machine, const litmus::RunSeries& plan, ProgressBar& bar,
              LitmusResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  result.report = litmus::run(machine, result.test, plan, [&](std::uint64_t done) {
    bar.update(static_cast<double>(done) / static_cast<double>(plan.runs), done);
    return !SignalGuard::stop_wanted();
  });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return !SignalGuard::stop_wanted();
}

}  // namespace

LitmusCommand::LitmusCommand(CLI::App& app) {
  app_ =
      app.add_subcommand("litmus", "Runs litmus tests of the memory model, and says what the model allows");
  app_->add_option("TEST", inputs_, "litmus files, or folders of them")->required();
  app_->add_option("--runs", runs_, "runs of each test; 0 asks the model alone")
      ->check(kWholeNumber)
      ->capture_default_str();
  app_->add_option("--seed", seed_, "from which the seeds of the runs follow")
      ->check(kWholeNumber)
      ->capture_default_str();
  app_->add_option("--max-cycles", max_cycles_, "a run that takes longer counts as stuck")
      ->check(kWholeNumber)
      ->capture_default_str();
  app_->add_option("--model", model_, "the memory model that judges: ptx75 (PTX ISA 7.5, with proxies)")
      ->capture_default_str();
  app_->add_option("--unroll", unroll_, "how often the model follows a loop")
      ->check(CLI::Range(0U, 64U))
      ->capture_default_str();
  app_->add_option("--gpu", gpu_, "preset or TOML file")->capture_default_str();
  app_->add_option("--set", sets_, "key.path=value changes the GPU; may be repeated")
      ->allow_extra_args(false);
  app_->add_option("--transport", transport_, "how hops are carried: fast, at or lt; see warpline run")
      ->capture_default_str();
  app_->add_option("--pins", pins_, "opens hops as clocked wires: those whose name matches; may be repeated")
      ->allow_extra_args(false);
  app_->add_flag("--json", json_, "one line of JSON for each test");
  app_->add_option("--dot", dot_, "of one test: draws an execution with the outcome to this Graphviz file");
  app_->footer(
      "Exit status: 0 done; 1 an outcome was seen that the model forbids; 2 bad input, or the model gave "
      "up.\n"
      "Example: warpline litmus litmus --runs 10000");
}

bool LitmusCommand::parsed() const {
  return app_->parsed();
}

int LitmusCommand::run() const {
  if (!is_one_of("--model", model_, {"ptx75"}) || !is_one_of("--transport", transport_, {"fast", "at", "lt"}))
    return kBadInput;
  const std::vector<std::string> files = files_of(inputs_);
  if (!dot_.empty() && files.size() != 1) {
    print_error("--dot draws one test, not " + std::to_string(files.size()));
    return kBadInput;
  }
  const auto config = load_gpu(gpu_, overrides_of(sets_));
  if (!config.ok()) {
    print_faults(config.faults());
    return kBadInput;
  }
  if (config.value().pcie_system.peers != 0) {
    print_error("--gpu: litmus tests have peer memory, and no devices", "leave gpu.pcie_system.peers at 0");
    return kBadInput;
  }
  if (!pins_fit(transport_, pins_)) return kBadInput;
  litmus::CheckOptions options;
  options.unroll = unroll_;
  options.draw = !dot_.empty();
  options.stop = [] { return SignalGuard::stop_wanted(); };
  const litmus::RunSeries plan{runs_, seed_, max_cycles_};
  const SignalGuard guard;
  ProgressBar bar(is_terminal(STDERR_FILENO), files.size(), "runs");
  const std::vector<LitmusInput> tests = read_tests(files);
  LitmusMachines machines(config.value(), transport_, pins_, tests);
  if (const Diagnostics unmatched = unmatched_hops("--pins", pins_, machines.config()); !unmatched.empty()) {
    print_faults(unmatched);
    return kBadInput;
  }
  std::vector<LitmusResult> results;
  bool bad = false, violated = false, stopped = false;
  for (std::size_t n = 0; n < tests.size() && !stopped; ++n) {
    const auto& [file, test] = tests[n];
    bar.launch(n, fs::path(file).filename().string());
    if (!test.ok()) {
      bar.clear();
      print_faults(test.faults());
      bad = true;
      continue;
    }
    LitmusResult result;
    result.file = file;
    result.test = test.value();
    result.verdict = litmus::check(result.test, options);
    stopped = SignalGuard::stop_wanted();
    if (stopped) break;
    if (result.is_undecided()) {
      bar.clear();
      print_error(file + ": the model gives up: " + result.verdict.gave_up);
      bad = true;
    }
    result.barriers_can_be_met = litmus::barriers_can_be_met(result.test);
    if (runs_ != 0) {
      litmus::Machine& machine = machines.of(result.test);
      const std::vector<std::string> refused = machine.refusals(result.test);
      if (refused.empty()) {
        stopped = !run_test(machine, plan, bar, result);
      } else {
        bar.clear();
        for (const std::string& why : refused) print_error(file + " cannot run: " + why);
        bad = true;
      }
    }
    violated = violated || result.is_violation();
    if (!dot_.empty() && result.verdict.graph.empty()) {
      bar.clear();
      print_error("--dot: the model finds no execution that ends so, not even a forbidden one");
      bad = true;
    } else if (!dot_.empty()) {
      if (const std::string failure = write_file_atomically(dot_, result.verdict.graph); !failure.empty()) {
        print_error("--dot: " + failure);
        bad = true;
      }
    }
    if (json_) {
      bar.clear();
      print_result(litmus_json(result));
    } else {
      results.push_back(std::move(result));
    }
  }
  bar.clear();
  if (results.size() == 1) {
    print_result(litmus_text(results.front()));
  } else if (!results.empty()) {
    print_result(litmus_table(results));
  }
  if (stopped) {
    print_error("interrupted; what was seen is of the runs done");
    return kInterrupted;
  }
  return violated ? kCheckFailed : bad ? kBadInput : kDone;
}

}  // namespace warpline
