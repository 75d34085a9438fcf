#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace warpline::sweep {

/// What a figure is made of, for one run.
class FigureSource {
 public:
  virtual ~FigureSource() = default;
  /// A counter's total; "dram[max].busy_cycles" is that of the block that counted most. 0: it counted
  /// nothing.
  [[nodiscard]] virtual double counter(const char* path) = 0;
  /// A key of the GPU; NaN: nobody knows it.
  [[nodiscard]] virtual double key(const char* path) = 0;
  /// Time of the run, nanoseconds.
  [[nodiscard]] virtual double time_ns() = 0;
  /// Cycles of the run of a clock: "dram".
  [[nodiscard]] double cycles_of(const std::string& clock) {
    return time_ns() * key(("clocks." + clock).c_str()) / 1000;
  }
};

/// How a figure is shown and what a change of it means.
enum class FigureKind : std::uint8_t {
  busy,   ///< share of what something could do at most, per cent: near 100 it is what limits
  share,  ///< per cent
  bytes,
  number,
};

/// A figure that counters and keys make: of several runs, the sum of its numerators by that of its
/// denominators.
struct Figure {
  std::string name;
  std::string meaning;  ///< a sentence without its end
  FigureKind kind = FigureKind::number;
  std::string unit;               ///< of FigureKind::number
  std::vector<std::string> near;  ///< beginnings of keys that it is the first to tell about
  /// Numerator and denominator; a denominator of 0 or NaN: it says nothing of this run.
  std::function<std::pair<double, double>(FigureSource&)> of;
  /// What it tells of what a key does: a cause; one of little weight; only how fast the run was; or no more
  /// than the key itself.
  enum class Tells : std::uint8_t { cause, little, speed, setting } tells = Tells::cause;
};

/// All figures, from the SMs to the memory.
[[nodiscard]] const std::vector<Figure>& figures();

/// The value of a figure for people: "48.2%", "1.2 MiB", "0.35".
[[nodiscard]] std::string figure_text(const Figure& figure, double value);

}  // namespace warpline::sweep
