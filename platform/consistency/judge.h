#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace warpline {
struct ExecutionRecord;
}

namespace warpline::litmus {

/// How much of a recorded grid is judged.
struct JudgeOptions {
  /// Operations that are judged together, at most: threads that share no memory and meet at no barrier are
  /// judged apart.
  unsigned most_events = 4096;
  /// Tries for threads that are judged together, at most, where values do not tell what reads read.
  std::uint64_t most_tries = 10'000;
  /// The sum over all tries of the third power of the number of operations, at most: about 10 s.
  double most_work = 1.5e11;
  bool ptx75 = false;          ///< by PTX ISA 7.5: what it knows nothing of is not judged
  bool draw = false;           ///< fill in Judgement::graph where the model is violated
  std::function<bool()> stop;  ///< if set: whether to give up; asked between tries
};

/// What the PTX memory consistency model (ISA 9.0, or 7.5 with proxies) says of a recorded grid.
struct Judgement {
  enum class Verdict : std::uint8_t {
    obeys,     ///< it allows what was recorded
    violates,  ///< it does not
    refused,   ///< cannot be judged: `reason` says why
  };
  Verdict verdict = Verdict::refused;
  bool stopped = false;  ///< refused because JudgeOptions::stop said so
  bool ptx75 = false;    ///< JudgeOptions::ptx75
  std::string kernel;
  std::string reason;  ///< unless it obeys: a sentence
  std::string remark;  ///< of a violation: that threads race by accesses of different sizes, if they do
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

/// A sentence for people: "obeys the PTX 9.0 model (4 threads, 12 events)".
[[nodiscard]] std::string text_of(const Judgement& judgement);

}  // namespace warpline::litmus
