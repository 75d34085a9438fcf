#pragma once

#include <vector>

#include "platform/consistency/execution.h"
#include "platform/consistency/recorded_test.h"

namespace warpline::litmus {

/// Bytes of a recorded read that each write has whole or not at all, and the writes that they can be of: by
/// value and by time, the likeliest first.
struct ReadSources {
  ReadsFrom slot;  ///< without its write
  std::vector<unsigned> writes;
};

/// For all reads of a candidate of `test`, in their order. `torn`: bytes that may come from several writes
/// are apart; without, what several writes have whole comes from one of them.
[[nodiscard]] std::vector<ReadSources> sources_of_reads(const RecordedTest& test, const Candidate& c,
                                                        bool torn);

}  // namespace warpline::litmus
