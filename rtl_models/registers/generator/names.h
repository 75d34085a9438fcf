#pragma once

#include <cstdint>
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
[[nodiscard]] std::string c_name(const Block& block, const std::vector<std::string_view>& parts);
/// `ControlEnable` of {"CONTROL", "ENABLE"}.
[[nodiscard]] std::string camel(const std::vector<std::string_view>& parts);
/// `kControlEnable`.
[[nodiscard]] std::string constant_name(const std::vector<std::string_view>& parts);

/// What has a name in a description.
enum class NamedKind : std::uint8_t { constant, register_, field, enumeration, value, structure, member };

/// Calls `f(kind, path)` for everything in the block that has a name. The path leads from the outermost thing
/// that it is in to itself; a register that is described without fields has none.
template <class F>
void for_each_named(const Block& block, F&& f) {
  using Path = std::vector<const Named*>;
  const auto fields = [&f](const std::vector<Field>& in, Path path) {
    path.push_back(nullptr);
    for (const Field& field : in) {
      path.back() = &field;
      f(NamedKind::field, path);
    }
  };
  for (const Constant& c : block.constants) f(NamedKind::constant, Path{&c});
  for (const Register& r : block.registers) {
    f(NamedKind::register_, Path{&r});
    if (!r.whole) fields(r.fields, {&r});
  }
  for (const Enumeration& e : block.enumerations) {
    f(NamedKind::enumeration, Path{&e});
    for (const Constant& v : e.values) f(NamedKind::value, Path{&e, &v});
  }
  for (const Structure& s : block.structures) {
    f(NamedKind::structure, Path{&s});
    for (const StructureMember& m : s.members) {
      f(NamedKind::member, Path{&s, &m});
      fields(m.fields, {&s, &m});
    }
  }
}

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
