#include "platform/programs/ptx/check_text.h"

#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_syntax/parser.h"

namespace warpline::ptx {
namespace {

/// Faults shown of one module: a file in which every instruction is wrong is still read to its end.
constexpr std::size_t kMostShown = 1000;

std::vector<std::string> all_opcodes() {
  std::vector<std::string> names = opcode_names();
  names.insert(names.end(), memory_opcodes_judged().begin(), memory_opcodes_judged().end());
  return names;
}

}  // namespace

std::string note_text(const Diagnostic& note) {
  std::string text = note.text();
  constexpr std::string_view kError = "error: ";
  const std::size_t at = text.find(kError, note.file.size());
  return at == std::string::npos ? text : text.replace(at, kError.size(), "note: ");
}

ModuleLegality check_text(std::string_view text, const std::string& file) {
  ModuleLegality out;
  FaultList faults(text, file, kMostShown);
  FaultList notes(text, file, kMostShown);
  const ModuleDecl module = parse_module(text, faults);
  const LanguageOrFault language = language_of(module.version, module.target);
  out.readable = !module.malformed && language.language;
  if (!module.malformed && !language.language) faults.add(module.target_place, language.fault);
  const Language judged_by = language.language.value_or(Language{});
  if (out.readable)
    for (const Remark& r : judge_declarations(module, judged_by)) faults.add(r.place, r.message, r.hint);
  for (const auto& f : module.functions) {
    for (const Statement& s : f->statements) {
      const Names names(module, *f, s.scope);
      if (out.readable)
        for (const Remark& r : judge_special_registers(s, names, judged_by))
          faults.add(r.place, r.message, r.hint);
      if (!is_judged_statement(s)) {
        if (is_known_but_unsupported(s.opcode.text))
          notes.add(s.opcode.place(), quoted(full_name(s)) + " is not judged, and no kernel with it runs" +
                                          reason_unsupported(s));
        else if (find_opcode(s.opcode.text) == nullptr)
          faults.add(s.opcode.place(), "unknown opcode " + quoted(s.opcode.text),
                     suggestion(s.opcode.text, all_opcodes()));
        continue;
      }
      if (!is_judged(s, names)) continue;
      const bool counts = touches_memory(s, names);
      if (counts) ++out.instructions;
      if (!out.readable) continue;
      const Legality j = judge(s, names, judged_by);
      if (counts && !j.faults.empty()) ++out.rejected;
      for (const Remark& r : j.faults) faults.add(r.place, r.message, r.hint);
      if (j.faults.empty())
        for (const Remark& r : j.notes) notes.add(r.place, r.message, r.hint);
    }
  }
  out.faults = faults.take();
  out.notes = notes.take();
  return out;
}

}  // namespace warpline::ptx
