#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/base/types.h"
#include "rtl_models/pcie/host_bridge/host_bridge_parameters.h"

namespace warpline {

/// The write-combining buffers of a host: stores gather in lines, which leave when they are full, when
/// another line wants their buffer, in time, or when somebody asks.
///
/// A line leaves as one write for each run of bytes that were stored to. Lines leave in the order of their
/// first stores, but for full ones. No time and no packets.
class WriteCombiner {
 public:
  /// Bytes side by side of a line that leaves.
  struct Write {
    std::uint64_t address = 0;
    unsigned bytes = 0;
    std::array<std::uint8_t, kLineBytes> data{};
  };

  /// Pre: the parameters have no problems.
  explicit WriteCombiner(const HostBridgeParameters& parameters) : parameters_(parameters) {}

  /// A store; what leaves because of it goes to `out`.
  void store(std::uint64_t address, const std::uint8_t* data, unsigned bytes, Cycle now,
             std::vector<Write>& out);
  /// All lines leave.
  void leave(std::vector<Write>& out) { leave_until(kNever, out); }
  /// Those leave whose time has come.
  void expire(Cycle now, std::vector<Write>& out) { leave_until(now, out); }
  /// When the next line leaves by itself; kNever: there is none.
  [[nodiscard]] Cycle deadline() const { return lines_.empty() ? kNever : lines_.front().deadline; }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// Lines that gather stores.
  [[nodiscard]] std::size_t lines() const { return lines_.size(); }

 private:
  struct Line {
    std::uint64_t address = 0;
    Cycle deadline = 0;
    ByteMask stored;
    std::array<std::uint8_t, kLineBytes> data{};
  };
  void leave_until(Cycle deadline, std::vector<Write>& out);
  static void emit(const Line& line, std::vector<Write>& out);

  HostBridgeParameters parameters_;
  std::vector<Line> lines_;  ///< in the order of their first stores
};

}  // namespace warpline
