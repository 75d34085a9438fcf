// cp.async and the waits for it (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy").
#include <algorithm>

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "rtl_models/sm/copy_groups.h"

namespace warpline::ptx {
namespace {

/// What Op::mode of a copy says of the bytes it reads.
enum class Source : std::uint8_t {
  whole,
  sized,                    ///< as many as operand kAmount says
  ignored_where_true,       ///< none in the lanes that the predicate kAmount names
  ignored_where_not_false,  ///< none in the others
};

constexpr unsigned kTarget = 0;  ///< operand: address in shared memory, of Op::register_bytes
constexpr unsigned kAmount = 1;  ///< operand: size of the source, or the predicate

void issue_copy(const Op& op, Frame& f) {
  issue_load(op, f);
  MemoryAccess& access = *f.issue->access;
  const std::uint32_t size = op.data_bytes;
  const auto source = static_cast<Source>(op.mode);
  const std::uint32_t* sizes = source == Source::sized ? f.in<std::uint32_t>(op.r[kAmount]) : nullptr;
  LaneMask ignored = 0;
  if (source == Source::ignored_where_true) ignored = f.predicate(op.r[kAmount]);
  if (source == Source::ignored_where_not_false) ignored = ~f.predicate(op.r[kAmount]);
  const std::byte* base = f.at(op.r[kTarget]);
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    CopyTarget to;
    std::memcpy(&to.offset, base + std::size_t{i} * op.register_bytes, sizeof to.offset);  // its low half
    to.offset += op.target;
    to.bytes = sizes != nullptr ? std::min(sizes[i], size) : (ignored & kLaneBit[i]) != 0 ? 0 : size;
    access.second[i] = to.packed();
  }
}

/// The immediate size of the copy: 4, 8 or 16 bytes, and 16 where it passes L1 by.
void take_size(Decoder& d, Op& op, MemOp& m) {
  const Operand& size = d.operand(2);
  const bool known = size.kind == Operand::Kind::integer;
  const bool small = known && (size.bits == 4 || size.bits == 8) && !m.bypass_l1;
  if (!small && !(known && size.bits == 16))
    d.fail(size.token.place(), m.bypass_l1 ? "'cp.async.cg' copies 16 bytes"
                                           : "'cp.async.ca' copies 4, 8 or 16 bytes, given as a number");
  op.data_bytes = static_cast<std::uint8_t>(size.bits);
  m.type = DataType::b32;
  m.vector = static_cast<std::uint8_t>(size.bits / 4);
}

/// The operand that says how much of the source is read.
void take_amount(Decoder& d, Op& op, MemOp& m) {
  const Operand& o = d.operand(3);
  m.fills = true;
  const Register* r = d.find_register(o);
  if (r == nullptr || r->type != DataType::pred) {
    op.mode = static_cast<std::uint8_t>(Source::sized);
    op.r[kAmount] = d.source(o, DataType::u32);
    return;
  }
  op.mode =
      static_cast<std::uint8_t>(o.negated ? Source::ignored_where_not_false : Source::ignored_where_true);
  op.r[kAmount] = d.predicate_source(o);
}

void decode_copy(Decoder& d) {
  MemOp m = take_qualifiers(d, MemKind::async_copy);
  if (m.cache_operator == CacheOperator::none) d.fail("'cp.async' needs '.ca' or '.cg'");
  if (m.space != Space::global) d.fail("'cp.async' copies from '.global' to '.shared'");
  m.bypass_l1 = m.cache_operator == CacheOperator::cg;
  refuse_unmodelled(d, m);
  d.need_operands(m.cache_hint ? 4 : 3, m.cache_hint ? 5 : 4);
  const std::size_t policy = d.operand_count() - 1;
  Op op;
  take_size(d, op, m);
  MemOp target = m;
  target.space = Space::shared;
  take_address(d, d.operand(0), op, target);
  op.r[kTarget] = op.r[Op::kAddress];
  op.target = static_cast<std::uint32_t>(op.immediate);
  op.register_bytes = op.wide_address ? 8 : 4;
  take_address(d, d.operand(1), op, m);
  take_policy(d, policy, op, m);
  if (d.operand_count() == (m.cache_hint ? 5 : 4)) take_amount(d, op, m);
  op.run = &issue_copy;
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_cp(Decoder& d) {
  if (d.has(".bulk")) return decode_bulk_copy(d);
  if (!d.take(".async")) d.fail("'cp' needs '.async'");
  if (d.take(".mbarrier")) return decode_copies_arrive(d);
  if (d.take(".commit_group")) {
    d.need_operands(0);
    d.emit(Op{}, InstructionKind::commit_copies, latency::kControl);
    return;
  }
  const bool all = d.take(".wait_all");
  if (!all && !d.take(".wait_group")) return decode_copy(d);
  std::uint64_t groups = CopyGroups::kWaitForAll;
  d.need_operands(all ? 0 : 1);
  if (!all) {
    const Operand& n = d.operand(0);
    if (n.kind != Operand::Kind::integer)
      d.fail(n.token.place(), "expected the number of groups as a number");
    groups = std::min<std::uint64_t>(n.bits, CopyGroups::kWaitForAll - 1);
  }
  d.emit(Op{}, InstructionKind::wait_copies, latency::kControl);
  d.emitted().groups_left = static_cast<std::uint32_t>(groups);
}

}  // namespace

std::vector<Opcode> async_copy_opcodes() {
  return {{"cp", &decode_cp}};
}

}  // namespace warpline::ptx
