#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/consistency/record/execution_record.h"
#include "rtl_models/l2/coherence_observer.h"
#include "rtl_models/sm/address_space.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/kernel_info.h"
#include "rtl_models/sm/shared_observer.h"

namespace warpline {

/// Reads bytes of a memory as they are on the buses, at rest.
using ReadPhysical = std::function<void(PhysicalAddress, std::uint8_t*, unsigned)>;

/// Records what the threads of a grid do to memory. It stands between the SMs and their program, and is told
/// by the L2 slices in which order accesses take effect: the hardware behaves as if it were not there.
class ExecutionRecorder final : public CoherenceObserver, public SharedObserver {
 public:
  /// `most`: events kept; of a grid that has more, the record says so and is empty.
  ExecutionRecorder(std::size_t most, ReadPhysical read) : most_(most), read_(std::move(read)) {}

  /// A grid begins. `space` outlives it.
  void begin(const KernelInfo& kernel, const AddressSpace& space);
  /// `source` as SM `sm` is to run it.
  [[nodiscard]] std::unique_ptr<InstructionSource> watch(std::unique_ptr<InstructionSource> source,
                                                         unsigned sm, unsigned slots);
  /// The grid has ended, and memory is at rest. `broken`: why the record is not to be judged, or nothing.
  [[nodiscard]] ExecutionRecord end(const std::string& broken);
  void taken(const Request& r) override;
  void shared_performed(const MemoryAccess& access) override;
  void mbarrier_performed(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                          std::uint64_t after) override;
  void mbarrier_told(const MemoryAccess& access, unsigned lane, std::uint64_t before,
                     std::uint64_t after) override;
  void copies_landed(const MemoryAccess& access, const Request& r, const std::uint8_t* shared) override;
  void copies_arrived(unsigned sm, unsigned slot, const Instruction& i, unsigned lane, std::uint64_t before,
                      std::uint64_t after) override;
  void bulk_moved(unsigned sm, const BulkOrder& order, std::uint32_t offset, const std::uint8_t* bytes,
                  std::uint32_t count, bool landed) override;
  void bulk_told(unsigned sm, const BulkOrder& order, std::uint32_t offset, std::uint64_t before,
                 std::uint64_t after) override;
  void remote_performed(const Request& r) override;
  void remote_mbarrier_performed(const Request& r, const LaneAtomic& part, std::uint64_t before,
                                 std::uint64_t after) override;

  /// A warp of the grid, as the source in its slot has it.
  struct Warp {
    unsigned sm = 0, slot = 0;
    Dim3 cta;
    std::uint64_t cta_number = 0;
    unsigned first_thread = 0;  ///< of its lanes in the CTA
    std::size_t fence = 0;      ///< events of its last fence: the first, and how many
    unsigned fencing = 0;       ///< 0: it has been passed
  };
  void access(const Warp& w, const Instruction& i, const InstructionSource& source,
              const MemoryAccess& access);
  void answer(const MemoryAccess& access);
  void fence(Warp& w, const Instruction& i, const InstructionSource& source, LaneMask lanes);
  /// Lanes arrive at the barrier of their cluster, or wait there. `releases`: of an arrival, that a fence
  /// goes with it.
  void meet_in_cluster(const Warp& w, const Instruction& i, const InstructionSource& source, LaneMask lanes,
                       bool releases);
  /// The warp goes on behind its last fence.
  void pass_fence(Warp& w);
  void arrive(const Warp& w, const Instruction& i, const InstructionSource& source, const Issue& issue);
  void release(const Warp& w, std::uint32_t barrier);
  /// The lanes' copies since their last commit become a group.
  void commit_copies(const Warp& w, LaneMask lanes);
  /// The lanes have waited until at most `left` of their groups are unfinished; CopyGroups::kWaitForAll:
  /// until all copies are done.
  void wait_for_copies(const Warp& w, LaneMask lanes, std::uint32_t left);
  /// The same of copies to global memory. `reads`: for what they read.
  void commit_bulk(const Warp& w, LaneMask lanes);
  void wait_for_bulk(const Warp& w, LaneMask lanes, std::uint32_t left, bool reads);
  /// The record is not all that the grid does.
  void refuse(const std::string& what, const std::string& where = {});

