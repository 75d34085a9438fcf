#include "rtl_models/pcie/hops/tlp_pin_module.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

constexpr unsigned kRelaxed = 1, kNoSnoopBit = 2, kPoisoned = 4;

unsigned attributes_of(const Tlp& tlp) {
  return (tlp.relaxed_ordering ? kRelaxed : 0) | (tlp.no_snoop ? kNoSnoopBit : 0) |
         (tlp.poisoned ? kPoisoned : 0);
}

void trace(sc_core::sc_trace_file* file, const sc_core::sc_signal<bool>& s, const std::string& name,
           unsigned) {
  sc_core::sc_trace(file, s.read(), name);
}
void trace(sc_core::sc_trace_file* file, const sc_core::sc_signal<TlpPinWires::Word>& s,
           const std::string& name, unsigned bits) {
  sc_core::sc_trace(file, s.read(), name, static_cast<int>(bits));
}

}  // namespace

TlpPinWires::TlpPinWires(const sc_core::sc_module_name& name, EngineProcess& engine, std::string its_hop,
                         const ChannelParameters& p, const ClockDomain& sender)
    : sc_module(name),
      parameters(p),
      domain(engine.pins().clock(sender)),
      clock(domain.signal),
      data("data", (p.width + 7) / 8),
      hop_(std::move(its_hop)) {}

void sc_trace(sc_core::sc_trace_file* file, const TlpPinWires& wires) {
  wires.visit([&](const std::string& wire, const auto& signal, unsigned bits) {
    trace(file, signal, wires.hop() + "." + wire, bits);
  });
}

TlpPinHopModule::TlpPinHopModule(const sc_core::sc_module_name& name, EngineProcess& engine,
                                 Out<TlpMessage>& out, In<TlpMessage>& in,
                                 const ChannelParameters& parameters)
    : sc_module(name),
      engine_(engine),
      out_(out),
      in_(in),
      wires_("wires", engine, in.path(), parameters, out.owner().domain()) {
  out.bind(static_cast<Carrier<TlpMessage>&>(*this));
  in.bind(static_cast<Upstream&>(*this), parameters, out.owner().domain());
  engine.add_end(*this, true);
  SC_HAS_PROCESS(TlpPinHopModule);
  SC_METHOD(drive);
  SC_METHOD(watch);
  dont_initialize();
  sensitive << wires_.ready.posedge_event();
  SC_METHOD(settle);
  dont_initialize();
  sensitive << settled_;
  SC_METHOD(sample);
}

Cycle TlpPinHopModule::begin(Cycle t, const TlpMessage& message) {
  WARPLINE_EXPECT(sending_ == nullptr && engine_.tick_of(t) == sc_core::sc_time_stamp(),
                  "pins carry one packet at a time, from its own cycle on");
  sending_ = message.tlp;
  beats_ = message.beats(wires_.parameters.width);
  beat_ = 0;
  engine_.pins().depart();
  start_.notify(sc_core::SC_ZERO_TIME);
  return kNever;
}

void TlpPinHopModule::drive() {
  if (driving_ && wires_.ready.read()) {
    driving_ = ++beat_ != beats_;
    if (driving_) {
      put();
    } else {
      wires_.valid.write(false);
      asking_ = true;
      watch();
    }
  } else if (sending_ != nullptr && !driving_ && beat_ == 0) {
    driving_ = true;
    wires_.valid.write(true);
    put();
  }
  next_trigger(driving_ ? wires_.clock.posedge_event() : start_);
}

void TlpPinHopModule::put() {
  const Tlp& tlp = *sending_;
  wires_.kind.write(static_cast<TlpPinWires::Word>(tlp.kind));
  wires_.status.write(static_cast<TlpPinWires::Word>(tlp.status));
  wires_.attributes.write(attributes_of(tlp));
  wires_.requester.write(tlp.requester.value);
  wires_.completer.write(tlp.completer.value);
  wires_.tag.write(tlp.tag);
  wires_.address.write(tlp.address);
  wires_.bytes.write(tlp.bytes);
  wires_.remaining.write(tlp.remaining);
  wires_.beat.write(beat_);
  wires_.last.write(beat_ + 1 == beats_);
  const unsigned width = wires_.parameters.width;
  for (unsigned word = 0; word < wires_.data.size(); ++word) {
    TlpPinWires::Word value = 0;
    for (unsigned i = 0; i < 8 && 8 * word + i < width; ++i) {
      const std::size_t at = std::size_t{beat_} * width + 8 * word + i;
      if (at >= kTlpOverhead && at - kTlpOverhead < tlp.data.size())
        value |= TlpPinWires::Word{tlp.data[at - kTlpOverhead]} << 8 * i;
    }
    wires_.data[word].write(value);
  }
}

