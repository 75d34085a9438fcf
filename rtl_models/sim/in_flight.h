#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/request.h"

namespace warpline {

/// Requests whose answers are waited for: all or some of those that `maker` made.
struct Awaited {
  static constexpr unsigned kAny = ~0U;
  const void* maker = nullptr;  ///< null: none
  unsigned token = kAny;        ///< only those with this token
  unsigned warp = kAny;         ///< only those of this warp slot
  bool writes = false;          ///< only writes, reductions and discards

  [[nodiscard]] bool covers(const Request& r) const {
    return maker == r.maker && (token == kAny || token == r.token) && (warp == kAny || warp == r.warp) &&
           (!writes || r.command == Command::write || r.command == Command::reduce ||
            (r.command == Command::control && r.control == LineControl::discard));
  }
};

/// One side of a wait, for the explanation of what does not move: "sm[0] warp 3" waits for "barrier 1 ...".
struct Wait {
  std::string who;   ///< a component's name, or a part of it: the name, a space, the part
  std::string what;  ///< what it waits for, to follow "waits for"
  /// Who must do something first, by name as `who`; empty where it is nobody, or not known.
  std::vector<std::string> on{};
  /// The requests whose answers are waited for. If some are in flight, settle() replaces `on` by whoever
  /// holds them.
  Awaited answers{};
};

/// A request in flight: where it is, and what it waits for there.
struct InFlight {
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
struct Standstill {
  std::vector<InFlight> in_flight;  ///< oldest first; those that no SM made last
  std::vector<Wait> waits;          ///< of components, and of what is no request
  /// No component is to be ticked any more: what waits does so for ever, or for the world outside.
  bool dead = false;
};

/// Puts a listing into order, and names in `on` the holders of the requests whose answers are awaited.
void settle(Standstill& standstill);

/// Lists every request of `requests`, all of them at one place and for one reason: see InFlight.
void list_all(std::vector<InFlight>& rows, const RequestList& requests, const std::string& holder,
              const std::string& at, const std::string& why, const std::vector<std::string>& on,
              const Awaited& answers = {});

/// "read of 2 sectors at vidmem 0x1200, SM 0 warp 3", in words for people.
[[nodiscard]] std::string describe(const Request& request);

}  // namespace warpline
