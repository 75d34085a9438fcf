#pragma once

#include <cstdint>
#include <string>

namespace warpline {
struct ExecutionRecord;
}

namespace warpline::litmus {

/// How much of a recorded grid is judged.
struct JudgeOptions {
  /// Operations that are judged together, at most: those on memory that several threads access, and the
  /// fences and barriers of these threads. The cost of a try grows with their third power.
  unsigned most_events = 1024;
  /// Tries, at most, where values do not tell what reads read.
  std::uint64_t most_tries = 200;
  bool draw = false;  ///< fill in Judgement::graph where the model is violated
};

/// What the PTX memory consistency model (ISA 7.5, with proxies) says of a recorded grid.
struct Judgement {
  enum class Verdict : std::uint8_t {
    obeys,     ///< it allows what was recorded
    violates,  ///< it does not
    refused,   ///< nobody knows: `reason` says what is in the way
  };
  Verdict verdict = Verdict::refused;
  std::string kernel;
  std::string reason;  ///< unless it obeys: a sentence
  std::string axiom;   ///< of a violation: the axiom that forbids it
  std::string graph;   ///< of a violation: Graphviz
  unsigned threads = 0;
  unsigned events = 0;         ///< judged together
  std::uint64_t accesses = 0;  ///< all that were recorded, of private memory, too
  std::uint64_t tries = 0;     ///< choices of what reads read that were looked at
};

/// Judges a recorded grid. Coherence order, the order of fence.sc, and which threads met at barriers are as
/// the run had them; what reads read is found by value, where several writes left the same value by search.
/// Data dependencies are not recorded, and need not be: no read is given a write that was issued after its
/// answer, so nothing can come out of thin air.
[[nodiscard]] Judgement judge(const ExecutionRecord& record, const JudgeOptions& options = {});

/// A sentence for people: "obeys the PTX 7.5 model (4 threads, 12 events)".
[[nodiscard]] std::string text_of(const Judgement& judgement);

}  // namespace warpline::litmus
