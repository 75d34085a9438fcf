#pragma once

#include "platform/programs/wls/draft.h"
#include "platform/programs/wls/token_reader.h"

namespace warpline::wls {

/// Reads one directive, which says something of the program beside its instructions, into `draft`. Pre: a
/// directive comes next.
void read_directive(TokenReader& tokens, Draft& draft);

}  // namespace warpline::wls
