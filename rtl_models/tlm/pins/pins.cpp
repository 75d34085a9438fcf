#include "rtl_models/tlm/pins/pins.h"

namespace warpline {

PinEnd::PinEnd(const sc_core::sc_module_name& name, EngineProcess& engine, PinWires& wires,
               PinChannel& sending, PinChannel& receiving, bool with_data)
    : sc_module(name),
      engine_(engine),
      wires_(wires),
      driver_("driver", engine, sending, *this),
      sampler_("sampler", engine, receiving, *this),
      with_data_(with_data) {
  engine.add_end(*this, true);
}

void PinEnd::start_of_simulation() {
  if (!foreign_) return;
  wires_.request.domain.hold();
  wires_.response.domain.hold();
}

void PinEnd::depart() {
  ++on_the_way_;
  engine_.pins().depart();
}

void PinEnd::land() {
  --on_the_way_;
  engine_.pins().arrive();
}

void PinEnd::end(Cycle c) {
  if (begun_) {
    free_ = c;
  } else {
    sampler_.free_from(c);
  }
}

void PinEnd::protest(const std::string& what) const {
  SC_REPORT_ERROR("/warpline/pins", (wires_.hop() + ": " + what).c_str());
}

void PinEnd::explain(std::vector<Wait>& waits) const {
  if (driver_.sending()) waits.push_back({wires_.hop(), "the pin `ready`, to send"});
  if (sampler_.receiving()) waits.push_back({wires_.hop(), "the pin `valid`, for the rest of a message"});
}

PinHop::PinHop(const sc_core::sc_module_name& name, EngineProcess& engine, const std::string& hop,
               const Ports& ports, const Data& data, Wiring wiring)
    : sc_module(name),
      near_("near", engine, wiring == Wiring::cut ? hop + ".near" : hop, ports.parameters,
            ports.request_out.owner().domain(), ports.response_out.owner().domain()),
      far_(wiring == Wiring::cut ? std::make_unique<PinWires>("far", engine, hop + ".far", ports.parameters,
                                                              ports.request_out.owner().domain(),
                                                              ports.response_out.owner().domain())
                                 : nullptr),
      initiator_("initiator", engine, near_, ports.request_out, ports.response_in, data.requests),
      target_("target", engine, far(), ports.request_in, ports.response_out, data.responses) {
  target_.pair(initiator_);
  if (wiring == Wiring::cut) engine.pins().add_hardware(hop);
}

}  // namespace warpline
