#include "warpline/programs/ptx/memory_qualifiers.h"

#include <array>

namespace warpline::ptx {

MemOp take_qualifiers(Decoder& d, MemKind kind) {
  MemOp m;
  m.kind = kind;
  if (const auto s = d.take_one_of({".weak", ".relaxed", ".acquire", ".release", ".acq_rel"}))
    m.semantics = static_cast<Semantics>(*s);
  m.is_mmio = d.take(".mmio");
  if (d.take(".volatile")) {
    m.is_volatile = true;
    m.semantics = Semantics::relaxed;
    m.scope = Scope::sys;
  }
  if (const auto s = d.take_one_of({".cta", ".cluster", ".gpu", ".sys"})) {
    if (m.is_volatile) d.fail("a volatile access takes no scope");
    m.scope = static_cast<Scope>(*s + 1);
  }
  if (const auto s = d.take_one_of({".global", ".shared", ".shared::cta", ".shared::cluster", ".local",
                                    ".const", ".param", ".param::entry", ".param::func"})) {
    constexpr std::array<Space, 9> kSpaces = {Space::global,         Space::shared, Space::shared,
                                              Space::shared_cluster, Space::local,  Space::constant,
                                              Space::param,          Space::param,  Space::param};
    m.space = kSpaces.at(*s);
  }
  if (const auto c = d.take_one_of({".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"}))
    m.cache_operator = static_cast<CacheOperator>(*c + 1);
  if (d.take(".nc")) m.is_noncoherent = true, m.proxy = Proxy::noncoherent;
  if (const auto e = d.take_one_of({".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                                    ".L1::evict_last", ".L1::no_allocate"}))
    m.l1_eviction = static_cast<L1Eviction>(*e + 1);
  if (const auto e = d.take_one_of({".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"}))
    m.l2_eviction = static_cast<L2Eviction>(*e + 1);
  m.cache_hint = d.take(".L2::cache_hint");
  if (const auto p = d.take_one_of({".L2::64B", ".L2::128B", ".L2::256B"}))
    m.prefetch_bytes = static_cast<std::uint16_t>(64U << *p);
  if (const auto v = d.take_one_of({".v2", ".v4", ".v8"})) m.vector = static_cast<std::uint8_t>(2U << *v);
  return m;
}

void refuse_unmodelled(Decoder& d, const MemOp& m) {
  const auto refused = refusal(m);
  if (!refused) return;
  for (const Token& q : d.statement().qualifiers)
    if (q.text == *refused)
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is not modelled in this version");
  d.fail(quoted(*refused) + " is not modelled in this version");
}

}  // namespace warpline::ptx
