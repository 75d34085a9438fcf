#pragma once

#include <cstdint>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Divides by a number that is fixed when the netlist is built, without the processor's divide
/// instruction: address maps divide by numbers of slices, channels and banks on every request.
class WARPLINE_PUBLIC Divider {
 public:
  /// Pre: divisor > 0.
  explicit Divider(std::uint64_t divisor) : divisor_(divisor) {
    WARPLINE_EXPECT(divisor > 0, "a divisor is positive");
    if (divisor == 1) return;
    // With m = floor((2^64 - 1) / d) + 1, x * m / 2^64 exceeds x / d by less than 1 / d, so that
    // the integer parts agree, as long as x * d < 2^64.
    inverse_ = ~std::uint64_t{0} / divisor + 1;
    exact_below_ = ~std::uint64_t{0} / divisor;
  }
  [[nodiscard]] std::uint64_t quotient(std::uint64_t x) const {
    if (x >= exact_below_) return inverse_ == 0 ? x : x / divisor_;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(x) * inverse_) >> 64U);
  }
  [[nodiscard]] std::uint64_t remainder(std::uint64_t x) const { return x - quotient(x) * divisor_; }
  [[nodiscard]] std::uint64_t divisor() const { return divisor_; }

 private:
  std::uint64_t divisor_;
  std::uint64_t inverse_ = 0;
  std::uint64_t exact_below_ = 0;
};

}  // namespace warpline
