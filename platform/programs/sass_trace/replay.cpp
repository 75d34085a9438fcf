#include "platform/programs/sass_trace/replay.h"

#include <algorithm>
#include <array>
#include <vector>

#include "platform/programs/nanoseconds.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// A traced barrier shows one number: its index, or, where the index comes first and a thread count
/// second, that count. Barriers told apart by their count alone share this index.
constexpr std::uint32_t kCountedBarrier = 1;

class ReplaySource final : public InstructionSource {
 public:
  ReplaySource(std::shared_ptr<BlockSupply> supply, const SmSite& site)
      : supply_(std::move(supply)), slots_(site.slots), mhz_(site.mhz) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask threads) override {
    Slot& s = slots_[slot];
    s = Slot{};
    s.block = supply_->take(cta.number_in(supply_->header().grid));
    s.cursor = PackedCursor(s.block->warps[warp_in_cta]);
    s.live = threads;
    s.ended = false;
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
      if (s.cursor.has_addresses()) s.cursor.take_addresses(*issue.access);
    }
    if (mask != 0) {
      switch (op.action) {
        case Action::exit: s.live &= ~mask; break;
        case Action::barrier_sync: execute_barrier(s, issue, true); break;
        case Action::barrier_arrive: execute_barrier(s, issue, false); break;
        case Action::sleep:
          issue.sleep_cycles = programs::cycles_to_sleep(
              static_cast<std::uint64_t>(std::max(s.cursor.operand(), std::int64_t{0})), mhz_);
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
    std::shared_ptr<const TraceBlock> block;
    PackedCursor cursor;
    const StaticOp* op = nullptr;
    WarpState state = WarpState::exited;
    bool ended = true;  ///< its list of instructions is used up
    LaneMask live = 0;
    LaneMask waiting = 0;  ///< lanes at any barrier
    std::array<LaneMask, kBarriers> at_barrier{};
  };

  void advance(Slot& s) {
    if (s.cursor.advance()) {
      s.op = &supply_->program().op(s.cursor.op());
    } else {
      s.ended = true;
    }
    settle(s);
  }

  void settle(Slot& s) {
    if (s.ended && s.waiting == 0) {
      s.state = WarpState::exited;
      s.live = 0;
      s.block.reset();
    } else if (s.ended || (s.cursor.mask() & s.waiting) != 0) {
      s.state = WarpState::at_barrier;
    } else {
      s.state = WarpState::runnable;
    }
  }

  void execute_barrier(Slot& s, Issue& issue, bool waits) {
    const std::int64_t number = s.cursor.operand();
    BarrierOp& b = issue.barrier;
    b = BarrierOp{};
    b.waits = waits;
    if (number < std::int64_t{kBarriers}) {
      b.id = static_cast<std::uint32_t>(number);
    } else {
      b.id = kCountedBarrier;
      b.threads = static_cast<std::uint32_t>(number);
    }
    if (!waits) return;
    s.waiting |= issue.active;
    s.at_barrier[b.id] |= issue.active;
  }

  std::shared_ptr<BlockSupply> supply_;
  std::vector<Slot> slots_;
  unsigned mhz_;
};

}  // namespace

std::unique_ptr<InstructionSource> make_replay(std::shared_ptr<BlockSupply> supply, const SmSite& site) {
  return std::make_unique<ReplaySource>(std::move(supply), site);
}

}  // namespace warpline::sass
