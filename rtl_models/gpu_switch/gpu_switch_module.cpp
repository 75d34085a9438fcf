#include "rtl_models/gpu_switch/gpu_switch_module.h"

#include <string>

#include "rtl_models/gpu_switch/gpu_switch.h"
#include "rtl_models/tlm/debug_access.h"
#include "rtl_models/tlm/engine_process.h"

namespace warpline {

GpuSwitchModule::GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                 Held<GpuSwitch> gpu_switch, unsigned gpus, bool with_data)
    : BlockModule(name), switch_(std::move(gpu_switch)) {
  for (unsigned i = 0; i < gpus; ++i) {
    from_gpu.emplace_back(socket_name("from_gpu", i).c_str(), engine, switch_->from_gpu(i),
                          switch_->to_gpu(i), *this);
    from_gpu.back().set_with_data(with_data);
    to_replica.emplace_back(socket_name("to_replica", i).c_str(), engine, switch_->to_replica(i),
                            switch_->from_replica(i));
    to_replica.back().set_with_data(with_data);
  }
}

GpuSwitchModule::GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                 const ClockDomain& clock, unsigned gpus,
                                 const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                                 bool with_data)
    : GpuSwitchModule(name, engine, clock, gpus, parameters, widths, with_data,
                      std::make_unique<MulticastTable>()) {}

GpuSwitchModule::GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine,
                                 const ClockDomain& clock, unsigned gpus,
                                 const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                                 bool with_data, std::unique_ptr<MulticastTable> table)
    : GpuSwitchModule(name, engine,
                      std::make_shared<GpuSwitch>(process_of(engine).engine(), std::string(name), clock, gpus,
                                                  parameters, widths, *table, with_data),
                      gpus, with_data) {
  table_ = std::move(table);
}

GpuSwitchModule::~GpuSwitchModule() = default;

std::uint64_t GpuSwitchModule::bind(std::uint64_t bytes,
                                    const std::vector<std::pair<unsigned, std::uint64_t>>& replicas) {
  std::vector<MulticastReplica> all;
  for (const auto& [gpu, offset] : replicas) all.push_back({gpu, physical(Aperture::vidmem, offset), 0});
  return table_->add(bytes, std::move(all)).value;
}

}  // namespace warpline
