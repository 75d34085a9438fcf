#include "rtl_models/sim/clock_domain.h"

#include <numeric>

#include "rtl_models/base/contract.h"

namespace warpline {

ClockDomain::ClockDomain(std::uint64_t numerator, std::uint64_t denominator) {
  WARPLINE_EXPECT(denominator > 0 && numerator >= denominator,
                  "a domain is no faster than the fastest clock");
  const std::uint64_t common = std::gcd(numerator, denominator);
  numerator_ = numerator / common;
  denominator_ = denominator / common;
  unit_ = numerator_ == denominator_;
}

}  // namespace warpline
