#include "rtl_models/pcie/gpu_link/pcie_module.h"

namespace warpline {
namespace {

constexpr TakenCommands kTaken{true, true, 0, false};

}  // namespace

PcieModule::PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, PcieLink& link,
                       MemoryImage* sysmem, unsigned inputs)
    : BlockModule(name, engine), link_(link), sysmem_(sysmem) {
  for (unsigned i = 0; i < inputs; ++i) {
    from_l2.emplace_back(socket_name("from_l2", i).c_str(), engine, link.from_l2(i), link.to_l2(i), *this);
    from_l2.back().set_with_data(sysmem != nullptr);
    from_l2.back().set_taken(kTaken);
  }
  if (Inbound* in = link.inbound(); in != nullptr) {
    to_crossbar.emplace_back("to_crossbar", engine, in->to_crossbar, in->from_crossbar);
    to_crossbar.back().set_with_data(sysmem != nullptr);
  }
}

PcieModule::PcieModule(const sc_core::sc_module_name& name, EngineModule& engine,
                       std::unique_ptr<PcieLink> link, MemoryImage* sysmem, unsigned inputs)
    : PcieModule(name, engine, *link, sysmem, inputs) {
  own_ = std::move(link);
}

PcieModule::PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                       const PcieParameters& parameters, MemoryImage* sysmem, unsigned inputs)
    : PcieModule(
          name, engine,
          std::make_unique<PcieLink>(engine.engine(), std::string(name), clock, parameters, sysmem, inputs),
          sysmem, inputs) {}

unsigned PcieModule::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (sysmem_ == nullptr) return 0;
  return debug_access(payload, sysmem_->at(0), physical(Aperture::sysmem, 0).value, sysmem_->size());
}

}  // namespace warpline
