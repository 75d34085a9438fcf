#include "warpline/isa/mem_op.h"

#include <array>

namespace warpline {
namespace {

constexpr std::array<std::string_view, 15> kKinds = {
    "ld",        "st",       "atom",  "red",         "prefetch",
    "prefetchu", "cp.async", "fence", "fence.proxy", "applypriority",
    "discard",   "cctl",     "tex",   "suld",        "sust"};
constexpr std::array<std::string_view, 9> kSpaces = {
    "", ".global", ".shared", ".shared::cluster", ".local", ".const", ".param", "", ""};
constexpr std::array<std::string_view, 6> kSemantics = {"",         ".relaxed", ".acquire",
                                                        ".release", ".acq_rel", ".sc"};
constexpr std::array<std::string_view, 5> kScopes = {"", ".cta", ".cluster", ".gpu", ".sys"};
constexpr std::array<std::string_view, 8> kOperators = {"", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"};
constexpr std::array<std::string_view, 6> kL1 = {"",
                                                 ".L1::evict_normal",
                                                 ".L1::evict_unchanged",
                                                 ".L1::evict_first",
                                                 ".L1::evict_last",
                                                 ".L1::no_allocate"};
constexpr std::array<std::string_view, 5> kL2 = {"", ".L2::evict_normal", ".L2::evict_first",
                                                 ".L2::evict_last", ".L2::evict_unchanged"};
constexpr std::array<std::string_view, 11> kAtomics = {"",     ".add",  ".min", ".max", ".and", ".or",
                                                       ".xor", ".exch", ".cas", ".inc", ".dec"};
constexpr std::array<std::string_view, 8> kProxies = {"",          "",       ".texture", ".surface",
                                                      ".constant", ".alias", ".async",   ".tensormap"};

template <class Table, class E>
std::string at(const Table& table, E value) {
  return std::string(table[static_cast<std::size_t>(value)]);
}

}  // namespace

unsigned MemOp::accessed_words() const {
  if (sink_lanes == 0) return 0xFF;
  unsigned words = 0;
  const unsigned size = size_of(type);
  for (unsigned byte = 0; byte < bytes_per_lane(); ++byte)
    if (has_element(byte / size)) words |= 1U << byte / 4;
  return words;
}

MemOp with_default_order(MemOp op) {
  const bool of_system = op.is_volatile || op.is_mmio;
  if (!op.is_strong() && (of_system || op.is_atomic())) op.semantics = Semantics::relaxed;
  if (of_system) op.scope = Scope::sys;
  if (op.is_atomic() && op.scope == Scope::none) op.scope = Scope::gpu;
  return op;
}

std::optional<std::string> refusal(const MemOp& op) {
  switch (op.kind) {
    case MemKind::load:
    case MemKind::store:
    case MemKind::atomic:
    case MemKind::reduction:
    case MemKind::texture_load:
    case MemKind::surface_load:
    case MemKind::surface_store:
    case MemKind::fence: break;
    case MemKind::prefetch:
    case MemKind::prefetch_uniform:
    case MemKind::apply_priority:
    case MemKind::discard:
    case MemKind::cache_control: return std::nullopt;
    case MemKind::proxy_fence:
      if (op.proxy == Proxy::alias || op.proxy == Proxy::async) return std::nullopt;
      return ".proxy" + at(kProxies, op.proxy);
    case MemKind::async_copy: break;
  }
  if (op.space == Space::shared_cluster) return ".shared::cluster";
  if (op.is_atomic()) return std::nullopt;
  if (op.type == DataType::f16 || op.type == DataType::bf16 || op.type == DataType::f16x2 ||
      op.type == DataType::bf16x2)
    return "." + std::string(name_of(op.type));
  return std::nullopt;
}

std::string to_ptx(const MemOp& op) {
  std::string s = at(kKinds, op.kind);
  if (op.kind == MemKind::proxy_fence) return s + at(kProxies, op.proxy);
  if (op.kind == MemKind::fence) return s + at(kSemantics, op.semantics) + at(kScopes, op.scope);
  if (op.kind == MemKind::cache_control) return s + "." + name_of(op.cache_operation);
  if (op.controls_lines()) {
    s += at(kSpaces, op.space);
    if (op.kind == MemKind::discard) return s + ".L2";
    return s + (op.l2_eviction != L2Eviction::none ? at(kL2, op.l2_eviction) : op.level == 2 ? ".L2" : ".L1");
  }
  if (op.is_mmio) s += ".mmio";
  s += op.is_volatile ? ".volatile" : at(kSemantics, op.semantics) + at(kScopes, op.scope);
  s += at(kSpaces, op.space);
  s += at(kAtomics, op.atomic);
  s += at(kOperators, op.cache_operator);
  if (op.is_noncoherent) s += ".nc";
  s += at(kL1, op.l1_eviction) + at(kL2, op.l2_eviction);
  if (op.cache_hint) s += ".L2::cache_hint";
  if (op.prefetch_bytes != 0) s += ".L2::" + std::to_string(op.prefetch_bytes) + "B";
  if (op.vector > 1) s += ".v" + std::to_string(op.vector);
  if (op.type != DataType::none) s += "." + std::string(name_of(op.type));
  return s;
}

}  // namespace warpline
