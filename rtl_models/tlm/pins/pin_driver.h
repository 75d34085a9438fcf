#pragma once

#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/pins/pin_message.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline {

/// The sending end of a channel of wires: drives messages beat by beat. A receiver that lowers `ready` within
/// a message costs time and nothing else.
class PinDriver final : public sc_core::sc_module {
 public:
  /// Whoever sends by it.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The last beat was taken.
    virtual void sent() = 0;
    /// The channel can take a next message from cycle c on, which is the present one.
    virtual void free(Cycle c) = 0;
  };
  PinDriver(const sc_core::sc_module_name& name, EngineProcess& engine, PinChannel& channel, Owner& owner);

  /// Sends. Pre: the channel is free in cycle t, which is being ticked.
  void start(Cycle t, const PinMessage& message);
  [[nodiscard]] bool sending() const { return sending_; }

 private:
  void run();
  void put();
  void watch();
  void settle();

  EngineProcess& engine_;
  PinChannel& channel_;
  Owner& owner_;
  PinMessage message_;
  unsigned beat_ = 0;
  bool sending_ = false;  ///< from start() until the last beat is taken
  bool driving_ = false;  ///< `valid` is high
  bool asking_ = false;   ///< the owner waits to hear that the channel is free
  sc_core::sc_event start_;
  sc_core::sc_event settled_;  ///< wires are read that decide what happens in a tick
};

}  // namespace warpline
