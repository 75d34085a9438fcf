#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/sim/command.h"
#include "rtl_models/sm/address_resolution.h"
#include "rtl_models/sm/answer_scatter.h"
#include "rtl_models/sm/cache_maintenance.h"
#include "rtl_models/sm/instruction.h"
#include "rtl_models/sm/memory_access.h"
#include "rtl_models/sm/resolved_access.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// A memory instruction, or a maintenance request of the SM's, in the load/store unit. The first cache lines
/// hold what an access without data needs.
struct alignas(64) LsuEntry {
  explicit LsuEntry(LaneBuffers& buffers) : access(buffers) {}
  const Instruction* instruction = nullptr;          ///< null: a maintenance request of the SM's
  unsigned slot = 0;                                 ///< of its warp
  unsigned lines_pending = 0;                        ///< requests sent and not yet answered
  bool sent = false;                                 ///< all requests are sent
  bool tokens = false;                               ///< the SM's own access to a call-return stack
  bool tracked = false;                              ///< a copy for which mbarriers may wait
  bool killed = false;                               ///< its warp has faulted: results go nowhere
  bool plain = false;                                ///< MemOp::is_plain_load()
  AnsweredBy answered_by = AnsweredBy::first_level;  ///< its furthest answer; kept for a profile only
  CacheMaintenance maintenance;   ///< what it asks of a whole cache, an instruction's or the SM's
  std::uint32_t copy_group = 0;   ///< the group of an asynchronous copy in its warp's CopyGroups
  LaneMask bulk_left = 0;         ///< lanes whose bulk copies are still to be handed over
  std::uint32_t copy_number = 0;  ///< likewise, in what its warp's mbarriers wait for
  AccessLimits limits;
  std::uint64_t shared_base = 0;  ///< where the CTA's part of shared memory begins
  Cycle at = 0;                   ///< when it reaches the unit
  Cycle ready = 0;                ///< when its results can be read, as far as it is known
  MemoryAccess access;
  ResolvedAccess resolved;                ///< once the unit has begun to work on it
  std::unique_ptr<FetchedTexels> texels;  ///< made by the first texture load, and kept
};

/// The entries of a load/store unit: a pool, and the queue of those whose lines are not all sent yet, in
/// issue order. Waits that are parked have entries beyond the pool's size, one for each warp at most, so that
/// what they wait for can always be issued.
class LsuEntries {
 public:
  explicit LsuEntries(const SmParameters& parameters)
      : buffers_(new LaneBuffers[parameters.lsu_entries]),
        queue_(parameters.lsu_entries + parameters.warp_slots),
        room_(static_cast<int>(parameters.lsu_entries)),
        capacity_(parameters.lsu_entries),
        most_entries_(parameters.lsu_entries + parameters.warp_slots),
        most_queued_(parameters.lsu_queue) {
    entries_.reserve(most_entries_);
    for (unsigned i = 0; i < parameters.lsu_entries; ++i) entries_.emplace_back(buffers_[i]);
    for (unsigned i = parameters.lsu_entries; i-- > 0;) free_.push_back(i);
  }
  [[nodiscard]] bool has_room() const { return room_ > 0 && queued_ < most_queued_; }
  /// A free entry, to be filled and then queued. Pre: has_room(), or an entry was just freed.
  [[nodiscard]] LsuEntry& take(unsigned& index) {
    index = free_.back();
    free_.pop_back();
    --room_;
    LsuEntry& e = entries_[index];
    e.instruction = nullptr;
    e.lines_pending = 0;
    e.sent = e.tokens = e.tracked = e.killed = e.plain = false;
    e.answered_by = AnsweredBy::first_level;
    e.maintenance = {};
    e.bulk_left = 0;
    e.ready = 0;
    e.access.active = 0;
    e.access.form = AddressForm::per_lane;
    return e;
  }
  /// The entry goes behind those queued before.
  void queue(unsigned index) {
    const unsigned at = head_ + queued_++;
    queue_[at < most_entries_ ? at : at - most_entries_] = index;
  }
  /// The oldest in the queue. Pre: queued() > 0.
  [[nodiscard]] unsigned front() const { return queue_[head_]; }
  void pop_front() {
    if (++head_ == most_entries_) head_ = 0;
    --queued_;
  }
  void free(unsigned index) {
    free_.push_back(index);
    ++room_;
  }
  /// An entry waits for what may only come with later instructions: another one takes its place in the pool.
  void park() {
    ++parked_;
    ++room_;
    if (spare_ != 0) {
      --spare_;
    } else if (entries_.size() < most_entries_) {
      // Nobody's references move: there is room for all.
      free_.push_back(static_cast<unsigned>(entries_.size()));
      entries_.emplace_back(*own_buffers_.emplace_back(std::make_unique<LaneBuffers>()));
    } else {
      --room_;
      ++crowded_;
    }
  }
  /// It no longer does. Its entry is still to be freed.
  void unpark() {
    --parked_;
    if (crowded_ != 0) {
      --crowded_;
    } else {
      ++spare_;
      --room_;
    }
  }
  /// Marks what the warp has here: its results go nowhere.
  void kill(unsigned slot) {
    for (LsuEntry& e : entries_)
      if (e.slot == slot && e.maintenance.what == 0) e.killed = true;
  }
  [[nodiscard]] LsuEntry& operator[](unsigned index) { return entries_[index]; }
  [[nodiscard]] const LsuEntry& operator[](unsigned index) const { return entries_[index]; }
  [[nodiscard]] unsigned capacity() const { return capacity_; }
  /// Entries that are neither free nor parked; those that are queued; whether one of these is of the warp in
  /// slot `slot`.
  [[nodiscard]] unsigned in_use() const {
    return static_cast<unsigned>(entries_.size() - free_.size()) - parked_;
  }
  [[nodiscard]] unsigned parked() const { return parked_; }
  [[nodiscard]] unsigned queued() const { return queued_; }
  [[nodiscard]] bool has_queued(unsigned slot) const {
    for (unsigned i = 0; i < queued_; ++i)
      if (entries_[queue_[(head_ + i) % most_entries_]].slot == slot) return true;
    return false;
  }

 private:
  std::unique_ptr<LaneBuffers[]> buffers_;  ///< of the entries; untouched where lanes need none
  std::vector<std::unique_ptr<LaneBuffers>> own_buffers_;  ///< of those made for parked waits
  std::vector<LsuEntry> entries_;
  std::vector<unsigned> free_;
  std::vector<unsigned> queue_;  ///< a ring of most_entries_
  unsigned head_ = 0, queued_ = 0;
  int room_;  ///< entries that may be taken: those free, less the spare ones
  unsigned capacity_, most_entries_;
  unsigned parked_ = 0;
  unsigned spare_ = 0;    ///< entries made for parked waits that no wait needs now
  unsigned crowded_ = 0;  ///< parked waits beyond one for each warp, which stay in the pool
  unsigned most_queued_;
};

}  // namespace warpline
