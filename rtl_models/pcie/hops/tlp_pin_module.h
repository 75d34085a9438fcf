#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "rtl_models/pcie/packets/tlp.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

/// The wires of one class of packets in one direction of a PCI Express link, all of them synchronous to
/// `clock`, the clock of the sender.
///
/// A beat is taken at a rising edge at which `valid` and `ready` are high, by the rules of PinChannel: the
/// sender keeps what it says until then, and the receiver says by `ready` that a credit is free for a packet
/// and keeps it high from the first beat to the last. A packet is 24 bytes of framing, header and check,
/// which the wires beside `data` say in every beat and `data` does not, and then its data: byte n of a beat
/// is in bits 8 (n mod 8) and up of word n / 8.
class TlpPinWires final : public sc_core::sc_module {
 public:
  using Word = sc_dt::uint64;
  TlpPinWires(const sc_core::sc_module_name& name, EngineProcess& engine, std::string hop,
              const ChannelParameters& parameters, const ClockDomain& sender);

  const ChannelParameters parameters;
  PinClock& domain;
  const sc_core::sc_signal<bool>& clock;
  sc_core::sc_signal<bool> valid{"valid"};
  sc_core::sc_signal<bool> ready{"ready"};
  sc_core::sc_signal<Word> kind{"kind"};              ///< a TlpKind
  sc_core::sc_signal<Word> status{"status"};          ///< a CompletionStatus, of a completion
  sc_core::sc_signal<Word> attributes{"attributes"};  ///< 1: relaxed ordering, 2: no snoop, 4: poisoned
  sc_core::sc_signal<Word> requester{"requester"};
  sc_core::sc_signal<Word> completer{"completer"};
  sc_core::sc_signal<Word> tag{"tag"};
  sc_core::sc_signal<Word> address{"address"};
  sc_core::sc_signal<Word> bytes{"bytes"};
  sc_core::sc_signal<Word> remaining{"remaining"};
  sc_core::sc_signal<Word> beat{"beat"};  ///< counts from 0
  sc_core::sc_signal<bool> last{"last"};  ///< the last beat of the packet
  sc_core::sc_vector<sc_core::sc_signal<Word>> data;

  /// "root.from_device[0].posted"
  [[nodiscard]] const std::string& hop() const { return hop_; }
  /// Calls f(name, signal, bits) for every wire, the clock included; signals are of bool or Word.
  template <class F>
  void visit(F&& f) const {
    f(std::string("clock"), clock, 1U);
    f(std::string("valid"), valid, 1U);
    f(std::string("ready"), ready, 1U);
    f(std::string("kind"), kind, 3U);
    f(std::string("status"), status, 2U);
    f(std::string("attributes"), attributes, 3U);
    f(std::string("requester"), requester, 16U);
    f(std::string("completer"), completer, 16U);
    f(std::string("tag"), tag, 16U);
    f(std::string("address"), address, 64U);
    f(std::string("bytes"), bytes, 32U);
    f(std::string("remaining"), remaining, 32U);
    f(std::string("beat"), beat, 13U);
    f(std::string("last"), last, 1U);
    unsigned bits = 8 * parameters.width;
    for (std::size_t i = 0; i < data.size(); ++i, bits -= 64)
      f(data.size() == 1 ? "data" : "data_" + std::to_string(i), data[i], bits < 64 ? bits : 64U);
  }

 private:
  std::string hop_;
};

/// That channel opened as wires between its two ports: every packet begins and ends in the same cycle as port
/// to port. What arrives is what the wires said.
class TlpPinHopModule final : public sc_core::sc_module,
                              private Carrier<TlpMessage>,
                              private Upstream,
                              private SocketEnd {
 public:
  /// Ports and engine outlive it. Pre: neither port is bound; the parameters have no problems.
  TlpPinHopModule(const sc_core::sc_module_name& name, EngineProcess& engine, Out<TlpMessage>& out,
                  In<TlpMessage>& in, const ChannelParameters& parameters);
  [[nodiscard]] const TlpPinWires& wires() const { return wires_; }

 private:
  Cycle begin(Cycle t, const TlpMessage& message) override;
  [[nodiscard]] std::size_t occupancy() const override { return sending_ != nullptr ? 1 : 0; }
  [[nodiscard]] std::string other_side() const override { return in_.owner().name(); }
  void end(Cycle c) override;
  void explain(std::vector<Wait>& waits) const override;
  void end_of_elaboration() override { wires_.ready.write(true); }

  // The sender's end.
  void drive();
  void put();
  void watch();
  void settle();
  // The receiver's.
  void sample();
  void take(Cycle now);
  void free_from(Cycle c);

  EngineProcess& engine_;
  Out<TlpMessage>& out_;
  In<TlpMessage>& in_;
  TlpPinWires wires_;
  Tlp* sending_ = nullptr;  ///< from begin() until it has arrived
  unsigned beats_ = 0, beat_ = 0;
  bool driving_ = false;  ///< `valid` is high
  bool asking_ = false;   ///< the sender waits to hear that the channel is free
  sc_core::sc_event start_;
  sc_core::sc_event settled_;  ///< wires are read that decide what happens in a tick
  unsigned taken_ = 0;         ///< beats
  Cycle free_ = 0;             ///< while they are taken: when the port can take the next packet
  std::vector<std::uint8_t> data_;
  Cycle rise_at_ = kNever;  ///< when `ready` rises
  sc_core::sc_event rise_known_;
};

/// Adds every wire to a SystemC trace file, under the hop's name.
void sc_trace(sc_core::sc_trace_file* file, const TlpPinWires& wires);

}  // namespace warpline
