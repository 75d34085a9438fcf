#include "rtl_models/dram/dram_module.h"

#include <string>
#include <utility>

#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace {

constexpr TakenCommands kTaken{true, false, 0, false};

}  // namespace

DramModule::DramModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<DramChannel> channel,
                       unsigned inputs)
    : BlockModule(name), channel_(std::move(channel)) {
  for (unsigned i = 0; i < inputs; ++i) {
    from_l2.emplace_back(socket_name("from_l2", i).c_str(), engine, channel_->from_l2(i), channel_->to_l2(i),
                         *this);
    from_l2.back().set_with_data(false);
    from_l2.back().set_taken(kTaken);
  }
}

DramModule::DramModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                       const DramParameters& parameters, unsigned inputs)
    : DramModule(name, engine,
                 std::make_shared<DramChannel>(process_of(engine).engine(), std::string(name), clock,
                                               parameters, inputs),
                 inputs) {}

}  // namespace warpline
