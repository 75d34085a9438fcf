#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rtl_models/base/types.h"

namespace warpline::live {

/// What a client asks of a run that goes on, or wishes it to do.
struct Question {
  enum class Kind : std::uint8_t { state, counters, queues, waits, line, memory, pause, resume, step };
  Kind kind = Kind::state;
  std::size_t top = 0;         ///< rows of `counters`, `queues` and `waits`; 0: all of them
  std::string match;           ///< of `counters` and `queues`: a pattern of names; empty: totals, all
  std::optional<Cycle> since;  ///< of `counters`: the cycle of an earlier answer
  std::uint64_t address = 0;   ///< of `line`: as programs of the GPU see it
  unsigned gpu = 0;            ///< of `line` and `memory`
  Cycle cycles = 0;            ///< of `step`: the cycle to step to, or how many to go on
  bool relative = false;       ///< of `step`: the latter

  /// Whether it changes what the run does.
  [[nodiscard]] bool is_wish() const { return kind >= Kind::pause; }
};

/// What comes back: a JSON object, and a status as HTTP has them (200: the object is what was asked for;
/// otherwise it has an "error", a sentence).
struct Answer {
  unsigned status = 200;
  std::string json;
};

/// The answer that says why there is no other.
[[nodiscard]] Answer refusal(unsigned status, const std::string& sentence);

}  // namespace warpline::live
