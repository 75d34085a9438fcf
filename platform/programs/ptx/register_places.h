#pragma once

#include "platform/programs/ptx/program.h"

namespace warpline::ptx {

/// Lets registers of a function lie in one place, and have one number, whose values are never needed at the
/// same instruction: PTX has a register for nearly every value, and a warp's file is as large as the
/// registers that it is made of. A register that is read where it may not have been written keeps a place of
/// its own from the function's start to there, so that it is as clear as before. Those of asynchronous
/// products keep their own, and so do all of programs with recursive functions or a stack, and of those too
/// large to look at in reasonable time.
void share_places(Program& program);

}  // namespace warpline::ptx
