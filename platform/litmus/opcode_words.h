#pragma once

#include <array>
#include <string_view>

#include "warpline/isa/mem_op.h"

namespace warpline::litmus {

// The words of which opcodes are made, and what they say. PTX's own, but for accesses by texture, surface and
// constant, which litmus tests write `tld`, `suld`, `sust` and `cold`.

struct Base {
  std::string_view word;
  MemKind kind;
  Space space;
  Proxy proxy;
};
constexpr std::array<Base, 8> kBases = {{{"ld", MemKind::load, Space::generic, Proxy::generic},
                                         {"st", MemKind::store, Space::generic, Proxy::generic},
                                         {"atom", MemKind::atomic, Space::generic, Proxy::generic},
                                         {"red", MemKind::reduction, Space::generic, Proxy::generic},
                                         {"tld", MemKind::texture_load, Space::texture, Proxy::texture},
                                         {"suld", MemKind::surface_load, Space::surface, Proxy::surface},
                                         {"sust", MemKind::surface_store, Space::surface, Proxy::surface},
                                         {"cold", MemKind::load, Space::constant, Proxy::constant}}};

struct AtomicWord {
  std::string_view word;
  AtomicOperation operation;
};
constexpr std::array<AtomicWord, 9> kAtomics = {{{"add", AtomicOperation::add},
                                                 {"sub", AtomicOperation::add},
                                                 {"exch", AtomicOperation::exchange},
                                                 {"cas", AtomicOperation::compare_and_swap},
                                                 {"min", AtomicOperation::min},
                                                 {"max", AtomicOperation::max},
                                                 {"and", AtomicOperation::bit_and},
                                                 {"or", AtomicOperation::bit_or},
                                                 {"xor", AtomicOperation::bit_xor}}};

struct SemanticsWord {
  std::string_view word;
  Semantics semantics;
};
constexpr std::array<SemanticsWord, 6> kSemantics = {{{"weak", Semantics::weak},
                                                      {"relaxed", Semantics::relaxed},
                                                      {"acquire", Semantics::acquire},
                                                      {"release", Semantics::release},
                                                      {"acq_rel", Semantics::acq_rel},
                                                      {"sc", Semantics::sc}}};
struct ScopeWord {
  std::string_view word;
  Scope scope;
};
constexpr std::array<ScopeWord, 5> kScopes = {{{"cta", Scope::cta},
                                               {"cluster", Scope::cluster},
                                               {"gpu", Scope::gpu},
                                               {"gl", Scope::gpu},
                                               {"sys", Scope::sys}}};
struct OperatorWord {
  std::string_view word;
  CacheOperator cache_operator;
  bool loads;
};
constexpr std::array<OperatorWord, 9> kOperators = {{{"ca", CacheOperator::ca, true},
                                                     {"cg", CacheOperator::cg, true},
                                                     {"cs", CacheOperator::cs, true},
                                                     {"lu", CacheOperator::lu, true},
                                                     {"cv", CacheOperator::cv, true},
                                                     {"wb", CacheOperator::wb, false},
                                                     {"cg", CacheOperator::cg, false},
                                                     {"cs", CacheOperator::cs, false},
                                                     {"wt", CacheOperator::wt, false}}};
struct ProxyWord {
  std::string_view word;
  Proxy proxy;
};
constexpr std::array<ProxyWord, 4> kProxies = {{{"alias", Proxy::alias},
                                                {"texture", Proxy::texture},
                                                {"surface", Proxy::surface},
                                                {"constant", Proxy::constant}}};
struct ControlWord {
  std::string_view word;
  CctlTarget target;
  CctlOperation operation;
};
/// SASS's cache control of lines that no program's value depends on.
constexpr std::array<ControlWord, 4> kControls = {
    {{"CCTL.IV", CctlTarget::data_line, CctlOperation::invalidate},
     {"CCTL.WB", CctlTarget::data_line, CctlOperation::write_back},
     {"CCTL.PF1", CctlTarget::data_line, CctlOperation::prefetch_l1},
     {"CCTL.IVALL", CctlTarget::global_lines, CctlOperation::invalidate_all}}};

}  // namespace warpline::litmus
