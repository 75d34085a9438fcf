#pragma once

#include <cstdint>

namespace warpline::litmus {

/// What the model holds of an mbarrier object (PTX ISA, "mbarrier"): phases completed, and arrivals and bytes
/// of transactions of the phase under way, in one number, which is 0 at first. Programs see it through the
/// operations alone.
struct MbarrierState {
  static constexpr unsigned kPhases = 4;  ///< of which the states that arrivals return tell one apart

  std::uint64_t phase = 0;
  std::uint64_t arrived = 0;
  std::int64_t bytes = 0;  ///< that have yet to come; negative: more have come than are expected

  [[nodiscard]] static MbarrierState of(std::int64_t word) {
    const auto bits = static_cast<std::uint64_t>(word);
    constexpr std::int64_t kSign = std::int64_t{1} << (kWidth - 1);
    const auto low = static_cast<std::int64_t>(bits & kMask);
    return {bits >> (2 * kWidth), bits >> kWidth & kMask, (low ^ kSign) - kSign};
  }
  [[nodiscard]] std::int64_t word() const {
    return static_cast<std::int64_t>(phase << (2 * kWidth) | arrived << kWidth |
                                     (static_cast<std::uint64_t>(bytes) & kMask));
  }
  /// So many arrivals complete a phase, unless bytes are missing. One more than those is no program's right,
  /// and counts for nothing.
  void arrive(std::uint32_t expected) {
    if (arrived < expected) ++arrived;
    settle(expected);
  }
  void expect(std::int64_t more, std::uint32_t expected) {
    bytes += more;
    if (more != 0) settle(expected);
  }
  [[nodiscard]] std::int64_t phase_number() const { return static_cast<std::int64_t>(phase % kPhases); }

 private:
  static constexpr unsigned kWidth = 22;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kWidth) - 1;
  void settle(std::uint32_t expected) {
    if (arrived != expected || bytes != 0) return;
    ++phase;
    arrived = 0;
  }
};

}  // namespace warpline::litmus
