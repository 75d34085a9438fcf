#include "rtl_models/base/plain_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace warpline {

std::string plain_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (name == nullptr) return mangled;
  std::string plain = name.get();
  // Of templates, the result's type comes first.
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '<' || (plain[i] == '(' && depth > 0)) ++depth;
    if (plain[i] == '>' || (plain[i] == ')' && depth > 0)) --depth;
    if (depth != 0) continue;
    if (plain[i] == ' ') begin = i + 1;
    if (plain.compare(i, kUnnamed.size(), kUnnamed) == 0) i += kUnnamed.size() - 1;
    if (plain[i] == '(') {
      plain.resize(i);
      break;
    }
  }
  return plain.substr(begin < plain.size() ? begin : 0);
}

}  // namespace warpline
