#pragma once

#include <cstdint>
#include <vector>

#include "platform/consistency/relation.h"
#include "platform/consistency/test.h"

namespace warpline::litmus {

/// How a value of a path comes about. Values refer to others of the path by their number.
struct Value {
  enum class Kind : std::uint8_t {
    constant,
    read,
    add,
    subtract,
    atomic,
    narrowed,
    compared,
    offset,
    phase,
    waited,
    mbarrier
  };
  Kind kind = Kind::constant;
  std::int64_t constant = 0;  ///< of `read`: the first of the event's bytes that it has: 0 or 8
  unsigned event = 0;         ///< of `read`: the path's event that reads it
  unsigned a = 0, b = 0;
  /// Of `atomic`: the instruction whose operation is applied to a, the value in memory, and b. Of `narrowed`:
  /// the access as whose type a is read. Of `compared`: the comparison of a and b. Of `offset`: the access
  /// whose index a is. Of `phase`, `waited`, `mbarrier`: the operation on an mbarrier object whose state was
  /// a, and the phase of that state; whether phase b, or that of parity b, is complete; or the state that it
  /// leaves, b bytes having come if it is an asynchronous operation.
  const Instruction* instruction = nullptr;
};

/// What a path takes for granted: that a comparison of two values holds, or does not.
struct Assumption {
  Comparison comparison = Comparison::equal;
  unsigned a = 0, b = 0;
  bool holds = true;
};

enum class EventKind : std::uint8_t { read, write, fence, proxy_fence, barrier, completion };

/// The parts of an asynchronous operation, which its thread does not wait for. The completion of reads, or of
/// writes, is where the generic proxy knows of what they did: an implicit proxy fence, of them alone (PTX
/// ISA, "Async proxy").
enum class AsyncPart : std::uint8_t { source, source_done, target, target_done, told };

/// An event of one thread's path (PTX ISA, "Memory Consistency Model"). An atomic is a read and a write.
struct PathEvent {
  static constexpr unsigned kNone = ~0U;
  EventKind kind = EventKind::read;
  const Instruction* instruction = nullptr;
  unsigned value = 0;        ///< of a write; of a barrier: its id
  unsigned high = kNone;     ///< of a write of 16 bytes: the value of its upper 8
  unsigned threads = 0;      ///< of a barrier that counts: how many threads meet
  unsigned partner = kNone;  ///< of an atomic's write: its read
  std::int32_t shift = 0;    ///< of an access: bytes behind its instruction's offset
  bool copies =
      false;  ///< of an asynchronous operation: `part` says which; or the arrival that follows copies
  AsyncPart part = AsyncPart::source;
  unsigned chain = kNone;       ///< of an asynchronous operation: its first event
  unsigned element = 0;         ///< of its reads and writes: which bytes
  bool bulk = false;            ///< of an asynchronous operation: no `cp.async` that is not bulk
  bool follows_copies = false;  ///< such an arrival's: comes behind every copy that its thread has begun
  /// Of an asynchronous copy: the event from which on it is done, as a wait has said; none: it may be under
  /// way at the end.
  unsigned done_at = kNone;
  unsigned vector = kNone;      ///< of a vector's element: the event of the first, which they share
  std::vector<unsigned> after;  ///< reads of the path that its data, or whether it happens, depends on
};

/// One way through a thread's code.
struct Path {
  std::vector<PathEvent> events;  ///< in program order
  std::vector<Value> values;
  std::vector<Assumption> assumptions;
  std::vector<unsigned> registers;  ///< their values at the end, as numbers of `values`
};

/// What unfolding left out.
struct Cut {
  bool loops = false;  ///< longer ones
  bool rest = false;   ///< there are longer paths, or more of them, than are looked at
};

/// The paths of `thread` that take each backward branch at most `unroll` times, shorter ones first. What is
/// left out is set in `cut`.
[[nodiscard]] std::vector<Path> unfold(const Thread& thread, unsigned unroll, Cut& cut);

}  // namespace warpline::litmus
