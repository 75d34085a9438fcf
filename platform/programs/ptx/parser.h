#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "warpline/programs/ptx/syntax.h"

namespace warpline::ptx {

/// Which opcodes are read: those that this version runs, or any word, for who judges without running.
enum class OpcodeSet : std::uint8_t { runnable, any };

/// Reads the declarations and statements of a module. Syntax faults go to `faults`; what could be
/// read in spite of them is returned, so that one run finds them all. Names inside statements
/// are resolved later.
[[nodiscard]] ModuleDecl parse_module(std::string_view text, FaultList& faults,
                                      OpcodeSet opcodes = OpcodeSet::runnable);

/// Reads `text` as one statement with any opcode; nothing where it is none, with the reason in `faults`.
[[nodiscard]] std::optional<Statement> parse_statement(std::string_view text, FaultList& faults);

}  // namespace warpline::ptx
