#include "rtl_models/registers/generator/names.h"

#include <algorithm>
#include <array>

namespace warpline::registers {
namespace {

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
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

/// The names of a block one by one, in C or in C++.
class Collector {
 public:
  void add(std::string name, const Named& of, std::string what) {
    names_.push_back({std::move(name), &of, std::move(what)});
  }
  void add_taken(std::string name) {
    names_.push_back({std::move(name), nullptr, "something of every block"});
  }
  [[nodiscard]] std::vector<GeneratedName> take() { return std::move(names_); }

 private:
  std::vector<GeneratedName> names_;
};

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

std::string c_name(const Block& block, std::initializer_list<std::string_view> parts) {
  std::string name = "WL_";
  for (const char c : block.name) name += is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string_view part : parts) name.append("_").append(part);
  return name;
}

std::string camel(std::initializer_list<std::string_view> parts) {
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

std::string constant_name(std::initializer_list<std::string_view> parts) {
  return "k" + camel(parts);
}

std::vector<GeneratedName> c_names(const Block& b) {
  Collector all;
  for (const char* const name : {"BYTES", "BAR", "REGS_H"}) all.add_taken(c_name(b, {name}));
  for (const Constant& c : b.constants) all.add(c_name(b, {c.name}), c, "constant " + c.name);
  for (const Register& r : b.registers) {
    const std::string what = "register " + r.name;
    all.add(c_name(b, {r.name, "OFFSET"}), r, what);
    all.add(c_name(b, {r.name, "RESET_VALUE"}), r, what);
    if (r.is_array()) all.add(c_name(b, {r.name, "COUNT"}), r, what);
    for (const Field& f : r.fields) {
      if (r.whole) continue;
      for (const char* const part : {"MASK", "SHIFT"})
        all.add(c_name(b, {r.name, f.name, part}), f, "field " + r.name + "." + f.name);
    }
  }
  for (const Enumeration& e : b.enumerations)
    for (const Constant& v : e.values)
      all.add(c_name(b, {e.name, v.name}), v, "value " + e.name + "." + v.name);
  for (const Structure& s : b.structures) {
    all.add(c_name(b, {s.name, "BYTES"}), s, "structure " + s.name);
    for (const StructureMember& m : s.members) {
      for (const char* const part : {"OFFSET", "BYTES"})
        all.add(c_name(b, {s.name, m.name, part}), m, "member " + s.name + "." + m.name);
      for (const Field& f : m.fields)
        for (const char* const part : {"MASK", "SHIFT"})
          all.add(c_name(b, {s.name, m.name, f.name, part}), f,
                  "field " + s.name + "." + m.name + "." + f.name);
    }
  }
  return all.take();
}

std::vector<GeneratedName> cpp_names(const Block& b) {
  Collector all;
  for (const char* const name : kTaken) all.add_taken(name);
  for (const Constant& c : b.constants) all.add(constant_name({c.name}), c, "constant " + c.name);
  for (const Register& r : b.registers) {
    all.add(constant_name({r.name}), r, "register " + r.name);
    for (const Field& f : r.fields)
      if (!r.whole) all.add(constant_name({r.name, f.name}), f, "field " + r.name + "." + f.name);
  }
  for (const Enumeration& e : b.enumerations) {
    all.add(camel({e.name}), e, "enumeration " + e.name);
    for (const Constant& v : e.values)
      all.add(constant_name({e.name, v.name}), v, "value " + e.name + "." + v.name);
  }
  for (const Structure& s : b.structures) {
    all.add(constant_name({s.name, "BYTES"}), s, "structure " + s.name);
    for (const StructureMember& m : s.members) {
      all.add(constant_name({s.name, m.name}), m, "member " + s.name + "." + m.name);
      for (const Field& f : m.fields)
        all.add(constant_name({s.name, m.name, f.name}), f, "field " + s.name + "." + m.name + "." + f.name);
    }
  }
  return all.take();
}

}  // namespace warpline::registers
