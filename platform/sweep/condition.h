#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rtl_models/document/document.h"

namespace warpline::sweep {

/// What a condition works with: a number, or a text such as the name of a GPU.
using Operand = std::variant<double, std::string>;

/// The number that is all of `text`; nothing where it is none.
[[nodiscard]] std::optional<double> real_number(std::string_view text);

/// What a name in an expression stands for. Throws ConditionError where it stands for nothing.
using Lookup = std::function<Operand(const std::string& name)>;

/// Where an expression is read from.
struct ExpressionText {
  std::string_view text;                  ///< what it says
  const std::vector<std::string>& names;  ///< all that may be asked for
  std::string noun = "key";               ///< of a name, in messages
  /// A fault at `length` characters from `offset` of the text on.
  std::function<Diagnostic(std::size_t offset, std::size_t length, std::string message, std::string hint)>
      fault;

  /// What stands at `place` of `document`, which outlives this.
  [[nodiscard]] static ExpressionText in(const Document& document, Place place, std::string_view text,
                                         const std::vector<std::string>& names);
  /// What stands behind `option` of a command. Names are of keys and of what runs count.
  [[nodiscard]] static ExpressionText behind(const std::string& option, std::string_view text,
                                             const std::vector<std::string>& names);
};

/// Sums, products and parentheses of numbers, texts in single quotes and names, as studies and commands write
/// them.
class Expression {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names in it, each once.
  [[nodiscard]] std::vector<std::string> names() const;

  struct Node;

 protected:
  Expression(std::string_view text, Node root);
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// A condition: "l2.slices * 2 <= dram.channels and gpu != 'v100'". Expressions are compared by == != < <= >
/// >=, and comparisons joined by `and` and `or`, of which `and` binds closer. Texts are equal or not.
class Condition : public Expression {
 public:
  /// What is wrong goes to `faults`, and holds() must not be asked then.
  Condition(const ExpressionText& text, Diagnostics& faults);

  /// Whether it holds where `value` tells what a name stands for. Throws ConditionError where a text is
  /// taken for a number, or something is divided by 0.
  [[nodiscard]] bool holds(const Lookup& value) const;
  /// 0 where it holds, else above 0: the less, the nearer the numbers that it compares are to what it asks
  /// for. It is their difference by the greater of their sizes; `and` adds, `or` takes the less. Throws as
  /// holds().
  [[nodiscard]] double shortfall(const Lookup& value) const;
};

/// A number to be reckoned: "cycles * l2.slices".
class Formula : public Expression {
 public:
  /// What is wrong goes to `faults`, and value() must not be asked then.
  Formula(const ExpressionText& text, Diagnostics& faults);
  /// Throws ConditionError where a text is taken for a number, or something is divided by 0.
  [[nodiscard]] double value(const Lookup& lookup) const;
};

/// Why an expression says nothing of a point.
struct ConditionError {
  std::string what;
};

}  // namespace warpline::sweep
