#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "rtl_models/sim/exchange.h"
#include "rtl_models/sim/request_ferry.h"
#include "rtl_models/sim/run_outcome.h"

namespace warpline {

class PortBase;

/// Another rank's part of a run has thrown what it says itself.
class RankFailed final : public ExchangeError {
 public:
  explicit RankFailed(unsigned rank)
      : ExchangeError("rank " + std::to_string(rank) + " could not go on with the run") {}
};

/// What an engine keeps of the other ranks that run its netlist with it (Engine::share_with).
struct Ranks {
  explicit Ranks(Exchange& e) : exchange(e), ferry(e.rank()) {}

  Exchange& exchange;
  RequestFerry ferry;
  std::unordered_map<const PortBase*, std::uint32_t> numbers;  ///< of the ports where a channel crosses
  Cycle window = 0;  ///< cycles for which ranks run before they hand over what crosses
};

/// A listing as it grows step by step, and how far it had got after each: one for every port and component,
/// in the order of an engine's.
struct SteppedStandstill {
  struct Length {
    std::size_t rows = 0, waits = 0;
  };
  Standstill all;
  std::vector<Length> after;

  void end_step() { after.push_back({all.in_flight.size(), all.waits.size()}); }
};

/// The listing of all ranks, each step of which one of them knows: as if one had made it. Every rank calls
/// it.
[[nodiscard]] Standstill merged(SteppedStandstill own, Ranks& ranks);

}  // namespace warpline
