#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "platform/consistency/path.h"
#include "platform/consistency/relation.h"
#include "platform/consistency/test.h"

namespace warpline::litmus {

/// An event of an execution. The first events are the initial writes, one for each memory.
struct Event {
  static constexpr unsigned kInitial = ~0U;  ///< the thread of initial writes
  static constexpr unsigned kNone = ~0U;
  EventKind kind = EventKind::write;
  unsigned thread = kInitial;
  unsigned in_path = 0;                      ///< its number among its thread's events
  const Instruction* instruction = nullptr;  ///< null: an initial write
  unsigned memory = 0;                       ///< of an access
  unsigned address = kNone;                  ///< its virtual address; kNone: of initial writes
  unsigned offset = 0, bytes = Test::kBytes;
  Proxy proxy = Proxy::generic;
  Scope scope = Scope::none;
  bool strong = false, acquires = false, releases = false, sequential = false;
  unsigned partner = kNone;  ///< of an atomic's read its write, and the other way round

  [[nodiscard]] bool accesses() const { return kind == EventKind::read || kind == EventKind::write; }
  [[nodiscard]] bool overlaps(const Event& o) const {
    return memory == o.memory && offset < o.offset + o.bytes && o.offset < offset + bytes;
  }
  [[nodiscard]] bool covers(const Event& o) const {
    return memory == o.memory && offset <= o.offset && o.offset + o.bytes <= offset + bytes;
  }
};

/// The events of one way through all threads, and what is known of them whatever is read: the base relations
/// of the PTX memory consistency model (ISA 7.5).
struct Candidate {
  Candidate(const Test& test, const std::vector<const Path*>& paths);

  const Test& test;
  std::vector<const Path*> paths;  ///< by thread
  std::vector<Event> events;
  std::vector<unsigned> first_event;  ///< by thread
  std::vector<unsigned>
      first_value;  ///< by thread: of its path's values among those of all; behind it how many
  unsigned size;
  EventSet reads, writes, generic, initial, alias_fences;
  bool has_proxy_fences = false;
  Relation program_order, dependency;
  Relation overlapping;   ///< accesses to common bytes, each with itself, too
  Relation same_address;  ///< of them, those by one virtual address
  Relation morally_strong;
  Relation atomic;              ///< an atomic's read to its write
  Relation release_pattern;     ///< its first event to its last
  Relation acquire_pattern;     ///< likewise
  Relation same_proxy_and_cta;  ///< accesses
  Relation proxy_fence_of;      ///< a proxy fence to the accesses of its CTA by that proxy
  std::vector<std::pair<unsigned, unsigned>> fence_pairs;  ///< morally strong fence.sc
};

/// Where the bytes of a read come from.
struct ReadsFrom {
  unsigned read = 0;
  unsigned offset = 0, bytes = 0;  ///< those of them that one write has written
  unsigned write = Event::kNone;
};

/// An execution: a candidate and what the hardware chose.
struct Execution {
  std::vector<ReadsFrom> reads_from;
  Relation coherence;    ///< transitive
  Relation fence_order;  ///< of fence.sc
  Relation barrier_order;
};

/// The values of an execution.
class Values {
 public:
  /// Both outlive it and stay as they are. Values that depend on reads without a write, or on themselves, are
  /// unknown.
  Values(const Candidate& candidate, const std::vector<ReadsFrom>& reads_from);
  /// What a number of `values` of `thread`'s path stands for, if it is known.
  bool of(unsigned thread, unsigned value, std::int64_t& out);
  /// What the bytes that `write` has written hold.
  bool written(unsigned write, std::uint64_t& bits);
  /// Whether no assumption of a path is known to fail.
  bool possible();

 private:
  /// A value that was asked for before: each is worked out once, however many others are made of it.
  struct Known {
    bool asked = false, known = false;
    std::int64_t value = 0;
  };
  bool work_out(unsigned thread, const Value& v, std::int64_t& out);
  bool read(unsigned event, std::int64_t& out);

  const Candidate& candidate_;
  const std::vector<ReadsFrom>& reads_from_;
  EventSet busy_;
  std::vector<Known> known_;
};

}  // namespace warpline::litmus
