#include "tests/equivalence/control_kernel.h"

#include "rtl_models/sm/instruction_source.h"

namespace warpline::test {
namespace {

/// Of code, through which a script jumps.
constexpr std::uint32_t kCodeBytes = 40 * kLineBytes;
constexpr std::uint32_t kInstructionBytes = 16;
/// Tokens on a warp's stack, at most.
constexpr std::uint32_t kDeepest = 60;

Instruction memory(MemKind kind, Space space, DataType type) {
  Instruction i;
  i.kind = InstructionKind::memory;
  i.mem.kind = kind;
  i.mem.space = space;
  i.mem.type = type;
  return i;
}

/// Lanes at base + lane * stride; data that tells who wrote it.
std::function<void(MemoryAccess&)> lanes(std::uint64_t base, std::uint64_t stride, LaneMask active,
                                         std::uint32_t value) {
  return [=](MemoryAccess& a) {
    a.active = active;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      a.address[lane] = base + lane * stride;
      const std::uint32_t word = value + lane;
      std::memcpy(a.lane_data(lane), &word, sizeof word);
    }
  };
}

ControlStep access(Random& random, std::uint64_t base) {
  const LaneMask active = random.below(3) == 0 ? static_cast<LaneMask>(random.next()) | 1U : ~LaneMask{0};
  const auto value = static_cast<std::uint32_t>(random.next());
  ControlStep s;
  switch (random.below(5)) {
    case 0:
      s.instruction = memory(MemKind::load, Space::constant, DataType::b32);
      s.fill = lanes(random.below(64) * 64, 0, active, 0);
      return s;
    case 1:
    case 2: {
      const bool load = random.below(2) == 0;
      s.instruction = memory(load ? MemKind::load : MemKind::store, Space::local, DataType::b32);
      s.fill = lanes(4 * random.below(kControlLocalBytes / 4), 0, active, value);
      return s;
    }
    default: {
      const bool load = random.below(2) == 0;
      s.instruction = memory(load ? MemKind::load : MemKind::store, Space::global, DataType::b32);
      if (load && random.below(4) == 0) s.instruction.mem.cache_operator = CacheOperator::cg;
      const std::uint64_t stride = random.below(2) == 0 ? 4 : 128;
      s.fill = lanes(base + 128 * random.below((kControlBytes - 32 * stride) / 128), stride, active, value);
      return s;
    }
  }
}

ControlStep control(Random& random, std::uint64_t base) {
  constexpr CctlOperation kLines[] = {CctlOperation::prefetch_l1, CctlOperation::prefetch_l2,
                                      CctlOperation::write_back, CctlOperation::invalidate,
                                      CctlOperation::reset};
  constexpr CctlTarget kAll[] = {CctlTarget::global_lines, CctlTarget::local_lines,
                                 CctlTarget::indexed_constants};
  ControlStep s;
  if (random.below(5) == 0) {
    s.instruction.kind = random.below(2) == 0 ? InstructionKind::invalidate_constants
                                              : InstructionKind::invalidate_instructions;
    return s;
  }
  const bool local = random.below(2) == 0;
  s.instruction = memory(MemKind::cache_control, local ? Space::local : Space::generic, DataType::none);
  s.instruction.mem.cache_operation = kLines[random.below(5)];
  s.fill = local ? lanes(4 * random.below(kControlLocalBytes / 4), 0, ~LaneMask{0}, 0)
                 : lanes(base + 128 * random.below(32), 128 * random.below(2), ~LaneMask{0}, 0);
  if (random.below(3) == 0) {
    s.instruction.mem.cache_operation = CctlOperation::invalidate_all;
    s.instruction.mem.cache_target = kAll[random.below(3)];
  }
  return s;
}

class ControlSource final : public InstructionSource {
 public:
  ControlSource(const std::vector<ControlScript>& scripts, std::uint64_t& seen)
      : scripts_(scripts), seen_(seen), warps_(scripts.size()) {}
  void begin_warp(unsigned slot, Dim3, unsigned, LaneMask threads) override { warps_[slot] = {0, threads}; }
  [[nodiscard]] WarpState state(unsigned slot) const override {
    return warps_[slot].lanes == 0 ? WarpState::exited : WarpState::runnable;
  }
  [[nodiscard]] const Instruction& next(unsigned slot) override {
    return scripts_[slot][warps_[slot].at].instruction;
  }
  void execute(unsigned slot, Issue& issue) override {
    Warp& w = warps_[slot];
    const ControlStep& s = scripts_[slot][w.at];
    issue.active = w.lanes;
    if (s.fill && issue.access != nullptr) s.fill(*issue.access);
    switch (s.instruction.kind) {
      case InstructionKind::call:
        issue.token = splitmix64(w.at);
        ++issue.stack_depth;
        break;
      case InstructionKind::ret:
        note(issue.token);
        if (issue.stack_depth != 0) --issue.stack_depth;
        break;
      case InstructionKind::set_stack: issue.stack_depth = s.depth; break;
      default: break;
    }
    if (++w.at == scripts_[slot].size()) w.lanes = 0;
  }
  void complete(unsigned, const Instruction& i, const MemoryAccess& access, bool) override {
    if (!i.mem.reads()) return;
    for (LaneMask m = access.active; m != 0; m &= m - 1) {
      std::uint32_t word = 0;
      std::memcpy(&word, access.lane_data(static_cast<unsigned>(__builtin_ctz(m))), sizeof word);
      note(word);
    }
  }
  void release_barrier(unsigned, std::uint32_t) override {}
  [[nodiscard]] LaneMask live_lanes(unsigned slot) const override { return warps_[slot].lanes; }
  void kill(unsigned slot) override { warps_[slot].lanes = 0; }
  [[nodiscard]] std::string where(const Instruction&) const override { return "a random step"; }

