#pragma once

namespace warpline {

/// Exit statuses of every command.
enum ExitStatus : int {
  kDone = 0,
  kCheckFailed = 1,    ///< done, and a check failed: wrong data, faults
  kBadInput = 2,       ///< bad input or usage
  kStuck = 3,          ///< the simulated machine is stuck: deadlock or cycle limit
  kInterrupted = 130,  ///< stopped by SIGINT, as shells expect
};

}  // namespace warpline
