// atom, red and multimem.
#include <vector>

#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"
#include "rtl_models/isa/atomic.h"

namespace warpline::ptx {
namespace {

/// The type of `m`, and what goes with it and the operation.
void take_operation(Decoder& d, MemOp& m) {
  if (m.atomic == AtomicOperation::none) d.fail(d.opcode() + " needs an operation such as '.add'");
  d.take(".noftz");
  m.type = take_memory_type(d);
  refuse_unmodelled(d, m);
  if (!is_atomic_legal(m.atomic, m.type, m.vector))
    d.fail("this operation is not modelled on " +
           (m.vector > 1 ? "vectors .v" + std::to_string(m.vector) + " of " : std::string()) + "type " +
           type_text(m.type));
}

/// Operand `index`: a register, or a vector of as many as `m` has elements.
std::vector<const Operand*> elements(Decoder& d, std::size_t index, const MemOp& m) {
  const Operand& o = d.operand(index);
  if (m.vector == 1) return {&o};
  if (o.kind != Operand::Kind::vector || o.elements.size() != m.vector)
    d.fail(o.token.place(), "expected " + std::to_string(m.vector) + " registers in braces");
  std::vector<const Operand*> all;
  for (const Operand& e : o.elements) all.push_back(&e);
  return all;
}

template <bool kReturns>
void decode_atomic(Decoder& d) {
  if (d.take(".async") && d.has(".mbarrier::complete_tx::bytes")) return decode_told_store(d);
  MemOp m = take_qualifiers(d, kReturns ? MemKind::atomic : MemKind::reduction);
  take_operation(d, m);
  const bool swaps = m.atomic == AtomicOperation::compare_and_swap;
  const std::size_t first = kReturns ? 1 : 0;
  const std::size_t policy = first + (swaps ? 3 : 2);
  d.need_operands(policy + (m.cache_hint ? 1 : 0));
  Op op;
  op.count = m.vector;
  op.data_bytes = op.register_bytes = static_cast<std::uint8_t>(size_of(m.type));
  take_address(d, d.operand(first), op, m);
  take_policy(d, policy, op, m);
  if (m.vector > 1) {
    std::vector<Ref> sources;
    for (const Operand* o : elements(d, first + 1, m)) sources.push_back(d.source(*o, m.type));
    op.r[Op::kSecond] = d.list(sources);
    op.run = &issue_vector_atomic;
  } else {
    op.r[1] = d.source(first + 1, m.type);
    op.r[Op::kSecond] = swaps ? d.source(first + 2, m.type) : kNoRef;
    op.run = &issue_atomic;
  }
  if (kReturns && d.operand(0).kind != Operand::Kind::sink) {
    std::size_t n = 0;
    for (const Operand* o : elements(d, 0, m)) op.r.at(n++) = d.destination(*o, m.type);
    op.finish = load_handler(m.type, op.register_bytes);
  }
  op.spins = kReturns;
  d.emit(op, InstructionKind::memory, 4, &m);
}

/// Of a multimem instruction, the type of elements, which this version has an arithmetic for.
DataType take_multimem_type(Decoder& d) {
  if (d.take(".acc::f16")) d.fail("'.acc::f16' is not modelled in this version");
  const DataType type = take_memory_type(d);
  if (is_float(type) && size_of(type) == 1) d.fail("type " + type_text(type) + " is not modelled here");
  return type;
}

/// Bits that a register of `type` has.
DataType register_bits_of(DataType type) {
  return size_of(type) == 2 ? DataType::b16 : size_of(type) == 4 ? DataType::b32 : DataType::b64;
}

void decode_multimem_store(Decoder& d) {
  MemOp m = take_qualifiers(d, MemKind::store);
  m.multimem = true;
  m.type = register_bits_of(take_multimem_type(d));
  d.need_operands(2);
  Op op;
  take_elements(d, d.operand(1), op, m, false);
  take_address(d, d.operand(0), op, m);
  op.run = store_handler(op.data_bytes, op.register_bytes);
  d.emit(op, InstructionKind::memory, 4, &m);
}

/// `multimem.ld_reduce` where it loads, else `multimem.red`.
void decode_multimem_reduction(Decoder& d, bool loads) {
  const bool wide = d.take(".acc::f32");
  MemOp m = take_qualifiers(d, loads ? MemKind::load : MemKind::reduction);
  if (loads) m.kind = MemKind::atomic;
  m.multimem = true;
  m.wide_sums = wide;
  m.type = take_multimem_type(d);
  d.need_operands(2);
  const Operand& value = d.operand(loads ? 0 : 1);
  Op op;
  op.count = m.vector;
  op.data_bytes = op.register_bytes = static_cast<std::uint8_t>(size_of(m.type));
  take_address(d, d.operand(loads ? 1 : 0), op, m);
  if (loads) {
    op.run = &issue_load;
    if (value.kind != Operand::Kind::sink) {
      std::size_t n = 0;
      for (const Operand* o : elements(d, 0, m)) op.r.at(n++) = d.destination(*o, m.type);
      op.finish = load_handler(m.type, op.register_bytes);
    }
  } else if (m.vector > 1) {
    std::vector<Ref> sources;
    for (const Operand* o : elements(d, 1, m)) sources.push_back(d.source(*o, m.type));
    op.r[Op::kSecond] = d.list(sources);
    op.run = &issue_vector_atomic;
  } else {
    op.r[1] = d.source(1, m.type);
    op.r[Op::kSecond] = kNoRef;
    op.run = &issue_atomic;
  }
  op.spins = loads;
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_multimem(Decoder& d) {
  if (d.take(".st")) return decode_multimem_store(d);
  const bool loads = d.take(".ld_reduce");
  d.take(".red");
  decode_multimem_reduction(d, loads);
}

}  // namespace

std::vector<Opcode> atomic_opcodes() {
  return {{"atom", &decode_atomic<true>}, {"red", &decode_atomic<false>}, {"multimem", &decode_multimem}};
}

}  // namespace warpline::ptx
