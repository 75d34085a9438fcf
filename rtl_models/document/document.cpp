#include "rtl_models/document/document.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

Place place_of(const toml::source_region& region) {
  Place p;
  p.line = region.begin.line;
  p.column = region.begin.column;
  if (region.end.line == region.begin.line && region.end.column > region.begin.column)
    p.length = region.end.column - region.begin.column;
  return p;
}

/// The most parts of a dotted key. The library bounds how deep values nest in each other, but not how deep a
/// key reaches, and what is deep takes the host's stack.
constexpr unsigned kMostParts = 16;

/// Where the string that begins at `at` is over.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const auto quotes_at = [&](std::size_t n, std::size_t width) {
    if (n + width > text.size()) return false;
    return text[n] == quote && (width == 1 || (text[n + 1] == quote && text[n + 2] == quote));
  };
  const bool is_long = quotes_at(at, 3);
  const std::size_t width = is_long ? 3 : 1;
  for (at += width; at < text.size(); ++at) {
    if (text[at] == '\n' && !is_long) return at;  // the parser says that it is not closed
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (quotes_at(at, width)) {
      at += width;
      while (is_long && at < text.size() && text[at] == quote) ++at;  // up to two may belong to it
      return at;
    }
  }
  return text.size();
}

/// Where the first key with more than kMostParts parts begins; the text's end: there is none.
std::size_t too_deep_key(std::string_view text) {
  unsigned dots = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '#') at = std::min(text.find('\n', at), text.size() - 1);
    const bool ends_key =
        c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '#' || c == '\n';
    dots = ends_key ? 0 : dots + (c == '.' ? 1 : 0);
    if (dots >= kMostParts) return begin;
    ++at;
    if (ends_key) begin = at;
  }
  return text.size();
}

/// Our copy of a TOML node. Tables get their members in the order of the file: the library sorts
/// them by name.
Value convert(const toml::node& node) {
  Value v;
  v.place = place_of(node.source());
  switch (node.type()) {
    case toml::node_type::boolean:
      v.kind = Value::Kind::boolean;
      v.boolean = node.as_boolean()->get();
      return v;
    case toml::node_type::integer:
      v.kind = Value::Kind::integer;
      v.integer = node.as_integer()->get();
      return v;
    case toml::node_type::floating_point:
      v.kind = Value::Kind::real;
      v.real = node.as_floating_point()->get();
      return v;
    case toml::node_type::string:
      v.kind = Value::Kind::text;
      v.text = node.as_string()->get();
      return v;
    case toml::node_type::array:
      v.kind = Value::Kind::array;
      for (const toml::node& item : *node.as_array()) v.items.push_back(convert(item));
      return v;
    case toml::node_type::table:
      v.kind = Value::Kind::table;
      for (const auto& [key, value] : *node.as_table())
        v.members.push_back({std::string(key.str()), place_of(key.source()), convert(value)});
      std::stable_sort(v.members.begin(), v.members.end(), [](const Member& a, const Member& b) {
        return a.place.line != b.place.line ? a.place.line < b.place.line : a.place.column < b.place.column;
      });
      return v;
    default: v.kind = Value::Kind::date; return v;
  }
}

}  // namespace

const Member* Value::find(std::string_view key) const {
  for (const Member& m : members)
    if (m.key == key) return &m;
  return nullptr;
}

std::string_view Value::kind_name() const {
  constexpr std::array<std::string_view, 7> kNames = {"a boolean", "an integer", "a float",       "a string",
                                                      "an array",  "a table",    "a date or time"};
  return kNames[static_cast<std::size_t>(kind)];
}

Document Document::unparsed(std::string file, std::string_view text) {
  Document d;
  d.file_ = std::move(file);
  d.text_ = text;
  for (const std::string_view line : split(text, '\n'))
    d.lines_.push_back(static_cast<std::size_t>(line.data() - text.data()));
  return d;
}

