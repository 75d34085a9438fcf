#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warpline/fabric/channel.h"
#include "warpline/sm/address_space.h"
#include "warpline/sm/address_windows.h"
#include "warpline/sm/coalescer.h"
#include "warpline/sm/fault.h"
#include "warpline/sm/image_table.h"
#include "warpline/sm/kernel.h"
#include "warpline/sm/lsu_counters.h"
#include "warpline/sm/shared_memory.h"
#include "warpline/sm/sm_parameters.h"

namespace warpline {

/// Where the memory of a running kernel lies.
struct MemoryMap {
  const AddressSpace* space = nullptr;
  const ImageTable* images = nullptr;  ///< null: there are none
  PhysicalAddress constant_base;       ///< of constant address 0
  PhysicalAddress local_base;          ///< of the SM's local memory
  PhysicalAddress code_base;           ///< of the kernel's code
  std::uint32_t local_bytes = 0;       ///< per thread: the program's, and behind it the call-return stack's
  bool with_data = true;               ///< bounds of shared and local memory are checked, data moves
};

/// The wish of an access of this priority at L2.
[[nodiscard]] EvictionPriority priority_of(L2Eviction eviction);

/// The caches that the load/store unit sends to.
enum class SmCache : std::uint8_t { l1_lg, texture, constant };

/// What CCTL asks of a whole cache by a maintenance request, and of which; 0: nothing.
[[nodiscard]] std::uint8_t maintenance_of(const MemOp& op, SmCache& cache);

/// The ports of the load/store unit.
struct LsuPorts {
  Out<RequestMessage>& to_l1_lg;
  Out<RequestMessage>& to_texture;
  Out<RequestMessage>& to_constant;
};

/// Something the rest of the SM must know.
struct LsuEvent {
  enum class Kind : std::uint8_t {
    completed,   ///< the instruction is done: results are in `entry`'s access, a store has passed L1 (R4)
    maintained,  ///< the warp's drain or invalidation is done
    faulted,     ///< last_fault() says how; at most one per cycle and call
  };
  Kind kind = Kind::completed;
  unsigned slot = 0;
  unsigned entry = 0;
  Cycle ready = 0;  ///< when the results can be read
};

/// Load/store unit of one SM: takes memory instructions in issue order, finds their space,
/// coalesces them and sends one line per cycle to L1, texture or constant cache, or performs them in
/// shared memory; several of a warp's loads may be in flight. Not a component: the SM ticks it.
class LoadStoreUnit {
 public:
  /// The first cache lines hold what an access without data needs.
  struct alignas(64) Entry {
    explicit Entry(LaneBuffers& buffers) : access(buffers) {}
    const Instruction* instruction = nullptr;  ///< null: a maintenance request of the SM's
    unsigned slot = 0;
    unsigned lines_pending = 0;           ///< requests sent and not yet answered
    bool sent = false;                    ///< all requests are sent
    bool tokens = false;                  ///< the SM's own access to a call-return stack
    bool killed = false;                  ///< its warp has faulted: results go nowhere
    bool exact = false;                   ///< each of its requests is of one lane
    std::uint8_t maintenance = 0;         ///< it is a maintenance request, an instruction's or the SM's
    SmCache maintained = SmCache::l1_lg;  ///< to this cache
    Scope scope = Scope::none;
    std::uint32_t copy_group = 0;   ///< of an asynchronous copy, in its warp's CopyGroups
    std::uint64_t shared_base = 0;  ///< of the CTA in shared memory
    std::uint32_t shared_bytes = 0;
    std::uint32_t local_bytes = 0;  ///< of the thread's local memory that it may access
    Cycle at = 0;                   ///< when it reaches the unit
    Cycle ready = 0;                ///< when its results can be read, as far as it is known
    MemoryAccess access;
  };

  LoadStoreUnit(const SmParameters& parameters, Component& owner, LsuPorts ports, SmNumber sm);

