#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/programs/sass_trace/block_source.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::sass {

/// Where replay gets its thread blocks: the trace, shared by all SMs.
class BlockSupply {
 public:
  virtual ~BlockSupply() = default;
  /// Where a warp's instructions lie, once for each of them: warp `warp` of the CTA of this ordinal.
  [[nodiscard]] virtual WarpPlace take(std::uint64_t ordinal, unsigned warp) = 0;
  /// Where they are packed, as long as this launch of the trace.
  [[nodiscard]] virtual PackedBytes& packed() = 0;
  [[nodiscard]] virtual Program& program() = 0;
  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

/// One SM's share of a replayed trace. Instructions issue in the recorded order of their warp.
///
/// A barrier holds the lanes that execute it, not the warp: diverged halves reach it one after the
/// other, and the warp stands still only when its next instruction needs a lane that waits.
[[nodiscard]] std::unique_ptr<InstructionSource> make_replay(std::shared_ptr<BlockSupply> supply,
                                                             const SmSite& site);

}  // namespace warpline::sass
