#include "rtl_models/sm/sm_module.h"

namespace warpline {

SmModule::SmModule(const sc_core::sc_module_name& name, EngineModule& engine, Sm& sm, bool with_data)
    : BlockModule(name, engine),
      to_l1_lg("to_l1_lg", engine, sm.to_l1_lg, sm.from_l1_lg),
      to_texture("to_texture", engine, sm.to_texture, sm.from_texture),
      to_constant("to_constant", engine, sm.to_constant, sm.from_constant),
      to_instruction("to_instruction", engine, sm.to_instruction, sm.from_instruction),
      sm_(sm) {
  for (InitiatorSocket* s : {&to_l1_lg, &to_texture, &to_constant, &to_instruction})
    s->set_with_data(with_data);
}

SmModule::SmModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<Sm> sm,
                   bool with_data)
    : SmModule(name, engine, *sm, with_data) {
  own_ = std::move(sm);
}

SmModule::SmModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                   const SmParameters& parameters, unsigned index, bool with_data)
    : SmModule(name, engine,
               std::make_unique<Sm>(engine.engine(), std::string(name), clock, parameters, SmNumber{index}),
               with_data) {}

}  // namespace warpline
