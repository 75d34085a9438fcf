#pragma once

#include <string_view>

#include "rtl_models/isa/mem_op.h"

namespace warpline {

// The names and modifiers of SASS's memory instructions (CUDA Binary Utilities, "Instruction Set Reference",
// Volta to Blackwell), as traces have them, `.wls` programs write them and `explain` prints them. Of several
// words for one value the first is the one printed.

template <class E>
struct SassWord {
  std::string_view word;
  E value;
};

// clang-format off
inline constexpr SassWord<Scope> kSassScopes[] = {
    {"CTA", Scope::cta}, {"SM", Scope::cta}, {"CLUSTER", Scope::cluster}, {"GPU", Scope::gpu},
    {"GL", Scope::gpu}, {"VC", Scope::gpu}, {"SYS", Scope::sys}};
inline constexpr SassWord<CacheOperator> kSassCacheOperators[] = {
    {"CA", CacheOperator::ca}, {"CG", CacheOperator::cg}, {"CS", CacheOperator::cs}, {"LU", CacheOperator::lu},
    {"CV", CacheOperator::cv}, {"WB", CacheOperator::wb}, {"WT", CacheOperator::wt}};
inline constexpr SassWord<L1Eviction> kSassEvictions[] = {
    {"EF", L1Eviction::first}, {"EL", L1Eviction::last}, {"EU", L1Eviction::unchanged},
    {"NA", L1Eviction::no_allocate}, {"EN", L1Eviction::normal}};
/// POPC.INC adds the number of lanes that take part.
inline constexpr SassWord<AtomicOperation> kSassAtomics[] = {
    {"ADD", AtomicOperation::add}, {"MIN", AtomicOperation::min}, {"MAX", AtomicOperation::max},
    {"INC", AtomicOperation::increment}, {"DEC", AtomicOperation::decrement}, {"AND", AtomicOperation::bit_and},
    {"OR", AtomicOperation::bit_or}, {"XOR", AtomicOperation::bit_xor}, {"EXCH", AtomicOperation::exchange},
    {"CAS", AtomicOperation::compare_and_swap}, {"CAST", AtomicOperation::compare_and_swap},
    {"SAFEADD", AtomicOperation::add}, {"POPC", AtomicOperation::add}};
// clang-format on

/// Prefetches into L2, by the bytes that they fetch.
inline constexpr SassWord<unsigned> kSassPrefetches[] = {{"LTC64B", 64}, {"LTC128B", 128}, {"LTC256B", 256}};

/// Cache control that acts on L2 alone: CCTL's operations without a name in its own list (sass_cctl.h).
inline constexpr SassWord<MemKind> kSassLineControls[] = {{"DML2", MemKind::apply_priority},
                                                          {"RML2", MemKind::discard}};

/// What a lane accesses.
struct SassWidth {
  DataType type;
  std::uint8_t vector;
};
inline constexpr SassWord<SassWidth> kSassWidths[] = {
    {"U8", {DataType::u8, 1}},         {"S8", {DataType::s8, 1}},         {"U16", {DataType::u16, 1}},
    {"S16", {DataType::s16, 1}},       {"8", {DataType::b8, 1}},          {"16", {DataType::b16, 1}},
    {"32", {DataType::b32, 1}},        {"64", {DataType::b64, 1}},        {"128", {DataType::b32, 4}},
    {"256", {DataType::b32, 8}},       {"U32", {DataType::u32, 1}},       {"S32", {DataType::s32, 1}},
    {"U64", {DataType::u64, 1}},       {"S64", {DataType::s64, 1}},       {"F32", {DataType::f32, 1}},
    {"F64", {DataType::f64, 1}},       {"F16", {DataType::f16, 1}},       {"F16x2", {DataType::f16x2, 1}},
    {"F16X2", {DataType::f16x2, 1}},   {"F16_V2", {DataType::f16x2, 1}},  {"BF16", {DataType::bf16, 1}},
    {"BF16x2", {DataType::bf16x2, 1}}, {"BF16X2", {DataType::bf16x2, 1}}, {"BF16_V2", {DataType::bf16x2, 1}},
    {"U128", {DataType::b32, 4}},      {"B128", {DataType::b32, 4}},
};

/// What an opcode does, and in which memory.
struct SassAccess {
  MemKind kind;
  Space space;
};
inline constexpr SassWord<SassAccess> kSassAccesses[] = {
    {"LDG", {MemKind::load, Space::global}},       {"STG", {MemKind::store, Space::global}},
    {"LD", {MemKind::load, Space::generic}},       {"ST", {MemKind::store, Space::generic}},
    {"LDL", {MemKind::load, Space::local}},        {"STL", {MemKind::store, Space::local}},
    {"LDS", {MemKind::load, Space::shared}},       {"STS", {MemKind::store, Space::shared}},
    {"LDSM", {MemKind::load, Space::shared}},      {"STSM", {MemKind::store, Space::shared}},
    {"LDC", {MemKind::load, Space::constant}},     {"LDGSTS", {MemKind::async_copy, Space::global}},
    {"ATOM", {MemKind::atomic, Space::generic}},   {"ATOMG", {MemKind::atomic, Space::global}},
    {"ATOMS", {MemKind::atomic, Space::shared}},   {"RED", {MemKind::reduction, Space::generic}},
    {"REDG", {MemKind::reduction, Space::global}}, {"REDS", {MemKind::reduction, Space::shared}},
    {"LDU", {MemKind::load, Space::generic}},
};

/// What `word` stands for in one of these lists, or null.
template <class List>
[[nodiscard]] constexpr auto find_sass(const List& list, std::string_view word) {
  for (const auto& row : list)
    if (row.word == word) return &row.value;
  return decltype(&list[0].value){nullptr};
}
/// The word for `value` in one of these lists; empty where it has none.
template <class List, class E>
[[nodiscard]] constexpr std::string_view sass_word_of(const List& list, const E& value) {
  for (const auto& row : list)
    if (row.value == value) return row.word;
  return {};
}

}  // namespace warpline
