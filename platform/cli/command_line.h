#pragma once

#include "platform/cli/exit_status.h"

namespace warpline {

/// The `warpline` command. Returns its exit status.
int run_command_line(int argc, const char* const* argv);

}  // namespace warpline