  /// For a new kernel. Pre: idle.
  void start(const MemoryMap& map);
  [[nodiscard]] bool has_room() const { return !free_.empty() && queue_count_ < parameters_.lsu_queue; }
  /// A free entry, to be filled and then queued. Pre: has_room(), or an entry was just retired.
  Entry& take(unsigned& index) {
    index = free_.back();
    free_.pop_back();
    Entry& e = entries_[index];
    e.instruction = nullptr;
    e.lines_pending = 0;
    e.sent = false;
    e.killed = false;
    e.exact = false;
    e.tokens = false;
    e.maintenance = 0;
    e.maintained = SmCache::l1_lg;
    e.scope = Scope::none;
    e.ready = 0;
    e.access.active = 0;
    e.access.form = AddressForm::per_lane;
    return e;
  }
  /// Hands a taken entry back unused.
  void give_back(unsigned index) { free_.push_back(index); }
  /// The entry reaches the unit in cycle entry.at, after those queued before.
  void queue(unsigned index) {
    const auto size = static_cast<unsigned>(queue_.size());
    const unsigned at = queue_head_ + queue_count_++;
    queue_[at < size ? at : at - size] = index;
  }
  /// Sends or performs what can be in this cycle. Events are appended.
  void advance(Cycle now, std::vector<LsuEvent>& events);
  /// CCTL.C.IVALL goes past the queue. False: its port is not ready.
  [[nodiscard]] bool invalidate_constants(Cycle now);
  /// A response has come back from one of the caches.
  void respond(Cycle now, Request& r, std::vector<LsuEvent>& events);
  /// The SM has dealt with a `completed` event of this entry.
  void retire(unsigned index) { free_.push_back(index); }
  /// Drops what the warp has queued or in flight, as far as the SM is concerned.
  void kill(unsigned slot);
  /// When advance() next has something to do, if that is known: kNever if the unit waits for a port.
  [[nodiscard]] Cycle next_work(Cycle now) const {
    if (queue_count_ == 0) return kNever;
    const Cycle at = std::max(entries_[front()].at, head_.busy_until);
    if (at > now) return at;
    return head_.line_held ? kNever : owner_.domain().after(now, 1);
  }

  [[nodiscard]] const Fault& last_fault() const { return last_fault_; }
  [[nodiscard]] const Entry& entry(unsigned index) const { return entries_[index]; }
  [[nodiscard]] bool idle() const { return free_.size() == entries_.size() && dispatched_ == 0; }
  [[nodiscard]] unsigned in_flight() const { return static_cast<unsigned>(entries_.size() - free_.size()); }
  [[nodiscard]] unsigned capacity() const { return static_cast<unsigned>(entries_.size()); }
  /// Of those in flight, not yet worked off.
  [[nodiscard]] unsigned queued() const { return queue_count_; }
  [[nodiscard]] const LsuCounters& counters() const { return counters_; }
  /// Whether entries are not worked off; entries of the warp in slot `slot`.
  [[nodiscard]] bool has_queued() const { return queue_count_ != 0; }
  [[nodiscard]] bool has_queued(unsigned slot) const;
  /// Says, as `who`, what the entry being worked off waits for, and what the unit's own maintenance does.
  void explain(const std::string& who, std::vector<Wait>& waits) const;
  [[nodiscard]] SharedMemory& shared() { return shared_; }

