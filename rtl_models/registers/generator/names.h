#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/registers/generator/description.h"

namespace warpline::registers {

/// Whether `text` is words of A to Z and 0 to 9, joined by single underscores, a letter first.
[[nodiscard]] bool is_name(std::string_view text);
/// What keeps `text` from being the name of a block (which is a namespace in C++), or nothing.
[[nodiscard]] std::string why_no_block_name(std::string_view text);

/// `WL_PEER_CONTROL_ENABLE` of the block `peer` and {"CONTROL", "ENABLE"}.
[[nodiscard]] std::string c_name(const Block& block, std::initializer_list<std::string_view> parts);
/// `ControlEnable` of {"CONTROL", "ENABLE"}.
[[nodiscard]] std::string camel(std::initializer_list<std::string_view> parts);
/// `kControlEnable`.
[[nodiscard]] std::string constant_name(std::initializer_list<std::string_view> parts);

/// A name that is generated, for what.
struct GeneratedName {
  std::string name;
  const Named* of = nullptr;  ///< null: of the block itself
  std::string what;           ///< "register CONTROL", for messages
};
/// Every macro of the C header.
[[nodiscard]] std::vector<GeneratedName> c_names(const Block& block);
/// Every name in the namespace of the C++ table.
[[nodiscard]] std::vector<GeneratedName> cpp_names(const Block& block);

}  // namespace warpline::registers
