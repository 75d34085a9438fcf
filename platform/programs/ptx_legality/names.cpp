#include "platform/programs/ptx_legality/names.h"

#include <algorithm>
#include <string>

#include "platform/programs/ptx_syntax/special_registers.h"

namespace warpline::ptx {
namespace {

Meaning variable(const VariableDecl& v) {
  Meaning m;
  m.kind = Meaning::Kind::variable;
  m.type = v.type;
  m.space = v.space;
  m.reference = v.is_reference;
  return m;
}

}  // namespace

Meaning Names::local(std::string_view name) const {
  for (int scope = scope_; scope >= 0;) {
    const BlockScope& s = function_.scopes[static_cast<std::size_t>(scope)];
    if (const BlockScope::Found r = s.find_register(name); r.declaration != nullptr) {
      Meaning m;
      m.kind = Meaning::Kind::reg;
      m.type = r.declaration->type;
      m.vector = r.is_element ? 1 : r.declaration->vector;
      return m;
    }
    if (const auto v = s.variables.find(name); v != s.variables.end()) {
      Meaning m = variable(function_.variables[static_cast<std::size_t>(v->second)]);
      const auto is_in = [&](const std::vector<int>& list) {
        return std::find(list.begin(), list.end(), v->second) != list.end();
      };
      if (is_in(function_.parameters)) m.formal = Meaning::Formal::input;
      if (is_in(function_.results)) m.formal = Meaning::Formal::result;
      return m;
    }
    scope = s.parent;
  }
  return {};
}

Meaning Names::find(std::string_view name) const {
  if (Meaning m = local(name); m.kind != Meaning::Kind::nothing) return m;
  if (const auto v = module_.variable_index.find(name); v != module_.variable_index.end())
    return variable(module_.variables[static_cast<std::size_t>(v->second)]);
  Meaning m;
  if (module_.function_index.find(name) != module_.function_index.end()) m.kind = Meaning::Kind::function;
  if (function_.labels.find(name) != function_.labels.end()) m.kind = Meaning::Kind::label;
  if (const auto rules = special_register_rules(name); rules && !rules->whole_vector) {
    m.kind = Meaning::Kind::special_register;
    m.type = rules->type;
    m.sizes = rules->sizes;
  }
  return m;
}

std::vector<std::string> Names::all() const {
  std::vector<std::string> out;
  for (const auto& [name, index] : module_.variable_index) out.push_back(name);
  for (int scope = scope_; scope >= 0; scope = function_.scopes[static_cast<std::size_t>(scope)].parent) {
    const BlockScope& s = function_.scopes[static_cast<std::size_t>(scope)];
    for (const auto& [name, r] : s.registers) out.push_back(name);
    for (const auto& [name, v] : s.variables) out.push_back(name);
    for (const auto& [prefix, r] : s.families)
      for (std::uint32_t n = 0; n < std::min<std::uint32_t>(r.count, 64); ++n)
        out.push_back(prefix + std::to_string(n));
  }
  return out;
}

}  // namespace warpline::ptx
