#pragma once

#include <vector>

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// Makes one module of several (PTX ISA, "Linking Directives"). A name that is not `.visible`, `.extern`,
/// `.weak` or `.common` is its own module's, and bears the number of that module ("table@2") where another
/// one has such a name, too. Of the others all that are called alike are one: the one that is defined, of
/// weak ones the first unless there is another, of common ones the largest. What is defined nowhere stays as
/// it is declared: who reaches it cannot run. Clashes go to `faults`, with both places. The result has the
/// first module's head; what a function says is judged by its own module's (FunctionDecl::unit). Pre: there
/// is a module; places of all are those of one text.
[[nodiscard]] ModuleDecl link(std::vector<ModuleDecl> modules, FaultList& faults);

}  // namespace warpline::ptx
