#pragma once

#include <string>
#include <systemc>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/sim/channel_parameters.h"
#include "rtl_models/tlm/pin_clock.h"
#include "rtl_models/tlm/pins/pin_signal.h"

namespace warpline {

/// The wires of one direction of a hop, all of them synchronous to `clock`, the clock of the sender.
///
/// A beat is taken at a rising edge at which `valid` and `ready` are high. The sender raises `valid` without
/// looking at `ready` and keeps it, and all it says, until the beat is taken. The receiver says by `ready`
/// that a credit is free for a message, whether `valid` is high or not, and keeps it high from the first beat
/// of a message to the last. A beat that is taken at the end of cycle c (the edge that starts the next) is
/// the beat of cycle c. Warpline ends drive beat 1 in the middle of its cycle, when components tick, and
/// everything else right after a rising edge.
///
/// `beat` counts from 0, `last` marks the last. A read asks in one beat for the `sectors` it names and is
/// answered by as many beats as their bytes fill; a write carries its bytes, every sector with a strobe, and
/// is answered by one beat; see PinMessage for which byte travels where. An answer has its number of beats
/// with `error` as without. Byte n of a beat is in bits 8 (n mod 8) and up of word n / 8 of `data`; its
/// strobe is bit n mod 64 of word n / 64 of `strobes`. Of an answer's wires a receiver reads valid, beat,
/// last, identifier, error and data only.
///
/// Ports of hardware are bound to the wires as to signals, whatever type of number they have (PinSignal).
class WARPLINE_PUBLIC PinChannel final : public sc_core::sc_module {
 public:
  using Word = PinWord;
  PinChannel(const sc_core::sc_module_name& name, EngineProcess& engine, const ChannelParameters& parameters,
             const ClockDomain& sender);

  const ChannelParameters parameters;
  PinClock& domain;
  const sc_core::sc_signal<bool>& clock;
  PinSignal<bool> valid{"valid"};
  PinSignal<bool> ready{"ready"};
  PinSignal<Word> command{"command", 3};   ///< a Command: 0 read, 1 write; else see PinsOfInitiator
  PinSignal<Word> address{"address", 64};  ///< of the first byte in this beat; of a read, asked for
  PinSignal<Word> sectors{"sectors", kSectorsPerLine};  ///< of the 128-byte line, one bit each
  PinSignal<Word> beat{"beat", 9};                      ///< counts from 0
  PinSignal<bool> last{"last"};                         ///< the last beat of the message
  PinSignal<Word> identifier{"identifier", 32};         ///< comes back with the answer
  PinSignal<Word> origin{"origin", 64};  ///< the request's number in the run, for who follows it
  PinSignal<bool> error{"error"};        ///< of an answer: the access failed
  PinWords data;                         ///< 8 wires for each byte of a beat
  PinWords strobes;                      ///< byte enables of a write, one for each byte of a beat

  /// Calls f(name, signal, bits) for every wire, the clock included; signals are of bool or Word.
  template <class F>
  void visit(F&& f) const {
    f(std::string("clock"), clock, 1U);
    f(std::string("valid"), valid, valid.bits());
    f(std::string("ready"), ready, ready.bits());
    f(std::string("command"), command, command.bits());
    f(std::string("address"), address, address.bits());
    f(std::string("sectors"), sectors, sectors.bits());
    f(std::string("beat"), beat, beat.bits());
    f(std::string("last"), last, last.bits());
    f(std::string("identifier"), identifier, identifier.bits());
    f(std::string("origin"), origin, origin.bits());
    f(std::string("error"), error, error.bits());
    visit_words(f, "data", data);
    visit_words(f, "strobes", strobes);
  }

 private:
  template <class F>
  static void visit_words(F& f, const std::string& name, const PinWords& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
      f(words.size() == 1 ? name : name + "_" + std::to_string(i), words[i], words[i].bits());
  }
};

/// Both directions of a hop as wires. Registers itself with Pins, where the recorder of waves finds it.
class WARPLINE_PUBLIC PinWires final : public sc_core::sc_module {
 public:
  /// `hop`: the name of the hop in reports and waves, such as "l2[0].from_crossbar"; `requester` and
  /// `responder`: the clocks of those who send requests and responses.
  PinWires(const sc_core::sc_module_name& name, EngineProcess& engine, std::string hop,
           const HopParameters& parameters, const ClockDomain& requester = {},
           const ClockDomain& responder = {});

  [[nodiscard]] const std::string& hop() const { return hop_; }
  PinChannel request;
  PinChannel response;

 private:
  std::string hop_;
};

/// Adds every wire of a channel, or of a hop under its own name, to a SystemC trace file.
WARPLINE_PUBLIC void sc_trace(sc_core::sc_trace_file* file, const PinChannel& channel,
                              const std::string& name);
WARPLINE_PUBLIC void sc_trace(sc_core::sc_trace_file* file, const PinWires& wires);

}  // namespace warpline
