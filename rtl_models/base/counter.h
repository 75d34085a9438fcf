#pragma once

#include <cstdint>
#include <string_view>

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
  virtual void counter(std::string_view block, std::string_view name, std::uint64_t value,
                       std::string_view unit, std::string_view description) = 0;
};

/// Hands every field of `counters` to `visitor` under the path `block`.
template <class Counters>
void visit_counters(std::string_view block, const Counters& counters, CounterVisitor& visitor) {
  counters.visit(
      [&](std::string_view name, const std::uint64_t& value, std::string_view unit,
          std::string_view description) { visitor.counter(block, name, value, unit, description); });
}

}  // namespace warpline
