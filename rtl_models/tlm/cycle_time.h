#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

#include "rtl_models/base/divider.h"
#include "rtl_models/base/types.h"

namespace warpline {

/// Cycles of the fastest clock and SystemC time, both ways and exactly. Cycle c is the time from
/// start_of(c) to just before start_of(c + 1); components tick in its middle, at tick_of(c), so that whatever
/// announces something for the start of a cycle is heard before anybody ticks in it.
class CycleTime {
 public:
  /// `mhz`: of the fastest clock. Uses SystemC's time resolution as it is. Pre: problem(mhz) is empty.
  explicit CycleTime(unsigned mhz);
  /// Why a clock cannot be expressed at the time resolution: the message; empty if it can.
  [[nodiscard]] static std::string problem(unsigned mhz);

  [[nodiscard]] sc_core::sc_time start_of(Cycle c) const { return moments_of(c).start; }
  [[nodiscard]] sc_core::sc_time tick_of(Cycle c) const { return moments_of(c).tick; }
  /// The cycle in which `t` lies: the inverse of start_of and of tick_of.
  [[nodiscard]] Cycle cycle_of(const sc_core::sc_time& t) const {
    if (t.value() <= near_units_) return by_numerator_.quotient(t.value() * denominator_);
    return static_cast<Cycle>(Wide{t.value()} * denominator_ / numerator_);
  }
  /// The first cycle whose tick is not before `t`.
  [[nodiscard]] Cycle first_tick_from(const sc_core::sc_time& t) const {
    const Cycle c = cycle_of(t);
    return tick_of(c) >= t ? c : c + 1;
  }
  /// The first cycle whose tick is after `t`: the first in which all components feel what happens then, in
  /// whatever order the processes of that time run.
  [[nodiscard]] Cycle first_tick_after(const sc_core::sc_time& t) const {
    const Cycle c = cycle_of(t);
    return tick_of(c) > t ? c : c + 1;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  /// A cycle's start and tick. SystemC makes times by a call, and who sends messages asks for those of a few
  /// cycles again and again: the last ones are kept, each cycle in a place of its own.
  struct Moments {
    Cycle cycle = 0;
    sc_core::sc_time start, tick;
  };
  static constexpr std::size_t kKept = 64;
  [[nodiscard]] const Moments& moments_of(Cycle c) const {
    const Moments& kept = kept_[c % kKept];
    return kept.cycle == c ? kept : keep(c);
  }
  const Moments& keep(Cycle c) const;
  /// Units of time resolution per cycle, as a reduced fraction.
  struct Fraction {
    std::uint64_t numerator;
    std::uint64_t denominator;
  };
  static Fraction units_per_cycle(unsigned mhz);
  explicit CycleTime(const Fraction& f);
  std::uint64_t numerator_;
  std::uint64_t denominator_;
  // Up to here 64 bits hold every product: the usual case, and without a division.
  Divider by_numerator_, by_denominator_, by_two_denominators_;
  Cycle near_;
  std::uint64_t near_units_;
  mutable std::array<Moments, kKept> kept_;
};

}  // namespace warpline
