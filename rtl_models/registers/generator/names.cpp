#include "rtl_models/registers/generator/names.h"

#include <algorithm>
#include <array>

#include "rtl_models/base/text.h"

namespace warpline::registers {
namespace {

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

constexpr std::array kKeywords = {
    "alignas",     "alignof",       "and",          "and_eq",    "asm",      "atomic",   "auto",
    "bitand",      "bitor",         "bool",         "break",     "case",     "catch",    "char",
    "class",       "co_await",      "co_return",    "co_yield",  "compl",    "concept",  "const",
    "consteval",   "constexpr",     "constinit",    "continue",  "decltype", "default",  "delete",
    "do",          "double",        "else",         "enum",      "explicit", "export",   "extern",
    "false",       "float",         "for",          "friend",    "goto",     "if",       "inline",
    "int",         "long",          "mutable",      "namespace", "new",      "noexcept", "not",
    "not_eq",      "nullptr",       "operator",     "or",        "or_eq",    "private",  "protected",
    "public",      "register",      "requires",     "return",    "short",    "signed",   "sizeof",
    "static",      "static_assert", "struct",       "switch",    "template", "this",     "throw",
    "true",        "try",           "typedef",      "typeid",    "typename", "union",    "unsigned",
    "using",       "virtual",       "void",         "volatile",  "wchar_t",  "while",    "xor",
    "xor_eq",      "const_cast",    "dynamic_cast", "char16_t",  "char32_t", "char8_t",  "reinterpret_cast",
    "static_cast", "thread_local"};

/// Names of the namespace that are there without a description, and those it uses.
constexpr std::array kTaken = {
    "kMap",       "kBar", "Register", "BitField", "FieldAccess", "FieldDescription", "RegisterDescription",
    "RegisterMap"};

/// What things of a kind are called in messages, and how the macros of one end: with nothing more than its
/// own name where that is empty.
struct KindWords {
  std::string_view word;
  std::vector<std::string_view> ends;
};
const KindWords& kind_words(NamedKind kind) {
  static const std::array<KindWords, 7> kWords = {{{"constant", {""}},
                                                   {"register", {"OFFSET", "RESET_VALUE", "COUNT"}},
                                                   {"field", {"MASK", "SHIFT"}},
                                                   {"enumeration", {}},
                                                   {"value", {""}},
                                                   {"structure", {"BYTES"}},
                                                   {"member", {"OFFSET", "BYTES"}}}};
  return kWords[static_cast<std::size_t>(kind)];
}

std::vector<std::string_view> parts_of(const std::vector<const Named*>& path) {
  std::vector<std::string_view> parts;
  for (const Named* named : path) parts.push_back(named->name);
  return parts;
}

/// "field CONTROL.ENABLE"
std::string what_of(NamedKind kind, const std::vector<const Named*>& path) {
  return std::string(kind_words(kind).word).append(" ").append(joined(parts_of(path), "."));
}

GeneratedName taken(std::string name) {
  return {std::move(name), nullptr, "something of every block"};
}

}  // namespace

bool is_name(std::string_view text) {
  char before = '_';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_upper(c) && !is_digit(c) && c != '_') return false;
    if (c == '_' && before == '_') return false;
    before = c;
  }
  return !text.empty() && is_upper(text.front()) && before != '_';
}

std::string why_no_block_name(std::string_view text) {
  bool spelt = !text.empty() && is_lower(text.front());
  for (const char c : text) spelt = spelt && (is_lower(c) || is_digit(c) || c == '_');
  if (!spelt || text.back() == '_' || text.find("__") != std::string_view::npos)
    return "\"" + std::string(text) +
           "\" is no name of a block: words of a to z and 0 to 9, the first with a letter first, joined by _";
  if (std::find(kKeywords.begin(), kKeywords.end(), text) != kKeywords.end() || text == "detail")
    return "\"" + std::string(text) + "\" means something else in C++";
  return {};
}

std::string c_name(const Block& block, const std::vector<std::string_view>& parts) {
  std::string name = "WL_" + upper(block.name);
  for (const std::string_view part : parts) name.append("_").append(part);
  return name;
}

std::string camel(const std::vector<std::string_view>& parts) {
  std::string name;
  for (const std::string_view part : parts) {
    bool first = true;
    for (const char c : part) {
      if (c != '_') name += first || !is_upper(c) ? c : static_cast<char>(c - 'A' + 'a');
      first = c == '_';
    }
  }
  return name;
}

std::string constant_name(const std::vector<std::string_view>& parts) {
  return "k" + camel(parts);
}

std::vector<GeneratedName> c_names(const Block& b) {
  std::vector<GeneratedName> all;
  for (const char* const name : {"BYTES", "BAR", "REGS_H"}) all.push_back(taken(c_name(b, {name})));
  for_each_named(b, [&](NamedKind kind, const std::vector<const Named*>& path) {
    for (const std::string_view end : kind_words(kind).ends) {
      if (end == "COUNT" && !static_cast<const Register*>(path.back())->is_array()) continue;
      std::vector<std::string_view> parts = parts_of(path);
      if (!end.empty()) parts.push_back(end);
      all.push_back({c_name(b, parts), path.back(), what_of(kind, path)});
    }
  });
  return all;
}

std::vector<GeneratedName> cpp_names(const Block& b) {
  std::vector<GeneratedName> all;
  for (const char* const name : kTaken) all.push_back(taken(name));
  for_each_named(b, [&](NamedKind kind, const std::vector<const Named*>& path) {
    std::vector<std::string_view> parts = parts_of(path);
    if (kind == NamedKind::structure) parts.emplace_back("BYTES");
    all.push_back({kind == NamedKind::enumeration ? camel(parts) : constant_name(parts), path.back(),
                   what_of(kind, path)});
  });
  return all;
}

}  // namespace warpline::registers
