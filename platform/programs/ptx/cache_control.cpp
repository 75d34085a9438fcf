// Instructions that act on whole cache lines, and fences between proxies.
#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

/// The address is the first operand of each of them.
void emit_control(Decoder& d, MemOp m) {
  Op op;
  take_address(d, d.operand(0), op, m);
  op.run = &issue_load;
  d.emit(op, InstructionKind::memory, 4, &m);
}

void decode_prefetch(Decoder& d) {
  if (d.take(".tensormap")) return decode_prefetch_tensor_map(d);
  MemOp m = take_qualifiers(d, MemKind::prefetch);
  if (m.l2_eviction != L2Eviction::none) m.level = 2;
  if (m.level == 0)
    d.fail("'prefetch' needs a cache: '.L1', '.L2', '.L2::evict_last' or '.L2::evict_normal'");
  d.need_operands(1);
  emit_control(d, m);
}

void decode_prefetch_uniform(Decoder& d) {
  const MemOp m = take_qualifiers(d, MemKind::prefetch_uniform);
  if (m.level != 1) d.fail("'prefetchu' needs '.L1'");
  d.need_operands(1);
  emit_control(d, m);
}

/// applypriority and discard act on L2, and name their 128 bytes of global memory.
void emit_line_control(Decoder& d, MemOp m) {
  m.level = 2;
  d.need_operands(2);
  const Operand& size = d.operand(1);
  if (size.kind != Operand::Kind::integer || size.bits != kLineBytes)
    d.fail(size.token.place(), "the size is the literal 128");
  emit_control(d, m);
}

void decode_apply_priority(Decoder& d) {
  const MemOp m = take_qualifiers(d, MemKind::apply_priority);
  if (m.l2_eviction != L2Eviction::normal) d.fail("'applypriority' needs '.L2::evict_normal'");
  emit_line_control(d, m);
}

void decode_discard(Decoder& d) {
  const MemOp m = take_qualifiers(d, MemKind::discard);
  if (m.level != 2) d.fail("'discard' needs '.L2'");
  emit_line_control(d, m);
}

}  // namespace

bool decode_proxy_fence(Decoder& d) {
  if (!d.take(".proxy")) return false;
  MemOp m;
  m.kind = MemKind::proxy_fence;
  const bool fence = d.statement().opcode.text == "fence";
  if (d.take(".tensormap::generic")) {
    m.proxy = Proxy::tensormap;
    m.semantics = d.take_value<Semantics>().value_or(Semantics::weak);
    m.scope = d.take_value<Scope>().value_or(Scope::gpu);
    // The map that an acquire names is among those that it drops: all that the SM holds.
    d.need_operands(m.acquires() ? 2 : 0);
    d.emit(Op{}, InstructionKind::fence, 4, &m);
    return true;
  }
  if (d.take(".async::generic")) {
    // Both ways between the proxies, in shared memory, and the fence of the scope on the outer side.
    d.take_one_of({".sync_restrict::shared::cta", ".sync_restrict::shared::cluster"});
    MemOp order;
    order.kind = MemKind::fence;
    order.semantics = d.take_value<Semantics>().value_or(Semantics::acq_rel);
    order.scope = d.take_value<Scope>().value_or(Scope::cluster);
    m.proxy = Proxy::async;
    m.space = Space::shared;
    m.scope = Scope::cta;
    d.need_operands(0);
    if (order.acquires()) d.emit(Op{}, InstructionKind::fence, 4, &order);
    d.emit(Op{}, InstructionKind::fence, 4, &m);
    if (!order.acquires()) d.emit(Op{}, InstructionKind::fence, 4, &order);
    return true;
  }
  d.take_where([&m](std::string_view word) {
    const auto proxy = proxy_named(word);
    m.proxy = proxy.value_or(m.proxy);
    return proxy.has_value();
  });
  // A fence of shared memory alone is told apart; others order all.
  const auto space = d.take_value<Space>();
  if (space == Space::shared || space == Space::shared_cluster) m.space = Space::shared;
  if (space == Space::global) m.space = Space::global;
  if (m.proxy == Proxy::alias) {
    m.semantics = Semantics::acq_rel;
    m.scope = Scope::gpu;  // where L1 cannot tell that two virtual addresses are one, L2 can
  } else if (fence && m.proxy == Proxy::async) {
    m.scope = Scope::cta;
  } else {
    d.fail(fence ? "'fence.proxy' needs '.alias' or '.async'" : "'membar.proxy' needs '.alias'");
  }
  d.need_operands(0);
  d.emit(Op{}, InstructionKind::fence, 4, &m);
  return true;
}

std::vector<Opcode> cache_control_opcodes() {
  return {{"prefetch", &decode_prefetch},
          {"prefetchu", &decode_prefetch_uniform},
          {"applypriority", &decode_apply_priority},
          {"discard", &decode_discard}};
}

}  // namespace warpline::ptx
