#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rtl_models/base/byte_mask.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/mem_op.h"
#include "rtl_models/sim/command.h"

namespace warpline {

/// One lane's part of an atomic request: up to 8 bytes of its values, as they lie in memory.
struct WARPLINE_PUBLIC LaneAtomic {
  std::uint8_t lane = 0;
  std::uint8_t offset = 0;  ///< of the operand in the line, bytes
  std::uint64_t operand = 0;
  std::uint64_t second = 0;     ///< the new value of a compare-and-swap
  std::uint64_t old_value = 0;  ///< answered
};

/// Bytes 8 to 15 of a lane's values.
struct WARPLINE_PUBLIC LaneAtomicHigh {
  std::uint64_t operand = 0;
  std::uint64_t second = 0;
  std::uint64_t old_value = 0;
};

/// The lanes of one atomic request, in lane order: the order in which they are performed.
///
/// Between SMs, it may be a request on mbarrier objects: each lane then stands for those that do the same
/// with one object. Its `operand` is the count, its `second` how often, its `old_value` a MbarrierStatus.
struct WARPLINE_PUBLIC AtomicBlock {
  AtomicOperation operation = AtomicOperation::none;
  DataType type = DataType::none;
  std::uint8_t vector = 1;  ///< scalar operations of each lane, on elements side by side
  bool wide_sums = false;   ///< of replicas, f16 and bf16: in f32, rounded once
  bool of_mbarriers = false;
  MbarrierOperation mbarrier = MbarrierOperation::arrive;  ///< of those
  MbarrierForm mbarrier_form = MbarrierForm::plain;        ///< likewise
  unsigned count = 0;
  std::array<LaneAtomic, kWarpLanes> lanes;
  std::array<LaneAtomicHigh, kWarpLanes> high;  ///< touched where lanes have more than 8 bytes

  /// Bytes that each lane's operation has: 2 to 16.
  [[nodiscard]] unsigned lane_bytes() const { return size_of(type) * vector; }
};

/// Bits 0 to 3 of Request::prefetch are sectors of its line, bits 4 to 7 of the other line of its
/// 256-byte block. The cache above L2 sends for the other line on its own, so L2 never sees those.
inline constexpr unsigned kOtherLineShift = kSectorsPerLine;

/// Which SM of which GPU.
struct WARPLINE_PUBLIC SmNumber {
  unsigned sm = 0;   ///< below 2047
  unsigned gpu = 0;  ///< below 8
};

/// The identity of a request that an SM makes in cycle `n`, or of which `n` is the number: the low 44
/// bits are `n`, so a request tells its age without carrying it.
constexpr std::uint64_t id_of_sm(SmNumber who, std::uint64_t n) {
  return std::uint64_t{who.gpu} << 55U | (std::uint64_t{who.sm} + 1) << 44U | n;
}
/// Whether an SM made it; 0, small numbers and those with the top bit set are other people's.
constexpr bool made_by_sm(std::uint64_t id) {
  return id >> 44U != 0 && id >> 63U == 0;
}
constexpr Cycle cycle_of_id(std::uint64_t id) {
  return id & ((std::uint64_t{1} << 44U) - 1);
}

/// What every hop reads of a request: one cache line.
struct WARPLINE_PUBLIC RequestHead {
  Request* next = nullptr;      ///< in the list that it is in: the pool's, or a RequestList
  const void* maker = nullptr;  ///< the block that allocated it and will free it; others pass it on
  std::uint64_t id = 0;         ///< unique in a run, the same on every host
  VirtualAddress virtual_line;  ///< line address as the requester names it; what L1 tags
  PhysicalAddress line;         ///< line address on the buses; what L2 tags
  Command command = Command::read;
  SectorMask sectors = 0;   ///< sectors touched
  SectorMask missing = 0;   ///< owned by the cache that holds it: sectors still awaited
  SectorMask prefetch = 0;  ///< further sectors wanted in L2 only; see kOtherLineShift
  CacheOperator cache_operator = CacheOperator::none;
  EvictionPriority l1_priority = EvictionPriority::none;
  EvictionPriority l2_priority = EvictionPriority::none;
  Scope scope = Scope::none;  ///< of a strong access; none: weak
  bool local : 1;             ///< a line of local memory: write-back at L1
  bool no_l1 : 1;             ///< neither looked up nor allocated at L1
  bool surface : 1;           ///< by the surface proxy, whose lines in L1 are its own
  bool last_use : 1;          ///< a read of a local line whose write-back is owed no longer (`ld.lu`)
  bool exact : 1;             ///< one transaction of `bytes` and no more, of a read too (`.mmio`)
  bool settled : 1;           ///< loosely timed: answered by the block that performs it
  bool captured : 1;          ///< owned by the cache that holds it: `bytes` of the data are newer than a fill
  Status status : 1;
  std::uint8_t maintenance = 0;
  LineControl control : 5;     ///< of a control request; meaningless otherwise
  AnsweredBy answered_by : 3;  ///< of an answer: what it came from
  std::uint8_t gpu : 4;        ///< the requester's, with `sm` and `warp`
  Reader reader : 2;           ///< of a read: what it is for
  bool far : 1;                ///< owned by the L2 slice that holds it: its answer goes to another partition
  std::uint16_t sm = 0;
  std::uint16_t warp = 0;
  std::uint16_t token = 0;   ///< the sender's own; comes back as it was
  std::uint16_t route = 0;   ///< the crossbar's own: the port to answer to
  std::uint16_t epoch = 0;   ///< the L1's own: write epoch of an atomic that passes through
  std::uint16_t region = 0;  ///< the declared buffer it falls in; 0: none

