#include "rtl_models/crossbar/crossbar_module.h"

#include <string>
#include <utility>

#include "rtl_models/crossbar/crossbar.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

CrossbarModule::CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine,
                               Held<Crossbar> crossbar, unsigned clients, unsigned slices, bool with_data,
                               unsigned switches)
    : BlockModule(name), crossbar_(std::move(crossbar)) {
  for (unsigned i = 0; i < clients; ++i) {
    from_client.emplace_back(socket_name("from_client", i).c_str(), engine, crossbar_->from_client(i),
                             crossbar_->to_client(i), *this);
    from_client.back().set_with_data(with_data);
    from_client.back().hint_direct_memory();
  }
  for (unsigned i = 0; i < slices; ++i) {
    to_l2.emplace_back(socket_name("to_l2", i).c_str(), engine, crossbar_->to_l2(i), crossbar_->from_l2(i));
    to_l2.back().set_with_data(with_data);
    to_l2.back().on_invalidate([this](sc_dt::uint64 first, sc_dt::uint64 last) {
      for (TargetSocket& client : from_client) client.take_back_direct_memory(first, last);
    });
  }
  for (unsigned i = 0; i < switches; ++i) {
    to_switch.emplace_back(socket_name("to_switch", i).c_str(), engine, crossbar_->to_switch(i),
                           crossbar_->from_switch(i));
    to_switch.back().set_with_data(with_data);
  }
}

/// Each line from its slice.
unsigned CrossbarModule::transport_dbg(tlm::tlm_generic_payload& payload) {
  return debug_by_lines(payload, [&](PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
    return debug_through(to_l2[crossbar_->core().slice_of(at)], payload, at, bytes, count);
  });
}

/// As the slice of the address grants it.
bool CrossbarModule::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return to_l2[crossbar_->core().slice_of(PhysicalAddress{payload.get_address()})]->get_direct_mem_ptr(
      payload, dmi);
}

CrossbarModule::CrossbarModule(const sc_core::sc_module_name& name, EngineModule& engine,
                               const ClockDomain& clock, const CrossbarParameters& parameters,
                               unsigned clients, unsigned slices, CrossbarWidths widths, bool with_data,
                               const std::vector<NetworkPlace>& places)
    : CrossbarModule(name, engine,
                     std::make_shared<Crossbar>(process_of(engine).engine(), std::string(name), clock,
                                                parameters, clients, slices, widths, 0U, places),
                     clients, slices, with_data) {}

}  // namespace warpline
