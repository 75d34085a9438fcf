#include "platform/programs/sass_trace/replay.h"

#include <algorithm>
#include <array>
#include <vector>

#include "platform/programs/nanoseconds.h"
#include "platform/programs/sass_trace/address_translation.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// A traced barrier shows one number: its index, or, where the index comes first and a thread count
/// second, that count. Barriers told apart by their count alone share this index.
constexpr std::uint32_t kCountedBarrier = 1;

constexpr std::int64_t kMostAtBarrier = 1024;  ///< threads

constexpr const char* kCorrupt = "holds nothing that a trace could be packed to; delete it";

class ReplaySource final : public InstructionSource {
 public:
  ReplaySource(std::shared_ptr<BlockSupply> supply, const SmSite& site)
      : supply_(std::move(supply)),
        program_(supply_->program()),
        translation_(supply_->header()),
        slots_(site.slots),
        mhz_(site.mhz) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    Slot& s = slots_[slot];
    s.live = s.lanes = threads;
    s.waiting = 0;
    s.at_barrier = {};
    s.groups = s.copies = 0;
    s.ended = false;
    s.packed = nullptr;
    const WarpPlace place = supply_->take(cta.number_in(supply_->header().grid), warp_in_cta);
    s.packed = &supply_->packed();
    s.cursor.begin(*s.packed, place);
    advance(s);
  }
  WarpState state(unsigned slot) const override { return slots_[slot].state; }
  const Instruction& next(unsigned slot) override { return slots_[slot].op->instruction; }
  void execute(unsigned slot, Issue& issue) override {
    Slot& s = slots_[slot];
    const StaticOp& op = *s.op;
    const LaneMask mask = s.cursor.mask();
    issue.active = mask;
    if (op.instruction.kind == InstructionKind::memory) {
      issue.access->active = mask & op.address_lanes;
      if (s.cursor.has_addresses()) {
        s.cursor.take_addresses(*issue.access);
        if (issue.access->form == AddressForm::strided &&
            (issue.access->stride < -kMaxStride || issue.access->stride > kMaxStride))
          s.packed->fail(kCorrupt);
        translation_.apply(op.instruction.mem.space, mask, *issue.access);
      }
    }
    if (mask != 0) {
      switch (op.action) {
        case Action::exit: s.live &= ~mask; break;
        case Action::barrier_sync: execute_barrier(s, issue, true); break;
        case Action::barrier_arrive: execute_barrier(s, issue, false); break;
        case Action::sleep:
          issue.sleep_cycles = programs::cycles_to_sleep(
              static_cast<std::uint64_t>(std::max(s.cursor.immediate(), std::int64_t{0})), mhz_);
          break;
        case Action::none:
        case Action::async_copy:
        case Action::async_commit:
        case Action::async_wait: break;
      }
    }
    advance(s);
  }
  void complete(unsigned, const Instruction&, const MemoryAccess&, bool) override {}
  void release_barrier(unsigned slot, std::uint32_t id) override {
    Slot& s = slots_[slot];
    s.waiting &= ~s.at_barrier[id];
    s.at_barrier[id] = 0;
    settle(s);
  }
  LaneMask live_lanes(unsigned slot) const override { return slots_[slot].live; }
  void kill(unsigned slot) override {
    Slot& s = slots_[slot];
    s.ended = true;
    s.waiting = 0;
    settle(s);
  }
  std::string where(const Instruction& instruction) const override {
    return supply_->name() + ", pc " + hexadecimal(instruction.pc, 4);
  }

 private:
  static constexpr unsigned kBarriers = 16;
  struct Slot {
    PackedBytes* packed = nullptr;
    PackedCursor cursor;
    const StaticOp* op = nullptr;
    WarpState state = WarpState::exited;
    bool ended = true;    ///< its list of instructions is used up
    unsigned groups = 0;  ///< of asynchronous copies that it has closed so far
    unsigned copies = 0;  ///< in the group that is open
    LaneMask lanes = 0;   ///< that the warp has
    LaneMask live = 0;
    LaneMask waiting = 0;  ///< lanes at any barrier
    std::array<LaneMask, kBarriers> at_barrier{};
  };

  void advance(Slot& s) {
    if (!s.cursor.advance(*s.packed)) {
      if (s.cursor.corrupt()) s.packed->fail(kCorrupt);
      s.ended = true;
      return settle(s);
    }
    if (s.cursor.entry() >= program_.size()) s.packed->fail(kCorrupt);
    Program::Entry& entry = program_.at(s.cursor.entry());
    const LaneMask mask = s.cursor.mask();
    const bool usual = entry.usual && (mask & ~s.lanes) == 0 && entry.addressed == s.cursor.has_addresses();
    s.op = usual ? entry.op : examine(s, entry);
    if (((mask & s.waiting) | s.ended) != 0) return settle(s);
    s.state = WarpState::runnable;
  }

  /// One that cannot be taken as it is: checks and counts it, and says which static instruction it is.
  [[gnu::noinline]] const StaticOp* examine(Slot& s, Program::Entry& entry) {
    check(s, entry);
    program_.count(entry);
    return choose(s, entry);
  }

  /// What the text of a trace cannot say, a packed one may that nobody packed.
  static void check(const Slot& s, const Program::Entry& entry) {
    const LaneMask mask = s.cursor.mask();
    const bool barrier = entry.action == Action::barrier_sync || entry.action == Action::barrier_arrive;
    const bool numbered = s.cursor.immediate() >= 0 && s.cursor.immediate() <= kMostAtBarrier;
    if ((mask & ~s.lanes) != 0 || (mask != 0 && entry.addressed != s.cursor.has_addresses()) ||
        (barrier && !numbered))
      s.packed->fail(kCorrupt);
  }

  /// The static instruction that stands for this execution.
  const StaticOp* choose(Slot& s, Program::Entry& entry) {
    if (s.cursor.mask() == 0) return entry.idle != nullptr ? entry.idle : entry.op;
    if (entry.as_global != nullptr) {
      const bool all_global = s.cursor.has_addresses() && s.cursor.all_addresses([&](std::uint64_t address) {
        return translation_.is_global(address);
      });
      return all_global ? entry.as_global : entry.op;
    }
    switch (entry.action) {
      case Action::async_copy: return program_.copy_of(entry, s.groups, s.copies++);
      case Action::async_commit:
        ++s.groups;
        s.copies = 0;
        return entry.op;
      case Action::async_wait: {
        // Until at most `immediate` groups are under way. Without groups the instruction waits for hardware
        // scoreboards, which replay by registers has covered.
        const std::int64_t most = s.cursor.immediate();
        if (most < 0 || most >= std::int64_t{s.groups}) return entry.op;
        return program_.wait_for(entry, s.groups - 1 - static_cast<unsigned>(most));
      }
      default: return entry.op;
    }
  }

  [[gnu::noinline]] static void settle(Slot& s) {
    if (s.ended && s.waiting == 0) {
      s.state = WarpState::exited;
      s.live = 0;
    } else if (s.ended || (s.cursor.mask() & s.waiting) != 0) {
      s.state = WarpState::at_barrier;
    } else {
      s.state = WarpState::runnable;
    }
  }

  void execute_barrier(Slot& s, Issue& issue, bool waits) {
    const auto number = static_cast<std::uint32_t>(s.cursor.immediate());
    BarrierOp& b = issue.barrier;
    b = BarrierOp{};
    b.waits = waits;
    if (number < kBarriers) {
      b.id = number;
    } else {
      b.id = kCountedBarrier;
      b.threads = number;
    }
    if (!waits) return;
    s.waiting |= issue.active;
    s.at_barrier[b.id] |= issue.active;
  }

  std::shared_ptr<BlockSupply> supply_;
  Program& program_;
  AddressTranslation translation_;
  std::vector<Slot> slots_;
  unsigned mhz_;
};

}  // namespace

std::unique_ptr<InstructionSource> make_replay(std::shared_ptr<BlockSupply> supply, const SmSite& site) {
  return std::make_unique<ReplaySource>(std::move(supply), site);
}

}  // namespace warpline::sass
