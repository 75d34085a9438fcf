#include "warpline/cli/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>

#include "warpline/cli/config_command.h"
#include "warpline/cli/console.h"
#include "warpline/cli/run_command.h"
#include "warpline/config/document.h"
#include "warpline/sm/kernel.h"

namespace warpline {
namespace {

const std::vector<std::string> kCommands = {"run", "config"};
const std::vector<std::string> kLaterCommands = {"check", "explain", "policy", "cctl", "litmus"};
const std::vector<std::string> kTransports = {"fast", "lt", "at"};

/// An option of `run` whose part of the platform does not exist yet: known, so that it is refused
/// for what it is and not as a misspelling.
struct LaterOption {
  const char* name;
  bool takes_value;
};
constexpr LaterOption kLaterOptions[] = {{"--wave", true},     {"--probe", true},        {"--pins", true},   {"--timeline", true},
                                         {"--fast-forward", true}, {"--jitter", true}, {"--check-consistency", false}};

class CommandLine {
 public:
  CommandLine() : app_("Warpline: a virtual platform of a GPU's memory subsystem.", "warpline") {
    app_.set_version_flag("--version", std::string("warpline ") + WARPLINE_VERSION);
    app_.require_subcommand(1);
    app_.footer("Example: warpline run sw/kernels/vecadd.toml --gpu v100 --stats out.json\n"
                "Exit status: 0 done; 1 a check failed; 2 bad input or usage; 3 the machine is stuck.\n"
                "Not built yet: check, explain, policy, cctl, litmus.");
    add_run();
    add_config();
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
      print_error(error.what(), "see " + std::string(run_->parsed() ? "warpline run --help" : "warpline --help"));
      return kBadInput;
    }
    return dispatch();
  }

 private:
  void add_run() {
    run_ = app_.add_subcommand("run", "Runs kernels: launch files, trace lists and kernel traces");
    run_->add_option("INPUT", request_.inputs, "launch file (.toml), trace list (.g) or kernel trace (.traceg, .xz, .gz); "
                                               "several run one after the other on the same GPU, as dependent grids")
        ->required();
    run_->add_option("--gpu", request_.gpu, "preset or TOML file")->capture_default_str();
    run_->add_option("--set", request_.sets, "key.path=value changes the GPU; may be repeated")->allow_extra_args(false);
    run_->add_option("--transport", request_.transport, "how hops are carried: fast (lt and at are not built yet)")
        ->capture_default_str();
    run_->add_flag("--tags-only", request_.tags_only, "addresses and time only: no data, no checks");
    run_->add_option("--stats", request_.stats, "writes every counter to this JSON file");
    run_->add_option("--seed", request_.seed, "of all random choices of the model")->capture_default_str();
    run_->add_option("--max-cycles", max_cycles_, "gives up after this many cycles, with exit status 3")->check(CLI::PositiveNumber);
    run_->add_flag("--quiet", request_.quiet, "no summary and no progress bar");
    for (const LaterOption& o : kLaterOptions) {
      CLI::Option* option = o.takes_value ? run_->add_option(o.name, later_value_, "not built yet")->allow_extra_args(false)
                                          : run_->add_flag(o.name, "not built yet");
      later_.push_back(option->group(""));
    }
    run_->footer("Example: warpline run kernel.toml --gpu a100 --set l2.slices=40 --stats out.json");
  }

  void add_config() {
    CLI::App* config = app_.add_subcommand("config", "GPU presets: list, show, check");
    config->require_subcommand(1);
    config->footer("Example: warpline config show v100 > my_gpu.toml");
    list_ = config->add_subcommand("list", "Lists the built-in presets");
    list_->footer("Example: warpline config list");
    show_ = config->add_subcommand("show", "Prints a GPU as TOML");
    show_->add_option("NAME", gpu_, "preset or TOML file")->required();
    show_->add_option("--set", sets_, "key.path=value; may be repeated")->allow_extra_args(false);
    show_->footer("Example: warpline config show a100");
    check_ = config->add_subcommand("check", "Reports every fault of a GPU file");
    check_->add_option("FILE", gpu_, "TOML file or preset")->required();
    check_->add_option("--set", sets_, "key.path=value; may be repeated")->allow_extra_args(false);
    check_->footer("Example: warpline config check my_gpu.toml");
  }

  int dispatch() {
    if (list_->parsed()) return list_presets();
    if (show_->parsed()) return show_gpu(gpu_, sets_);
    if (check_->parsed()) return check_gpu(gpu_, sets_);
    for (const CLI::Option* option : later_)
      if (option->count() != 0) {
        print_error(option->get_name() + " is not built yet");
        return kBadInput;
      }
    if (request_.transport == "lt" || request_.transport == "at") {
      print_error("--transport " + request_.transport + " is not built yet", "--transport fast is");
      return kBadInput;
    }
    if (request_.transport != "fast") {
      print_error("--transport: \"" + request_.transport + "\" is none of fast, lt, at", did_you_mean(request_.transport, kTransports));
      return kBadInput;
    }
    if (max_cycles_ != 0) request_.max_cycles = max_cycles_;
    return run_kernels(request_, WARPLINE_VERSION);
  }

  /// The library names what it could not place; we add what was probably meant.
  int unknown_option(int argc, const char* const* argv, const std::string& otherwise) {
    std::vector<std::string> known = {"--help", "--version"};
    for (const CLI::App* app : {run_, show_, check_})
      for (const CLI::Option* option : app->get_options())
        if (option->get_name().rfind("--", 0) == 0) known.push_back(option->get_name());
    for (int n = 1; n < argc; ++n) {
      const std::string word = std::string(argv[n]).substr(0, std::string(argv[n]).find('='));
      if (word.size() < 2 || word[0] != '-' || std::find(known.begin(), known.end(), word) != known.end()) continue;
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
  CLI::App* check_ = nullptr;
  RunRequest request_;
  Cycle max_cycles_ = 0;
  std::string gpu_;
  std::vector<std::string> sets_;
  std::string later_value_;
  std::vector<CLI::Option*> later_;
};

/// Judges the first word before the parser sees it, or returns kDone.
int check_command(const std::string& word) {
  if (word.empty() || word[0] == '-' || std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end()) return kDone;
  if (std::find(kLaterCommands.begin(), kLaterCommands.end(), word) != kLaterCommands.end()) {
    print_error("the command \"" + word + "\" is not built yet");
  } else {
    print_error("unknown command \"" + word + "\"", did_you_mean(word, kCommands));
  }
  return kBadInput;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  if (argc > 1)
    if (const int status = check_command(argv[1]); status != kDone) return status;
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
