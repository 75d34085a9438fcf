#include "rtl_models/tlm/cycle_time.h"

#include <cmath>
#include <numeric>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

constexpr std::uint64_t kFemtosecondsPerMicrosecond = 1'000'000'000;

std::uint64_t resolution_fs() {
  return static_cast<std::uint64_t>(std::llround(sc_core::sc_get_time_resolution().to_seconds() * 1e15));
}

}  // namespace

CycleTime::Fraction CycleTime::units_per_cycle(unsigned mhz) {
  WARPLINE_EXPECT(problem(mhz).empty(), "a clock is checked before it is used");
  const std::uint64_t per_cycle = std::uint64_t{mhz} * resolution_fs();
  const std::uint64_t common = std::gcd(kFemtosecondsPerMicrosecond, per_cycle);
  return {kFemtosecondsPerMicrosecond / common, per_cycle / common};
}

CycleTime::CycleTime(unsigned mhz) : CycleTime(units_per_cycle(mhz)) {}

CycleTime::CycleTime(const Fraction& f)
    : numerator_(f.numerator),
      denominator_(f.denominator),
      by_numerator_(f.numerator),
      by_denominator_(f.denominator),
      by_two_denominators_(2 * f.denominator),
      near_((~std::uint64_t{0} - f.denominator) / (2 * f.numerator) - 1),
      near_units_(~std::uint64_t{0} / f.denominator) {
  for (std::size_t i = 0; i < kKept; ++i) kept_[i].cycle = i ^ 1U;  // one whose place is another
}

const CycleTime::Moments& CycleTime::keep(Cycle c) const {
  std::uint64_t start = 0, tick = 0;
  if (c <= near_) {
    start = by_denominator_.quotient(c * numerator_ + denominator_ - 1);
    tick = by_two_denominators_.quotient((2 * c + 1) * numerator_);
  } else {
    start = static_cast<std::uint64_t>((Wide{c} * numerator_ + denominator_ - 1) / denominator_);
    tick = static_cast<std::uint64_t>((2 * Wide{c} + 1) * numerator_ / (2 * Wide{denominator_}));
  }
  Moments& m = kept_[c % kKept];
  m = {c, sc_core::sc_time::from_value(start), sc_core::sc_time::from_value(tick)};
  return m;
}

std::string CycleTime::problem(unsigned mhz) {
  if (mhz == 0) return "a clock of 0 MHz does not tick";
  // The start, the tick and the next start of a cycle must be different times.
  const std::uint64_t resolution = resolution_fs();
  if (resolution != 0 && kFemtosecondsPerMicrosecond / mhz / 4 >= resolution) return {};
  return "SystemC's time resolution of " + sc_core::sc_get_time_resolution().to_string() +
         " is too coarse for a clock of " + std::to_string(mhz) + " MHz: a cycle needs 4 units at least";
}

}  // namespace warpline
