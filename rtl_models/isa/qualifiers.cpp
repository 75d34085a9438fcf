#include "rtl_models/isa/qualifiers.h"

#include <unordered_map>

namespace warpline {

const Qualifier* find_qualifier(std::string_view word) {
  static const std::unordered_map<std::string_view, const Qualifier*> kByWord = [] {
    std::unordered_map<std::string_view, const Qualifier*> all;
    for (const Qualifier& q : kQualifiers) all.emplace(q.word, &q);
    return all;
  }();
  const auto found = kByWord.find(word);
  return found == kByWord.end() ? nullptr : found->second;
}

std::optional<Proxy> proxy_named(std::string_view word) {
  for (const ProxyWord& p : kProxyWords)
    if (p.word == word) return p.proxy;
  return std::nullopt;
}

std::string_view word_of(Proxy proxy) {
  for (const ProxyWord& p : kProxyWords)
    if (p.proxy == proxy) return p.word;
  return {};
}

std::optional<Scope> membar_scope(std::string_view word) {
  if (word == "gl") return Scope::gpu;
  const auto scope = value_named<Scope>(word);
  return scope == Scope::cta || scope == Scope::sys ? scope : std::nullopt;
}

bool apply(const Qualifier& q, MemOp& op) {
  if (q.value == Qualifier::kNoValue) {
    if (q.word == "volatile") return op.is_volatile = true;
    if (q.word == "mmio") return op.is_mmio = true;
    if (q.word == "L2::cache_hint") return op.cache_hint = true;
    if (q.word != "nc") return false;
    op.proxy = Proxy::noncoherent;
    return op.is_noncoherent = true;
  }
  switch (q.slot) {
    case Slot::semantics: op.semantics = static_cast<Semantics>(q.value); break;
    case Slot::scope: op.scope = static_cast<Scope>(q.value); break;
    case Slot::space: op.space = static_cast<Space>(q.value); break;
    case Slot::cache_operator: op.cache_operator = static_cast<CacheOperator>(q.value); break;
    case Slot::l1_eviction: op.l1_eviction = static_cast<L1Eviction>(q.value); break;
    case Slot::l2_eviction: op.l2_eviction = static_cast<L2Eviction>(q.value); break;
    case Slot::prefetch_size: op.prefetch_bytes = q.value; break;
    case Slot::vector: op.vector = static_cast<std::uint8_t>(q.value); break;
    case Slot::type: op.type = static_cast<DataType>(q.value); break;
    case Slot::arithmetic: op.atomic = static_cast<AtomicOperation>(q.value); break;
    case Slot::level: op.level = static_cast<std::uint8_t>(q.value); break;
    case Slot::bounds: op.beyond_edge = static_cast<BeyondEdge>(q.value); break;
    default: return false;  // the dimensions of an image are none of MemOp's fields
  }
  return true;
}

}  // namespace warpline
