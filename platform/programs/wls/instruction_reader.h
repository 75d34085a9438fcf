#pragma once

#include <string_view>

#include "platform/programs/wls/draft.h"
#include "platform/programs/wls/token_reader.h"

namespace warpline::wls {

/// Reads one instruction into `draft`. `plain` is the program's text without comments (lexer.h).
void read_instruction(std::string_view plain, TokenReader& tokens, Draft& draft);

}  // namespace warpline::wls
