#pragma once

#include <csignal>

namespace warpline {

/// Takes signals for as long as it lives; one at a time. SIGUSR1 is a wish to see what is in flight. SIGINT,
/// once stop_on_interrupt() was called, is a wish to stop soon and write what is there; a second one is
/// answered that this is under way, and a third kills. Before, there is nothing to write, and the first
/// kills.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// `termination`: so does SIGTERM, which is also what mpirun makes of SIGINT.
  void stop_on_interrupt(bool termination = false);
  [[nodiscard]] static bool stop_wanted();
  /// Whether a listing was asked for since the last call.
  [[nodiscard]] static bool take_listing_wanted();

 private:
  bool takes_interrupts_ = false;
  bool takes_termination_ = false;
  struct sigaction interrupt_ = {};
  struct sigaction termination_ = {};
  struct sigaction user_ = {};
};

}  // namespace warpline
