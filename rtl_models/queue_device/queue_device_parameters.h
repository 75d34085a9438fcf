#pragma once

#include <cstdint>
#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// A queue device; times in cycles of its clock.
struct WARPLINE_PUBLIC QueueDeviceParameters {
  std::uint64_t buffer_bytes = std::uint64_t{1} << 20U;  ///< memory of its own, behind a BAR: a power of two
  bool prefetchable = true;           ///< whether that BAR says that reads of it have no side effects
  bool no_snoop = false;              ///< whether its reads and writes carry the No Snoop attribute
  unsigned commands = 16;             ///< in execution at once
  unsigned access_latency = 4;        ///< from a register access's arrival to its answer
  unsigned write_queue = 8;           ///< packets that wait for the link before no more data is moved
  unsigned completion_spread = 0;     ///< a command that is done waits a random time up to this
  std::uint64_t seed = 1;             ///< of those random times
  std::uint64_t log_entries = 65536;  ///< of the access log: older ones are forgotten

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(
        buffer_bytes >= 4096 && buffer_bytes <= std::uint64_t{1} << 32U && is_power_of_two(buffer_bytes),
        "buffer_bytes", "must be a power of two from 4096 to 2^32");
    rules.need(commands >= 1 && commands <= 256, "commands", "must be between 1 and 256");
    rules.need(access_latency >= 1, "access_latency", "must be at least 1");
    rules.need(write_queue >= 1, "write_queue", "must be at least 1");
    rules.need(completion_spread <= 1U << 24U, "completion_spread", "must be at most 2^24");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("buffer_bytes", buffer_bytes, "memory of its own, behind a BAR, bytes");
    f("prefetchable", prefetchable, "whether that BAR is prefetchable");
    f("no_snoop", no_snoop,
      "whether its reads and writes carry the No Snoop attribute, which changes nothing");
    f("commands", commands, "commands in execution at once");
    f("access_latency", access_latency, "from a register access's arrival to its answer, cycles");
    f("write_queue", write_queue, "packets that wait for the link before no more data is moved");
    f("completion_spread", completion_spread, "random time up to which completions are put off, cycles");
    f("seed", seed, "of those random times");
    f("log_entries", log_entries, "accesses that the log keeps");
  }
};

}  // namespace warpline
