#pragma once

#include <memory>

#include "rtl_models/dram/dram_channel.h"
#include "rtl_models/tlm/block_module.h"

namespace warpline {

/// A DRAM channel as a TLM-2.0 module: the time of video memory, not its bytes (see L2SliceModule).
class DramModule final : public BlockModule {
 public:
  /// A channel of its own with `inputs` sockets; see DramChannel.
  DramModule(const sc_core::sc_module_name& name, EngineModule& engine, const ClockDomain& clock,
             const DramParameters& parameters, unsigned inputs);
  /// Around a channel of a netlist with that many inputs, which outlives it.
  DramModule(const sc_core::sc_module_name& name, EngineModule& engine, DramChannel& channel,
             unsigned inputs);

  std::deque<TargetSocket> from_l2;
  [[nodiscard]] DramChannel& channel() { return channel_; }

 private:
  DramModule(const sc_core::sc_module_name& name, EngineModule& engine, std::unique_ptr<DramChannel> channel,
             unsigned inputs);
  std::unique_ptr<DramChannel> own_;
  DramChannel& channel_;
};

}  // namespace warpline
