#include "rtl_models/tlm/pins/pin_wires.h"

#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace {

void trace(sc_core::sc_trace_file* file, const sc_core::sc_signal<bool>& s, const std::string& name,
           unsigned) {
  sc_core::sc_trace(file, s.read(), name);
}
void trace(sc_core::sc_trace_file* file, const sc_core::sc_signal<PinChannel::Word>& s,
           const std::string& name, unsigned bits) {
  sc_core::sc_trace(file, s.read(), name, static_cast<int>(bits));
}

}  // namespace

PinChannel::PinChannel(const sc_core::sc_module_name& name, EngineProcess& engine, const ChannelParameters& p,
                       const ClockDomain& sender)
    : sc_module(name),
      parameters(p),
      domain(engine.pins().clock(sender)),
      clock(domain.signal),
      data("data", 8 * p.width),
      strobes("strobes", p.width) {
  WARPLINE_EXPECT(p.problems("").empty(), "channel parameters are checked before they are used");
}

PinWires::PinWires(const sc_core::sc_module_name& name, EngineProcess& engine, std::string hop,
                   const HopParameters& parameters, const ClockDomain& requester,
                   const ClockDomain& responder)
    : sc_module(name),
      request("request", engine, parameters.request, requester),
      response("response", engine, parameters.response, responder),
      hop_(std::move(hop)) {
  engine.pins().add(*this);
}

void sc_trace(sc_core::sc_trace_file* file, const PinChannel& channel, const std::string& name) {
  channel.visit([&](const std::string& wire, const auto& signal, unsigned bits) {
    trace(file, signal, name + "." + wire, bits);
  });
}

void sc_trace(sc_core::sc_trace_file* file, const PinWires& wires) {
  sc_trace(file, wires.request, wires.hop() + ".request");
  sc_trace(file, wires.response, wires.hop() + ".response");
}

}  // namespace warpline
