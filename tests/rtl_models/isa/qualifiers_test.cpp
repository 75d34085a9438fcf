// The one list of PTX's qualifiers: words and values, both ways.
#include "rtl_models/isa/qualifiers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace warpline {
namespace qualifiers_test {

/// Every value of E from `first` to `last` has a word, and the word stands for it.
template <class E>
void expect_words(E first, E last) {
  for (auto v = static_cast<unsigned>(first); v <= static_cast<unsigned>(last); ++v) {
    const auto value = static_cast<E>(v);
    EXPECT_FALSE(word_of(value).empty()) << v;
    EXPECT_EQ(value_named<E>(word_of(value)), value) << word_of(value);
  }
}

TEST(Qualifiers, EveryValueHasAWordThatStandsForIt) {
  expect_words(Semantics::weak, Semantics::sc);
  expect_words(Scope::cta, Scope::sys);
  expect_words(Space::global, Space::param);
  expect_words(CacheOperator::ca, CacheOperator::wt);
  expect_words(L1Eviction::normal, L1Eviction::no_allocate);
  expect_words(L2Eviction::normal, L2Eviction::unchanged);
  expect_words(DataType::pred, DataType::f64);
  expect_words(AtomicOperation::add, AtomicOperation::decrement);
  expect_words(BeyondEdge::trap, BeyondEdge::zero);
}

TEST(Qualifiers, WhatIsSaidByLeavingTheQualifierOutHasNoWord) {
  EXPECT_EQ(word_of(Scope::none), "");
  EXPECT_EQ(word_of(Space::generic), "");
  EXPECT_EQ(word_of(CacheOperator::none), "");
  EXPECT_EQ(word_of(L1Eviction::none), "");
  EXPECT_EQ(word_of(L2Eviction::none), "");
  EXPECT_EQ(word_of(DataType::none), "");
  EXPECT_EQ(word_of(AtomicOperation::none), "");
}

TEST(Qualifiers, EachStandsInTheListOnceAndIsFound) {
  std::set<std::string_view> seen;
  for (const Qualifier& q : kQualifiers) {
    EXPECT_TRUE(seen.insert(q.word).second) << q.word;
    EXPECT_EQ(find_qualifier(q.word), &q) << q.word;
    EXPECT_NE(q.slot, Slot::none) << q.word;
    EXPECT_EQ(find_qualifier("." + std::string(q.word)), nullptr) << "words stand without their dot";
  }
  EXPECT_EQ(find_qualifier(""), nullptr);
  EXPECT_EQ(find_qualifier("gpus"), nullptr);
}

TEST(Qualifiers, AWordOfOneEnumerationNamesNothingInAnother) {
  EXPECT_EQ(value_named<Scope>("global"), std::nullopt);
  EXPECT_EQ(value_named<Space>("gpu"), std::nullopt);
  EXPECT_EQ(value_named<L2Eviction>("L1::evict_last"), std::nullopt);
  EXPECT_EQ(value_named<Space>("reg"), std::nullopt) << "a word without a value";
}

TEST(Qualifiers, OfTwoWordsForOneValueTheShorterIsPrinted) {
  EXPECT_EQ(value_named<Space>("shared::cta"), Space::shared);
  EXPECT_EQ(word_of(Space::shared), "shared");
  EXPECT_EQ(value_named<Space>("param::func"), Space::param);
  EXPECT_EQ(word_of(Space::param), "param");
}

TEST(Qualifiers, ProxiesHaveWordsBothWays) {
  for (const ProxyWord& p : kProxyWords) {
    EXPECT_EQ(proxy_named(p.word), p.proxy);
    EXPECT_EQ(word_of(p.proxy), p.word);
  }
  EXPECT_EQ(word_of(Proxy::generic), "");
  EXPECT_EQ(word_of(Proxy::noncoherent), "");
  EXPECT_EQ(proxy_named("generic"), std::nullopt);
}

TEST(Qualifiers, LevelsOfMembarAreScopes) {
  EXPECT_EQ(membar_scope("cta"), Scope::cta);
  EXPECT_EQ(membar_scope("gl"), Scope::gpu);
  EXPECT_EQ(membar_scope("sys"), Scope::sys);
  EXPECT_EQ(membar_scope("gpu"), std::nullopt);
  EXPECT_EQ(membar_scope("cluster"), std::nullopt);
}

/// An operation that prints all that it holds.
MemOp operation_for(const Qualifier& q) {
  MemOp op;
  op.kind = q.slot == Slot::bounds  ? MemKind::surface_load
            : q.slot == Slot::level ? MemKind::prefetch
                                    : MemKind::load;
  return op;
}

TEST(Qualifiers, WhatIsAppliedIsPrintedAgain) {
  for (const Qualifier& q : kQualifiers) {
    MemOp op = operation_for(q);
    const std::string before = to_ptx(op);
    if (!apply(q, op)) {
      EXPECT_EQ(to_ptx(op), before) << q.word;
      continue;
    }
    // The weak order and what a surface does beyond its edge are not printed; of synonyms the first is.
    if (q.word == "weak" || q.slot == Slot::bounds) continue;
    const bool synonym = q.slot == Slot::space && word_of(op.space) != q.word;
    const std::string printed = synonym ? std::string(word_of(op.space)) : std::string(q.word);
    EXPECT_NE(to_ptx(op).find("." + printed), std::string::npos) << q.word << " in " << to_ptx(op);
  }
}

TEST(Qualifiers, MemOpHoldsThoseWithAValueAndFourFlags) {
  const std::set<std::string_view> flags = {"nc", "volatile", "mmio", "L2::cache_hint"};
  for (const Qualifier& q : kQualifiers) {
    MemOp op;
    const bool held = q.value != Qualifier::kNoValue && q.slot != Slot::geometry;
    EXPECT_EQ(apply(q, op), held || flags.count(q.word) != 0) << q.word;
  }
}

TEST(Qualifiers, OperatorsBelongToLoadsOrToStores) {
  for (const CacheOperator o : {CacheOperator::ca, CacheOperator::lu, CacheOperator::cv}) {
    EXPECT_TRUE(is_of_loads(o));
    EXPECT_FALSE(is_of_stores(o));
  }
  for (const CacheOperator o : {CacheOperator::wb, CacheOperator::wt}) {
    EXPECT_FALSE(is_of_loads(o));
    EXPECT_TRUE(is_of_stores(o));
  }
  for (const CacheOperator o : {CacheOperator::cg, CacheOperator::cs})
    EXPECT_TRUE(is_of_loads(o) && is_of_stores(o));
  EXPECT_FALSE(is_of_loads(CacheOperator::none) || is_of_stores(CacheOperator::none));
}

}  // namespace qualifiers_test
}  // namespace warpline
