#include "platform/consistency/source.h"

#include <algorithm>
#include <cstring>

namespace warpline::litmus {
namespace {

constexpr unsigned kPoll = 4;   ///< cycles between looks at what a sibling does first
constexpr unsigned kSpin = 32;  ///< cycles that a loop may take longer

Step sleep_step() {
  Step s;
  s.kind = warpline::InstructionKind::sleep;
  return s;
}
const Step kSleep = sleep_step();

/// Whether it is done only when its value is there.
bool awaits_value(const Step& s) {
  return s.kind == warpline::InstructionKind::memory && s.mem.reads();
}

std::int64_t value_of(const ThreadState& t, const Operand& o) {
  return o.is_register ? t.registers[o.number] : o.value;
}

/// Whether the instruction's predicate lets it do anything.
bool is_executed(const ThreadState& t, const litmus::Instruction& i) {
  return i.guard == litmus::Instruction::kNoRegister || (t.registers[i.guard] != 0) != i.guard_negated;
}

/// What one SM runs. Loads are not waited for until their registers are used.
class Source final : public InstructionSource {
 public:
  Source(RunState& run, unsigned gpu, unsigned slots) : run_(run), gpu_(gpu), threads_(slots, nullptr) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask /*threads*/) override {
    threads_[slot] = nullptr;
    const Program& program = *run_.program;
    const unsigned number = run_.gpus[gpu_].ctas[cta.x];
    if (number < program.ctas.size()) {
      const std::vector<unsigned>& own = program.ctas[number].threads;
      if (warp_in_cta < own.size()) threads_[slot] = &run_.threads[own[warp_in_cta]];
    } else if (warp_in_cta == 0) {
      threads_[slot] = &run_.threads.back();
    }
    if (threads_[slot] == nullptr) return;
    threads_[slot]->cta = number;
    choose_next(*threads_[slot]);
  }
  WarpState state(unsigned slot) const override {
    const ThreadState* t = threads_[slot];
    if (t != nullptr && t->at_barrier) return WarpState::at_barrier;
    return t == nullptr || t->current == nullptr ? WarpState::exited : WarpState::runnable;
  }
  const warpline::Instruction& next(unsigned slot) override { return *threads_[slot]->current; }
  void execute(unsigned slot, Issue& issue) override {
    ThreadState& t = *threads_[slot];
    const Step& s = *t.current;
    issue.active = 1;
    if (t.last != nullptr && !awaits_value(*t.last)) tell(t, t.last);
    t.last = nullptr;
    const bool first = t.code != nullptr && begins(t);
    if (&s == &kSleep) {
      issue.sleep_cycles = first ? kPoll : t.delay;
      if (!first) t.delay = 0;
      return choose_next(t);
    }
    const bool last = t.code != nullptr && !first && t.at == t.code->size();
    if (first) ++run_.ctas[t.cta].begun;
    if (last) ++t.own;
    if (!first && !last && t.code != nullptr) t.last = &s;
    if (!first && !last) ++t.at;
    if (t.code != nullptr && s.of != nullptr && !is_executed(t, *s.of)) {
      // Whatever it would do, no lane takes part.
      if (s.kind == warpline::InstructionKind::memory) issue.access->active = 0;
      choose_next(t);
      if (t.current == nullptr && t.last != nullptr && !awaits_value(s)) tell(t, t.last);
      return;
    }
    switch (s.kind) {
      case warpline::InstructionKind::memory:
        access(t, s, *issue.access);
        if (t.pace != 0 && !first && t.random.below(2) == 0)
          t.delay = static_cast<unsigned>(t.random.below(t.pace));
        break;
      case warpline::InstructionKind::barrier: barrier(t, s, issue.barrier); break;
      case warpline::InstructionKind::alu:
        if (s.of != nullptr) compute(t, *s.of);
        break;
      default: break;  // the SM does what a fence asks for
    }
    choose_next(t);
    if (t.current == nullptr && t.last != nullptr && !awaits_value(s)) tell(t, t.last);
  }
  void complete(unsigned slot, const warpline::Instruction& instruction, const MemoryAccess& access,
                bool /*with_data*/) override {
    const auto& s = static_cast<const Step&>(instruction);
    if (!s.mem.reads()) return;
    if (access.active == 0) return tell(*threads_[slot], &s);
    std::uint64_t bits = 0;
    std::memcpy(&bits, access.lane_data(0), sizeof bits);
    if (!s.reads_end && threads_[slot]->code != nullptr) tell(*threads_[slot], &s);
    if (s.reads_end) {
      run_.shared_end[s.memory] = static_cast<std::int64_t>(bits);
    } else if (s.of->destination != litmus::Instruction::kNoRegister) {
      const unsigned size = s.of->bytes();
      const auto element = [&](unsigned e) { return extended(s.of->op.type, bits >> (8 * size * e)); };
      threads_[slot]->registers[s.of->destination] = element(0);
      for (unsigned e = 0; e < s.of->more_destinations.size(); ++e)
        threads_[slot]->registers[s.of->more_destinations[e]] = element(e + 1);
    }
  }
  void release_barrier(unsigned slot, std::uint32_t id) override {
    ThreadState* t = threads_[slot];
    if (t != nullptr && t->at_barrier && t->barrier == id) t->at_barrier = false;
  }
  LaneMask live_lanes(unsigned slot) const override { return state(slot) == WarpState::exited ? 0 : 1; }
  void kill(unsigned slot) override {
    if (threads_[slot] == nullptr) return;
    threads_[slot]->current = nullptr;
    threads_[slot]->at_barrier = false;
  }
  std::string where(const warpline::Instruction& instruction) const override {
    const auto& s = static_cast<const Step&>(instruction);
    return s.of == nullptr ? "a wait" : s.of->text;
  }

