#include "platform/programs/ptx_syntax/syntax.h"

#include "rtl_models/base/text.h"

namespace warpline::ptx {

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

}  // namespace warpline::ptx
