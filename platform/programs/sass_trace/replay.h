#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/programs/sass_trace/block_reader.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::sass {

/// Where replay gets its thread blocks: the trace, shared by all SMs.
class BlockSupply {
 public:
  virtual ~BlockSupply() = default;
  [[nodiscard]] virtual std::shared_ptr<const TraceBlock> take(std::uint64_t ordinal) = 0;
  [[nodiscard]] virtual const Program& program() const = 0;
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
