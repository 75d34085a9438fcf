#include "warpline/l2/l2_module.h"

namespace warpline {

L2SliceModule::L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine, L2Slice& slice,
                             bool with_data)
    : BlockModule(name, engine),
      from_crossbar("from_crossbar", engine, slice.from_crossbar, slice.to_crossbar, *this),
      to_pcie("to_pcie", engine, slice.to_pcie, slice.from_pcie),
      slice_(slice) {
  for (std::size_t i = 0; i < slice.to_dram.size(); ++i) {
    to_dram.emplace_back(socket_name("to_dram", i).c_str(), engine, slice.to_dram[i], slice.from_dram[i]);
    to_dram.back().set_with_data(false);
  }
  from_crossbar.set_with_data(with_data);
  to_pcie.set_with_data(with_data);
}

L2SliceModule::L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine,
                             std::unique_ptr<L2Slice> slice, bool with_data)
    : L2SliceModule(name, engine, *slice, with_data) {
  own_ = std::move(slice);
}

L2SliceModule::L2SliceModule(const sc_core::sc_module_name& name, EngineModule& engine,
                             const ClockDomain& clock, const L2Parameters& parameters, MemoryImage* vidmem,
                             unsigned dram_ports)
    : L2SliceModule(name, engine,
                    std::make_unique<L2Slice>(engine.engine(), std::string(name), clock, parameters, vidmem,
                                              dram_ports),
                    vidmem != nullptr) {}

}  // namespace warpline
