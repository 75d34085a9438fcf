#pragma once

#include <string>

#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/pins/pin_message.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline {

/// The receiving end of a channel of wires: takes beats at rising edges, puts messages together, drives
/// `ready` from what is known of credits, and watches that the sender keeps to the protocol. A sender that
/// lowers `valid` between beats costs time and nothing else.
class PinSampler final : public sc_core::sc_module {
 public:
  /// Whoever receives by it.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// A message begins with a beat that says this. Adds how many beats it has, and whether and of which
    /// sectors they carry bytes. False: it is a mistake, and was reported.
    virtual bool admit(PinMessage& message) = 0;
    /// A message is complete; it began in cycle t. Returns when a next one may begin; kNever: free_from()
    /// follows.
    virtual Cycle arrived(Cycle t, PinMessage& message) = 0;
    /// Reports a mistake of the sender.
    virtual void protest(const std::string& what) const = 0;
  };
  PinSampler(const sc_core::sc_module_name& name, EngineProcess& engine, PinChannel& channel, Owner& owner);

  /// A credit is back: a next message may begin in cycle c.
  void free_from(Cycle c);
  /// The cycle of the beat that is being taken: admit() may ask.
  [[nodiscard]] Cycle cycle_of_beat() const;
  /// Whether a message has begun and is not complete.
  [[nodiscard]] bool receiving() const { return beat_ != 0; }

 private:
  /// What must not change while a beat waits for `ready`, or, but for the beat, from beat to beat.
  struct Said {
    PinChannel::Word command = 0, line = 0, sectors = 0, identifier = 0, beat = 0;
    bool last = false;
    friend bool operator==(const Said& a, const Said& b) {
      return a.command == b.command && a.line == b.line && a.sectors == b.sectors &&
             a.identifier == b.identifier && a.beat == b.beat && a.last == b.last;
    }
  };
  void end_of_elaboration() override { channel_.ready.write(true); }
  void run();
  void sample(Cycle now);
  void take(const Said& said, Cycle now);
  [[nodiscard]] std::string fault_of(const Said& said) const;
  void collect();
  void complete(Cycle now);
  [[nodiscard]] Said read() const;

  EngineProcess& engine_;
  PinChannel& channel_;
  Owner& owner_;
  PinMessage message_;
  unsigned beat_ = 0;       ///< the next one of a message that has begun
  bool dropping_ = false;   ///< the rest of a message that is a mistake
  bool held_ = false;       ///< a beat waits for `ready`
  Said said_;               ///< by the beat taken last, or the one that waits
  Cycle rise_at_ = kNever;  ///< when `ready` rises
  sc_core::sc_event rise_known_;
};

}  // namespace warpline
