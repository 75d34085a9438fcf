#pragma once

#include <ctime>

namespace warpline::bench {

/// CPU time that this process has used, in seconds: what other processes do to the clock on the wall does not
/// count.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace warpline::bench
