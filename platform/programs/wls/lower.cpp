#include "platform/programs/wls/lower.h"

#include "platform/programs/latencies.h"

namespace warpline::wls {
namespace {

class Registers {
 public:
  Registers(Instruction& i, unsigned count) : i_(i), count_(count) {}
  /// `words` registers from `reg` on, as far as the thread has them.
  void source(unsigned reg, unsigned words = 1) {
    for (unsigned w = 0; w < words && reg != kZero && reg + w < count_; ++w) add(reg + w), ++i_.source_count;
  }
  void destination(unsigned reg, unsigned words = 1) {
    for (unsigned w = 0; w < words && reg != kZero; ++w) add(reg + w), ++i_.destination_count;
  }
  /// Predicates stand behind the registers.
  void source_predicate(unsigned p) {
    if (p != kAlways) add(count_ + p), ++i_.source_count;
  }
  void destination_predicate(unsigned p) {
    if (p != kAlways) add(count_ + p), ++i_.destination_count;
  }

 private:
  void add(unsigned reg) {
    i_.registers[static_cast<std::size_t>(i_.source_count) + i_.destination_count] =
        static_cast<std::uint16_t>(reg);
  }
  Instruction& i_;
  unsigned count_;
};

InstructionKind kind_of(Code code) {
  switch (code) {
    case Code::load:
    case Code::store:
    case Code::cache_control: return InstructionKind::memory;
    case Code::invalidate_constants: return InstructionKind::invalidate_constants;
    case Code::invalidate_instructions: return InstructionKind::invalidate_instructions;
    case Code::barrier: return InstructionKind::barrier;
    case Code::fence: return InstructionKind::fence;
    case Code::call: return InstructionKind::call;
    case Code::ret: return InstructionKind::ret;
    case Code::set_stack:
    case Code::get_stack: return InstructionKind::set_stack;
    case Code::flush_stack: return InstructionKind::flush_stack;
    default: return InstructionKind::alu;
  }
}

unsigned latency_of(const Op& op) {
  switch (op.code) {
    case Code::multiply_add: return latency::kMultiply;
    case Code::multiply_wide: return latency::kWide;
    case Code::special: return op.special == Special::clock ? latency::kClock : latency::kSimple;
    default: return latency::kSimple;
  }
}

PipeClass pipe_of(Code code) {
  switch (code) {
    case Code::multiply_add:
    case Code::multiply_wide: return PipeClass::multiply;
    case Code::add:
    case Code::shift_left:
    case Code::shift_right:
    case Code::logic_and:
    case Code::logic_or:
    case Code::logic_xor:
    case Code::compare: return PipeClass::integer;
    default: return PipeClass::none;
  }
}

}  // namespace

void lower(const Op& op, unsigned registers, const std::vector<unsigned>& awaited, Instruction& i) {
  i.kind = kind_of(op.code);
  i.latency = static_cast<std::uint8_t>(latency_of(op));
  i.pipe = pipe_of(op.code);
  Registers r(i, registers);
  r.source_predicate(op.predicate);
  const bool memory = i.kind == InstructionKind::memory;
  r.source(op.a, memory && op.extended ? 2 : 1);
  if (op.b.is_register) r.source(op.b.reg);
  r.source(op.c, op.code == Code::multiply_wide ? 2 : 1);
  if (op.code == Code::exit)
    for (const unsigned reg : awaited) r.source(reg);
  const unsigned words = (i.mem.bytes_per_lane() + 3) / 4;
  switch (op.code) {
    case Code::store: r.source(op.d, words); return;
    // A load with a scoreboard of its own is awaited by `&req`, and by nothing else. It waits itself for what
    // a load without one owes to its register, as everybody does.
    case Code::load:
      if (i.write_counter == DependenceCounters::kNone) {
        r.destination(op.d, words);
      } else {
        r.source(op.d, words);
      }
      return;
    case Code::compare: r.destination_predicate(op.d); return;
    case Code::multiply_wide: r.destination(op.d, 2); return;
    default: r.destination(op.d); return;
  }
}

}  // namespace warpline::wls
