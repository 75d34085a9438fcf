#include "platform/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <optional>

#include "platform/cli/cctl_command.h"
#include "platform/cli/check_command.h"
#include "platform/cli/config_command.h"
#include "platform/cli/console.h"
#include "platform/cli/counters_command.h"
#include "platform/cli/explain_command.h"
#include "platform/cli/litmus_command.h"
#include "platform/cli/policy_command.h"
#include "platform/cli/request_check.h"
#include "platform/cli/run_command.h"
#include "platform/cli/whole_number.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/document/document.h"
#include "rtl_models/sm/kernel.h"

namespace warpline {
namespace {

const std::vector<std::string> kCommands = {"run",      "cctl",    "check",  "config",
                                            "counters", "explain", "litmus", "policy"};

class CommandLine {
 public:
  CommandLine() : app_("Warpline: a virtual platform of a GPU's memory subsystem.", "warpline") {
    app_.set_version_flag("--version", std::string("warpline ") + WARPLINE_VERSION);
    app_.require_subcommand(1);
    app_.footer(
        "Example: warpline run kernels/vecadd.toml --gpu v100 --stats out.json\n"
        "Exit status: 0 done; 1 a check failed; 2 bad input or usage; 3 the machine is stuck.");
    add_run();
    add_config();
    add_counters();
    cctl_.emplace(app_);
    check_ptx_.emplace(app_);
    explain_.emplace(app_);
    litmus_.emplace(app_);
    policy_.emplace(app_);
  }

  int parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help and --version
      app_.exit(success);
      return kDone;
    } catch (const CLI::ExtrasError& error) {
      return unknown_option(argc, argv, error.what());
    } catch (const CLI::ParseError& error) {
      print_error(error.what(),
                  "see " + std::string(run_->parsed() ? "warpline run --help" : "warpline --help"));
      return kBadInput;
    }
    return dispatch();
  }

 private:
  void add_run() {
    run_ = app_.add_subcommand("run", "Runs kernels: launch files, programs, trace lists and kernel traces");
    run_->add_option(
            "INPUT", request_.inputs,
            "launch file (.toml), SASS-style program (.wls), trace list (.g) or kernel trace (.traceg, .xz, "
            ".gz); several run one after the other on the same GPU, as dependent grids")
        ->required();
    run_->add_option("--gpu", request_.gpu, "preset or TOML file")->capture_default_str();
    run_->add_option("--set", request_.sets, "key.path=value changes the GPU; may be repeated")
        ->allow_extra_args(false);
    run_->add_option("--transport", request_.transport,
                     "how hops are carried: fast (timed, port to port), at (timed, TLM-2.0 sockets) or lt "
                     "(loosely timed: no contention)")
        ->capture_default_str();
    run_->add_option(
            "--pins", request_.pins,
            "opens hops as clocked wires: those whose name matches, such as \"l2[0].from_crossbar\" or "
            "\"dram*\"; may be repeated")
        ->allow_extra_args(false);
    run_->add_option(
            "--fast-forward", request_.fast_forward,
            "KERNEL or N: runs loosely timed up to the first grid of that kernel, or over the first N "
            "grids, and measures from there on, what runs at the same time included")
        ->type_name("KERNEL|N");
    run_->add_flag("--tags-only", request_.tags_only, "addresses and time only: no data, no checks");
    run_->add_option("--stats", request_.stats, "writes every counter to this JSON file");
    run_->add_option("--access-log", request_.access_log,
                     "writes every access that arrived at devices to this file: lines of text, or JSON if it "
                     "ends in .json");
    run_->add_option("--seed", request_.seed, "of all random choices of the model")
        ->check(kWholeNumber)
        ->capture_default_str();
    run_->add_option("--jitter", request_.jitter,
                     "draw anew, before every launch, how long messages lie in queues and whose turn it is")
        ->transform(kWholeNumber)
        ->type_name("SEED");
    run_->add_option("--max-cycles", request_.max_cycles,
                     "gives up after this many cycles, with exit status 3")
        ->check(kWholeNumber);
    run_->add_flag("--check-consistency", request_.check_consistency,
                   "records what threads read and write, and judges every grid by the PTX memory consistency "
                   "model");
    run_->add_option(
        "--dot", request_.dot,
        "of --check-consistency: draws an execution that the model forbids to this Graphviz file");
    run_->add_flag("--quiet", request_.quiet, "no summary and no progress bar");
    run_->add_option("--wave", request_.observation.wave,
                     "writes what the blocks held, cycle by cycle, to this VCD file (GTKWave: waveforms/)");
    run_->add_option(
        "--timeline", request_.observation.timeline,
        "writes the way of each request through the blocks to this JSON file (Chrome trace events)");
    run_->add_option(
            "--probe", request_.observation.probes,
            "of --wave and --timeline: only blocks and ports whose name matches, such as \"l2[0]*\"; may be "
            "repeated")
        ->allow_extra_args(false);
    window_option_ =
        run_->add_option("--window", window_, "of --wave and --timeline: only cycles FIRST:LAST");
    run_->footer(
        "Signals: SIGINT stops soon, SIGUSR1 goes on; both show every request in flight and what it waits "
        "for.\n"
        "Example: warpline run kernel.toml --gpu a100 --set l2.slices=40 --stats out.json");
  }

