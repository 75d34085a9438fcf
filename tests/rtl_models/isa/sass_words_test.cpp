// The lists of SASS's words: each word once, and of each value the word that is printed.
#include "rtl_models/isa/sass_words.h"

#include <gtest/gtest.h>

#include <set>

namespace warpline {
namespace sass_words_test {

template <class List>
void expect_each_once(const List& list) {
  std::set<std::string_view> seen;
  for (const auto& row : list) {
    EXPECT_TRUE(seen.insert(row.word).second) << row.word;
    EXPECT_EQ(find_sass(list, row.word), &row.value) << row.word;
  }
  EXPECT_EQ(find_sass(list, "no word"), nullptr);
}

TEST(SassWords, EachStandsInItsListOnceAndIsFound) {
  expect_each_once(kSassScopes);
  expect_each_once(kSassCacheOperators);
  expect_each_once(kSassEvictions);
  expect_each_once(kSassAtomics);
  expect_each_once(kSassPrefetches);
  expect_each_once(kSassLineControls);
  expect_each_once(kSassWidths);
  expect_each_once(kSassAccesses);
}

TEST(SassWords, WhatIsPrintedIsReadAgain) {
  for (const auto& [word, value] : kSassScopes)
    EXPECT_EQ(*find_sass(kSassScopes, sass_word_of(kSassScopes, value)), value);
  for (const auto& [word, value] : kSassAtomics)
    EXPECT_EQ(*find_sass(kSassAtomics, sass_word_of(kSassAtomics, value)), value);
  for (const auto& [word, value] : kSassEvictions) EXPECT_EQ(sass_word_of(kSassEvictions, value), word);
  for (const auto& [word, value] : kSassCacheOperators)
    EXPECT_EQ(sass_word_of(kSassCacheOperators, value), word);
  EXPECT_EQ(sass_word_of(kSassAtomics, AtomicOperation::add), "ADD") << "the first of several";
  EXPECT_EQ(sass_word_of(kSassScopes, Scope::none), "");
}

}  // namespace sass_words_test
}  // namespace warpline
