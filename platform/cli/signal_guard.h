#pragma once

#include <csignal>

namespace warpline {

/// Takes signals for as long as it lives; one at a time. SIGINT is a wish to stop soon, and a second one
/// kills as usual. SIGUSR1 is a wish to see what is in flight.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  [[nodiscard]] static bool stop_wanted();
  /// Whether a listing was asked for since the last call.
  [[nodiscard]] static bool take_listing_wanted();

 private:
  struct sigaction interrupt_ = {};
  struct sigaction user_ = {};
};

}  // namespace warpline
