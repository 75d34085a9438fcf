#pragma once

#include <memory>

#include "platform/consistency/run_state.h"
#include "rtl_models/sm/instruction_source.h"

namespace warpline {
class Sm;
}

namespace warpline::litmus {

/// What `sm`, of GPU number `gpu`, runs of a litmus test: each thread is lane 0 of a warp, so that the
/// threads of a CTA are scheduled independently. `run` and `sm` outlive it; runs are drawn while nothing is
/// under way.
[[nodiscard]] std::unique_ptr<InstructionSource> make_source(RunState& run, unsigned gpu, const Sm& sm,
                                                             unsigned slots);

}  // namespace warpline::litmus