/// `ready` may have risen, or stayed: it counts as it is just before components tick, however many delta
/// cycles it takes to settle.
void TlpPinHopModule::watch() {
  if (!asking_) return;
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  const Cycle c = engine_.freed_by_end_at(now);
  settled_.notify(engine_.tick_of(c) - sc_core::sc_get_time_resolution() - now);
}

void TlpPinHopModule::settle() {
  if (!asking_ || !wires_.ready.read()) return;
  asking_ = false;
  out_.end(engine_.cycle_of(sc_core::sc_time_stamp()));
  engine_.wake();
}

void TlpPinHopModule::sample() {
  if (wires_.clock.posedge()) {
    const Cycle now = engine_.cycle_of(sc_core::sc_time_stamp());
    if (wires_.valid.read() && wires_.ready.read()) take(now);
    if (rise_at_ <= now) {
      rise_at_ = kNever;
      wires_.domain.release();
      engine_.pins().arrive();
      wires_.ready.write(true);
    }
  }
  if (wires_.valid.read() || rise_at_ != kNever) {
    next_trigger(wires_.clock.posedge_event());
  } else {
    next_trigger(wires_.valid.posedge_event() | rise_known_);
  }
}

/// A beat, at the edge at the start of cycle `now`. The packet is put into its port with the first, since
/// nothing can delay the others: so an observer of the port sees it as on any other carrier.
void TlpPinHopModule::take(Cycle now) {
  Tlp& tlp = *sending_;
  const ClockDomain& clock = wires_.domain.domain();
  if (taken_ == 0) {
    data_.clear();
    free_ = in_.begin(clock.cycle_of(clock.edge_at_or_after(now) - 1), {&tlp});
    engine_.wake();
  }
  WARPLINE_EXPECT(wires_.beat.read() == taken_ && wires_.last.read() == (taken_ + 1 == beats_),
                  "beats come one after the other");
  const unsigned width = wires_.parameters.width;
  for (unsigned i = 0; i < width; ++i) {
    const std::size_t at = std::size_t{taken_} * width + i;
    if (at >= kTlpOverhead && at - kTlpOverhead < tlp.data.size())
      data_.push_back(static_cast<std::uint8_t>(wires_.data[i / 8].read() >> 8 * (i % 8)));
  }
  if (++taken_ != beats_) return;
  tlp.kind = static_cast<TlpKind>(wires_.kind.read());
  tlp.status = static_cast<CompletionStatus>(wires_.status.read());
  const TlpPinWires::Word attributes = wires_.attributes.read();
  tlp.relaxed_ordering = (attributes & kRelaxed) != 0;
  tlp.no_snoop = (attributes & kNoSnoopBit) != 0;
  tlp.poisoned = (attributes & kPoisoned) != 0;
  tlp.requester = FunctionId{static_cast<std::uint16_t>(wires_.requester.read())};
  tlp.completer = FunctionId{static_cast<std::uint16_t>(wires_.completer.read())};
  tlp.tag = static_cast<std::uint16_t>(wires_.tag.read());
  tlp.address = wires_.address.read();
  tlp.bytes = static_cast<std::uint32_t>(wires_.bytes.read());
  tlp.remaining = static_cast<std::uint32_t>(wires_.remaining.read());
  tlp.data.assign(data_.begin(), data_.end());
  taken_ = 0;
  sending_ = nullptr;
  engine_.pins().arrive();
  if (free_ <= now) return;
  wires_.ready.write(false);
  if (free_ != kNever) free_from(free_);
}

/// A credit is back: a next packet may begin in cycle c.
void TlpPinHopModule::free_from(Cycle c) {
  rise_at_ = wires_.domain.domain().align(c);
  wires_.domain.hold();
  engine_.pins().depart();
  rise_known_.notify(sc_core::SC_ZERO_TIME);
}

void TlpPinHopModule::end(Cycle c) {
  if (taken_ != 0) {
    free_ = c;
  } else {
    free_from(c);
  }
}

void TlpPinHopModule::explain(std::vector<Wait>& waits) const {
  if (sending_ != nullptr)
    waits.push_back({wires_.hop(), "the pins to carry a packet", {in_.owner().name()}});
}

}  // namespace warpline
