#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"
#include "rtl_models/sim/channel_parameters.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/in_flight.h"
#include "rtl_models/sim/request.h"

namespace warpline {

class RequestFerry;

/// A message on a channel, begun and not yet popped, as an observer sees it.
struct QueuedMessage {
  Cycle begun = 0;                   ///< its first beat; of a sender that is no block, its next clock edge
  Cycle wire_free = 0;               ///< the cycle after its last beat
  Cycle arrives = 0;                 ///< when it can be popped: later than every message before it
  const Request* request = nullptr;  ///< that it carries; null if it carries something else
};

/// What the engine needs of a port: whether a message is on it, and whether its channel is fit.
class PortBase {
 public:
  PortBase(Component& owner, std::string name)
      : owner_(owner), name_(std::make_unique<const std::string>(std::move(name))) {
    owner.engine().add(this);
  }
  PortBase(const PortBase&) = delete;
  PortBase& operator=(const PortBase&) = delete;
  virtual ~PortBase() = default;
  [[nodiscard]] virtual std::size_t occupancy() const = 0;
  /// Cycles that pass before what one of the port's two components does can reach the other through
  /// this channel; kNever if both are of one cluster or another port answers for the channel.
  [[nodiscard]] virtual Cycle lookahead() const = 0;
  /// Whether the other end is none of the engine's components: it may act in any cycle, and knows the time
  /// only as the backend that runs the engine lets it pass.
  [[nodiscard]] virtual bool leads_outside() const = 0;
  /// Whether no carrier is in between: what one side does reaches the other by plain calls, or after a
  /// window.
  [[nodiscard]] virtual bool is_direct() const { return true; }
  /// Whether, from now on, clusters may be run side by side: a channel between two of them then keeps what
  /// the sender and what the receiver knows of it apart. Pre: not ticking.
  virtual void part(bool /*side_by_side*/) {}
  /// What the sender's cluster has begun since the last time is known to the receiver's, or what the latter
  /// has popped, to the former. Called between two windows (see Component::hand_begun_over), maybe by two
  /// threads at once.
  virtual void hand_over_begun() {}
  virtual void hand_over_popped() {}
  /// Whether a channel ends here whose two components are run by different ranks (Engine::share_with).
  [[nodiscard]] virtual bool crosses_ranks() const { return false; }
  /// The same as hand_over_begun() and hand_over_popped() where it does: writes what happened on this rank,
  /// or has this rank's copy of the port know what happened on rank `rank`. Writing returns the first cycle
  /// in which the other side may have something to do for it.
  virtual Cycle ship_begun(std::string& /*to*/, RequestFerry& /*ferry*/) { return kNever; }
  virtual Cycle ship_popped(std::string& /*to*/) { return kNever; }
  virtual void land_begun(std::string_view& /*from*/, RequestFerry& /*ferry*/, unsigned /*rank*/) {}
  virtual void land_popped(std::string_view& /*from*/) {}
  /// Whether messages lie in it until the owner takes them.
  [[nodiscard]] virtual bool receives() const = 0;
  /// Lists the requests that lie in the port.
  virtual void in_flight(std::vector<InFlight>& rows) const = 0;
  /// Who is at the other end of the channel: the component's name; where that is foreign, its module's, or
  /// the socket's that it is bound to. Empty if nobody is.
  [[nodiscard]] virtual std::string other_side() const = 0;
  /// "room on sm[0].to_l1_lg": what waits to be sent here waits for.
  [[nodiscard]] std::string room() const { return "room on " + path(); }
  /// Says that `what` waits for that: "2 requests".
  void explain_room(std::vector<Wait>& waits, const std::string& what) const {
    waits.push_back({owner_.name(), room() + " for " + what, {other_side()}});
  }
  /// Lists requests that wait to be sent here.
  void list_waiting(std::vector<InFlight>& rows, const RequestList& requests) const {
    list_all(rows, requests, owner_.name(), path(), room(), {other_side()});
  }
  /// A sentence on why the channel cannot work as it should, or nothing.
  [[nodiscard]] virtual std::string problem() const { return {}; }
  /// Of a receiving port, the parameters of the channel that ends in it; null for a sending one.
  [[nodiscard]] virtual const ChannelParameters* channel() const { return nullptr; }
  /// Has messages of the channel that ends here lie in it for `edges` clock edges of the sender longer than
  /// its latency, from now on: as if other traffic kept the queue busy. Of a sending port: nothing. Pre: no
  /// message is on the channel.
  virtual void set_residence(unsigned /*edges*/) {}
  /// Saves or restores, of a receiving port, when its wire is free and its credits are back. Pre: no message
  /// is on the channel.
  virtual void archive(StateArchive& /*a*/) {}
  /// The i-th message on the channel, oldest first. Pre: i < occupancy().
  [[nodiscard]] virtual QueuedMessage queued(std::size_t /*i*/) const {
    contract_violation(__FILE__, __LINE__, "channel() != nullptr", "only receiving ports hold messages");
  }
  /// "l2[3].from_crossbar"
  [[nodiscard]] std::string path() const { return owner_.name() + "." + *name_; }
  [[nodiscard]] Component& owner() const { return owner_; }

 protected:
  Component& owner_;

 private:
  std::unique_ptr<const std::string> name_;  ///< apart: ports are packed for the host's caches
};

}  // namespace warpline
