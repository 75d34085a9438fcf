#pragma once

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// The scope of functions[0], in a preamble, that a single instruction stands in.
inline constexpr int kPreambleScope = 1;

/// The declarations around an instruction that is judged or explained by itself: variables gvar, cvar, svar
/// and lvar, parameters kp and kbuf, registers %p0 to %p3 and twenty each of %h, %r, %rd, %f, %fd, six %q.
/// Its one function is a kernel entry, or a device function with a result fret.
[[nodiscard]] ModuleDecl parse_preamble(bool in_function);

}  // namespace warpline::ptx
