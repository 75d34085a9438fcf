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
  for (const Token& q : d.statement().qualifiers)
    if (q.text == ".tensormap") d.fail(q.place(), "qualifier '.tensormap' is not modelled in this version");
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
  for (const Token& q : d.statement().qualifiers)
    if (q.text.substr(0, 11) == ".tensormap:")
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is not modelled in this version");
  if (!d.take(".proxy")) return false;
  MemOp m;
  m.kind = MemKind::proxy_fence;
  const bool fence = d.statement().opcode.text == "fence";
  d.take_where([&m](std::string_view word) {
    const auto proxy = proxy_named(word);
    m.proxy = proxy.value_or(m.proxy);
    return proxy.has_value();
  });
  static_cast<void>(d.take_value<Space>());  // a fence of one space orders all
  if (m.proxy == Proxy::alias) {
    m.semantics = Semantics::acq_rel;
    m.scope = Scope::gpu;  // where L1 cannot tell that two virtual addresses are one, L2 can
  } else if (fence && m.proxy == Proxy::async) {
    // Asynchronous copies reach memory by the path of other accesses, so the thread's own must be over.
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
