#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "platform/consistency/path.h"
#include "platform/consistency/relation.h"
#include "platform/consistency/test.h"

namespace warpline::litmus {

/// Bytes in a row of one memory.
struct Stretch {
  unsigned memory = 0;
  unsigned offset = 0, bytes = Test::kBytes;

  [[nodiscard]] bool overlaps(const Stretch& o) const {
    return memory == o.memory && offset < o.offset + o.bytes && o.offset < offset + bytes;
  }
  [[nodiscard]] bool covers(const Stretch& o) const {
    return memory == o.memory && offset <= o.offset && o.offset + o.bytes <= offset + bytes;
  }
};

/// An event of an execution. The first events are the initial writes, one for each memory. Of an access the
/// stretch is what it accesses.
struct Event : Stretch {
  static constexpr unsigned kInitial = ~0U;  ///< the thread of initial writes
  static constexpr unsigned kNone = ~0U;
  EventKind kind = EventKind::write;
  unsigned thread = kInitial;
  unsigned in_path = 0;                      ///< its number among its thread's events
  const Instruction* instruction = nullptr;  ///< null: an initial write
  unsigned address = kNone;                  ///< its virtual address; kNone: of initial writes
  Proxy proxy = Proxy::generic;
  Scope scope = Scope::none;
  bool strong = false, acquires = false, releases = false, sequential = false;
  bool shared = false;       ///< of an access: to shared memory
  bool of_mbarrier = false;  ///< of an access: to an mbarrier object
  unsigned partner = kNone;  ///< of an atomic's read its write, and the other way round

  [[nodiscard]] bool accesses() const { return kind == EventKind::read || kind == EventKind::write; }
};

/// The events of one way through all threads, and what is known of them whatever is read: the base relations
/// of the PTX memory consistency model (ISA 9.0).
struct Candidate {
  Candidate(const Test& test, const std::vector<const Path*>& paths);

  const Test& test;
  std::vector<const Path*> paths;  ///< by thread
  std::vector<Event> events;
  std::vector<unsigned> first_event;  ///< by thread
  /// By thread: how many values the paths of the threads before it have; last the number of all values.
  std::vector<unsigned> first_value;
  unsigned size;
  EventSet reads, writes, generic, initial, alias_fences;
  bool has_proxy_fences = false;  ///< implicit ones, too
  Relation program_order, dependency;
  /// What tells an mbarrier object of an asynchronous operation, or arrives when copies are done, is no part
  /// of program order. It comes behind what it tells of (covered), and behind what else its thread has done
  /// before (uncovered), but passes on nothing of the latter: whoever learns of it learns only what it covers
  /// (PTX ISA, "Program Order: Asynchronous Operations").
  Relation covered, uncovered;
  Relation overlapping;   ///< accesses to common bytes, each with itself, too
  Relation same_address;  ///< of them, those by one virtual address
  Relation morally_strong;
  /// Accesses that are one with each other: morally strong ones, and atomics whose scopes include each other
  /// however they overlap (PTX ISA, "Limitations on mixed-size data-races").
  Relation indivisible;
  Relation atomic;              ///< an atomic's read to its write
  Relation release_pattern;     ///< its first event to its last
  Relation acquire_pattern;     ///< likewise
  Relation same_proxy_and_cta;  ///< accesses
  Relation proxy_fence_of;      ///< a proxy fence to the accesses of its CTA by that proxy
  Relation completion_of;       ///< a completion to the accesses that it completes
  std::vector<std::pair<unsigned, unsigned>> fence_pairs;  ///< morally strong fence.sc

  /// `whole` cut into stretches that every write writes whole or not at all.
  [[nodiscard]] std::vector<Stretch> cut(const Stretch& whole) const;
  /// The bytes of `read` so cut, and further where they may come from several writes that are not one with
  /// it: before each byte that may tell which of those writes it is of. A byte that tells nothing may as well
  /// come from where its neighbour does, because that asks less of every axiom. `all`: also where every write
  /// is one with the read, which single-copy atomicity then forbids.
  [[nodiscard]] std::vector<Stretch> parts(unsigned read, bool all) const;
  /// Likewise what memory holds at the end.
  [[nodiscard]] std::vector<Stretch> parts_of_end(const Stretch& whole) const {
    return parts(whole, kEnd, false);
  }
  /// Whether writes to all of `stretch`, a part of `read`, or of memory at the end, may each give it some
  /// bytes.
  static constexpr unsigned kEnd = ~0U;
  [[nodiscard]] bool may_tear(unsigned read, const Stretch& stretch) const;
  /// `whole`, a part of `read`, cut; and what may be torn of it, or `all`, cut further before each byte, but
  /// the first, of which `tells(stretch, byte)` says that it may tell which of several writes it is of.
  template <class Tells>
  [[nodiscard]] std::vector<Stretch> torn(const Stretch& whole, unsigned read, bool all,
                                          Tells&& tells) const {
    std::vector<Stretch> out;
    for (const Stretch& stretch : cut(whole)) {
      out.push_back(stretch);
      if (stretch.bytes == 1 || !(all || may_tear(read, stretch))) continue;
      bool told = false;
      for (unsigned b = stretch.offset; b < stretch.offset + stretch.bytes; ++b) {
        if (!tells(stretch, b)) continue;
        if (told) {
          const unsigned end = out.back().offset + out.back().bytes;
          out.back().bytes = b - out.back().offset;
          out.push_back({stretch.memory, b, end - b});
        }
        told = true;
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::vector<Stretch> parts(const Stretch& whole, unsigned read, bool all) const;
  mutable std::optional<bool> values_are_bytes_;  ///< worked out when it is asked for
};

/// Where bytes of a read come from that one write has written.
struct ReadsFrom : Stretch {
  unsigned read = 0;
  unsigned write = Event::kNone;
};

/// The values of an execution.
class Values {
 public:
  /// Both outlive it and stay as they are. Values that depend on reads without a write, or on themselves, are
  /// unknown.
  Values(const Candidate& candidate, const std::vector<ReadsFrom>& reads_from);
  /// What a number of `values` of `thread`'s path stands for, if it is known.
  std::optional<std::int64_t> of(unsigned thread, unsigned value);
  /// What those of its bytes hold that `write` has written.
  std::optional<std::uint64_t> written(unsigned write, const Stretch& bytes);
  /// Whether no assumption of a path is known to fail.
  bool possible();

 private:
  /// A value that was asked for before: each is worked out once, however many others are made of it.
  struct Known {
    bool asked = false;
    std::optional<std::int64_t> value;
  };
  std::optional<std::int64_t> work_out(unsigned thread, const Value& v);
  std::optional<std::int64_t> read(unsigned event, unsigned from);
  [[nodiscard]] std::int64_t after(const Instruction& i, std::int64_t word, std::int64_t bytes) const;

  const Candidate& candidate_;
  const std::vector<ReadsFrom>& reads_from_;
  EventSet busy_;
  std::vector<Known> known_;
};

}  // namespace warpline::litmus
