#include "platform/programs/ptx/judge_table.h"

#include <algorithm>

#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_legality/preamble.h"
#include "platform/programs/ptx_syntax/parser.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

/// Judges row after row.
class TableJudge {
 public:
  TableJudge() : entry_(parse_preamble(false)), function_(parse_preamble(true)) {}

  /// "accept", or "reject<TAB>reason".
  std::string row(std::string_view line) const {
    const std::vector<std::string_view> columns = split(line, '\t');
    if (columns.size() < 3)
      return reject("a row is version, target, instruction and context, separated by tabs");
    const std::string_view context = columns.size() > 3 ? columns[3] : "";
    const bool func = context == "func";
    if (!func && !context.empty() && context != "entry")
      return reject("the context is 'entry' or 'func', not " + quoted(context));
    const std::optional<unsigned> version = version_from(columns[0]);
    if (!version) return reject(unknown_version_text(columns[0]));
    const LanguageOrFault language = language_of(*version, columns[1]);
    if (!language.language) return reject(language.fault);
    return judged(columns[2], func ? function_ : entry_, *language.language);
  }

 private:
  static std::string reject(const std::string& reason, const std::string& hint = {}) {
    return "reject\t" + reason + (hint.empty() ? "" : "; " + hint);
  }

  std::string judged(std::string_view instruction, const ModuleDecl& module, const Language& language) const {
    FaultList faults(instruction, "");
    const std::optional<Statement> s = parse_statement(instruction, faults);
    if (!s || !faults.empty()) {
      const Diagnostics list = faults.take();
      return reject(list[0].message, list[0].hint);
    }
    if (!is_judged_statement(*s)) return foreign(*s);
    const Names names(module, *module.functions[0], kPreambleScope);
    if (const auto early = judge_special_registers(*s, names, language); !early.empty())
      return reject(early[0].message, early[0].hint);
    const Legality j = judge(*s, names, language);
    if (j.faults.empty()) return "accept";
    return reject(j.faults[0].message, j.faults[0].hint);
  }

  static std::string foreign(const Statement& s) {
    if (find_opcode(s.opcode.text) != nullptr || is_known_but_unsupported(s.opcode.text))
      return reject(quoted(s.opcode.text) + " is no memory instruction");
    return reject("unknown opcode " + quoted(s.opcode.text),
                  suggestion(s.opcode.text, memory_opcodes_judged()));
  }

  ModuleDecl entry_, function_;
};

}  // namespace

std::string judge_table(std::string_view text, const TableProgress& progress) {
  const TableJudge judge;
  const std::size_t all = text.size();
  std::string out;
  std::uint64_t rows = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line[0] == '#') continue;
    out += judge.row(line);
    out += '\n';
    if (++rows % 512 == 0) progress(1.0 - static_cast<double>(text.size()) / static_cast<double>(all), rows);
  }
  return out;
}

}  // namespace warpline::ptx
