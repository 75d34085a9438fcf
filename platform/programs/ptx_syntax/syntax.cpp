#include "platform/programs/ptx_syntax/syntax.h"

#include <array>

#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

struct Versions {
  unsigned major, last_minor;
};
/// Those that ptxas 13.0 reads, from 6.0 on.
constexpr std::array<Versions, 4> kVersions = {{{6, 5}, {7, 8}, {8, 8}, {9, 0}}};

}  // namespace

std::optional<unsigned> version_from(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const auto major = number_from<unsigned>(text.substr(0, dot));
  const auto minor = number_from<unsigned>(text.substr(dot + 1));
  for (const Versions& v : kVersions)
    if (major == v.major && minor && *minor <= v.last_minor) return v.major * 10 + *minor;
  return std::nullopt;
}

std::string unknown_version_text(std::string_view text) {
  std::vector<std::string> all;
  for (const Versions& v : kVersions) {
    const std::string major = std::to_string(v.major);
    all.push_back(major + ".0" +
                  (v.last_minor == 0 ? "" : " to " + major + "." + std::to_string(v.last_minor)));
  }
  return "PTX versions " + joined(all, ", ", " and ") + " are modelled, not " + quoted(text);
}

BlockScope::Found BlockScope::find_register(std::string_view name) const {
  if (const auto r = registers.find(name); r != registers.end()) return {&r->second};
  if (const std::size_t digits = name.find_last_not_of("0123456789") + 1; digits < name.size()) {
    const std::string_view number = name.substr(digits);
    const auto f = families.find(name.substr(0, digits));
    const bool canonical = number.size() < 8 && (number.size() == 1 || number[0] != '0');
    if (f != families.end() && canonical && *number_from<std::uint32_t>(number) < f->second.count)
      return {&f->second};
  }
  if (name.size() < 3 || name[name.size() - 2] != '.') return {};
  const auto v = registers.find(name.substr(0, name.size() - 2));
  const std::size_t letter = std::string_view("xyzwrgba").find(name.back());
  if (v == registers.end() || letter == std::string_view::npos || letter % 4 >= v->second.vector) return {};
  return {&v->second, true};
}

const LabelDecl* FunctionDecl::find_label(std::string_view label_name, int scope) const {
  const auto [first, last] = labels.equal_range(label_name);
  for (; first != last && scope >= 0; scope = scopes[static_cast<std::size_t>(scope)].parent)
    for (auto label = first; label != last; ++label)
      if (label->second.scope == scope) return &label->second;
  return nullptr;
}

}  // namespace warpline::ptx
