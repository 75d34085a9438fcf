#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rtl_models/base/visibility.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline {

/// What a qualifier of a PTX memory instruction says something about.
enum class Slot : std::uint8_t {
  none,       ///< of what is no qualifier
  operation,  ///< part of the instruction's name: .async, .range; each is a slot of its own
  semantics,
  mmio,
  scope,
  space,
  cache_operator,
  l1_eviction,
  l2_eviction,
  cache_hint,
  prefetch_size,
  vector,
  type,
  arithmetic,  ///< of atomics and reductions
  level,       ///< of a cache, or of membar
  restriction,
  completion,
  geometry,
  bounds,
  load_mode,  ///< how a tensor's coordinates select what is copied
  cta_group,
};
inline constexpr std::size_t kSlotCount = static_cast<std::size_t>(Slot::cta_group) + 1;

// clang-format off
// The slots whose words have values of an enumeration, by a value of it.
constexpr Slot slot_of(Semantics) { return Slot::semantics; }
constexpr Slot slot_of(Scope) { return Slot::scope; }
constexpr Slot slot_of(Space) { return Slot::space; }
constexpr Slot slot_of(CacheOperator) { return Slot::cache_operator; }
constexpr Slot slot_of(L1Eviction) { return Slot::l1_eviction; }
constexpr Slot slot_of(L2Eviction) { return Slot::l2_eviction; }
constexpr Slot slot_of(DataType) { return Slot::type; }
constexpr Slot slot_of(AtomicOperation) { return Slot::arithmetic; }
constexpr Slot slot_of(BeyondEdge) { return Slot::bounds; }
constexpr Slot slot_of(Geometry) { return Slot::geometry; }
// clang-format on

/// A qualifier: its word, without the dot, and what the word stands for.
struct Qualifier {
  static constexpr std::uint16_t kNoValue = 0xFFFF;

  constexpr Qualifier(std::string_view text, Slot of, std::uint16_t number = kNoValue)
      : word(text), slot(of), value(number) {}
  template <class E>
  constexpr Qualifier(std::string_view text, E meaning)
      : word(text), slot(slot_of(meaning)), value(static_cast<std::uint16_t>(meaning)) {}

  std::string_view word;
  Slot slot;
  /// Of the slot's enumeration; of a vector the number of elements, of a prefetch size the bytes. kNoValue: a
  /// word that no field of MemOp holds as a value.
  std::uint16_t value;
};

