#include "rtl_models/dram/dram_module.h"

namespace warpline {
namespace {

constexpr TakenCommands kTaken{true, false, 0, false};

}  // namespace

DramModule::DramModule(const sc_core::sc_module_name& name, EngineModule& engine, DramChannel& channel,
                       unsigned inputs)
    : BlockModule(name, engine), channel_(channel) {
  for (unsigned i = 0; i < inputs; ++i) {
    from_l2.emplace_back(socket_name("from_l2", i).c_str(), engine, channel.from_l2(i), channel.to_l2(i),
                         *this);
    from_l2.back().set_with_data(false);
    from_l2.back().set_taken(kTaken);
  }
}

DramModule::DramModule(const sc_core::sc_module_name& name, EngineModule& engine,
                       std::unique_ptr<DramChannel> channel, unsigned inputs)
    : DramModule(name, engine, *channel, inputs) {
  own_ = std::move(channel);
}

DramModule::DramModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                       const DramParameters& parameters, unsigned inputs)
    : DramModule(name, engine,
                 std::make_unique<DramChannel>(engine.engine(), std::string(name), clock, parameters, inputs),
                 inputs) {}

}  // namespace warpline