 private:
  /// Whether the CTA's shared memory has still to get its initial values.
  [[nodiscard]] bool begins(const ThreadState& t) const {
    return run_.ctas[t.cta].begun < run_.program->ctas[t.cta].begin.size();
  }

  void choose_next(ThreadState& t) {
    if (t.code != nullptr && begins(t)) {
      const CtaProgram& program = run_.program->ctas[t.cta];
      const bool first = &t == &run_.threads[program.threads.front()];
      t.current = first ? &program.begin[run_.ctas[t.cta].begun] : &kSleep;
      return;
    }
    if (t.delay != 0) {
      t.current = &kSleep;
      return;
    }
    if (t.code == nullptr) {
      const std::vector<Step>& noise = run_.program->noise;
      t.current = t.noise-- == 0 ? nullptr : &noise[t.random.below(noise.size())];
      return;
    }
    const CtaProgram& program = run_.program->ctas[t.cta];
    CtaState& cta = run_.ctas[t.cta];
    if (t.at < t.code->size()) {
      t.current = &(*t.code)[t.at];
      return;
    }
    t.current = nullptr;
    if (program.end.empty()) return;
    // The last of the CTA reads what all have left in shared memory.
    if (t.own == 0 && ++cta.finished != program.threads.size()) return;
    if (t.own < program.end.size()) t.current = &program.end[t.own];
  }

  /// Tells that `done`, of the program's code, is done.
  void tell(const ThreadState& t, const Step* done) const {
    if (run_.observer == nullptr || done == nullptr || t.code == nullptr) return;
    const auto thread = static_cast<unsigned>(&t - run_.threads.data());
    run_.observer->done(thread, static_cast<unsigned>(done - t.code->data()));
  }