/// Every qualifier that PTX ISA 9.0 has for instructions that touch memory, by slot: the one list by which
/// they are read, judged, suggested and printed. Of several words for one value the first is the one printed.
// clang-format off
inline constexpr Qualifier kQualifiers[] = {
    {"nc", Slot::operation}, {"async", Slot::operation}, {"bulk", Slot::operation},
    {"tensor", Slot::operation}, {"reduce", Slot::operation}, {"prefetch", Slot::operation},
    {"commit_group", Slot::operation}, {"wait_group", Slot::operation}, {"wait_all", Slot::operation},
    {"mbarrier", Slot::operation}, {"arrive", Slot::operation}, {"noinc", Slot::operation},
    {"fractional", Slot::operation}, {"range", Slot::operation}, {"cvt", Slot::operation},
    {"to", Slot::operation}, {"proxy", Slot::operation}, {"mbarrier_init", Slot::operation},
    {"ld_reduce", Slot::operation}, {"st", Slot::operation}, {"red", Slot::operation},
    {"noftz", Slot::operation}, {"read", Slot::operation}, {"b", Slot::operation}, {"p", Slot::operation},
    {"sync", Slot::operation}, {"aligned", Slot::operation}, {"multicast::cluster", Slot::operation},
    {"ignore_oob", Slot::operation}, {"cp_mask", Slot::operation},
    {"warp", Slot::operation}, {"wait", Slot::operation}, {"base", Slot::operation},
    {"level", Slot::operation}, {"grad", Slot::operation}, {"acc::f32", Slot::operation}, {"acc::f16", Slot::operation},
    {"weak", Semantics::weak}, {"volatile", Slot::semantics}, {"relaxed", Semantics::relaxed},
    {"acquire", Semantics::acquire}, {"release", Semantics::release}, {"acq_rel", Semantics::acq_rel},
    {"sc", Semantics::sc},
    {"mmio", Slot::mmio},
    {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"sys", Scope::sys},
    {"global", Space::global}, {"shared", Space::shared}, {"shared::cta", Space::shared},
    {"shared::cluster", Space::shared_cluster}, {"local", Space::local}, {"const", Space::constant},
    {"param", Space::param}, {"param::entry", Space::param}, {"param::func", Space::param},
    {"reg", Slot::space},
    {"ca", CacheOperator::ca}, {"cg", CacheOperator::cg}, {"cs", CacheOperator::cs},
    {"lu", CacheOperator::lu}, {"cv", CacheOperator::cv}, {"wb", CacheOperator::wb},
    {"wt", CacheOperator::wt},
    {"L1::evict_normal", L1Eviction::normal}, {"L1::evict_unchanged", L1Eviction::unchanged},
    {"L1::evict_first", L1Eviction::first}, {"L1::evict_last", L1Eviction::last},
    {"L1::no_allocate", L1Eviction::no_allocate},
    {"L2::evict_normal", L2Eviction::normal}, {"L2::evict_first", L2Eviction::first},
    {"L2::evict_last", L2Eviction::last}, {"L2::evict_unchanged", L2Eviction::unchanged},
    {"L2::no_allocate", Slot::l2_eviction},
    {"L2::cache_hint", Slot::cache_hint},
    {"L2::64B", Slot::prefetch_size, 64}, {"L2::128B", Slot::prefetch_size, 128},
    {"L2::256B", Slot::prefetch_size, 256},
    {"v2", Slot::vector, 2}, {"v4", Slot::vector, 4}, {"v8", Slot::vector, 8},
    {"b8", DataType::b8}, {"b16", DataType::b16}, {"b32", DataType::b32}, {"b64", DataType::b64},
    {"b128", DataType::b128}, {"u8", DataType::u8}, {"u16", DataType::u16}, {"u32", DataType::u32},
    {"u64", DataType::u64}, {"s8", DataType::s8}, {"s16", DataType::s16}, {"s32", DataType::s32},
    {"s64", DataType::s64}, {"f16", DataType::f16}, {"f16x2", DataType::f16x2}, {"bf16", DataType::bf16},
    {"bf16x2", DataType::bf16x2}, {"f32", DataType::f32}, {"f64", DataType::f64}, {"pred", DataType::pred},
    {"tf32", Slot::type}, {"e4m3", Slot::type}, {"e5m2", Slot::type}, {"e4m3x2", Slot::type},
    {"e5m2x2", Slot::type}, {"e4m3x4", Slot::type}, {"e5m2x4", Slot::type},
    {"and", AtomicOperation::bit_and}, {"or", AtomicOperation::bit_or}, {"xor", AtomicOperation::bit_xor},
    {"cas", AtomicOperation::compare_and_swap}, {"exch", AtomicOperation::exchange},
    {"add", AtomicOperation::add}, {"inc", AtomicOperation::increment}, {"dec", AtomicOperation::decrement},
    {"min", AtomicOperation::min}, {"max", AtomicOperation::max}, {"popc", Slot::arithmetic},
    {"L1", Slot::level, 1}, {"L2", Slot::level, 2}, {"gl", Slot::level}, {"tensormap", Slot::level},
    {"sync_restrict::shared::cta", Slot::restriction}, {"sync_restrict::shared::cluster", Slot::restriction},
    {"mbarrier::complete_tx::bytes", Slot::completion}, {"bulk_group", Slot::completion},
    {"alias", Slot::completion}, {"async::generic", Slot::completion}, {"alias::generic", Slot::completion},
    {"generic::async", Slot::completion}, {"tensormap::generic", Slot::completion},
    {"mbarrier::arrive::expect_tx", Slot::completion},
    {"1d", Geometry::d1}, {"2d", Geometry::d2}, {"3d", Geometry::d3}, {"4d", Slot::geometry},
    {"5d", Slot::geometry}, {"a1d", Geometry::a1d}, {"a2d", Geometry::a2d}, {"cube", Geometry::cube},
    {"acube", Geometry::acube}, {"2dms", Slot::geometry}, {"a2dms", Slot::geometry},
    {"trap", BeyondEdge::trap}, {"clamp", BeyondEdge::clamp}, {"zero", BeyondEdge::zero},
    {"tile", Slot::load_mode}, {"tile::gather4", Slot::load_mode}, {"tile::scatter4", Slot::load_mode},
    {"im2col", Slot::load_mode}, {"im2col::w", Slot::load_mode}, {"im2col::w::128", Slot::load_mode},
    {"im2col_no_offs", Slot::load_mode}, {"cta_group::1", Slot::cta_group}, {"cta_group::2", Slot::cta_group},
};
// clang-format on

