#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rtl_models/base/problem.h"

namespace warpline::ptx {

/// What the judge says of a whole module.
struct ModuleLegality {
  Diagnostics faults;            ///< in the order of the text
  Diagnostics notes;             ///< where the assembler and the PTX document differ
  std::size_t instructions = 0;  ///< memory instructions judged
  std::size_t rejected = 0;      ///< of them
  bool readable = true;          ///< false: a fault lies outside of the functions' bodies
};

/// A note as text, as a fault has it: "file:line:column: note: message", the line, a caret.
[[nodiscard]] std::string note_text(const Diagnostic& note);

/// Judges every memory instruction of the module `text`, which `file` names in diagnostics.
[[nodiscard]] ModuleLegality check_text(std::string_view text, const std::string& file);

}  // namespace warpline::ptx
