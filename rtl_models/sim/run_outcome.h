#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

struct Request;

/// Which ticks a component gets beyond those it needs. Results are the same in all three;
/// the equivalence tests hold every block to that.
enum class TickMode : std::uint8_t { lazy, every_cycle, spurious_and_shuffled };

enum class RunOutcome : std::uint8_t {
  quiescent,    ///< nothing is left to do
  deadlock,     ///< work is left and nothing will ever move it
  cycle_limit,  ///< the limit was reached
  stopped,      ///< the progress callback asked to stop
};

/// Cycles that are observed, both ends included.
struct WARPLINE_PUBLIC Window {
  Cycle first = 0;
  Cycle last = kNever;
};

/// Requests whose answers are waited for: all or some of those that `maker` made.
struct WARPLINE_PUBLIC Awaited {
  static constexpr unsigned kAny = ~0U;
  const void* maker = nullptr;  ///< null: none
  unsigned token = kAny;        ///< only those with this token
  unsigned warp = kAny;         ///< only those of this warp slot
  bool writes = false;          ///< only writes, reductions and discards

  [[nodiscard]] bool covers(const Request& request) const;
};

/// One side of a wait, for the explanation of what does not move: "sm[0] warp 3" waits for "barrier 1 ...".
struct WARPLINE_PUBLIC Wait {
  std::string who;   ///< a component's name, or a part of it: the name, a space, the part
  std::string what;  ///< what it waits for, to follow "waits for"
  /// Who must do something first, by name as `who`; empty where it is nobody, or not known.
  std::vector<std::string> on{};
  /// The requests whose answers are waited for. If some are in flight, settle() replaces `on` by whoever
  /// holds them.
  Awaited answers{};
};

/// A request in flight: where it is, and what it waits for there.
struct WARPLINE_PUBLIC InFlight {
  /// `why`, `on` and `answers`: as in Wait. It is `holder` that waits.
  InFlight(const Request& request, std::string holder, std::string at, std::string why,
           std::vector<std::string> on = {}, Awaited answers = {});

  const Request* request;  ///< itself: valid until the model moves on
  std::uint64_t id;        ///< the same as that of the request it was made for
  Cycle made;              ///< when the SM made that one; kNever if no SM did
  std::string what;        ///< "read of 2 sectors at vidmem 0x1200, SM 0 warp 3"
  std::string holder;      ///< the component or socket that has it
  std::string at;          ///< the place there: "l2[0].from_crossbar", "l2[0] miss register 5"
  Wait wait;
};

/// What a model that stands still is waiting for.
struct WARPLINE_PUBLIC Standstill {
  std::vector<InFlight> in_flight;  ///< oldest first; those that no SM made last
  std::vector<Wait> waits;          ///< of components, and of what is no request
  /// No component is to be ticked any more: what waits does so for ever, or for the world outside.
  bool dead = false;
  /// Components are ticked, and nothing will ever come of it: warps repeat themselves, looking for what
  /// nobody will do any more.
  bool repeats = false;
};

}  // namespace warpline