  void access(const ThreadState& t, const Step& s, MemoryAccess& out) const {
    out.active = 1;
    const litmus::Instruction& of = *s.of;
    const std::uint64_t within =
        of.index == litmus::Instruction::kNoRegister ? of.offset : of.offset_at(t.registers[of.index]);
    const std::uint64_t offset = s.memory < run_.offset.size() ? run_.offset[s.memory] + within : 0;
    switch (s.address) {
      case Step::Address::none: return;
      case Step::Address::global: out.address[0] = s.base + offset; break;
      case Step::Address::copy:
        out.address[0] = s.base + offset;
        out.second[0] = CopyTarget{s.copy_to, s.bytes}.packed();
        break;
      case Step::Address::constant: out.address[0] = offset; break;
      case Step::Address::shared: out.address[0] = s.base + within; break;
      case Step::Address::element:
      case Step::Address::byte:
        out.address[0] = s.base;
        out.second[0] =
            ImageCoordinates{
                static_cast<std::int32_t>(s.address == Step::Address::byte ? offset : offset / s.bytes), 0}
                .packed();
        break;
    }
    if (!s.mem.writes()) return;
    std::int64_t data = value_of(t, s.of->a);
    if (s.of->subtracts) data = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(data));
    if (s.mem.atomic == AtomicOperation::compare_and_swap)
      out.second[0] = static_cast<std::uint64_t>(value_of(t, s.of->b));
    std::memcpy(out.lane_data(0), &data, sizeof data);
    for (unsigned e = 0; e < of.more_values.size(); ++e) {
      const std::int64_t more = value_of(t, of.more_values[e]);
      std::memcpy(out.lane_data(0) + std::size_t{e + 1} * of.bytes(), &more, of.bytes());
    }
  }

  /// A backward jump takes a number of cycles that is drawn each time, so that spinning threads do not stay
  /// in step.
  static void jump(ThreadState& t, unsigned target) {
    if (target < t.at) t.delay = static_cast<unsigned>(t.random.below(kSpin));
    t.at = target;
  }

  static void compute(ThreadState& t, const litmus::Instruction& i) {
    const auto a = static_cast<std::uint64_t>(value_of(t, i.a)),
               b = static_cast<std::uint64_t>(value_of(t, i.b));
    switch (i.kind) {
      case litmus::InstructionKind::move: t.registers[i.destination] = static_cast<std::int64_t>(a); break;
      case litmus::InstructionKind::add: t.registers[i.destination] = static_cast<std::int64_t>(a + b); break;
      case litmus::InstructionKind::compare:
        t.registers[i.destination] =
            holds(i.comparison, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)) ? 1 : 0;
        break;
      case litmus::InstructionKind::subtract:
        t.registers[i.destination] = static_cast<std::int64_t>(a - b);
        break;
      case litmus::InstructionKind::branch:
        if (holds(i.comparison, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)))
          jump(t, i.target);
        break;
      case litmus::InstructionKind::jump: jump(t, i.target); break;
      default: break;
    }
  }

  /// A barrier with a number of threads is completed by each group of so many arrivals. Threads of a last,
  /// smaller group pass at once: no more arrivals will come, and a group has been complete before.
  void barrier(ThreadState& t, const Step& s, BarrierOp& out) {
    out.id = static_cast<std::uint32_t>(value_of(t, s.of->a)) % 16;
    out.waits = s.of->waits;
    out.threads = s.of->counts ? static_cast<std::uint32_t>(value_of(t, s.of->b)) : s.threads;
    const unsigned number = ++run_.ctas[t.cta].arrivals[out.id];
    if (s.of->counts && is_left_over(number, s.uses, out.threads)) out.threads = 1;
    t.at_barrier = out.waits;
    t.barrier = out.id;
  }

  RunState& run_;
  unsigned gpu_;
  std::vector<ThreadState*> threads_;  ///< by slot; null: no thread of the run
};

}  // namespace

std::unique_ptr<InstructionSource> make_source(RunState& run, unsigned gpu, unsigned slots) {
  return std::make_unique<Source>(run, gpu, slots);
}

}  // namespace warpline::litmus
