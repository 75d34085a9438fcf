#include "platform/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <sstream>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/machine/namespace_stores.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/sm/input_error.h"

namespace warpline {
namespace {

bool is_among(const std::string& word, const std::vector<std::string>& known) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

/// Judges the names of commands, before the parser takes a mistake in one for something else.
int check_names(const CLI::App& warpline, int argc, const char* const* argv) {
  if (argc < 2)
    return bad_input(
        "a command is missing",
        "warpline run, warpline cctl, warpline check, warpline config, warpline counters, warpline "
        "explain, warpline litmus, warpline policy, warpline sweep; see warpline --help");
  const CLI::App* app = &warpline;
  std::string what = "command";
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    std::vector<std::string> names;
    for (const CLI::App* command : app->get_subcommands({})) names.push_back(command->get_name());
    if (names.empty() || word.empty() || word[0] == '-') break;
    if (!is_among(word, names))
      return bad_input(fmt::format("unknown {} \"{}\"", what, word), did_you_mean(word, names));
    app = app->get_subcommand(word);
    what = word + " command";
  }
  return kDone;
}

/// Whether a word can only have been meant as an option: "-h", "--quiet", not "-", "-3" or "-0x10".
bool looks_like_option(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' && !is_digit(word[1]);
}

/// An option or argument with an empty text is a script's empty variable, and is not as if it had not been
/// given. One with another option for its text lacks its own. What --gpu may name, and what
/// is wrong with instructions, is said elsewhere.
void refuse_missing_texts(CLI::App& app) {
  const CLI::Validator is_something(
      [](std::string& text) { return text.empty() ? std::string("is given an empty text") : std::string{}; },
      "");
  const CLI::Validator is_no_option(
      [](std::string& text) {
        return looks_like_option(text)
                   ? "is followed by " + text + ", which reads as an option: a file that is called so is ./" +
                         text
                   : std::string{};
      },
      "");
  for (CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_type_size() != 0; })) {
    if (!is_among(option->get_name(), {"--gpu", "INSTRUCTION", "TEXT"})) option->check(is_something);
    if (option->get_name().rfind("--", 0) == 0) option->check(is_no_option);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_missing_texts(*command);
}

void add_options(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_name().rfind("--", 0) == 0) names.push_back(option->get_name());
  for (const CLI::App* command : app.get_subcommands({})) add_options(*command, names);
}

/// Where the command that was being typed is explained.
std::string see_help(const CLI::App& warpline) {
  std::string words = "see warpline";
  for (const CLI::App* at = &warpline; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += " " + at->get_name();
  }
  return words + " --help";
}

/// The library names what it could not place; we add what was probably meant.
int unknown_option(const CLI::App& app, int argc, const char* const* argv, const std::string& otherwise) {
  std::vector<std::string> known;
  add_options(app, known);
  for (int n = 1; n < argc; ++n) {
    const std::string word = std::string(argv[n]).substr(0, std::string(argv[n]).find('='));
    if (word == "--") break;  // what comes behind it is no option
    if (word.size() >= 2 && word[0] == '-' && !is_among(word, known))
      return bad_input("unknown option " + word, did_you_mean(word, known));
  }
  return bad_input(otherwise, see_help(app));
}

int run_command(int argc, const char* const* argv) {
  int status = kDone;
  CLI::App app("Warpline: a virtual platform of a GPU's memory subsystem.", "warpline");
  app.set_version_flag("--version", std::string("warpline ") + WARPLINE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example: warpline run kernels/vecadd.toml --gpu v100 --stats out.json\n"
      "Exit status: 0 done; 1 a check failed; 2 bad input or usage; 3 the machine is stuck.");
  add_run(app, status, {argv, argv + argc});
  for (const auto add :
       {add_config,  add_calibrate, add_counters, add_cctl,     add_check,  add_explain, add_litmus,
        add_policy,  add_exec,      add_sweep,    add_optimise, add_export, add_diff,    add_report,
        add_profile, add_metrics,   add_watch,    add_serve,    add_regs,   add_control, add_client})
    add(app, status);
  refuse_missing_texts(app);
  if (const int named = check_names(app, argc, argv); named != kDone) return named;
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::Success& success) {  // --help and --version
    std::ostringstream help;
    app.exit(success, help, help);
    print_result(help.str());
    return kDone;
  } catch (const CLI::ExtrasError& error) {
    return unknown_option(app, argc, argv, error.what());
  } catch (const CLI::ParseError& error) {
    return bad_input(error.what(), see_help(app));
  } catch (const InputError& error) {
    return bad_input(Diagnostics{error.diagnostic});
  } catch (const NamespaceFileError& error) {
    // They were good when the configuration was read; somebody else was quicker.
    return bad_input(error.what());
  } catch (const std::bad_alloc&) {
    return bad_input("the host has not enough memory for this run");
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  return end_results(run_command(argc, argv));
}

}  // namespace warpline