std::string Document::line(unsigned number) const {
  if (number < 1 || number > lines_.size()) return {};
  const std::size_t start = lines_[number - 1];
  std::string_view line = std::string_view(text_).substr(start);
  line = line.substr(0, line.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return std::string(line);
}

Result<Document> Document::parse(std::string file, std::string_view text) {
  Document document = unparsed(std::move(file), text);
  if (const std::size_t deep = too_deep_key(text); deep != text.size()) {
    const std::string_view before = text.substr(0, deep);
    const auto line = static_cast<unsigned>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = line == 0 ? 0 : before.rfind('\n') + 1;
    return document.fault({line + 1, static_cast<unsigned>(deep - start) + 1, 1},
                          "a key has at most " + std::to_string(kMostParts) + " parts");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    std::string message(error.description());
    const bool too_large = message.find("not representable in 64 bits") != std::string::npos;
    return document.fault(
        place_of(error.source()), std::move(message),
        too_large ? "numbers end at 2^63 - 1; a launch file may give larger values in quotes" : "");
  }
  document.root_ = convert(parsed.table());
  return document;
}

Diagnostic Document::fault(Place place, std::string message, std::string hint) const {
  return {file_,           place.line,  place.column, line(place.line), std::move(message),
          std::move(hint), place.length};
}

Place Document::inside(Place place, std::string_view text, std::size_t offset, std::size_t length) const {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::string opening = line(place.line);
  const std::size_t quotes = opening.find("\"\"\"", place.column == 0 ? 0 : place.column - 1);
  const bool long_string = quotes != std::string::npos && quotes + 1 == place.column;
  // A newline right after the opening quotes does not belong to the string.
  const bool trimmed = long_string && quotes + 3 == opening.size();
  const auto breaks = static_cast<unsigned>(std::count(before.begin(), before.end(), '\n'));
  Place at = place;
  at.line += breaks + (trimmed ? 1 : 0);
  if (at.line == place.line) {
    at.column += static_cast<unsigned>(before.size()) + (long_string ? 3 : 1);
  } else {
    const std::size_t start = breaks == 0 ? 0 : before.rfind('\n') + 1;
    at.column = static_cast<unsigned>(before.size() - start) + 1;
  }
  const std::size_t room = std::max<std::size_t>(line(at.line).size() + 1, at.column + 1) - at.column;
  at.length = static_cast<unsigned>(std::max<std::size_t>(std::min(length, room), 1));
  return at;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = near_miss(word, candidates);
  return best.empty() ? std::string{} : "did you mean \"" + best + "\"?";
}

const Member* TableReader::find(std::string_view key, Need need) {
  known_.emplace_back(key);
  const Member* m = table_.find(key);
  if (m == nullptr && need == required) fault(place_, what_ + " lacks \"" + std::string(key) + "\"");
  return m;
}

const Value* TableReader::of_kind(Value::Kind kind, std::string_view kind_name, std::string_view key,
                                  Need need) {
  const Member* m = find(key, need);
  if (m == nullptr || m->value.kind == kind) return m == nullptr ? nullptr : &m->value;
  fault(m->value.place,
        m->key + ": must be " + std::string(kind_name) + ", not " + std::string(m->value.kind_name()));
  return nullptr;
}

std::optional<std::uint64_t> TableReader::number(std::string_view key, std::uint64_t low, std::uint64_t high,
                                                 Need need) {
  const Value* v = of_kind(Value::Kind::integer, "an integer", key, need);
  if (v == nullptr) return std::nullopt;
  const std::int64_t n = v->integer;
  if (n >= 0 && static_cast<std::uint64_t>(n) >= low && static_cast<std::uint64_t>(n) <= high)
    return static_cast<std::uint64_t>(n);
  fault(v->place, std::string(key) + ": must be " + std::to_string(low) + " to " + std::to_string(high) +
                      ", not " + std::to_string(n));
  return std::nullopt;
}

std::optional<double> TableReader::magnitude(std::string_view key, Need need) {
  const Member* m = find(key, need);
  if (m == nullptr) return std::nullopt;
  const bool whole = m->value.kind == Value::Kind::integer;
  if (whole || m->value.kind == Value::Kind::real) {
    const double x = whole ? static_cast<double>(m->value.integer) : m->value.real;
    if (std::isfinite(x) && x >= 0) return x;
    fault(m->value.place, m->key + ": must be finite and at least 0");
    return std::nullopt;
  }
  fault(m->value.place, m->key + ": must be a number, not " + std::string(m->value.kind_name()));
  return std::nullopt;
}

void TableReader::finish() {
  for (const Member& m : table_.members) {
    if (std::find(known_.begin(), known_.end(), m.key) != known_.end()) continue;
    fault(m.place, "unknown key \"" + m.key + "\" in " + what_, did_you_mean(m.key, known_));
  }
}

}  // namespace warpline
