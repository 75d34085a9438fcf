#include "platform/explain/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpline {
namespace {

const char* strength_text(const MemOp& op) {
  if (op.is_mmio) return "mmio";
  if (op.is_volatile) return "volatile";
  switch (op.semantics) {
    case Semantics::weak: return op.is_atomic() ? "relaxed" : "weak";
    case Semantics::relaxed: return "relaxed";
    case Semantics::acquire: return "acquiring";
    case Semantics::release: return "releasing";
    case Semantics::acq_rel: return "acquiring and releasing";
    case Semantics::sc: return "sequentially consistent";
  }
  return "";
}

const char* kind_text(MemKind kind) {
  switch (kind) {
    case MemKind::load: return "load";
    case MemKind::store: return "store";
    case MemKind::atomic: return "atomic";
    case MemKind::reduction: return "reduction";
    case MemKind::prefetch:
    case MemKind::prefetch_uniform: return "prefetch";
    case MemKind::async_copy: return "asynchronous copy to shared memory";
    case MemKind::fence: return "fence";
    case MemKind::proxy_fence: return "proxy fence";
    case MemKind::apply_priority: return "change of priority";
    case MemKind::discard: return "discard";
    case MemKind::cache_control: return "cache control";
    case MemKind::texture_load: return "texture load";
    case MemKind::surface_load: return "surface load";
    case MemKind::surface_store: return "surface store";
  }
  return "";
}

const char* scope_text(Scope scope) {
  switch (scope) {
    case Scope::none: return "";
    case Scope::cta: return " among the threads of the CTA";
    case Scope::cluster: return " among the threads of the cluster";
    case Scope::gpu: return " among the threads of this GPU";
    case Scope::sys: return " among all agents of the system";
  }
  return "";
}

const char* space_text(Space space) {
  switch (space) {
    case Space::generic: return "a generic address";
    case Space::global: return "global memory";
    case Space::shared: return "shared memory";
    case Space::shared_cluster: return "the cluster's shared memory";
    case Space::local: return "local memory";
    case Space::constant: return "constant memory";
    case Space::param: return "the parameters";
    case Space::texture: return "a texture";
    case Space::surface: return "a surface";
  }
  return "";
}

}  // namespace

std::string summary_of(const MemOp& op) {
  const bool access = op.reads() || op.writes();
  std::string text =
      access ? fmt::format("{} {}", strength_text(op), kind_text(op.kind)) : kind_text(op.kind);
  if (op.kind == MemKind::fence) text = fmt::format("{} fence", strength_text(op));
  text += scope_text(op.is_atomic() ? std::max(op.scope, Scope::gpu) : op.scope);
  if (op.kind == MemKind::fence || op.kind == MemKind::proxy_fence) return text;
  if (op.type != DataType::none)
    text += fmt::format(" of {}{} ({} byte{}) for each lane",
                        op.vector > 1 ? fmt::format("{} x ", op.vector) : std::string(), name_of(op.type),
                        op.bytes_per_lane(), op.bytes_per_lane() == 1 ? "" : "s");
  return text + ", " + space_text(op.space);
}

}  // namespace warpline
