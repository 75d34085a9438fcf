#include "rtl_models/sm_network/sm_network_module.h"

#include <string>
#include <utility>

#include "rtl_models/sm_network/sm_network.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

SmNetworkModule::SmNetworkModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                 Held<SmNetwork> network, unsigned sms, bool with_data)
    : BlockModule(name), network_(std::move(network)) {
  for (unsigned i = 0; i < sms; ++i) {
    from_sm.emplace_back(socket_name("from_sm", i).c_str(), engine, network_->from_sm(i), network_->to_sm(i),
                         *this);
    from_sm.back().set_with_data(with_data);
    to_shared.emplace_back(socket_name("to_shared", i).c_str(), engine, network_->to_shared(i),
                           network_->from_shared(i));
    to_shared.back().set_with_data(with_data);
  }
}

SmNetworkModule::SmNetworkModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                 const ClockDomain& clock, unsigned sms, unsigned gpcs, unsigned sms_per_tpc,
                                 SmNetworkWidths widths, bool with_data)
    : SmNetworkModule(name, engine,
                      std::make_shared<SmNetwork>(process_of(engine).engine(), std::string(name), clock, sms,
                                                  GpcShape{gpcs, sms_per_tpc}, widths),
                      sms, with_data) {}

}  // namespace warpline
