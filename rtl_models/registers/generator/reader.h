#pragma once

#include <string>
#include <string_view>

#include "rtl_models/base/problem.h"
#include "rtl_models/registers/generator/description.h"

namespace warpline::registers {

/// Reads a description. `file` names it in messages. A fault is told for every broken rule of the format
/// (sw/examples/mmio_device/README.md), with its place; the block returned breaks none.
[[nodiscard]] Result<Block> read_block(const std::string& file, std::string_view text);

/// The rules that concern several tables: what overlaps, what is there twice, what does not exist, what
/// would be called the same in what is generated. What is not sound is left out: it would clash for no reason
/// of its own.
void check_block(const Block& block, const Document& document, Diagnostics& faults);

}  // namespace warpline::registers
