#pragma once

#include <cstdint>

#include "platform/consistency/judge.h"
#include "platform/consistency/recorded_test.h"

namespace warpline::litmus {

/// Judges threads of a recorded grid together: whether there is a choice of what reads read, of values as
/// they were seen, that obeys the axioms. Writes took effect in the order recorded. After `most_tries` it
/// refuses.
[[nodiscard]] Judgement judge_execution(const RecordedTest& recorded, const JudgeOptions& options,
                                        std::uint64_t most_tries);

}  // namespace warpline::litmus
