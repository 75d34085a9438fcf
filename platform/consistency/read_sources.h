#pragma once

#include <cstdint>
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

/// Which reads may have bytes of several writes that have all of them.
enum class Tearing : std::uint8_t {
  none,    ///< nobody's: what several writes have whole comes from one of them
  racing,  ///< those that are not one with those writes
  all,     ///< all, which single-copy atomicity forbids
};

/// For all reads of a candidate of `test`, in their order.
[[nodiscard]] std::vector<ReadSources> sources_of_reads(const RecordedTest& test, const Candidate& c,
                                                        Tearing tearing);

}  // namespace warpline::litmus
