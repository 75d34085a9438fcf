#pragma once

#include <vector>

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// A function that an entry reaches.
struct ReachedFunction {
  int declaration = 0;     ///< in ModuleDecl::functions
  bool recursive = false;  ///< a call of it may come back to it
};

/// The functions with a body that calls lead to from `entry`, itself first. A call through a register may
/// reach every function whose address anything takes.
[[nodiscard]] std::vector<ReachedFunction> reached_functions(const ModuleDecl& module,
                                                             const FunctionDecl& entry);

}  // namespace warpline::ptx
