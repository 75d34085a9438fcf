#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/gpu_switch/gpu_switch_parameters.h"
#include "rtl_models/sim/clock_domain.h"
#include "rtl_models/tlm/block_module.h"
#include "rtl_models/tlm/engine_module.h"

namespace warpline {

class GpuSwitch;
class MulticastTable;

/// A switch between GPUs as a TLM-2.0 module.
///
/// Sockets
/// - from_gpu[n]: what GPU n asks of the memory of several: requests of one 128-byte line each.
/// - to_replica[n]: what is asked of the part of it that lies in the video memory of GPU n.
///
/// Addresses: from_gpu[] those of multicast objects, bits 63 to 60 are 4; to_replica[] physical ones in video
/// memory. No debug access and no direct memory access.
class WARPLINE_PUBLIC GpuSwitchModule final : public BlockModule {
 public:
  /// Around a switch of a platform with that many GPUs.
  GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine, Held<GpuSwitch> gpu_switch,
                  unsigned gpus, bool with_data);
  /// A switch of its own of `gpus` GPUs, 1 to 8. The engine outlives it.
  GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                  unsigned gpus, const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                  bool with_data);
  ~GpuSwitchModule() override;

  /// Of a switch of its own: makes a multicast object of `bytes` bytes. `replicas`: a GPU, and where its part
  /// begins in its video memory, a multiple of 256; by rising number of the GPU. Returns the object's
  /// address.
  std::uint64_t bind(std::uint64_t bytes, const std::vector<std::pair<unsigned, std::uint64_t>>& replicas);

  std::deque<TargetSocket> from_gpu;
  std::deque<InitiatorSocket> to_replica;
  [[nodiscard]] GpuSwitch& gpu_switch() { return *switch_; }

 private:
  GpuSwitchModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
                  unsigned gpus, const GpuSwitchParameters& parameters, GpuSwitchWidths widths,
                  bool with_data, std::unique_ptr<MulticastTable> table);

  std::unique_ptr<MulticastTable> table_;  ///< null: somebody else's
  Held<GpuSwitch> switch_;
};

}  // namespace warpline
