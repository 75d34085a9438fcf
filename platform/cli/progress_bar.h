#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "rtl_models/base/types.h"

namespace warpline {

/// A bar on stderr: share of the work done, simulation rate, time left. Draws at most ten times a
/// second, and nothing at all unless it is enabled.
class ProgressBar {
 public:
  /// `unit`: what is counted beside the share done.
  ProgressBar(bool enabled, std::size_t launches, const char* unit = "cycles")
      : enabled_(enabled), launches_(launches), unit_(unit) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Launch number `number` begins.
  void launch(std::size_t number, const std::string& kernel);
  /// `fraction` of its CTAs are done.
  void update(double fraction, Cycle now);
  /// Takes the bar off the screen.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  std::size_t launches_;
  const char* unit_;
  std::size_t number_ = 0;
  std::string kernel_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// The bar as text, without control characters, 78 columns at most: for the screen, and for tests.
[[nodiscard]] std::string progress_text(double done, Cycle cycles, double seconds, const std::string& what,
                                        const char* unit = "cycles");

}  // namespace warpline
