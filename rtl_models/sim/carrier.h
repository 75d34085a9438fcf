#pragma once

#include <cstddef>
#include <string>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/types.h"

namespace warpline {

class Component;

/// Brings the two facts of a channel across a hop, begin forward and end backward, over sockets or
/// pins. Ports that are connected to each other tell them by plain calls, and need none.
template <class M>
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// A message of one or more beats starts in cycle t. Returns the cycle in which the channel can
  /// take a next message if that is known already, else kNever; then end() follows.
  virtual Cycle begin(Cycle t, const M& message) = 0;
  /// Messages that have begun and that no receiving port counts yet.
  [[nodiscard]] virtual std::size_t occupancy() const { return 0; }
  /// Carries a loosely timed access: sent in cycle `at`, and on return answered in cycle `at`.
  /// Only where the netlist's owner knows that this carrier can; pins with foreign hardware on them cannot.
  virtual void perform(const M& /*message*/, Cycle& /*at*/) {
    WARPLINE_EXPECT(false, "requests are performed, and answers are not");
  }
  /// The component that receives its messages, where nobody foreign is in between; else null.
  [[nodiscard]] virtual const Component* receiver() const { return nullptr; }
  /// See PortBase::other_side.
  [[nodiscard]] virtual std::string other_side() const { return {}; }
};

/// Whoever put a carrier's messages into a receiving port, and waits to hear when it may put the next.
class Upstream {
 public:
  virtual ~Upstream() = default;
  /// The channel can take a next message from cycle c on.
  virtual void end(Cycle c) = 0;
  /// The component whose messages these are, where nobody foreign is in between; else null.
  [[nodiscard]] virtual const Component* sender() const { return nullptr; }
  /// See PortBase::other_side.
  [[nodiscard]] virtual std::string other_side() const { return {}; }
};

}  // namespace warpline
