#include "platform/sweep/condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "rtl_models/base/text.h"

namespace warpline::sweep {

struct Expression::Node {
  enum class Type : std::uint8_t { number, text, any, truth };  ///< any: a key, which may be either
  std::string what;                                             ///< operator, key, or text
  double number = 0;
  Type type = Type::number;
  std::vector<Node> of;
  bool is_key = false;
};

namespace {

using Node = Expression::Node;
using Type = Expression::Node::Type;

constexpr unsigned kDeepest = 100;                ///< parentheses in each other
constexpr std::size_t kLongestExpression = 1000;  ///< characters
constexpr double kJustShort = 1e-9;               ///< of what is as near as can be

/// Operators from those that bind loosest to those that bind closest.
const std::array<std::vector<std::string>, 5> kLevels = {
    {{"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}}};
constexpr std::size_t kComparisons = 2;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
 public:
  Parser(const ExpressionText& source, Diagnostics& faults)
      : source_(source), text_(source.text), names_(source.names), faults_(faults) {
    step();
  }

  /// Pre: `type` is truth or number.
  Node read(Type type) {
    if (text_.size() > kLongestExpression) {
      failed_ = true;
      faults_.push_back(
          source_.fault(0, 1, "is longer than " + std::to_string(kLongestExpression) + " characters", {}));
      return {};
    }
    Node whole = level(0);
    if (!token_.empty()) fail("nothing is expected here any more");
    if (type == Type::truth && whole.type != Type::truth)
      fail("a comparison is expected: == != < <= > or >=");
    if (type == Type::number && (whole.type == Type::truth || whole.type == Type::text))
      if (!failed_) fail_at(0, text_.size(), "a number is expected, and this is none");
    return whole;
  }

 private:
  void fail(const std::string& message, const std::string& hint = {}) {
    if (failed_) return;
    fail_at(token_at_, token_.size(), message, hint);
  }
  void fail_at(std::size_t offset, std::size_t length, const std::string& message,
               const std::string& hint = {}) {
    failed_ = true;
    faults_.push_back(source_.fault(offset, std::max<std::size_t>(length, 1), message, hint));
  }
  /// The next token: a number, a key or a word, a text with its quotes, or an operator; empty at the end.
  void step() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    token_at_ = at_;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    const char c = text_[at_];
    std::size_t end = at_ + 1;
    if (is_digit(c) || is_letter(c)) {
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
        ++end;
    } else if (c == '\'') {
      end = std::min(text_.find('\'', end), text_.size() - 1) + 1;
    } else if (end < text_.size() && text_[end] == '=' && (c == '<' || c == '>' || c == '=' || c == '!')) {
      ++end;
    }
    token_ = text_.substr(at_, end - at_);
    at_ = end;
  }
  void expect(const Node& n, Type type) {
    const bool fits = type == Type::truth ? n.type == Type::truth
                      : type == Type::any ? n.type != Type::truth
                                          : n.type == Type::number || n.type == Type::any;
    if (fits) return;
    fail(type == Type::truth ? "conditions are joined, and this is none"
         : type == Type::any ? "a condition is compared with nothing"
                             : "numbers are reckoned with, and this is none");
  }
  Node level(std::size_t n) {
    if (n == kLevels.size()) return primary();
    Node left = level(n + 1);
    while (!failed_) {
      const auto found = std::find(kLevels[n].begin(), kLevels[n].end(), token_);
      if (found == kLevels[n].end()) break;
      Node both;
      both.what = *found;
      both.type = n <= kComparisons ? Type::truth : Type::number;
      const Type operands = n < kComparisons ? Type::truth : n == kComparisons ? Type::any : Type::number;
      expect(left, operands);
      step();
      both.of.push_back(std::move(left));
      both.of.push_back(level(n + 1));
      expect(both.of.back(), operands);
      left = std::move(both);
    }
    return left;
  }
  Node primary() {
    Node n;
    if (token_ == "(") {
      if (++depth_ > kDeepest) fail("parentheses stand in each other at most 100 deep");
      step();
      if (!failed_) n = level(0);
      --depth_;
      if (token_ != ")") fail("a ) is expected here");
    } else if (!token_.empty() && is_digit(token_[0])) {
      const auto number = real_number(token_);
      if (!number) fail("\"" + std::string(token_) + "\" is no number");
      n.number = number.value_or(0);
    } else if (!token_.empty() && token_[0] == '\'') {
      if (token_.size() < 2 || token_.back() != '\'') fail("a text ends with '");
      if (token_.size() >= 2) n.what = token_.substr(1, token_.size() - 2);
      n.type = Type::text;
    } else if (!token_.empty() && is_letter(token_[0])) {
      n.what = token_;
      n.type = Type::any;
      n.is_key = true;
      if (std::find(names_.begin(), names_.end(), n.what) == names_.end())
        fail("there is no " + source_.noun + " \"" + n.what + "\"", did_you_mean(n.what, names_));
    } else {
      fail("a number, a " + source_.noun + " or a text in single quotes is expected here");
    }
    if (!failed_) step();
    return n;
  }

  const ExpressionText& source_;
  std::string_view text_;
  const std::vector<std::string>& names_;
  Diagnostics& faults_;
  std::string_view token_;
  std::size_t at_ = 0, token_at_ = 0;
  unsigned depth_ = 0;
  bool failed_ = false;
};

Operand value_of(const Node& n, const Lookup& value);

double number_of(const Node& n, const Lookup& value) {
  const Operand v = value_of(n, value);
  if (const double* number = std::get_if<double>(&v)) return *number;
  throw ConditionError{"\"" + std::get<std::string>(v) + "\" is no number"};
}

/// Conditions are 0 or 1.
Operand value_of(const Node& n, const Lookup& value) {
  if (n.is_key) return value(n.what);
  if (n.type == Type::text) return n.what;
  if (n.of.empty()) return n.number;
  const auto truth = [&](const Node& of) { return number_of(of, value) != 0; };
  if (n.what == "or") return truth(n.of[0]) || truth(n.of[1]) ? 1.0 : 0.0;
  if (n.what == "and") return truth(n.of[0]) && truth(n.of[1]) ? 1.0 : 0.0;
  if (n.what == "==" || n.what == "!=") {
    const Operand a = value_of(n.of[0], value), b = value_of(n.of[1], value);
    if (a.index() != b.index()) throw ConditionError{"a number is compared with a text"};
    return (a == b) == (n.what == "==") ? 1.0 : 0.0;
  }
  const double a = number_of(n.of[0], value), b = number_of(n.of[1], value);
  if (n.what == "<") return a < b ? 1.0 : 0.0;
  if (n.what == ">") return a > b ? 1.0 : 0.0;
  if (n.what == "<=") return a <= b ? 1.0 : 0.0;
  if (n.what == ">=") return a >= b ? 1.0 : 0.0;
  if (n.what == "+") return a + b;
  if (n.what == "-") return a - b;
  if (n.what == "*") return a * b;
  if (b == 0) throw ConditionError{"something is divided by 0"};
  return a / b;
}

/// How far from holding a condition is.
double shortfall_of(const Node& n, const Lookup& value) {
  if (n.what == "and") return shortfall_of(n.of[0], value) + shortfall_of(n.of[1], value);
  if (n.what == "or") return std::min(shortfall_of(n.of[0], value), shortfall_of(n.of[1], value));
  if (number_of(n, value) != 0) return 0;
  const Operand left = value_of(n.of[0], value), right = value_of(n.of[1], value);
  const double* const a = std::get_if<double>(&left);
  const double* const b = std::get_if<double>(&right);
  if (a == nullptr || b == nullptr) return 1;
  const double size = std::max(std::abs(*a), std::abs(*b));
  // What would have to be less and is equal is short, too.
  return size == 0 ? kJustShort : std::abs(*a - *b) / size + kJustShort;
}

void take_names(const Node& n, std::vector<std::string>& names) {
  if (n.is_key && std::find(names.begin(), names.end(), n.what) == names.end()) names.push_back(n.what);
  for (const Node& of : n.of) take_names(of, names);
}

}  // namespace

std::optional<double> real_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

ExpressionText ExpressionText::in(const Document& document, Place place, std::string_view text,
                                  const std::vector<std::string>& names) {
  return {text, names, "key",
          [&document, place, text](std::size_t offset, std::size_t length, std::string message,
                                   std::string hint) {
            return document.fault(document.inside(place, text, offset, length), "condition: " + message,
                                  std::move(hint));
          }};
}

ExpressionText ExpressionText::behind(const std::string& option, std::string_view text,
                                      const std::vector<std::string>& names) {
  return {text, names, "metric",
          [option, text](std::size_t offset, std::size_t length, std::string message, std::string hint) {
            Diagnostic fault = Diagnostic::about(option, std::move(message), std::move(hint));
            fault.line = 1;
            fault.column = static_cast<unsigned>(offset) + 1;
            fault.length = static_cast<unsigned>(length);
            fault.source = text;
            return fault;
          }};
}

Expression::Expression(std::string_view text, Node root)
    : text_(text), root_(std::make_shared<const Node>(std::move(root))) {}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  take_names(*root_, names);
  return names;
}

Condition::Condition(const ExpressionText& text, Diagnostics& faults)
    : Expression(text.text, Parser(text, faults).read(Type::truth)) {}

bool Condition::holds(const Lookup& value) const {
  return number_of(*root_, value) != 0;
}

double Condition::shortfall(const Lookup& value) const {
  return shortfall_of(*root_, value);
}

Formula::Formula(const ExpressionText& text, Diagnostics& faults)
    : Expression(text.text, Parser(text, faults).read(Type::number)) {}

double Formula::value(const Lookup& lookup) const {
  return number_of(*root_, lookup);
}

}  // namespace warpline::sweep
