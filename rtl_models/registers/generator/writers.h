#pragma once

#include <string>

#include "rtl_models/registers/generator/description.h"

namespace warpline::registers {

/// What is made of a block that breaks no rule (read_block), as the text of one file each. Equal blocks give
/// equal texts.

/// The model's table: C++17, a RegisterMap `warpline::regs::NAME::kMap` with an index for each register,
/// masks of fields, values of enumerations, constants, and offsets in structures. `own`: it includes the
/// library's headers as the library's sources do, not as those who use the installed package.
[[nodiscard]] std::string table_text(const Block& block, bool own = false);
/// The driver's header: macros for C11 and C++, with no include but stdint.h.
[[nodiscard]] std::string header_text(const Block& block);
/// The manual, in Markdown.
[[nodiscard]] std::string manual_text(const Block& block);

}  // namespace warpline::registers
