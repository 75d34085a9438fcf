// mbarrier, and the arrivals of asynchronous copies (PTX ISA, "Parallel Synchronization and Communication
// Instructions: mbarrier").
#include <algorithm>
#include <array>
#include <limits>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/sm/mbarrier.h"

namespace warpline::ptx {
namespace {

// Operands of Op beside those that memory operations have: kSecond is the state or the parity.
constexpr unsigned kCount = 1;  ///< arrivals, or bytes; kNoRef: one arrival
constexpr unsigned kHint = 2;   ///< nanoseconds; kNoRef: none
constexpr unsigned kClock = 3;  ///< MHz

/// SM cycles of a wait of `nanoseconds`, at least one.
std::uint32_t cycles_to_wait(std::uint32_t nanoseconds, std::uint32_t mhz) {
  const std::uint64_t cycles = (std::uint64_t{nanoseconds} * mhz + 999) / 1000;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(cycles, 1, std::numeric_limits<std::uint32_t>::max()));
}

/// `W`: the type of the state, or of the parity.
template <class W>
void issue_mbarrier(const Op& op, Frame& f) {
  issue_load(op, f);
  MemoryAccess& access = *f.issue->access;
  const std::uint32_t* count = op.r[kCount] == kNoRef ? nullptr : f.in<std::uint32_t>(op.r[kCount]);
  const std::uint32_t* hint = op.r[kHint] == kNoRef ? nullptr : f.in<std::uint32_t>(op.r[kHint]);
  const W* phase = op.r[Op::kSecond] == kNoRef ? nullptr : f.in<W>(op.r[Op::kSecond]);
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    MbarrierOperands operands;
    if (count != nullptr) operands.count = count[i];
    if (hint != nullptr) operands.ticks = cycles_to_wait(hint[i], *f.in<std::uint32_t>(op.r[kClock]));
    std::memcpy(access.lane_data(i), &operands, sizeof operands);
    if (phase != nullptr) access.second[i] = phase[i];
  }
}

void finish_wait(const Op& op, Frame& f) {
  LaneMask complete = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if (*f.loaded->lane_data(i) != 0) complete |= kLaneBit[i];
  f.set_predicate(op.r[0], complete);
}

std::uint32_t pending_count(std::uint64_t state) {
  return Mbarrier(state).pending();
}

Op new_op() {
  Op op;
  op.r[kCount] = op.r[kHint] = op.r[Op::kSecond] = kNoRef;
  op.run = &issue_mbarrier<std::uint64_t>;
  return op;
}

/// The order that is meant, `semantics` at the CTA where none is written.
void take_order(Decoder& d, MemOp& m, Semantics semantics) {
  if (!m.is_strong()) m.semantics = semantics;
  if (m.semantics != semantics && m.semantics != Semantics::relaxed)
    d.fail(d.opcode() + " takes no such order here");
  if (m.scope == Scope::none) m.scope = Scope::cta;
  if (m.scope > Scope::cluster)
    d.fail("an mbarrier is of a CTA or a cluster: the scope is '.cta' or '.cluster'");
}

/// The address, operand `index`, and what else follows from `m`.
void emit_mbarrier(Decoder& d, std::size_t index, Op op, MemOp m) {
  if (m.space != Space::generic && m.space != Space::shared && m.space != Space::shared_cluster)
    d.fail("an mbarrier is in shared memory");
  m.type = d.take_type({DataType::b64});
  take_address(d, d.operand(index), op, m);
  d.emit(op, InstructionKind::memory, 4, &m);
}

/// `init`, `inval`, `expect_tx`, `complete_tx`: `[address], count`.
void decode_count(Decoder& d, MemOp m) {
  const bool counts = m.mbarrier != MbarrierOperation::inval;
  const bool transactions =
      m.mbarrier == MbarrierOperation::expect_tx || m.mbarrier == MbarrierOperation::complete_tx;
  if (transactions) {
    take_order(d, m, Semantics::relaxed);
  } else if (m.is_strong()) {
    d.fail(d.opcode() + " takes no order here");
  }
  d.need_operands(counts ? 2 : 1);
  Op op = new_op();
  if (counts) op.r[kCount] = d.source(1, DataType::u32);
  m.may_be_remote = transactions;
  emit_mbarrier(d, 0, op, m);
}

