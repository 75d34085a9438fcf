#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpline::test {

/// A slice of a timeline, on a thread of the process that stands for a block.
struct TimelineSlice {
  std::string block;
  std::string name;
  unsigned process = 0, thread = 0;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t id = 0;
  std::string command;
  unsigned sm = 0;
  bool unfinished = false;
  int parent = -1;  ///< the slice around it; -1: none
  /// Whether the block made the request itself.
  [[nodiscard]] bool sent() const { return name == command + " sent"; }
  /// Whether the block was sent it by another.
  [[nodiscard]] bool received() const { return name == command; }
};

/// What a device or a host did, in its row: an access or an interrupt, or a command or a step from `begin` to
/// `end`.
struct TimelineDeviceEvent {
  std::string block;
  std::string category;  ///< "access", "interrupt", "command", "step" of a command, "host"
  std::string name;
  std::string track;  ///< the name of its thread
  unsigned thread = 0;
  std::uint64_t begin = 0, end = 0;
  bool unfinished = false, lost = false;
};

/// A file of Chrome trace events that shows requests.
struct Timeline {
  std::vector<std::string> blocks;                       ///< in the order of their rows
  std::vector<TimelineSlice> slices;                     ///< of requests; by block, thread, time
  std::map<std::uint64_t, std::vector<unsigned>> flows;  ///< by identifier: the slices that it runs through
  std::vector<std::string> kernels;
  std::vector<TimelineDeviceEvent> devices;  ///< in the order of the file
};

/// Throws std::runtime_error where it breaks a rule: no valid JSON, a process or thread without the name of
/// its block, slices of one thread that overlap and do not nest, a flow that goes back in time, does not
/// start or end, or points at no slice of its identifier.
[[nodiscard]] Timeline parse_timeline(const std::string& text);

}  // namespace warpline::test
