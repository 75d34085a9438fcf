#include "platform/explain/lowering.h"

#include <string_view>

#include "rtl_models/isa/sass_words.h"

namespace warpline {
namespace {

/// The opcode of an access: loads of parameters read the constant bank in which they lie, and shared memory
/// has no reduction of its own.
std::string opcode(const MemOp& op) {
  MemKind kind = op.kind;
  Space space = op.space;
  if (space == Space::shared_cluster) space = Space::shared;
  if (space == Space::constant || space == Space::param) return "LDC";
  if (space == Space::shared && kind == MemKind::reduction) kind = MemKind::atomic;
  for (const auto& [word, access] : kSassAccesses)
    if (access.kind == kind && access.space == space) return std::string(word);
  return {};
}

bool reaches_global(Space space) {
  return space == Space::global || space == Space::generic;
}

std::string width_of(const MemOp& op) {
  const unsigned bytes = op.bytes_per_lane();
  if (bytes == 1) return is_signed(op.type) ? ".S8" : ".U8";
  if (bytes == 2) return is_signed(op.type) ? ".S16" : ".U16";
  return bytes <= 4 ? "" : "." + std::to_string(bytes * 8);
}

std::string eviction_of(const MemOp& op) {
  if (op.l1_eviction != L1Eviction::none && op.l1_eviction != L1Eviction::normal)
    return "." + std::string(sass_word_of(kSassEvictions, op.l1_eviction));
  if (op.cache_operator == CacheOperator::cs) return ".EF";
  return op.cache_operator == CacheOperator::lu ? ".LU" : "";
}

/// How strong the access is written: the scope where PTX names one, or what a cache operator is lowered to.
std::string strength_of(const MemOp& op) {
  if (op.is_mmio) return ".MMIO";
  if (op.is_noncoherent) return ".CONSTANT";
  Scope scope = op.is_strong() ? op.scope : Scope::none;
  if (op.is_atomic()) scope = op.scope == Scope::none ? Scope::gpu : op.scope;
  if (scope == Scope::none) {
    switch (op.cache_operator) {
      case CacheOperator::ca:
      case CacheOperator::wb: scope = Scope::cta; break;
      case CacheOperator::cg: scope = Scope::gpu; break;
      case CacheOperator::cv:
      case CacheOperator::wt: scope = Scope::sys; break;
      default: return "";
    }
  }
  return scope == Scope::cta ? ".STRONG.SM" : scope == Scope::sys ? ".STRONG.SYS" : ".STRONG.GPU";
}

std::string prefetch_of(const MemOp& op) {
  return op.prefetch_bytes == 0 ? "" : ".LTC" + std::to_string(op.prefetch_bytes) + "B";
}

void note_operator(const MemOp& op, Lowering& out) {
  const bool local = op.space == Space::local || op.space == Space::shared;
  switch (op.cache_operator) {
    case CacheOperator::none: return;
    case CacheOperator::lu:
    case CacheOperator::cs:
      if (op.space == Space::local && op.kind == MemKind::load)
        out.notes.emplace_back(
            "the operator is lost on a local address: a plain LDL. The document says last use, and so do we");
      else if (op.cache_operator == CacheOperator::lu && reaches_global(op.space))
        out.notes.emplace_back("LU is a class of its own there; the document says .cs, and so do we");
      return;
    default: break;
  }
  if (local) {
    out.notes.emplace_back("the operator is lost on this state space");
  } else if (op.is_noncoherent) {
    if (op.cache_operator != CacheOperator::ca)
      out.notes.emplace_back("the operator is lost: the load is a plain one of the non-coherent cache");
  } else if (reaches_global(op.space)) {
    out.notes.emplace_back(
        "the assembler makes the access strong; by the document the operator is a hint, orders "
        "nothing, and the access stays weak");
  }
}

Lowering access(const MemOp& op) {
  Lowering out;
  const bool global = reaches_global(op.space);
  std::string text = opcode(op);
  if (global) text += ".E";
  text += width_of(op);
  if (global) text += eviction_of(op) + prefetch_of(op) + strength_of(op);
  out.opcodes.push_back(text);
  note_operator(op, out);
  if (op.cache_hint) out.notes.emplace_back("the policy goes along in a register of its own");
  if (op.l2_eviction != L2Eviction::none)
    out.notes.emplace_back("the L2 priority is a field of the 256-bit forms; the public names lack it");
  if (op.space == Space::generic) out.notes.emplace_back("the space is found at run time, lane by lane");
  return out;
}

/// What stands before a release, or is a fence that releases.
void barrier(Scope scope, std::string_view kind, std::vector<std::string>& opcodes) {
  const char* const level = scope == Scope::cta ? ".CTA" : scope == Scope::sys ? ".SYS" : ".GPU";
  opcodes.push_back("MEMBAR" + std::string(kind) + level);
  if (scope > Scope::cta) opcodes.emplace_back("ERRBAR");
}

Lowering fence(const MemOp& op) {
  Lowering out;
  const bool wide = op.scope > Scope::cta;
  if (op.semantics != Semantics::acquire)
    barrier(op.scope, op.semantics == Semantics::sc ? ".SC" : ".ALL", out.opcodes);
  if (wide && op.acquires()) out.opcodes.emplace_back("CCTL.IVALL");
  if (op.semantics == Semantics::acquire || op.semantics == Semantics::release)
    out.notes.emplace_back(
        "for targets below sm_90 the assembler takes this fence and emits no valid opcode for it");
  return out;
}

Lowering cache_control(std::string_view what, const char* note = nullptr) {
  Lowering out;
  out.opcodes.push_back("CCTL." + std::string(what));
  if (note != nullptr) out.notes.emplace_back(note);
  return out;
}

Lowering prefetch(const MemOp& op) {
  if (op.space == Space::local) return {{}, {"nothing is left of it for sm_90 and later"}};
  if (op.l2_eviction == L2Eviction::last)
    return cache_control("<9>", "CCTL's operation 9: no public name is known for it");
  return cache_control(name_of(op.level == 1 ? CctlOperation::prefetch_l1 : CctlOperation::prefetch_l2));
}

Lowering proxy_fence(const MemOp& op) {
  switch (op.proxy) {
    case Proxy::alias: return {{"MEMBAR.SC.GPU", "MEMBAR.SC.SYS", "CCTL.IVALL"}, {}};
    case Proxy::async: return {{"MEMBAR.ALL.GPU", "FENCE.VIEW.ASYNC"}, {}};
    case Proxy::tensormap: return {{}, {"opcodes without public names"}};
    default: return {{}, {"the assembler rejects this proxy fence; only litmus tests write it"}};
  }
}

Lowering mbarrier(const MemOp& op) {
  if (op.mbarrier == MbarrierOperation::copies_arrive) return {{"ARRIVES"}, {}};
  return {{"SYNCS"}, {"the name on sm_90; targets before it use atomics of shared memory"}};
}

Lowering bulk_copy(const MemOp& op) {
  const bool tensor = op.dimensions != 0;
  switch (op.bulk) {
    case BulkDirection::to_shared: return {{tensor ? "UTMALDG" : "UBLKCP"}, {}};
    case BulkDirection::to_global: return {{tensor ? "UTMASTG" : "UBLKCP"}, {}};
    case BulkDirection::reduce: return {{tensor ? "UTMAREDG" : "UBLKRED"}, {}};
    case BulkDirection::prefetch: return {{tensor ? "UTMAPF" : "UBLKPF"}, {}};
    case BulkDirection::to_cluster: return {{op.atomic == AtomicOperation::none ? "UBLKCP" : "UBLKRED"}, {}};
    case BulkDirection::cancel: return {{"UGETNEXTWORKID"}, {}};
  }
  return {};
}

}  // namespace

Lowering lowering_of(const MemOp& op) {
  Lowering out;
  if (op.multimem) return {{}, {"opcodes without public names"}};
  switch (op.kind) {
    case MemKind::load:
    case MemKind::store: out = access(op); break;
    case MemKind::async_copy:
      out.opcodes.push_back("LDGSTS.E" + std::string(op.bypass_l1 ? ".BYPASS" : "") + prefetch_of(op) +
                            width_of(op));
      return out;
    case MemKind::atomic:
    case MemKind::reduction: {
      std::string text = opcode(op);
      if (reaches_global(op.space)) text += ".E";
      text += "." + std::string(sass_word_of(kSassAtomics, op.atomic));
      if (reaches_global(op.space)) text += strength_of(op);
      out.opcodes.push_back(text);
      break;
    }
    case MemKind::prefetch: return prefetch(op);
    case MemKind::prefetch_uniform:
      return cache_control(name_of(CctlOperation::prefetch_l1),
                           "no uniform cache is left: the line goes to L1");
    case MemKind::apply_priority:
    case MemKind::discard: return cache_control(sass_word_of(kSassLineControls, op.kind));
    case MemKind::fence: return fence(op);
    case MemKind::proxy_fence: return proxy_fence(op);
    case MemKind::texture_load: return {{"TEX"}, {}};
    case MemKind::surface_load: return {{"SULD"}, {}};
    case MemKind::surface_store: return {{"SUST"}, {}};
    case MemKind::image_query: return {{"TXQ"}, {}};
    case MemKind::cache_control: return {{"CCTL"}, {}};
    case MemKind::mbarrier: return mbarrier(op);
    case MemKind::bulk_copy: return bulk_copy(op);
    case MemKind::async_store: return {{op.atomic == AtomicOperation::none ? "STAS" : "REDAS"}, {}};
    case MemKind::fill: return {{}, {"opcodes without public names"}};
  }
  if (op.releases()) {
    std::vector<std::string> before;
    barrier(op.scope, ".ALL", before);
    out.opcodes.insert(out.opcodes.begin(), before.begin(), before.end());
  }
  if (op.acquires() && op.scope > Scope::cta) out.opcodes.emplace_back("CCTL.IVALL");
  return out;
}

}  // namespace warpline
