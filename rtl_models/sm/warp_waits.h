#pragma once

#include <functional>
#include <vector>

#include "rtl_models/sim/engine.h"
#include "rtl_models/sm/instruction_fetch.h"
#include "rtl_models/sm/load_store_unit.h"
#include "rtl_models/sm/loop_watch.h"
#include "rtl_models/sm/sm_core.h"

namespace warpline {

/// Says for people what each resident warp of an SM waits for, as parts of `sm` ("sm[0] warp 3"). `pace`: the
/// cycle from which on the instruction before lets a warp issue. `watch`: which warps repeat themselves;
/// null: that is not known.
void explain_warps(const Component& sm, const SmCore& core, const LoadStoreUnit& lsu,
                   const InstructionFetch& fetch, const std::function<Cycle(unsigned slot)>& pace,
                   const LoopWatch* watch, std::vector<Wait>& waits);

}  // namespace warpline
