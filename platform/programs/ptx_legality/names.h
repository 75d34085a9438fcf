#pragma once

#include <cstdint>
#include <string_view>

#include "platform/programs/ptx_syntax/syntax.h"

namespace warpline::ptx {

/// What a name in an operand means where it stands.
struct Meaning {
  enum class Kind : std::uint8_t { nothing, reg, special_register, variable, function, label };
  enum class Formal : std::uint8_t { none, input, result };
  Kind kind = Kind::nothing;
  DataType type = DataType::none;  ///< of a register, or of a variable's element
  unsigned sizes = 0;              ///< with how many bytes a special register is read: a sum of 2, 4 and 8
  bool reference = false;          ///< a variable that is a reference of a texture, a sampler or a surface
  unsigned vector = 1;             ///< registers in a vector register
  Space space = Space::generic;    ///< of a variable
  Formal formal = Formal::none;    ///< a variable that the function takes or returns
};

/// The names that a statement of a module can see.
class Names {
 public:
  /// Pre: both outlive it; `scope` is one of the function's.
  Names(const ModuleDecl& module, const FunctionDecl& function, int scope)
      : module_(module), function_(function), scope_(scope) {}
  [[nodiscard]] Meaning find(std::string_view name) const;
  [[nodiscard]] bool in_entry() const { return function_.is_entry; }
  /// All variables and single registers, for suggestions.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  [[nodiscard]] Meaning local(std::string_view name) const;
  const ModuleDecl& module_;
  const FunctionDecl& function_;
  int scope_;
};

}  // namespace warpline::ptx
