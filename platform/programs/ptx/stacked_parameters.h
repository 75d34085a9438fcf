#pragma once

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// Where a device function takes the address of one of its parameters (`mov.b64 %rd1, p;`), that parameter
/// lies on the stack (PTX ISA, "Kernel Function Parameters" and "Device Function Parameters"; LLVM and nvcc
/// then take the address for one in .local). Such a parameter becomes a variable in .local, which the
/// function fills from it when it begins; what names it afterwards means that.
void stack_parameters(ModuleDecl& module);

}  // namespace warpline::ptx