 private:
  /// The events of one execution of an instruction, which follow one another in the record.
  struct Run {
    std::size_t first = 0;
    std::size_t left = 0;                ///< how many of them write and have not taken effect yet
    std::vector<std::uint16_t> offsets;  ///< where each has its bytes in MemoryAccess::data
  };
  /// What maps find a slot of an SM by, or a number of a CTA.
  [[nodiscard]] static std::uint64_t pair_key(std::uint64_t a, std::uint64_t b) { return a << 12U | b; }
  [[nodiscard]] bool takes(std::size_t more);
  [[nodiscard]] std::uint32_t thread_of(const Warp& w, unsigned lane);
  [[nodiscard]] std::uint32_t number_of(const Instruction& i, const InstructionSource& source);
  [[nodiscard]] bool place(RecordedEvent& e, const MemOp& op, const Warp& w, std::uint64_t address,
                           unsigned bytes);
  void touch(const RecordedEvent& e);
  void add_lane(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access, unsigned lane,
                Run& run);
  void add_lanes(RecordedEvent e, const Warp& w, LaneMask lanes);
  void take(const Request& r);
  void take_lanes(const Request& r, Run& run);
  [[nodiscard]] bool is_of_cta(const Request& r, const RecordedEvent& e) const;
  [[nodiscard]] bool is_in(const Request& r, const RecordedEvent& e) const;
  [[nodiscard]] std::uint64_t cta_of_rank(const Warp& w, unsigned rank) const;
  void add_copy(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access, unsigned lane,
                Run& run);
  void add_store(RecordedEvent e, const MemOp& op, const Warp& w, const MemoryAccess& access, unsigned lane,
                 Run& run);
  void add_bulk(RecordedEvent e, const Instruction& i, const Warp& w, const MemoryAccess& access,
                unsigned lane, Run& run);
  void await_copies(RecordedEvent e, const Instruction& i, const Warp& w, const MemoryAccess& access);
  /// Appends `e`, whose place is known. Returns its number.
  std::size_t append(RecordedEvent e, Run& run);
  void change_object(RecordedEvent& e, std::uint64_t before, std::uint64_t after);
  [[nodiscard]] std::uint32_t count_of(const RecordedEvent& e) const;
  void perform();
  void read_ends();

  std::size_t most_;
  ReadPhysical read_;
  KernelInfo kernel_;
  const AddressSpace* space_ = nullptr;
  const Mapping* hint_ = nullptr;
  bool full_ = false;
  Moment now_ = 0;
  std::uint64_t meetings_ = 0;
  ExecutionRecord record_;
  /// Operands of atomics, by event: `b`, and `c` of a compare-and-swap.
  struct Operands {
    RecordedEvent::Bytes b{}, c{};
  };
  std::unordered_map<std::size_t, Operands> operands_;
  std::unordered_map<const Instruction*, std::uint32_t> instructions_;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;  ///< by CTA and number
  std::unordered_map<const MemoryAccess*, Run> under_way_;    ///< loads and atomics without an answer yet
  std::unordered_map<const MemoryAccess*, Run> performing_;   ///< of shared memory, without effect yet
  std::unordered_map<std::uint64_t, std::vector<Run>>
      on_their_way_;  ///< writes that have not reached L2, by SM and slot
  /// Lanes that arrive at one object when their copies are done.
  struct Arrival {
    const Instruction* instruction = nullptr;
    unsigned lane = 0;                ///< the lowest of them
    std::vector<std::size_t> events;  ///< of each
  };
  std::unordered_map<std::uint64_t, std::vector<Arrival>> arrivals_;  ///< by SM and slot, oldest first
  /// A thread's copies that it has not waited for, each with the number of its group, and that of the group
  /// that is open.
  struct Copying {
    std::vector<std::pair<std::size_t, std::uint32_t>> left;
    std::uint32_t open = 0;
  };
  static void commit(std::unordered_map<std::uint32_t, Copying>& copying, std::uint32_t thread);
  void wait(std::unordered_map<std::uint32_t, Copying>& copying, std::uint32_t thread, std::uint32_t groups,
            bool reads);
  std::unordered_map<std::uint32_t, Copying> copying_;       ///< by thread
  std::unordered_map<std::uint32_t, Copying> bulk_copying_;  ///< likewise, of bulk copies to global memory
  /// A lane's bulk copy of which not all has been moved, or told in its own CTA.
  struct BulkCopy {
    const Instruction* instruction = nullptr;
    unsigned lane = 0;
    std::uint64_t address = 0, shared = 0;  ///< as BulkOrder has them
    std::size_t first = 0, end = 0;         ///< its events
    std::size_t left = 0;  ///< of them, sources that have not been read, and objects not told
  };
  [[nodiscard]] static bool is_of(const BulkCopy& copy, const BulkOrder& order);
  std::unordered_map<std::uint64_t, std::vector<BulkCopy>> bulk_;  ///< by SM and slot, oldest first
  std::uint32_t operations_ = 0;                                   ///< asynchronous ones so far
  std::unordered_map<std::uint64_t, std::uint64_t> barriers_;  ///< by CTA and barrier: the meeting under way
  std::unordered_map<std::uint32_t, unsigned> phases_;  ///< by thread: arrivals at its cluster's barrier
  /// By cluster and phase of its barrier.
  std::unordered_map<std::uint64_t, std::uint64_t> cluster_meetings_;
};

}  // namespace warpline
