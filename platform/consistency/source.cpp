#include "platform/consistency/source.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/sm/mbarrier.h"
#include "rtl_models/sm/sm.h"

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
  Source(RunState& run, unsigned gpu, const Sm& sm, unsigned slots)
      : run_(run), gpu_(gpu), sm_(sm), threads_(slots, nullptr) {}

  void begin_warp(unsigned slot, Dim3 cta, unsigned warp_in_cta, LaneMask /*threads*/) override {
    threads_[slot] = nullptr;
    const Program& program = *run_.program;
    const unsigned number = run_.gpus[gpu_].ctas[cta.x];
    if (number < program.ctas.size()) {
      const std::vector<unsigned>& own = program.ctas[number].threads;
      if (warp_in_cta < own.size()) threads_[slot] = &run_.threads[own[warp_in_cta]];
    } else if (number == program.ctas.size() && warp_in_cta == 0) {
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
    const Part part = part_of(t);
    if (&s == &kSleep) {
      const bool polls = part == Part::begin || (part == Part::leave && t.delay == 0);
      issue.sleep_cycles = polls ? kPoll : t.delay;
      if (part != Part::begin) t.delay = 0;
      if (part == Part::leave) t.rests = sm_.is_quiet(slot);
      return choose_next(t);
    }
    switch (part) {
      case Part::noise: ++t.at; break;
      case Part::begin: ++run_.ctas[t.cta].begun; break;
      case Part::enter: ++t.entered; break;
      case Part::code: go_on(t, s); break;
      case Part::leave: ++t.left; break;
      case Part::end: ++t.own; break;
    }
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
        if (t.pace != 0 && part != Part::begin && t.random.below(2) == 0)
          t.delay = static_cast<unsigned>(t.random.below(t.pace));
        break;
      case warpline::InstructionKind::barrier: barrier(t, s, issue.barrier); break;
      case warpline::InstructionKind::cluster_wait:
        t.at_barrier = (issue.cluster_passes & issue.active) == 0;
        t.barrier = kClusterBarrier;
        break;
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
    // An arrival is answered the object's state, of which the phase is looked at.
    if (s.mem.kind == MemKind::mbarrier && !s.mem.waits_for_phase()) bits = Mbarrier(bits).phase();
    if (!s.reads_end && threads_[slot]->code != nullptr) tell(*threads_[slot], &s);
    if (s.reads_end) {
      run_.shared_end[s.memory] = static_cast<std::int64_t>(bits);
    } else if (s.of->destination != litmus::Instruction::kNoRegister) {
      if (s.mem.kind == MemKind::mbarrier || s.mem.type == DataType::b128) {
        threads_[slot]->registers[s.of->destination] = static_cast<std::int64_t>(bits);
        if (s.mem.kind == MemKind::mbarrier) return;
        std::memcpy(&bits, access.lane_data(0) + sizeof bits, sizeof bits);
        threads_[slot]->registers[s.of->more_destinations.front()] = static_cast<std::int64_t>(bits);
        return;
      }
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
  /// What a thread is at.
  enum class Part : std::uint8_t { noise, begin, enter, code, leave, end };
  [[nodiscard]] Part part_of(const ThreadState& t) const {
    if (t.code == nullptr) return Part::noise;
    if (begins(t)) return Part::begin;
    const Program& program = *run_.program;
    if (t.entered < program.enter.size()) return Part::enter;
    if (t.at < t.code->size() || t.behind != nullptr) return Part::code;
    return !program.leave.empty() && t.left < leave_of(t).size() ? Part::leave : Part::end;
  }
  [[nodiscard]] const std::vector<Step>& leave_of(const ThreadState& t) const {
    return run_.program->leave[number_of(t)];
  }
  [[nodiscard]] std::size_t number_of(const ThreadState& t) const {
    return static_cast<std::size_t>(&t - run_.threads.data());
  }
  /// `s` of the thread's code, or what is executed with it, is executed.
  static void go_on(ThreadState& t, const Step& s) {
    if (t.behind == &s) {
      t.behind = nullptr;
    } else if ((*t.code)[t.at].before == &s) {
      t.ready = true;
    } else {
      t.last = &s;
      t.ready = false;
      t.behind = s.after;
      ++t.at;
    }
  }
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
    const Part part = part_of(t);
    if (part == Part::enter) {
      t.current = &run_.program->enter[t.entered];
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
    if (part == Part::code) {
      const Step* const next = t.behind != nullptr ? nullptr : &(*t.code)[t.at];
      t.current = next == nullptr ? t.behind : next->before != nullptr && !t.ready ? next->before : next;
      return;
    }
    if (part == Part::leave) {
      // Nobody's shared memory goes while something is on its way there.
      const bool waits = run_.program->rests[number_of(t)] && !t.rests;
      t.current = waits ? &kSleep : &leave_of(t)[t.left];
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

  /// What an operation on an mbarrier object takes. A wait that suspends gives up after a while that is
  /// drawn.
  static void mbarrier(ThreadState& t, const Step& s, MemoryAccess& out) {
    constexpr unsigned kMostTicks = 512;
    MbarrierOperands operands;
    operands.count = s.count;
    if (s.mem.mbarrier == MbarrierOperation::try_wait)
      operands.ticks = 1 + static_cast<std::uint32_t>(t.random.below(kMostTicks));
    std::memcpy(out.lane_data(0), &operands, sizeof operands);
    if (!s.mem.waits_for_phase()) return;
    const auto phase = static_cast<unsigned>(value_of(t, s.of->a));
    out.second[0] =
        s.mem.mbarrier_form == MbarrierForm::parity ? phase & 1U : Mbarrier::state_of_phase(phase);
  }

  void access(ThreadState& t, const Step& s, MemoryAccess& out) const {
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
      case Step::Address::bulk:
      case Step::Address::between: {
        BulkOperands operands;
        operands.shared = s.copy_to;
        operands.mbarrier = s.told;
        operands.bytes = Test::kBulkBytes;
        out.address[0] = s.address == Step::Address::between ? s.base : s.base + offset;
        out.second[0] = out.policy[0] = 0;
        std::memcpy(out.lane_data(0), &operands, sizeof operands);
        return;
      }
      case Step::Address::constant: out.address[0] = offset; break;
      case Step::Address::store: out.second[0] = s.told; [[fallthrough]];
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
    if (s.mem.kind == MemKind::mbarrier) return mbarrier(t, s, out);
    if (!s.mem.writes()) return;
    if (s.mem.type == DataType::b128) return wide(t, of, out);
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

  /// 16 bytes, and of a compare-and-swap 16 more.
  static void wide(const ThreadState& t, const litmus::Instruction& i, MemoryAccess& out) {
    const std::int64_t values[] = {value_of(t, i.a), value_of(t, i.more_values.front()), value_of(t, i.b),
                                   value_of(t, i.more_values.back())};
    std::memcpy(out.lane_data(0), values, sizeof values);
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
  const Sm& sm_;                       ///< that runs it
  std::vector<ThreadState*> threads_;  ///< by slot; null: no thread of the run
};

}  // namespace

std::unique_ptr<InstructionSource> make_source(RunState& run, unsigned gpu, const Sm& sm, unsigned slots) {
  return std::make_unique<Source>(run, gpu, sm, slots);
}

}  // namespace warpline::litmus
