#include <unistd.h>

#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::string table;
  bool runs = false;
};

std::string summary(const std::string& file, const ptx::ModuleLegality& j) {
  const std::string what = file + ": " + counted(j.instructions, "memory instruction");
  if (j.faults.empty()) return what + ", accepted\n";
  if (!j.readable) return what + ", and text that is no PTX\n";
  if (j.rejected == 0)
    return what + ", accepted, and " + counted(j.faults.size(), "fault") + " beside them\n";
  return what + ", " + std::to_string(j.rejected) + " rejected\n";
}

/// Calls `say(file, text)` with each file that can be read, and returns the worst exit status, that of `say`
/// among them.
template <class Say>
int check_each(const std::vector<std::string>& files, Say&& say) {
  int status = kDone;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    status = std::max<int>(status, text.ok() ? say(file, text.value()) : bad_input(text.faults()));
  }
  return status;
}

int exit_status(const Diagnostics& faults, bool readable) {
  if (faults.empty()) return kDone;
  return readable ? kCheckFailed : kBadInput;
}

int check_file(const std::string& file, const std::string& text) {
  const ptx::ModuleLegality j = ptx::check_text(text, file);
  for (const Diagnostic& d : j.notes) print_message(ptx::note_text(d));
  print_faults(j.faults);
  print_result(summary(file, j));
  return exit_status(j.faults, j.readable);
}

/// What `--runs` says of one module.
int check_runs(const std::string& file, const std::string& its_text) {
  ptx::ModuleRuns module = ptx::kernels_that_run(its_text, file);
  std::size_t width = 0, good = 0;
  const bool whole = module.faults.empty();
  Diagnostics faults = std::move(module.faults);
  for (const ptx::ModuleRuns::Kernel& k : module.kernels) {
    width = std::max(width, k.name.size());
    good += whole && k.refused.empty();
    if (whole) faults.insert(faults.end(), k.refused.begin(), k.refused.end());
  }
  print_faults(faults);
  std::string text = file + ": " + std::to_string(good) + " of " + counted(module.kernels.size(), "kernel") +
                     " can be run\n";
  for (const ptx::ModuleRuns::Kernel& k : module.kernels) {
    text += "  " + k.name + std::string(width - k.name.size() + 2, ' ');
    if (!whole) {
      text += "cannot: the module is refused\n";
    } else if (k.refused.empty()) {
      text += "can be run\n";
    } else {
      const Diagnostic& first = k.refused.front();
      text += "cannot: line " + std::to_string(first.line) + ", " + first.message + "\n";
    }
  }
  print_result(text);
  return exit_status(faults, module.readable);
}

int check_table(const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text.ok()) return bad_input(text.faults());
  ProgressBar bar(is_terminal(STDERR_FILENO), 1, "rows");
  const std::string verdicts =
      ptx::judge_table(text.value(), [&](double done, std::uint64_t rows) { bar.update(done, rows); });
  bar.clear();
  print_result(verdicts);
  return kDone;
}

int check(const CheckOptions& o) {
  if (o.files.empty() == o.table.empty())
    return bad_input(o.table.empty() ? "a PTX file is missing" : "--table stands instead of PTX files",
                     "see warpline check --help");
  if (o.runs && !o.table.empty())
    return bad_input("--runs is about modules, --table about single instructions");
  if (!o.table.empty()) return check_table(o.table);
  return check_each(o.files, o.runs ? check_runs : check_file);
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  CLI::App& command =
      *app.add_subcommand("check", "Judges the memory instructions of PTX modules as the assembler would");
  CheckOptions& o = options_of(command, status, check);
  command.add_option("FILE", o.files, "PTX modules");
  command.add_option(
      "--table", o.table,
      "judges rows of VERSION<TAB>TARGET<TAB>INSTRUCTION[<TAB>entry or func] instead, one line "
      "\"accept\" or \"reject<TAB>REASON\" each");
  command.add_flag(
      "--runs", o.runs,
      "says instead which kernels of the modules warpline run can run, and what of the others it "
      "cannot");
  command.footer(
      "Exit status: 0 all accepted or runnable, or a table judged; 1 an instruction is rejected, or a kernel "
      "cannot be run; 2 no PTX module.\n"
      "Example: warpline check kernels/vecadd.sm_80.ptx");
}

}  // namespace warpline
