#pragma once

namespace warpline {

// Exit statuses of every command.
inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;    ///< done, and a check failed: wrong data, faults
inline constexpr int kBadInput = 2;       ///< bad input or usage
inline constexpr int kStuck = 3;          ///< the simulated machine is stuck: deadlock or cycle limit
inline constexpr int kInterrupted = 130;  ///< stopped by SIGINT, as shells expect

}  // namespace warpline