/// The qualifier `word` ("global", without its dot), or null.
[[nodiscard]] const Qualifier* find_qualifier(std::string_view word);
/// The value of `q`, if it is one of E.
template <class E>
[[nodiscard]] constexpr std::optional<E> value_of(const Qualifier& q) {
  if (q.slot != slot_of(E{}) || q.value == Qualifier::kNoValue) return std::nullopt;
  return static_cast<E>(q.value);
}
/// The value of E that `word` stands for, if it stands for one.
template <class E>
[[nodiscard]] std::optional<E> value_named(std::string_view word) {
  const Qualifier* const q = find_qualifier(word);
  return q == nullptr ? std::nullopt : value_of<E>(*q);
}
/// The words for the values of E, by value; empty where a value has none, as `Scope::none` has.
template <class E>
WARPLINE_INTERNAL inline constexpr auto kWordsOf = [] {
  std::array<std::string_view, 32> words{};
  for (const Qualifier& q : kQualifiers)
    if (value_of<E>(q) && words[q.value].empty()) words[q.value] = q.word;
  return words;
}();
template <class E>
[[nodiscard]] constexpr std::string_view word_of(E value) {
  return kWordsOf<E>[static_cast<std::size_t>(value)];
}

/// The words of `fence.proxy`. PTX has `alias`, `async` and `tensormap`; litmus tests write the others, too.
struct ProxyWord {
  std::string_view word;
  Proxy proxy;
};
inline constexpr std::array<ProxyWord, 6> kProxyWords = {{{"alias", Proxy::alias},
                                                          {"async", Proxy::async},
                                                          {"tensormap", Proxy::tensormap},
                                                          {"texture", Proxy::texture},
                                                          {"surface", Proxy::surface},
                                                          {"constant", Proxy::constant}}};
[[nodiscard]] std::optional<Proxy> proxy_named(std::string_view word);
[[nodiscard]] std::string_view word_of(Proxy proxy);

/// The scope of `membar`'s level `word`: "cta", "gl", "sys".
[[nodiscard]] std::optional<Scope> membar_scope(std::string_view word);

/// Sets in `op` what `q` says. False where no field of MemOp holds it: `op` is as it was.
[[nodiscard]] bool apply(const Qualifier& q, MemOp& op);

/// Whether `o` is an operator of loads, or of stores (PTX ISA, "Cache Operators").
[[nodiscard]] constexpr bool is_of_loads(CacheOperator o) {
  return o >= CacheOperator::ca && o <= CacheOperator::cv;
}
[[nodiscard]] constexpr bool is_of_stores(CacheOperator o) {
  return o == CacheOperator::cg || o == CacheOperator::cs || o >= CacheOperator::wb;
}

}  // namespace warpline
