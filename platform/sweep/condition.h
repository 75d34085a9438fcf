#pragma once

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

/// A condition on the keys of a GPU, as studies write it: "l2.slices * 2 <= dram.channels and gpu != 'v100'".
/// Sums, products and parentheses of numbers and keys are compared by == != < <= > >=, and comparisons joined
/// by `and` and `or`, of which `and` binds closer. Texts stand in single quotes, and are equal or not.
class Condition {
 public:
  /// Reads `text`, which stands at `place` of `document`. `is_known`: whether a name may be asked for;
  /// `names`: all such, for hints. What is wrong goes to `faults`, and holds() must not be asked then.
  Condition(const Document& document, Place place, std::string_view text,
            const std::vector<std::string>& names, Diagnostics& faults);

  /// Whether it holds where `value` tells what a name stands for. Throws ConditionError where a text is
  /// taken for a number, or something is divided by 0.
  [[nodiscard]] bool holds(const std::function<Operand(const std::string&)>& value) const;
  [[nodiscard]] const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// Why a condition says nothing of a point.
struct ConditionError {
  std::string what;
};

}  // namespace warpline::sweep
