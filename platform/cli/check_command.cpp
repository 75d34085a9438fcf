#include <unistd.h>

#include <algorithm>

#include "platform/cli/commands.h"
#include "platform/cli/console.h"
#include "platform/cli/progress_bar.h"
#include "platform/programs/ptx/check_text.h"
#include "platform/programs/ptx/judge_table.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::string table;
};

std::string summary(const std::string& file, const ptx::ModuleLegality& j) {
  const std::string what = file + ": " + counted(j.instructions, "memory instruction");
  if (j.faults.empty()) return what + ", accepted\n";
  if (j.rejected == 0) return what + ", and text that is no PTX\n";
  return what + ", " + std::to_string(j.rejected) + " rejected\n";
}

int check_files(const std::vector<std::string>& files) {
  int status = kDone;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text.ok()) {
      status = bad_input(text.faults());
      continue;
    }
    const ptx::ModuleLegality j = ptx::check_text(text.value(), file);
    for (const Diagnostic& d : j.notes) print_message(ptx::note_text(d));
    print_faults(j.faults);
    print_result(summary(file, j));
    if (!j.faults.empty()) status = std::max(status, j.readable ? kCheckFailed : kBadInput);
  }
  return status;
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
  return o.table.empty() ? check_files(o.files) : check_table(o.table);
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
  command.footer(
      "Exit status: 0 all accepted, or a table judged; 1 an instruction is rejected; 2 no PTX module.\n"
      "Example: warpline check kernels/vecadd.sm_80.ptx");
}

}  // namespace warpline
