#pragma once

#include <cstddef>
#include <cstdint>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// What a request asks of the block that receives it. Those that access no bytes come last.
enum class Command : std::uint8_t {
  read,      ///< sectors `sectors` of `line`
  write,     ///< bytes `bytes` of `line`; posted
  atomic,    ///< the lane operations in `atomics`, old values returned
  reduce,    ///< the same, nothing returned, acknowledged
  maintain,  ///< the ordering and cache maintenance in `maintenance`; carries no address
  control,   ///< `control` of `line`; carries no data
};

/// What a control request does with one line (PTX ISA, "prefetch", "applypriority", "discard"; SASS CCTL).
/// Cached copies in caches that the operation does not name stay as they are, but for a discard, which is a
/// weak write. Prefetches and priorities are hints: a cache that has no room for one drops it, and one that
/// concerns neither video nor system memory is answered as done. L1 answers all of them at once; a discard it
/// counts among the SM's writes until L2 has performed it. The last three are L1's own: L2 never sees them.
enum class LineControl : std::uint8_t {
  none,
  prefetch_l1,     ///< fetch those of `sectors` that are missing into L1 and L2
  prefetch_l2,     ///< fetch them into L2, where the line takes `l2_priority`
  apply_priority,  ///< the line, if L2 has it, takes the class of `l2_priority`, and is no younger for it
  discard,         ///< the line's bytes become undefined: what is dirty is written back by nobody
  write_back,      ///< CCTL WB: what is dirty is written back, and the line stays
  invalidate,      ///< CCTL IV: what is dirty is written back, and the line is dropped (R1)
  reset,           ///< CCTL RS: the line is dropped, dirty or not (R1)
};

/// How far down a request had to go for what it was answered with, nearest first.
enum class AnsweredBy : std::uint8_t {
  first_level,  ///< what the SM asked: L1, a read-only cache, another SM
  l2,
  dram,
  link,  ///< system memory, a peer, a register
};
inline constexpr std::size_t kAnsweredBy = 4;

/// Parts of a maintenance request; several may be set, and take effect in this order.
namespace maintenance {
inline constexpr std::uint8_t kDrain =
    1;  ///< earlier writes of the SM, surface stores aside, are performed at L2 (R3)
inline constexpr std::uint8_t kWriteBackSysmem =
    2;  ///< all dirty system-memory bytes in L2 are written back (R7)
inline constexpr std::uint8_t kDiscardSysmem = 4;  ///< L2's system-memory copies are discarded (R7)
inline constexpr std::uint8_t kInvalidate = 8;     ///< global lines are dropped, surface lines aside (R6, R8)
inline constexpr std::uint8_t kInvalidateLocal =
    16;  ///< local lines of L1 are dropped, dirty ones written back first (CCTLL.IVALL)
inline constexpr std::uint8_t kDrainSurfaces = 32;       ///< earlier surface stores of the SM are, too (R8)
inline constexpr std::uint8_t kInvalidateSurfaces = 64;  ///< surface lines of L1 are dropped (R8)
inline constexpr std::uint8_t kAll = kDrain | kWriteBackSysmem | kDiscardSysmem | kInvalidate |
                                     kInvalidateLocal | kDrainSurfaces | kInvalidateSurfaces;
}  // namespace maintenance

/// What an access asks of a cache's replacement (PTX ISA, "Cache Eviction Priority Hints"), the weakest
/// wish first.
enum class EvictionPriority : std::uint8_t {
  no_allocate,  ///< L1 only: a hit is served, a miss installs nothing
  unchanged,    ///< a present line keeps class and age; a miss installs as normal
  none,         ///< none named: a present line keeps its class and is used; a miss installs as normal
  first,        ///< the line, present or installed, becomes evict_first
  normal,       ///< the line becomes normal
  last,         ///< the line becomes evict_last, as far as the cache's share for it goes
};

/// What a read is for, where one cache serves the loads of several paths of an SM: its counters tell them
/// apart. What it does with them is the same.
enum class Reader : std::uint8_t {
  load,         ///< any that is neither of the others
  noncoherent,  ///< `ld.global.nc`
  texture,      ///< a texture load
};
inline constexpr unsigned kReaders = 3;

struct Request;

/// What a block takes beside reads.
struct WARPLINE_PUBLIC TakenCommands {
  bool writes = true;
  bool atomics = true;                           ///< and reductions
  std::uint8_t maintenance = maintenance::kAll;  ///< of ordering and cache maintenance, these parts
  bool control = true;                           ///< control of lines

  /// Whether it takes `r`, by its command and the parts of its maintenance.
  [[nodiscard]] bool take(const Request& r) const;
};

enum class Status : std::uint8_t { ok, address_error };

}  // namespace warpline