 private:
  struct Warp {
    std::size_t at = 0;
    LaneMask lanes = 0;
  };
  void note(std::uint64_t value) { seen_ = splitmix64(seen_ ^ value); }
  const std::vector<ControlScript>& scripts_;
  std::uint64_t& seen_;
  std::vector<Warp> warps_;
};

}  // namespace

ControlScript random_control(Random& random, unsigned steps, std::uint64_t base) {
  ControlScript out;
  std::uint32_t depth = 0, pc = 0;
  while (out.size() < steps) {
    ControlStep s;
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        if (depth == kDeepest) continue;
        s.instruction.kind = InstructionKind::call;
        ++depth;
        break;
      case 3:
      case 4:
        s.instruction.kind = InstructionKind::ret;
        depth -= depth != 0;
        break;
      case 5:
        if (random.below(3) != 0) {
          s.instruction.kind = InstructionKind::flush_stack;
        } else {
          s.instruction.kind = InstructionKind::set_stack;
          s.depth = depth = static_cast<std::uint32_t>(random.below(kDeepest));
        }
        break;
      case 6:
        s.instruction.kind = InstructionKind::fence;
        s.instruction.mem.kind = MemKind::fence;
        s.instruction.mem.semantics = random.below(2) == 0 ? Semantics::acquire : Semantics::acq_rel;
        s.instruction.mem.scope = random.below(2) == 0 ? Scope::gpu : Scope::sys;
        break;
      case 7:
      case 8: s = access(random, base); break;
      default: s = control(random, base);
    }
    s.instruction.pc = pc;
    pc += kInstructionBytes;
    if (random.below(10) == 0 || pc >= kCodeBytes)
      pc = static_cast<std::uint32_t>(random.below(kCodeBytes / kInstructionBytes)) * kInstructionBytes;
    out.push_back(std::move(s));
  }
  return out;
}

ControlKernel::ControlKernel(unsigned sms, std::vector<ControlScript> scripts)
    : scripts_(std::move(scripts)), seen_(sms, 0) {
  info_.name = "control";
  info_.grid = {sms, 1, 1};
  info_.block = {static_cast<std::uint32_t>(scripts_.size()) * kWarpLanes, 1, 1};
  info_.registers = 1;
  info_.local_bytes = kControlLocalBytes;
  info_.calls = true;
  info_.code_bytes = kCodeBytes;
  info_.code_name = info_.name;
}

std::unique_ptr<InstructionSource> ControlKernel::make_source(const SmSite& site) {
  return std::make_unique<ControlSource>(scripts_, seen_[site.number]);
}

}  // namespace warpline::test
