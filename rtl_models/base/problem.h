#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// A fault in what a user configured: where (a dotted path such as `l2.slices`) and what rule.
struct WARPLINE_PUBLIC Problem {
  std::string path;
  std::string message;
};
using Problems = std::vector<Problem>;

/// Collects every broken rule of one parameter struct, each under its path.
class WARPLINE_PUBLIC Rules {
 public:
  explicit Rules(std::string prefix) : prefix_(std::move(prefix)) {}
  /// Records a problem at `prefix.name` unless `holds`.
  void need(bool holds, std::string_view name, std::string_view rule) {
    if (!holds) problems_.push_back({prefix_ + "." + std::string(name), std::string(rule)});
  }
  void add(Problems more) {
    for (Problem& p : more) problems_.push_back(std::move(p));
  }
  /// Adds what is wrong with each of `parameters`' fields that is a parameter struct itself, under its name.
  template <class Parameters>
  void add_tables(Parameters parameters) {
    parameters.visit([this](const char* name, auto& field, const char*) {
      using Field = std::decay_t<decltype(field)>;
      if constexpr (std::is_class_v<Field> && !std::is_same_v<Field, std::string>)
        add(field.problems(prefix_ + "." + name));
    });
  }
  [[nodiscard]] Problems take() { return std::move(problems_); }

 private:
  std::string prefix_;
  Problems problems_;
};

/// A fault in a text file that a user wrote, with the place to look at.
struct WARPLINE_PUBLIC Diagnostic {
  std::string file;
  unsigned line = 0;    ///< 1-based; 0 where the whole file is meant
  unsigned column = 0;  ///< 1-based; 0 where the whole line is meant
  std::string source;   ///< the text of that line, for the caret; may be empty
  std::string message;
  std::string hint;     ///< "did you mean ...", or empty
  unsigned length = 1;  ///< characters to underline

  /// A fault of a whole file, or of what no file says.
  [[nodiscard]] static Diagnostic about(std::string file, std::string message, std::string hint = {}) {
    return {std::move(file), 0, 0, {}, std::move(message), std::move(hint)};
  }
  /// "file:line:column: error: message", the line, a caret under the column, the hint.
  [[nodiscard]] std::string text() const;
};
using Diagnostics = std::vector<Diagnostic>;

/// A value, or every fault that kept it from being made.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}                        // NOLINT(google-explicit-constructor)
  Result(Diagnostics faults) : state_(std::move(faults)) {}            // NOLINT(google-explicit-constructor)
  Result(Diagnostic fault) : state_(Diagnostics{std::move(fault)}) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  /// Pre: ok().
  [[nodiscard]] T& value() { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const { return std::get<0>(state_); }
  /// Pre: not ok().
  [[nodiscard]] const Diagnostics& faults() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// The candidate nearest to `word` by edit distance, if near enough to be a slip of the hand;
/// empty otherwise.
WARPLINE_PUBLIC [[nodiscard]] std::string near_miss(std::string_view word,
                                                    const std::vector<std::string>& candidates);

}  // namespace warpline
