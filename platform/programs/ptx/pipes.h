#pragma once

#include "platform/programs/ptx_syntax/syntax.h"
#include "rtl_models/sm/instruction.h"

namespace warpline::ptx {

/// Says to which arithmetic pipe `i`, made of `s`, goes, and how many instructions an assembler makes of it
/// there: by opcode and type, as ptxas has them for compute capability 7.0 and later. Moves, of which an
/// assembler leaves few, branches, and what becomes a long sequence (divisions, exact roots) go to none: they
/// take their turn to issue, and the latency that the program assumes.
void assign_pipe(const Statement& s, Instruction& i);

}  // namespace warpline::ptx
