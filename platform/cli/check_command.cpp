#include "platform/cli/check_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "platform/cli/command_line.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

std::string summary(const std::string& file, const ptx::ModuleLegality& j) {
  const std::string what =
      fmt::format("{} memory instruction{}", j.instructions, j.instructions == 1 ? "" : "s");
  if (j.faults.empty()) return fmt::format("{}: {}, accepted\n", file, what);
  if (j.rejected == 0) return fmt::format("{}: {}, and text that is no PTX\n", file, what);
  return fmt::format("{}: {}, {} rejected\n", file, what, j.rejected);
}

}  // namespace

CheckCommand::CheckCommand(CLI::App& app) {
  app_ = app.add_subcommand("check", "Judges the memory instructions of PTX modules as the assembler would");
  app_->add_option("FILE", files_, "PTX modules");
  app_->add_option("--table", table_,
                   "judges rows of VERSION<TAB>TARGET<TAB>INSTRUCTION[<TAB>entry or func] instead, one line "
                   "\"accept\" or \"reject<TAB>REASON\" each");
  app_->footer(
      "Exit status: 0 all accepted, or a table judged; 1 an instruction is rejected; 2 no PTX module.\n"
      "Example: warpline check kernels/vecadd.sm_80.ptx");
}

bool CheckCommand::parsed() const {
  return app_->parsed();
}

int CheckCommand::run() const {
  if (files_.empty() == table_.empty()) {
    print_error(table_.empty() ? "a PTX file is missing" : "--table stands instead of PTX files",
                "see warpline check --help");
    return kBadInput;
  }
  return table_.empty() ? check_files() : check_table();
}

int CheckCommand::check_files() const {
  int status = kDone;
  for (const std::string& file : files_) {
    const Result<std::string> text = read_file(file);
    if (!text.ok()) {
      print_faults(text.faults());
      status = kBadInput;
      continue;
    }
    const ptx::ModuleLegality j = ptx::check_text(text.value(), file);
    for (const Diagnostic& d : j.notes) print_message(ptx::note_text(d));
    print_faults(j.faults);
    print_result(summary(file, j));
    if (!j.faults.empty()) status = std::max<int>(status, j.readable ? kCheckFailed : kBadInput);
  }
  return status;
}

int CheckCommand::check_table() const {
  const Result<std::string> text = read_file(table_);
  if (!text.ok()) {
    print_faults(text.faults());
    return kBadInput;
  }
  ProgressBar bar(is_terminal(STDERR_FILENO), 1, "rows");
  const std::string verdicts =
      ptx::judge_table(text.value(), [&](double done, std::uint64_t rows) { bar.update(done, rows); });
  bar.clear();
  print_result(verdicts);
  return kDone;
}

}  // namespace warpline
