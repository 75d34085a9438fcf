#include "rtl_models/pcie/packets/tag_table.h"

#include <gtest/gtest.h>

namespace warpline {
namespace tag_table_test {

constexpr Cycle kTimeout = 1000;

LinkParameters two_tags() {
  LinkParameters p;
  p.tags = 2;
  p.completion_timeout = kTimeout;
  return p;
}

/// Two tags, given to reads of 8 bytes and sent in the cycles 10 and 20.
struct Bench {
  Bench() {
    for (unsigned i = 0; i < 2; ++i) {
      reads[i].cookie = 70 + i;
      reads[i].address = 0x1000;
      reads[i].bytes = 8;
      tags.give(reads[i], 5);
      tags.sent(reads[i], 10 * (i + 1));
    }
  }
  ConfigSpace config{FunctionDescription{}};
  TagTable tags{two_tags(), config};
  Tlp reads[2];
};

TEST(TagTable, ATagIsFreeAgainWhenNothingMoreCanCome) {
  Bench bench;
  EXPECT_FALSE(bench.tags.has_free());
  EXPECT_EQ(bench.tags.in_flight(), 2U);
  TagTable::Entry* const first = bench.tags.find(bench.reads[0].tag);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->cookie, 70U);
  TagTable::advance(*first, 8);
  EXPECT_EQ(first->left, 0U);
  bench.tags.end(*first, false);
  EXPECT_TRUE(bench.tags.has_free());
  EXPECT_EQ(bench.tags.find(bench.reads[0].tag), nullptr);
  EXPECT_EQ(bench.tags.find(2), nullptr) << "there is no such tag";
  EXPECT_EQ(bench.tags.next_expiry(), 20 + kTimeout);
}

TEST(TagTable, TheOldestExpiresFirst) {
  Bench bench;
  EXPECT_EQ(bench.tags.next_expiry(), 10 + kTimeout);
  EXPECT_EQ(bench.tags.expired(9 + kTimeout), nullptr);
  TagTable::Entry* const first = bench.tags.expired(10 + kTimeout);
  ASSERT_EQ(first, bench.tags.find(bench.reads[0].tag));
  bench.tags.end(*first, true);
  EXPECT_EQ(bench.tags.given_up(), 1U);
  EXPECT_EQ(bench.tags.expired(19 + kTimeout), nullptr);
  EXPECT_EQ(bench.tags.expired(20 + kTimeout), bench.tags.find(bench.reads[1].tag));
}

TEST(TagTable, OneThatIsLostIsTakenBackIfThereIsNoOther) {
  Bench bench;
  bench.tags.end(*bench.tags.find(bench.reads[0].tag), true);
  const Cycle lost = 10 + TagTable::kLostAfter * kTimeout;
  bench.tags.take_back(lost - 1);
  EXPECT_FALSE(bench.tags.has_free());
  bench.tags.end(*bench.tags.find(bench.reads[1].tag), false);
  bench.tags.take_back(lost);
  EXPECT_EQ(bench.tags.given_up(), 1U) << "there is another";
  Tlp third;
  bench.tags.give(third, lost);
  EXPECT_EQ(third.tag, bench.reads[1].tag);
  EXPECT_EQ(bench.tags.given_up(), 0U) << "now there is not";
  EXPECT_TRUE(bench.tags.has_free());
}

TEST(TagTable, AllAreFreeAfterAReset) {
  Bench bench;
  bench.tags.give_up_all();
  EXPECT_EQ(bench.tags.in_flight(), 0U);
  EXPECT_EQ(bench.tags.given_up(), 2U);
  EXPECT_EQ(bench.tags.expired(kNever - 1), nullptr);
  bench.tags.reset();
  EXPECT_EQ(bench.tags.given_up(), 0U);
  EXPECT_TRUE(bench.tags.has_free());
}

}  // namespace tag_table_test
}  // namespace warpline
