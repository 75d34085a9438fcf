#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// Counters are plain structs of std::uint64_t fields with one template:
///     template <class F> void visit(F&& f) const { f("name", field, "unit", "description"); ... }
/// Whoever prints, exports, adds or compares counters visits; nobody repeats a name.
///
/// A CounterVisitor receives the counters of a whole netlist, each with the path of its block
/// (`sm[3].l1_lg`, or `crossbar`).
class WARPLINE_PUBLIC CounterVisitor {
 public:
  virtual ~CounterVisitor() = default;
  /// Whether it is shown the counters of a block: asked once in each visit, before the first of them.
  [[nodiscard]] virtual bool wants(std::string_view /*block*/) { return true; }
  virtual void counter(std::string_view block, std::string_view name, std::uint64_t value,
                       std::string_view unit, std::string_view description) = 0;
};

/// Calls a function for each counter.
template <class F>
class EachCounter final : public CounterVisitor {
 public:
  explicit EachCounter(F f) : f_(std::move(f)) {}
  void counter(std::string_view block, std::string_view name, std::uint64_t value, std::string_view unit,
               std::string_view description) override {
    f_(block, name, value, unit, description);
  }

 private:
  F f_;
};

/// Hands every field of `counters` to `visitor` under the path `block`, if it wants them.
template <class Counters>
void visit_counters(std::string_view block, const Counters& counters, CounterVisitor& visitor) {
  if (!visitor.wants(block)) return;
  counters.visit(
      [&](std::string_view name, const std::uint64_t& value, std::string_view unit,
          std::string_view description) { visitor.counter(block, name, value, unit, description); });
}

}  // namespace warpline
