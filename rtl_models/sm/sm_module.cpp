#include "rtl_models/sm/sm_module.h"

#include <string>
#include <utility>

#include "rtl_models/sm/sm.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

SmModule::SmModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<Sm> sm, bool with_data)
    : BlockModule(name),
      sm_(std::move(sm)),
      to_l1_lg("to_l1_lg", engine, sm_->to_l1_lg, sm_->from_l1_lg),
      to_constant("to_constant", engine, sm_->to_constant, sm_->from_constant),
      to_instruction("to_instruction", engine, sm_->to_instruction, sm_->from_instruction),
      to_crossbar("to_crossbar", engine, sm_->to_crossbar, sm_->from_crossbar) {
  for (InitiatorSocket* s : {&to_l1_lg, &to_constant, &to_instruction, &to_crossbar})
    s->set_with_data(with_data);
  if (sm_->has_texture_cache())
    to_texture.emplace_back("to_texture", engine, sm_->to_texture, sm_->from_texture)
        .set_with_data(with_data);
  unsigned number = 0;
  for (L1Port& port : sm_->more_l1_ports())
    more_to_l1_lg
        .emplace_back(("to_l1_lg_" + std::to_string(++number)).c_str(), engine, port.to_l1_lg,
                      port.from_l1_lg)
        .set_with_data(with_data);
  if (Sm::Network* n = sm_->network(); n != nullptr) {
    to_network.emplace_back("to_network", engine, n->to_network, n->from_network).set_with_data(with_data);
    from_network.emplace_back("from_network", engine, n->from_cluster, n->to_cluster, *this)
        .set_with_data(with_data);
  }
}

SmModule::SmModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                   const SmParameters& parameters, unsigned index, bool with_data)
    : SmModule(name, engine,
               std::make_shared<Sm>(process_of(engine).engine(), std::string(name), clock, parameters,
                                    SmNumber{index}),
               with_data) {}

}  // namespace warpline