  void add_config() {
    CLI::App* config = app_.add_subcommand("config", "GPU presets and their keys: list, show, keys, check");
    config->require_subcommand(1);
    config->footer("Example: warpline config show v100 > my_gpu.toml");
    list_ = config->add_subcommand("list", "Lists the built-in presets");
    list_->footer("Example: warpline config list");
    show_ = config->add_subcommand("show", "Prints a GPU as TOML");
    show_->add_option("NAME", gpu_, "preset or TOML file")->required();
    show_->add_option("--set", sets_, "key.path=value; may be repeated")->allow_extra_args(false);
    show_->footer("Example: warpline config show a100");
    keys_ = config->add_subcommand(
        "keys", "Prints every key, its meaning, its value in each preset and its rules, as Markdown");
    keys_->footer("Example: warpline config keys");
    check_ = config->add_subcommand("check", "Reports every fault of a GPU file");
    check_->add_option("FILE", gpu_, "TOML file or preset")->required();
    check_->add_option("--set", sets_, "key.path=value; may be repeated")->allow_extra_args(false);
    check_->footer("Example: warpline config check my_gpu.toml");
  }

  void add_counters() {
    counters_ =
        app_.add_subcommand("counters", "Prints the path, unit and meaning of every counter, as Markdown");
    counters_->add_option("--gpu", gpu_, "preset or TOML file")->default_str("mini");
    counters_->add_option("--set", sets_, "key.path=value; may be repeated")->allow_extra_args(false);
    counters_->footer("Example: warpline counters --gpu a100");
  }

  int dispatch() {
    if (list_->parsed()) return list_presets();
    if (show_->parsed()) return show_gpu(gpu_, sets_);
    if (keys_->parsed()) return list_keys();
    if (counters_->parsed()) return list_counters(gpu_.empty() ? preset_names().front() : gpu_, sets_);
    if (check_->parsed()) return check_gpu(gpu_, sets_);
    if (cctl_->parsed()) return cctl_->run();
    if (check_ptx_->parsed()) return check_ptx_->run();
    if (explain_->parsed()) return explain_->run();
    if (litmus_->parsed()) return litmus_->run();
    if (policy_->parsed()) return policy_->run();
    const std::string* const window = window_option_->count() != 0 ? &window_ : nullptr;
    if (const int status = check_request(request_, window); status != kDone) return status;
    return run_kernels(request_, WARPLINE_VERSION);
  }

  /// The library names what it could not place; we add what was probably meant.
  int unknown_option(int argc, const char* const* argv, const std::string& otherwise) {
    std::vector<std::string> known = {"--help", "--version"};
    std::vector<const CLI::App*> apps = policy_->apps();
    apps.insert(apps.end(), {run_, show_, check_, counters_, cctl_->app(), check_ptx_->app(), explain_->app(),
                             litmus_->app()});
    for (const CLI::App* app : apps)
      for (const CLI::Option* option : app->get_options())
        if (option->get_name().rfind("--", 0) == 0) known.push_back(option->get_name());
    for (int n = 1; n < argc; ++n) {
      const std::string word = std::string(argv[n]).substr(0, std::string(argv[n]).find('='));
      if (word.size() < 2 || word[0] != '-' || std::find(known.begin(), known.end(), word) != known.end())
        continue;
      print_error("unknown option " + word, did_you_mean(word, known));
      return kBadInput;
    }
    print_error(otherwise, "see warpline --help");
    return kBadInput;
  }

  CLI::App app_;
  CLI::App* run_ = nullptr;
  CLI::App* list_ = nullptr;
  CLI::App* show_ = nullptr;
  CLI::App* keys_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* counters_ = nullptr;
  std::optional<CctlCommand> cctl_;
  std::optional<CheckCommand> check_ptx_;
  std::optional<ExplainCommand> explain_;
  std::optional<LitmusCommand> litmus_;
  std::optional<PolicyCommand> policy_;
  RunRequest request_;
  std::string gpu_;
  std::vector<std::string> sets_;
  std::string window_;
  const CLI::Option* window_option_ = nullptr;
};

/// Judges a command's name before the parser sees it, or returns kDone.
int check_word(const char* what, const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || word[0] == '-' || std::find(known.begin(), known.end(), word) != known.end())
    return kDone;
  print_error("unknown " + std::string(what) + " \"" + word + "\"", did_you_mean(word, known));
  return kBadInput;
}

int check_commands(int argc, const char* const* argv) {
  if (argc < 2) {
    print_error("a command is missing",
                "warpline run, warpline cctl, warpline check, warpline config, warpline counters, warpline "
                "explain, warpline litmus, warpline policy; see warpline --help");
    return kBadInput;
  }
  if (const int status = check_word("command", argv[1], kCommands); status != kDone) return status;
  if (std::string(argv[1]) == "config" && argc > 2)
    return check_word("config command", argv[2], {"list", "show", "keys", "check"});
  if (std::string(argv[1]) == "policy" && argc > 2)
    return check_word("policy command", argv[2], PolicyCommand::names());
  return kDone;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  if (const int status = check_commands(argc, argv); status != kDone) return status;
  try {
    return CommandLine().parse(argc, argv);
  } catch (const InputError& error) {
    print_faults({error.diagnostic});
  } catch (const std::bad_alloc&) {
    print_error("the host has not enough memory for this run");
  }
  return kBadInput;
}

}  // namespace warpline
