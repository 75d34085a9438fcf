#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "rtl_models/base/divider.h"
#include "rtl_models/sim/channel.h"
#include "rtl_models/sm/sm_parameters.h"

namespace warpline {

/// Counters of an SM's instruction fetch.
struct InstructionFetchCounters {
  std::uint64_t requests = 0, sectors = 0, prefetches = 0, merges = 0, waits = 0, invalidations = 0;

  template <class F>
  void visit(F&& f) const {
    f("requests", requests, "lines", "128-byte lines of code requested of the instruction cache");
    f("sectors", sectors, "sectors", "the same in 32-byte sectors");
    f("prefetches", prefetches, "lines", "of them, requested before a warp needed them");
    f("merges", merges, "events", "times a warp's line was on its way already");
    f("waits", waits, "events", "times a warp came to a line that was not in the instruction buffer");
    f("invalidations", invalidations, "events", "times the instruction buffer was emptied");
  }
};

/// Instruction fetch of one SM: an instruction buffer of whole lines, direct-mapped by code address, in front
/// of the instruction cache. Code is laid out as SASS is, 16 bytes an instruction and 8 instructions a line.
/// Not a component: the SM ticks it.
///
/// A warp issues from one line until it comes to an instruction in another. Only then it asks here: a line in
/// the buffer is there at once, any other is fetched, and the warp waits. With each line that a warp comes
/// to, some lines after it are fetched, too, if they are not there. Requests leave in order, one per cycle.
///
/// A line that has come belongs to those who waited for it whatever becomes of the buffer, so that warps that
/// replace each other's lines go on all the same.
class InstructionFetch {
 public:
  static constexpr std::uint64_t kNoLine = kNever;

  InstructionFetch(const SmParameters& parameters, Component& owner, Out<RequestMessage>& to_instruction,
                   SmNumber sm)
      : owner_(owner),
        port_(to_instruction),
        sm_(sm),
        place_of_(parameters.instruction_buffer_lines),
        buffer_(parameters.instruction_buffer_lines, kNoLine),
        followed_(parameters.instruction_buffer_lines, 0),
        ahead_(parameters.instruction_prefetch_lines),
        awaited_(parameters.warp_slots, kNone) {}

  /// For a new kernel: `bytes` of code at `base`, a multiple of 128. 0 bytes: its instructions come from
  /// nowhere, and nothing is fetched. What the buffer holds stays: it is known by its address.
  /// Pre: nothing is under way.
  void start(PhysicalAddress base, std::uint64_t bytes);
  /// The line of the instruction at `pc`, counted from the first of the kernel; all are in line 0 of a kernel
  /// without code.
  [[nodiscard]] std::uint64_t line_of(std::uint32_t pc) const { return std::uint64_t{pc} >> shift_; }
  /// What stands for the line of a warp that has not issued yet, or whose line has been invalidated.
  [[nodiscard]] std::uint64_t no_line() const { return code_bytes_ == 0 ? 0 : kNoLine; }

  /// Whether the buffer holds `line`.
  [[nodiscard]] bool has(std::uint64_t line) const { return holds(base_line_ + line); }

  /// The warp in `slot` comes to `line`. Returns whether it can issue from it; if not, the line is fetched
  /// and respond() will name the warp. A warp waits for one line at most, the last it asked for.
  bool come_to(unsigned slot, std::uint64_t line) {
    const std::uint64_t number = base_line_ + line, place = place_of_.remainder(number);
    if (buffer_[place] != number || followed_[place] != changes_) return look_up(slot, line);
    forget(slot);
    return true;
  }
  /// The warp in `slot` no longer waits for a line.
  void forget(unsigned slot) {
    if (awaited_[slot] == kNone) return;
    entries_[awaited_[slot]].waiters &= ~(std::uint64_t{1} << slot);
    awaited_[slot] = kNone;
  }
  [[nodiscard]] bool waits(unsigned slot) const { return awaited_[slot] != kNone; }

