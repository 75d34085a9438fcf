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

namespace {

/// A transaction on a bus has no part in caches.
void check_mmio(Decoder& d, const MemOp& m) {
  if (m.semantics != Semantics::relaxed || m.scope != Scope::sys)
    d.fail("'.mmio' goes with '.relaxed.sys' only");
  if (m.space != Space::global && m.space != Space::generic)
    d.fail("'.mmio' is of generic or global addresses");
  if (m.vector > 1) d.fail("'.mmio' takes no vector");
  if (m.cache_operator != CacheOperator::none || m.l1_eviction != L1Eviction::none ||
      m.l2_eviction != L2Eviction::none || m.cache_hint || m.prefetch_bytes != 0)
    d.fail("'.mmio' takes no cache operator, eviction priority, cache hint or prefetch size");
}

}  // namespace

void check_legality(Decoder& d, const MemOp& m) {
  const bool load = m.kind == MemKind::load;
  const bool plain = load || m.kind == MemKind::store;
  if (plain && m.semantics == Semantics::weak && m.scope != Scope::none)
    d.fail("a weak access takes no scope", "write '.relaxed' before it");
  if (plain && m.is_strong() && m.scope == Scope::none) d.fail("this access needs a scope such as '.gpu'");
  if (m.cache_operator != CacheOperator::none && (m.is_strong() || !plain))
    d.fail("a cache operator goes with a weak load or store only");
  const bool load_operator = m.cache_operator >= CacheOperator::ca && m.cache_operator <= CacheOperator::cv;
  const bool store_operator = m.cache_operator >= CacheOperator::wb ||
                              m.cache_operator == CacheOperator::cg || m.cache_operator == CacheOperator::cs;
  if (load && m.cache_operator != CacheOperator::none && !load_operator)
    d.fail("'.wb' and '.wt' are cache operators of stores");
  if (m.kind == MemKind::store && m.cache_operator != CacheOperator::none && !store_operator)
    d.fail("'.ca', '.lu' and '.cv' are cache operators of loads");
  if (load && (m.semantics == Semantics::release || m.semantics == Semantics::acq_rel))
    d.fail("a load does not release");
  if (m.kind == MemKind::store && (m.semantics == Semantics::acquire || m.semantics == Semantics::acq_rel))
    d.fail("a store does not acquire");
  if (m.is_noncoherent && (!load || m.space != Space::global || m.is_strong()))
    d.fail("'.nc' goes with a weak 'ld.global' only");
  if (m.kind == MemKind::store && (m.space == Space::constant)) d.fail("constant memory cannot be written");
  if (m.bytes_per_lane() > MemoryAccess::kMaxLaneBytes || (m.type == DataType::b128 && m.vector > 1))
    d.fail("this vector is too wide");
  if (m.bytes_per_lane() == 32 && m.space != Space::global && m.space != Space::generic)
    d.fail("vectors of 32 bytes are of global memory");
  if (m.is_mmio) check_mmio(d, m);
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
