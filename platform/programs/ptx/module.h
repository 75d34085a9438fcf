#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/programs/module.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline::ptx {

using programs::Module;  // what users hold of a parsed text

/// The order in which the instructions of a kernel issue, as far as dependences and the memory model leave it
/// open: that of the text, or one as ptxas makes it, in which loads go before what need not wait for them.
enum class Schedule : std::uint8_t { ptx, assembler };
/// Their names: "ptx", "assembler".
WARPLINE_PUBLIC [[nodiscard]] const std::vector<std::string>& schedule_names();
/// Nothing: none is called so.
WARPLINE_PUBLIC [[nodiscard]] std::optional<Schedule> schedule_named(std::string_view name);

/// Parses PTX; `file` names it in diagnostics. What the assembler would refuse refuses the module: syntax,
/// unknown opcodes, illegal memory instructions, with all other faults. What this version cannot run (opcodes
/// and qualifiers that are not modelled, functions without a body) refuses the kernels that reach it
/// (Entry::refused), and the module where no kernel is left.
WARPLINE_PUBLIC [[nodiscard]] Result<std::unique_ptr<programs::Module>> parse(
    std::string_view text, const std::string& file, Schedule schedule = Schedule::assembler);

/// A text of several that make one module.
struct WARPLINE_PUBLIC ModulePart {
  std::string_view text;
  std::string file;  ///< names it in diagnostics
};
/// The same of texts that are linked (PTX ISA, "Linking Directives"): what one calls or names as `.extern`,
/// another one has. Names that clash are faults. The module is for the target of the first.
WARPLINE_PUBLIC [[nodiscard]] Result<std::unique_ptr<programs::Module>> parse(
    const std::vector<ModulePart>& parts, Schedule schedule = Schedule::assembler);

/// Which kernels of a module can be launched.
struct WARPLINE_PUBLIC ModuleRuns {
  struct Kernel {
    std::string name;
    Diagnostics refused;  ///< empty: it can
  };
  bool readable = true;  ///< false: no PTX module, a fault lies outside of the functions' bodies
  /// An assembler would refuse it, too; false: what stands in the way of it is this version.
  bool malformed = false;
  Diagnostics faults;  ///< of the module as a whole: none can be
  std::vector<Kernel> kernels;
};
WARPLINE_PUBLIC [[nodiscard]] ModuleRuns kernels_that_run(std::string_view text, const std::string& file);

}  // namespace warpline::ptx