/// `arrive`, `arrive_drop`: `state, [address], count`, of which the state may be `_`.
void decode_arrive(Decoder& d, MemOp m) {
  if (d.take(".noComplete")) m.mbarrier_form = MbarrierForm::no_complete;
  if (d.take(".expect_tx")) m.mbarrier_form = MbarrierForm::expect_tx;
  take_order(d, m, Semantics::release);
  d.need_operands(m.mbarrier_form == MbarrierForm::plain ? 2 : 3, 3);
  Op op = new_op();
  if (d.operand_count() == 3) op.r[kCount] = d.source(2, DataType::u32);
  // What may be another CTA's answers no state.
  m.may_be_remote = d.operand(0).kind == Operand::Kind::sink && m.mbarrier_form != MbarrierForm::no_complete;
  if (d.operand(0).kind != Operand::Kind::sink) {
    if (m.space == Space::shared_cluster)
      d.fail(d.operand(0).token.place(), "an arrival in '.shared::cluster' has no state", "write '_'");
    op.r[0] = d.destination(0, DataType::b64);
    op.data_bytes = op.register_bytes = Mbarrier::kBytes;
    op.finish = load_handler(DataType::b64, op.register_bytes);
  }
  emit_mbarrier(d, 1, op, m);
}

/// `test_wait`, `try_wait`: `complete, [address], state`, or parity, and of the latter a time.
void decode_wait(Decoder& d, MemOp m) {
  const bool parity = d.take(".parity");
  const bool suspends = m.mbarrier == MbarrierOperation::try_wait;
  if (parity) m.mbarrier_form = MbarrierForm::parity;
  take_order(d, m, Semantics::acquire);
  if (m.space == Space::shared_cluster) d.fail("a wait is for an mbarrier of the CTA's own shared memory");
  d.need_operands(3, suspends ? 4 : 3);
  Op op = new_op();
  op.r[0] = d.predicate_destination(d.operand(0));
  op.r[Op::kSecond] = d.source(2, parity ? DataType::u32 : DataType::b64);
  if (parity) op.run = &issue_mbarrier<std::uint32_t>;
  if (d.operand_count() == 4) {
    op.r[kHint] = d.source(3, DataType::u32);
    op.r[kClock] = d.special(clock_frequency(), 4);
  }
  op.finish = &finish_wait;
  op.spins = true;
  emit_mbarrier(d, 1, op, m);
}

void decode_mbarrier(Decoder& d) {
  if (d.take(".pending_count")) {
    d.take_type({DataType::b64});
    return d.compute(&run_lanes<&pending_count>, latency::kSimple, DataType::u32, {DataType::b64});
  }
  MemOp m = take_qualifiers(d, MemKind::mbarrier);
  constexpr std::array kOperations = {MbarrierOperation::arrive,    MbarrierOperation::arrive_drop,
                                      MbarrierOperation::init,      MbarrierOperation::inval,
                                      MbarrierOperation::test_wait, MbarrierOperation::try_wait,
                                      MbarrierOperation::expect_tx, MbarrierOperation::complete_tx};
  m.mbarrier = kOperations.at(d.need_one_of(
      {".arrive", ".arrive_drop", ".init", ".inval", ".test_wait", ".try_wait", ".expect_tx", ".complete_tx"},
      "'mbarrier' needs an operation such as '.arrive'"));
  switch (m.mbarrier) {
    case MbarrierOperation::arrive:
    case MbarrierOperation::arrive_drop: return decode_arrive(d, m);
    case MbarrierOperation::test_wait:
    case MbarrierOperation::try_wait: return decode_wait(d, m);
    default: return decode_count(d, m);
  }
}

}  // namespace

void decode_copies_arrive(Decoder& d) {
  MemOp m = take_qualifiers(d, MemKind::mbarrier);
  if (!d.take(".arrive")) d.fail("'cp.async.mbarrier' needs '.arrive'");
  m.mbarrier = MbarrierOperation::copies_arrive;
  if (d.take(".noinc")) m.mbarrier_form = MbarrierForm::no_increment;
  d.need_operands(1);
  emit_mbarrier(d, 0, new_op(), m);
}

std::vector<Opcode> mbarrier_opcodes() {
  return {{"mbarrier", &decode_mbarrier}};
}

}  // namespace warpline::ptx
