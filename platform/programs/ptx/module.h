#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline::ptx {

using programs::Module;  // what users hold of a parsed text

/// Parses PTX; `file` names it in diagnostics. What the assembler would refuse refuses the module: syntax,
/// unknown opcodes, illegal memory instructions, with all other faults. What this version cannot run (opcodes
/// and qualifiers that are not modelled, functions without a body) refuses the kernels that reach it
/// (Entry::refused), and the module where no kernel is left.
WARPLINE_PUBLIC [[nodiscard]] Result<std::unique_ptr<programs::Module>> parse(std::string_view text,
                                                                              const std::string& file);

/// A text of several that make one module.
struct WARPLINE_PUBLIC ModulePart {
  std::string_view text;
  std::string file;  ///< names it in diagnostics
};
/// The same of texts that are linked (PTX ISA, "Linking Directives"): what one calls or names as `.extern`,
/// another one has. Names that clash are faults. The module is for the target of the first.
WARPLINE_PUBLIC [[nodiscard]] Result<std::unique_ptr<programs::Module>> parse(
    const std::vector<ModulePart>& parts);

/// Which kernels of a module can be launched.
struct WARPLINE_PUBLIC ModuleRuns {
  struct Kernel {
    std::string name;
    Diagnostics refused;  ///< empty: it can
  };
  bool readable = true;  ///< false: no PTX module, a fault lies outside of the functions' bodies
  Diagnostics faults;    ///< of the module as a whole: none can be
  std::vector<Kernel> kernels;
};
WARPLINE_PUBLIC [[nodiscard]] ModuleRuns kernels_that_run(std::string_view text, const std::string& file);

}  // namespace warpline::ptx