  RequestHead()
      : local(false),
        no_l1(false),
        surface(false),
        last_use(false),
        exact(false),
        settled(false),
        captured(false),
        status(Status::ok),
        control(LineControl::none),
        answered_by(AnsweredBy::first_level),
        gpu(0),
        reader(Reader::load),
        far(false) {}
  void made_by(SmNumber who, std::uint64_t n) {
    id = id_of_sm(who, n);
    gpu = static_cast<std::uint8_t>(who.gpu) & 15U;
    sm = static_cast<std::uint16_t>(who.sm);
  }
  /// What it is answered with came from `level`, or from further down.
  void came_from(AnsweredBy level) {
    if (answered_by < level) answered_by = level;
  }
  /// A strong access that L1 must neither serve nor keep (docs/ordering.md, R1).
  [[nodiscard]] bool beyond_cta() const { return scope > Scope::cta; }
};
static_assert(sizeof(RequestHead) == 64, "a hop without data touches one cache line of a request");

/// One transaction of one 128-byte line. It travels down as a request and the same object comes
/// back as the response. Whoever sends it owns it again when it comes back; nobody else frees it.
///
/// Bytes and data are touched only where they are carried.
struct alignas(64) WARPLINE_PUBLIC Request : RequestHead {
  ByteMask bytes;                  ///< of a write, an exact read or a last use; meaningless otherwise
  AtomicBlock* atomics = nullptr;  ///< of an atomic or reduction; meaningless otherwise
  void* carried = nullptr;         ///< the carrier's own, on hops that need more than this object
  Cycle settled_at = 0;            ///< loosely timed: when it was answered by the block that performs it
  alignas(64) std::array<std::uint8_t, kLineBytes> data;
};

/// A request on its way to memory.
struct WARPLINE_PUBLIC RequestMessage {
  Request* request = nullptr;
  /// Beats on a bus of `width` bytes: one for a command without data, else as many as the data of
  /// the touched sectors (a write) or operands (an atomic) fills.
  [[nodiscard]] unsigned beats(unsigned width) const;
  /// Bytes of data that it carries, of whole sectors: what beats() counts, 0 for a command without.
  [[nodiscard]] unsigned data_bytes() const;
};
/// The same request on its way back.
struct WARPLINE_PUBLIC ResponseMessage {
  Request* request = nullptr;
  /// Beats: as many as the sectors of a read or the old values of an atomic fill, one otherwise.
  [[nodiscard]] unsigned beats(unsigned width) const;
  /// Likewise.
  [[nodiscard]] unsigned data_bytes() const;
};

inline unsigned beats_for(unsigned bytes, unsigned width) {
  if (bytes <= width) return 1;
  const bool shifts = (width & (width - 1)) == 0;  // a division would cost more than all else here
  return shifts ? (bytes + width - 1) >> static_cast<unsigned>(__builtin_ctz(width))
                : (bytes + width - 1) / width;
}
inline unsigned RequestMessage::data_bytes() const {
  switch (request->command) {
    case Command::write: return kSectorBytes * sector_count(request->sectors);
    case Command::atomic:
    case Command::reduce: return request->atomics->count * request->atomics->lane_bytes();
    case Command::read:
    case Command::control:
    case Command::maintain: return 0;
  }
  return 0;
}
inline unsigned ResponseMessage::data_bytes() const {
  switch (request->command) {
    case Command::read: return kSectorBytes * sector_count(request->sectors);
    case Command::atomic: return request->atomics->count * request->atomics->lane_bytes();
    case Command::write:
    case Command::reduce:
    case Command::control:
    case Command::maintain: return 0;
  }
  return 0;
}
inline unsigned RequestMessage::beats(unsigned width) const {
  return beats_for(data_bytes(), width);
}
inline unsigned ResponseMessage::beats(unsigned width) const {
  return beats_for(data_bytes(), width);
}

/// Calls f(n, byte) where write `w` writes byte n of the `count` bytes at `address` and on, which lie in one
/// line.
template <class F>
void for_each_byte_of(Request& w, PhysicalAddress address, unsigned count, F&& f) {
  if (w.line != line_of(address)) return;
  for (unsigned n = 0, at = offset_in_line(address); n < count; ++n, ++at)
    if (w.bytes.test(at)) f(n, w.data[at]);
}

inline bool TakenCommands::take(const Request& r) const {
  switch (r.command) {
    case Command::read: return true;
    case Command::write: return writes;
    case Command::atomic:
    case Command::reduce: return atomics;
    case Command::maintain: return maintenance != 0 && (r.maintenance & ~maintenance) == 0;
    case Command::control: return control;
  }
  return false;
}

}  // namespace warpline
