#pragma once

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// How many 32-bit registers a thread of the program would be given, as an estimate: the most that hold
/// values which are still needed, at any of its instructions in their order here, and those that an assembler
/// takes for itself. The assembler's own order needs more or fewer. A program too large to look at in
/// reasonable time gets kMostRegisters.
inline constexpr unsigned kMostRegisters = 255;
[[nodiscard]] unsigned register_pressure(const Program& program);

}  // namespace warpline::ptx
