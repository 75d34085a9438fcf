#include "rtl_models/pcie/gpu_link/pcie_module.h"

#include <string>
#include <utility>

#include "rtl_models/pcie/gpu_link/pcie_link.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {
namespace {

constexpr TakenCommands kTaken{true, true, 0, false};

}  // namespace

PcieModule::PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<PcieLink> link,
                       MemoryImage* sysmem, unsigned inputs)
    : BlockModule(name), link_(std::move(link)), sysmem_(sysmem) {
  for (unsigned i = 0; i < inputs; ++i) {
    from_l2.emplace_back(socket_name("from_l2", i).c_str(), engine, link_->from_l2(i), link_->to_l2(i),
                         *this);
    from_l2.back().set_with_data(sysmem != nullptr);
    from_l2.back().set_taken(kTaken);
  }
  if (Inbound* in = link_->inbound(); in != nullptr) {
    to_crossbar.emplace_back("to_crossbar", engine, in->to_crossbar, in->from_crossbar);
    to_crossbar.back().set_with_data(sysmem != nullptr);
  }
}

PcieModule::PcieModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                       const PcieParameters& parameters, MemoryImage* sysmem, unsigned inputs)
    : PcieModule(name, engine,
                 std::make_shared<PcieLink>(process_of(engine).engine(), std::string(name), clock, parameters,
                                            sysmem, inputs),
                 sysmem, inputs) {}

unsigned PcieModule::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (sysmem_ == nullptr) return 0;
  MemoryEnd& end = link_->system_memory();
  return debug_by_lines(payload, [&](PhysicalAddress at, std::uint8_t* bytes, unsigned count) {
    tlm::tlm_generic_payload part;
    part.set_command(payload.get_command());
    part.set_address(at.value);
    part.set_data_ptr(bytes);
    part.set_data_length(count);
    const unsigned moved =
        debug_access(part, sysmem_->at(0), physical(Aperture::sysmem, 0).value, sysmem_->size());
    payload.is_write() ? end.update(at, bytes, moved) : end.overlay(at, bytes, moved);
    return moved;
  });
}

}  // namespace warpline
