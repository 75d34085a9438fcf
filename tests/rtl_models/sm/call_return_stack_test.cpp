#include "rtl_models/sm/call_return_stack.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {
namespace call_return_stack_test {

/// A stack whose backing store is a map, moved by hand.
struct Backed {
  explicit Backed(unsigned entries) : stack(entries) {}
  void store(const CallReturnStack::Tokens& tokens) {
    EXPECT_LE(tokens.count, CallReturnStack::kGroup);
    for (unsigned n = 0; n < tokens.count; ++n) {
      EXPECT_EQ((tokens.first + n) / CallReturnStack::kGroup, tokens.first / CallReturnStack::kGroup)
          << "tokens of one group travel together";
      memory[tokens.first + n] = tokens.value[n];
    }
    stored += tokens.count;
  }
  void push(std::uint64_t token) {
    if (stack.full()) store(stack.evict());
    stack.push(token);
  }
  std::uint64_t pop() {
    if (!stack.has_top()) {
      CallReturnStack::Tokens wanted = stack.wanted();
      for (unsigned n = 0; n < wanted.count; ++n) wanted.value[n] = memory.at(wanted.first + n);
      stack.refill(wanted);
      ++refills;
    }
    const std::uint64_t token = stack.top();
    stack.pop_to(stack.depth() - 1);
    return token;
  }
  void clean() {
    while (!stack.is_clean()) store(stack.write_back());
  }

  CallReturnStack stack;
  std::map<std::uint32_t, std::uint64_t> memory;
  unsigned stored = 0, refills = 0;
};

TEST(CallReturnStack, KeepsItsNewestTokensAndSpillsTheOldestGroup) {
  Backed b(8);
  for (std::uint64_t n = 0; n < 8; ++n) b.push(100 + n);
  EXPECT_TRUE(b.stack.full());
  EXPECT_EQ(b.stored, 0U);
  b.push(108);
  EXPECT_EQ(b.stored, 4U);
  EXPECT_EQ(b.memory.at(3), 103U);
  for (std::uint64_t n = 9; n-- > 0;) EXPECT_EQ(b.pop(), 100 + n);
  EXPECT_EQ(b.refills, 1U) << "the group that had left";
  EXPECT_EQ(b.stack.depth(), 0U);
}

TEST(CallReturnStack, WritesATokenBackOnce) {
  Backed b(8);
  for (std::uint64_t n = 0; n < 6; ++n) b.push(n);
  b.clean();
  EXPECT_EQ(b.stored, 6U);
  b.clean();
  b.push(6);
  b.push(7);
  b.push(8);
  EXPECT_EQ(b.stored, 6U) << "the group that leaves is in memory already";
  b.clean();
  EXPECT_EQ(b.stored, 9U);
  // A token that takes the place of a popped one is a new one.
  EXPECT_EQ(b.pop(), 8U);
  b.push(80);
  b.clean();
  EXPECT_EQ(b.memory.at(8), 80U);
}

TEST(CallReturnStack, WritesAllItHoldsAgainWhereTheStoreIsNotTrusted) {
  Backed b(8);
  for (std::uint64_t n = 0; n < 10; ++n) b.push(n);
  b.clean();
  EXPECT_EQ(b.stored, 10U);
  b.memory.clear();
  b.stack.distrust_store();
  b.clean();
  EXPECT_EQ(b.stored, 16U);
  EXPECT_EQ(b.memory.count(3), 0U) << "a token that has left the cache is the store's alone";
  for (std::uint32_t n = 4; n < 10; ++n) EXPECT_EQ(b.memory.at(n), n);
  b.stack.pop_to(0);
  b.stack.distrust_store();
  EXPECT_TRUE(b.stack.is_clean());
}

/// The seed's restore sequence: the pointer to 0, the backing store, the pointer to where it was.
TEST(CallReturnStack, IsRestoredFromItsBackingStore) {
  Backed b(8);
  for (std::uint64_t n = 0; n < 11; ++n) b.push(n);
  b.clean();
  const auto saved = b.memory;
  b.stack.pop_to(0);
  for (std::uint64_t n = 0; n < 20; ++n) b.push(1000 + n);  // somebody else's calls
  b.stack.pop_to(0);
  b.memory = saved;
  b.stack.raise_to(11);
  EXPECT_FALSE(b.stack.has_top()) << "nothing is backfilled before it is wanted";
  for (std::uint64_t n = 11; n-- > 0;) EXPECT_EQ(b.pop(), n);
}

/// Against a vector, with every operation in any order, calls over a thousand deep.
TEST(CallReturnStack, IsAStack) {
  std::uint32_t deepest = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Backed b(static_cast<unsigned>(8 + 4 * random.below(4)));
    std::vector<std::uint64_t> naive;
    for (unsigned step = 0; step < 6000; ++step) {
      const std::uint64_t up = step < 3000 ? 10 : 5;
      const std::uint64_t what = random.below(16);
      if (what < up) {
        naive.push_back(random.next());
        b.push(naive.back());
      } else if (what < 14 && !naive.empty()) {
        ASSERT_EQ(b.pop(), naive.back());
        naive.pop_back();
      } else if (what == 14 && random.below(20) == 0) {
        b.clean();
        for (std::uint32_t n = 0; n < naive.size(); ++n) ASSERT_EQ(b.memory.at(n), naive[n]);
      } else if (what == 15 && random.below(20) == 0 && !naive.empty()) {
        naive.resize(naive.size() - random.below(std::min<std::size_t>(naive.size(), 30)));
        b.stack.pop_to(static_cast<std::uint32_t>(naive.size()));
      }
      ASSERT_EQ(b.stack.depth(), naive.size());
      deepest = std::max(deepest, b.stack.depth());
    }
  }
  EXPECT_GT(deepest, 1000U);
}

}  // namespace call_return_stack_test
}  // namespace warpline