 private:
  /// The head entry as far as it has been worked off.
  struct Head {
    bool started = false;
    LaneMask global = 0, shared = 0, local = 0, constant = 0, image = 0;
    Space space = Space::generic;  ///< of the lines being sent; generic: none yet
    bool line_held = false;        ///< `line` waits for its port, or for the answer to an earlier one
    bool exact = false;            ///< one transaction a lane (`.mmio`, or of memory that is mapped uncached)
    bool uncached = false;         ///< a lane's memory is mapped so
    bool device = false;           ///< the line being sent is a device's
    LineAccess line;
    const Mapping* mapping = nullptr;  ///< of a whole line, found already
    Coalescer coalescer;
    Cycle busy_until = 0;  ///< shared-memory banks
    /// Nothing is begun. The banks stay busy.
    void clear() {
      started = line_held = exact = uncached = false;
      global = shared = local = constant = image = 0;
      space = Space::generic;
      mapping = nullptr;
      coalescer.clear();
    }
  };
  void begin_head(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] bool take_whole_line(const Entry& e);
  void classify(Entry& e);
  [[nodiscard]] std::optional<Fault> check(const Entry& e);
  [[nodiscard]] std::optional<Fault> check_global(const Entry& e);
  [[nodiscard]] static unsigned source_bytes(const Entry& e, unsigned lane);
  void leave_out_unread(const Entry& e);
  [[nodiscard]] static std::optional<Fault> check_copy(const Entry& e);
  [[nodiscard]] std::optional<Fault> locate_texels(Entry& e);
  [[nodiscard]] static std::optional<FaultKind> locate_texel(Entry& e, unsigned lane, const Image& image,
                                                             ImageCoordinates place);
  [[nodiscard]] std::optional<FaultKind> locate_element(Entry& e, unsigned lane, const Image& image,
                                                        ImageCoordinates place);
  void start_image(const Entry& e);
  void scatter_image(Entry& e, const Request& r);
  void begin_copy(const Entry& e);
  void land_copy(const Entry& e, const Request& r);
  [[nodiscard]] Fault bus_error(Cycle now, const Entry& e, const Request& r) const;
  [[nodiscard]] std::optional<Fault> check_control(const Entry& e);
  void fill_control(Request& r, const Entry& e, const LineAccess& line);
  [[nodiscard]] bool reads_device_past_l1(const Request& r, const MemOp& op) const;
  void mark_touched(Request& r, const Entry& e, const LineAccess& line) const;
  void fill_write(Request& r, const Entry& e, const LineAccess& line) const;
  [[nodiscard]] std::uint64_t address_as_written(const Entry& e, const Fault& fault) const;
  [[nodiscard]] bool next_space(Entry& e);
  bool send_line(Cycle now, Entry& e, unsigned index);
  void fill_request(Request& r, const Entry& e, const LineAccess& line);
  void fill_atomics(Request& r, const Entry& e, const LineAccess& line);
  /// Gives a request on global memory what the policy of the line's lowest lane asks for, at the line's
  /// virtual address. What the policy names goes before the instruction's own qualifiers, which are known
  /// when it is compiled: a policy is made at run time, and per address. Returns the bytes that it wants in
  /// L2, or 0.
  unsigned apply_policy(Request& r, const Entry& e, const LineAccess& line);
  void send_maintenance(Cycle now, Entry& e, unsigned index);
  [[nodiscard]] Out<RequestMessage>& maintenance_port(const Entry& e) const;
  Request* make_maintenance(Cycle now, std::uint8_t what, Scope scope, unsigned slot, unsigned token);
  /// In timed runs, where one request is made in a cycle at most, its number is the cycle.
  void sign(Request& r, Cycle now) {
    last_number_ = std::max(now, last_number_ + 1);
    r.made_by(sm_, last_number_);
  }
  void do_shared(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events);
  void finish_head(Cycle now, Entry& e, unsigned index, std::vector<LsuEvent>& events);
  [[nodiscard]] unsigned front() const { return queue_[queue_head_]; }
  void pop_front() {
    if (++queue_head_ == queue_.size()) queue_head_ = 0;
    --queue_count_;
  }
  [[nodiscard]] Out<RequestMessage>& port_for(const Entry& e) const;
  void scatter(Entry& e, const Request& r);
  [[nodiscard]] std::uint64_t local_warp_base(unsigned slot) const;
  [[nodiscard]] std::uint64_t constant_address(const Entry& e, std::uint64_t address) const;

  /// Token of what went past the queue. There are fewer entries.
  static constexpr unsigned kDispatched = 0xFFFF;

  SmParameters parameters_;
  Component& owner_;
  LsuPorts ports_;
  SmNumber sm_;
  MemoryMap map_;
  std::vector<LaneBuffers> buffers_;  ///< of the entries; untouched where lanes need none
  std::vector<Entry> entries_;
  std::vector<unsigned> free_;
  std::vector<unsigned> queue_;  ///< ring of the entries not yet worked off
  unsigned queue_head_ = 0, queue_count_ = 0;
  Head head_;
  SharedMemory shared_;
  const Mapping* mapping_hint_ = nullptr;
  unsigned mmio_reads_ = 0;  ///< not yet answered: 0 or 1
  unsigned mmio_lane_ = 0;   ///< of that
  unsigned dispatched_ = 0;  ///< invalidations that went past the queue, not yet answered
  std::uint64_t last_number_ = 0;
  Fault last_fault_;
  LsuCounters counters_;
};

}  // namespace warpline
