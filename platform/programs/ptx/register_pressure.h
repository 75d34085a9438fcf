#pragma once

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// How many 32-bit registers a thread of the program would be given, as an estimate: the most that hold
/// values which are still needed, at any of its instructions in their order here, and those that an assembler
/// takes for itself. The assembler's own order needs more or fewer. A program too large to look at in
/// reasonable time gets kMostRegisters.
inline constexpr unsigned kMostRegisters = 255;
/// A thread gets a multiple of so many (CUDA C++ Programming Guide, a warp's 256 of compute capability 7.0
/// on).
inline constexpr unsigned kRegisterUnit = 8;
[[nodiscard]] unsigned register_pressure(const Program& program);
/// The same of a program that needs so many at once.
[[nodiscard]] unsigned registers_for(unsigned needed_at_once);
/// How many may be needed at once where a thread has so many.
[[nodiscard]] unsigned needed_within(unsigned registers);

}  // namespace warpline::ptx
