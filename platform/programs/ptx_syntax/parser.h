#pragma once

#include <optional>
#include <string_view>

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// Whether a statement with this opcode and these qualifiers is to be read. Why not goes to the faults, or,
/// where it is lawful, to what of its function is unsupported.
using OpcodeCheck = bool (*)(const Statement&, FaultList&, std::vector<Unsupported>&);

/// Reads the declarations and statements of a module. Syntax faults go to `faults`; what could be
/// read in spite of them is returned, so that one run finds them all. Names inside statements
/// are resolved later. Without `check` an opcode may be any word. What of `text` comes before `start` is
/// another module's.
[[nodiscard]] ModuleDecl parse_module(std::string_view text, FaultList& faults, OpcodeCheck check = nullptr,
                                      std::uint32_t start = 0);

/// A variable that starts with the address of one that is not modelled is not modelled either: it says so
/// then. Done once modules are linked, as the address may be of another module's variable.
void spread_unsupported(ModuleDecl& module);

/// Reads `text` as one statement with any opcode; nothing where it is none, with the reason in `faults`.
[[nodiscard]] std::optional<Statement> parse_statement(std::string_view text, FaultList& faults);

}  // namespace warpline::ptx
