#pragma once

#include <cstdint>

#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/cta_launch.h"
#include "rtl_models/sm/fault.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/memory_access.h"

namespace warpline {

/// One lane's bulk copy, as the load/store unit hands it over.
struct BulkOrder {
  const Instruction* instruction = nullptr;  ///< outlives it
  unsigned slot = 0;
  unsigned lane = 0;
  std::uint32_t group = 0;         ///< in its warp's CopyGroups
  std::uint64_t shared_base = 0;   ///< where the CTA's part of shared memory begins
  std::uint32_t shared_bytes = 0;  ///< of that part
  /// Of global memory, or of the tensor map; of BulkDirection::cancel the generic address that is in no
  /// shared memory, for its fault.
  std::uint64_t address = 0;
  BulkSecond second;
  std::uint64_t policy = 0;
  BulkOperands operands;
  const ClusterPlace* cluster = nullptr;  ///< where its CTA's cluster runs, outlives it; null: it is in none
  std::uint32_t ranks = 0;  ///< of copies to shared memory: the CTAs that it goes to, a bit each

  [[nodiscard]] const MemOp& op() const { return instruction->mem; }
  /// Of its own CTA.
  [[nodiscard]] unsigned rank() const { return cluster != nullptr ? cluster->rank : 0; }
  /// Whether it goes to its own CTA; the others that it goes to.
  [[nodiscard]] bool comes_home() const { return (ranks >> rank() & 1U) != 0; }
  [[nodiscard]] std::uint32_t others() const { return ranks & ~(1U << rank()); }
  /// A fault of it at offset `at` of the shared memory that it goes to: if that is one other CTA's, so the
  /// record says.
  [[nodiscard]] Fault fault_there(FaultKind kind, std::uint32_t at, unsigned bytes) const {
    const bool of_other = ranks != 0 && (ranks & (ranks - 1)) == 0 && !comes_home();
    if (!of_other) return fault(kind, at, Space::shared, bytes);
    const auto other = static_cast<unsigned>(__builtin_ctz(ranks));
    return fault(kind, AddressWindows::map_to_rank(at, other), Space::shared_cluster, bytes);
  }
  /// A fault of it at `address`.
  [[nodiscard]] Fault fault(FaultKind kind, std::uint64_t at, Space space, unsigned bytes) const {
    Fault fault{kind, 0, slot, lane, at, instruction};
    fault.space = space;
    fault.bytes = bytes;
    return fault;
  }
};

/// Who carries bulk copies out.
class BulkSink {
 public:
  virtual ~BulkSink() = default;
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Pre: has_room().
  virtual void take(Cycle now, const BulkOrder& order) = 0;
};

/// What the rest of the SM must know of a bulk copy.
struct BulkEvent {
  enum class Kind : std::uint8_t {
    read,     ///< what it reads has been read
    done,     ///< it is over; before that, `read` has been told
    faulted,  ///< BulkCopyUnit::last_fault() says how
  };
  Kind kind = Kind::done;
  unsigned slot = 0;
  std::uint32_t group = 0;
  bool grouped = false;  ///< it is in a group: it writes global memory
};

/// Whether copies that go so end in shared memory, and are told to an mbarrier.
constexpr bool lands_in_shared(BulkDirection direction) {
  return direction == BulkDirection::to_shared || direction == BulkDirection::to_cluster ||
         direction == BulkDirection::cancel;
}

/// Whether copies that go so belong to groups (PTX ISA, "cp.async.bulk.commit_group").
constexpr bool is_grouped(BulkDirection direction) {
  return direction == BulkDirection::to_global || direction == BulkDirection::reduce;
}

}  // namespace warpline
