#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warpline::test {

/// A signal of a dump: its width and its values, each with the time from which it holds.
struct VcdSignal {
  unsigned bits = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> changes;

  /// Pre: `time` is not before the dump begins.
  [[nodiscard]] std::uint64_t at(std::uint64_t time) const;
  [[nodiscard]] std::uint64_t last() const { return changes.back().second; }
  [[nodiscard]] std::uint64_t most() const;
  /// The sum of value times duration up to `end`.
  [[nodiscard]] std::uint64_t integral(std::uint64_t end) const;
};

/// A value change dump, read by the rules of IEEE 1364-2005, clause 18, and none of the writer's.
struct Vcd {
  std::string timescale;
  std::uint64_t begin = 0, end = 0;          ///< the first and the last time in it
  std::map<std::string, VcdSignal> signals;  ///< by path: "gpu.l2[0].miss_registers"

  /// Of a signal that must be there.
  [[nodiscard]] const VcdSignal& of(const std::string& path) const { return signals.at(path); }
};

/// Throws std::runtime_error where the text breaks a rule: scopes that do not nest, a code used twice or
/// not declared, time that goes back, a value wider than its variable, a variable that is not dumped first,
/// a change to the value that was there before.
[[nodiscard]] Vcd parse_vcd(const std::string& text);

}  // namespace warpline::test
