#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline::test {

/// One message on one wire, as anybody with a probe on the hop would note it down.
struct Passage {
  std::uint64_t id = 0;
  std::vector<Cycle> beats;  ///< the cycle in which each of them is put onto the wire
  Cycle arrived = kNever;    ///< the first in which it could be popped
  Cycle popped = kNever;
  Cycle end = kNever;  ///< from which on the wire is free and a credit is there for a next message
};

/// All messages of one channel, in order.
using ChannelLog = std::vector<Passage>;

/// Appends a line for each passage. `channel` names the wire.
inline void describe(const std::string& channel, const ChannelLog& log, std::vector<std::string>& lines) {
  for (const Passage& p : log) {
    std::string line = channel + ": message " + std::to_string(p.id) + " beats at";
    for (const Cycle c : p.beats) line += " " + std::to_string(c);
    line += ", arrived " + std::to_string(p.arrived) + ", popped " + std::to_string(p.popped) + ", end " +
            std::to_string(p.end);
    lines.push_back(std::move(line));
  }
}

/// The same of what a socket shows of a wire: where an occupancy begins and ends.
inline void describe_occupancy(const std::string& channel, const ChannelLog& log,
                               std::vector<std::string>& lines) {
  for (const Passage& p : log)
    lines.push_back(channel + ": message " + std::to_string(p.id) + " from " +
                    std::to_string(p.beats.front()) + " to " + std::to_string(p.end));
}

}  // namespace warpline::test
