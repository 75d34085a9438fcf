// warpline_regs: makes the model's table, the driver's header and the manual of one description of registers.
#include <cstdio>
#include <string>
#include <vector>

#include "rtl_models/base/text.h"
#include "rtl_models/document/file_claims.h"
#include "rtl_models/document/files.h"
#include "rtl_models/document/output_file.h"
#include "rtl_models/registers/generator/reader.h"
#include "rtl_models/registers/generator/writers.h"

namespace {

using namespace warpline;
using namespace warpline::registers;

constexpr const char* kUsage =
    R"(usage: warpline_regs FILE.toml [--table OUT.h] [--header OUT.h] [--manual OUT.md] [--own]

Checks a description of registers, and writes what is asked for:
  --table OUT.h    the model's table, C++17
  --header OUT.h   the driver's header, C11 or C++
  --manual OUT.md  the manual, Markdown
  --own            it is Warpline's own: the table includes headers as "rtl_models/...", not as "warpline/rtl_models/..."
Each file appears in one step, when all of the description is right.

Exit status: 0 if all is done, 2 if the description or the command line is wrong or a file cannot be written.

example: warpline_regs timer.toml --table timer.h --header wl_timer_regs.h --manual timer.md
)";

struct Output {
  const char* option;
  std::string (*make)(const Block&, bool own);
  std::string path;
};

int mistake(const std::string& message) {
  std::fprintf(stderr, "warpline_regs: %s\n%s", message.c_str(), kUsage);
  return 2;
}

int print(const Diagnostics& faults) {
  for (const Diagnostic& fault : faults) std::fprintf(stderr, "%s\n", printable(fault.text()).c_str());
  return 2;
}

/// Why an output cannot be written as things are; empty: all can.
std::string refusal(const std::string& input, const std::vector<Output>& outputs) {
  FileClaims files;
  files.add(input, "the description");
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    if (const std::string why = OutputFile::refusal(output.path); !why.empty()) return why;
    std::string clash = files.claim(output.path, std::string("the file of ") + output.option);
    if (!clash.empty()) return clash;
  }
  return {};
}

int make(const std::string& input, const std::vector<Output>& outputs, bool own) {
  const Result<std::string> text = read_file(input);
  if (!text.ok()) return print(text.faults());
  const Result<Block> block = read_block(input, text.value());
  if (!block.ok()) return print(block.faults());
  std::string why = refusal(input, outputs);
  for (const Output& output : outputs)
    if (why.empty() && !output.path.empty())
      why = write_file_atomically(output.path, output.make(block.value(), own));
  if (why.empty()) return 0;
  std::fprintf(stderr, "warpline_regs: %s\n", printable(why).c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string input;
  std::vector<Output> outputs = {
      {"--table", table_text, {}},
      {"--header", [](const Block& block, bool) { return header_text(block); }, {}},
      {"--manual", [](const Block& block, bool) { return manual_text(block); }, {}}};
  bool own = false;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help") return std::printf("%s", kUsage) < 0 || std::fflush(stdout) != 0 ? 2 : 0;
    if (word == "--own") {
      own = true;
      continue;
    }
    Output* asked = nullptr;
    for (Output& output : outputs)
      if (word == output.option) asked = &output;
    if (asked != nullptr) {
      if (i + 1 == words.size() || words[i + 1].empty() || words[i + 1][0] == '-')
        return mistake(word + " needs the name of a file");
      if (!asked->path.empty()) return mistake(word + " is given twice");
      asked->path = words[++i];
    } else if (word.size() > 1 && word[0] == '-') {
      const std::string near = near_miss(word, {"--table", "--header", "--manual", "--own", "--help"});
      return mistake("unknown option " + word + (near.empty() ? "" : "; did you mean " + near + "?"));
    } else if (!input.empty()) {
      return mistake("one description at a time: " + input + ", and " + word);
    } else {
      input = word;
    }
  }
  if (input.empty()) return mistake("a description is needed");
  return make(input, outputs, own);
}