  /// Sends what can be in this cycle. Returns when it is to be called next, if not by a wake.
  Cycle advance(Cycle now);
  /// A line that has come back, and the warps that waited for it.
  struct Arrival {
    std::uint64_t line = 0;
    std::uint64_t slots = 0;  ///< a bit for each warp slot that waited
    /// False: it was requested before an invalidation (R1), and serves one instruction of each of these
    /// warps.
    bool live = false;
    bool failed =
        false;  ///< it was answered with an error: there is no such code, and the buffer keeps nothing
  };
  /// Takes a response of the instruction cache.
  Arrival respond(Request& r);

  /// Empties the buffer, and has the instruction cache invalidated, in order between the requests made before
  /// and those made later. Lines on their way serve those who wait for them, and are not kept (R1).
  void invalidate();

  /// Empties the buffer, and leaves the instruction cache and the lines on their way alone.
  void empty();

  template <class Archive>
  void archive(Archive& a) {
    // Pre: idle().
    a.fixed(buffer_);
    ++changes_;
    a(last_number_, counters_);
  }
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  /// Requests not yet answered, those not yet sent included.
  [[nodiscard]] unsigned under_way() const { return under_way_; }
  /// What the warp in `slot` awaits, for Wait::answers. Pre: waits(slot).
  [[nodiscard]] Awaited awaited(unsigned slot) const { return {this, awaited_[slot]}; }
  /// Says, as `who`, what the requests that cannot be sent wait for.
  void explain(const std::string& who, std::vector<Wait>& waits) const;
  [[nodiscard]] bool has_queued() const { return !queue_.empty(); }
  [[nodiscard]] const InstructionFetchCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;
  static constexpr std::uint16_t kInvalidation = 0xFFFF;  ///< in the queue
  static constexpr unsigned kLineShift = 7;
  /// A line being fetched.
  struct Entry {
    std::uint64_t number = 0;   ///< of its line in memory
    std::uint64_t waiters = 0;  ///< by warp slot
    unsigned asked_by = 0;      ///< the slot that asked for it first
    bool in_use = false;
    bool live = false;  ///< other warps may join it, and the buffer keeps the line
  };
  [[nodiscard]] bool holds(std::uint64_t number) const {
    return buffer_[place_of_.remainder(number)] == number;
  }
  bool look_up(unsigned slot, std::uint64_t line);
  [[nodiscard]] std::uint16_t find(std::uint64_t number) const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].live && entries_[i].number == number) return static_cast<std::uint16_t>(i);
    return kNone;
  }
  std::uint16_t request(std::uint64_t number, unsigned slot);
  /// A warp comes to `line`: has the next lines fetched, as far as the code goes, that are neither in the
  /// buffer nor on their way. Returns whether all are in the buffer.
  bool prefetch_after(std::uint64_t line, unsigned slot);

  Component& owner_;
  Out<RequestMessage>& port_;
  SmNumber sm_;
  std::uint64_t base_line_ = 0;
  std::uint64_t code_bytes_ = 0;
  unsigned shift_ = 0;
  Divider place_of_;                   ///< a line's place in the buffer is the remainder of its number
  std::vector<std::uint64_t> buffer_;  ///< numbers of the lines held; kNoLine: none
  /// By place: changes_, as it was when those after the line there were found in the buffer, too.
  std::vector<std::uint64_t> followed_;
  std::uint64_t changes_ = 1;  ///< of the code and of what the buffer holds
  unsigned ahead_;             ///< lines after that of a warp which are fetched, too
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> awaited_;  ///< by warp slot: the entry it waits for, or kNone
  std::deque<std::uint16_t> queue_;     ///< entries and invalidations to be sent, oldest first
  unsigned under_way_ = 0;
  std::uint64_t last_number_ = 0;
  InstructionFetchCounters counters_;
};

}  // namespace warpline
