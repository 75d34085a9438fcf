#include "rtl_models/pcie/packets/tlp_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rtl_models/pcie/packets/tlp_rules.h"
#include "tests/rtl_models/pcie/packets/packets.h"

namespace warpline {
namespace tlp_queue_test {

using test::packet;

constexpr auto kAny = [](const Tlp&) { return true; };

/// Kinds of packets that the ordering rules tell apart.
std::vector<Tlp> shapes() {
  std::vector<Tlp> all = {packet(TlpKind::memory_write, 0, 4), packet(TlpKind::memory_write, 0, 4),
                          packet(TlpKind::memory_read, 0, 4),  packet(TlpKind::fetch_add, 0, 4),
                          packet(TlpKind::completion, 0, 4),   packet(TlpKind::completion, 0, 4),
                          packet(TlpKind::completion, 0, 4)};
  all[1].relaxed_ordering = true;
  all[5].tag = 1;
  all[6].relaxed_ordering = true;
  return all;
}

/// Whether packets may leave in `order` (indices of `queued`) by the pairwise rule alone.
bool legal(const std::vector<Tlp>& queued, const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      if (order[i] > order[j] && !may_pass(queued[order[i]], queued[order[j]])) return false;
  return true;
}

/// Whether the queue lets packets out in `order` if each has room only when its turn comes.
bool lets_out(std::vector<Tlp>& queued, const std::vector<std::size_t>& order) {
  TlpQueue queue;
  for (Tlp& tlp : queued) queue.push(&tlp);
  for (const std::size_t i : order) {
    const Tlp* wanted = &queued[i];
    const Tlp* chosen = queue.choose([wanted](const Tlp& t) { return &t == wanted; });
    if (chosen != wanted) return false;
    queue.take(chosen);
  }
  return queue.empty();
}

TEST(TlpQueue, EveryOrderOfFourPacketsIsPossibleExactlyIfEachPairAllowsIt) {
  const std::vector<Tlp> kinds = shapes();
  const std::size_t n = kinds.size();
  unsigned possible = 0, impossible = 0;
  for (std::size_t code = 0; code < n * n * n * n; ++code) {
    std::vector<Tlp> queued = {kinds[code % n], kinds[code / n % n], kinds[code / n / n % n],
                               kinds[code / n / n / n]};
    std::vector<std::size_t> order = {0, 1, 2, 3};
    do {
      const bool expected = legal(queued, order);
      ++(expected ? possible : impossible);
      ASSERT_EQ(lets_out(queued, order), expected)
          << "code " << code << " order " << order[0] << order[1] << order[2] << order[3];
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(possible, 10000U);
  EXPECT_GT(impossible, 10000U);
}

TEST(TlpQueue, TheOldestGoesFirstWhereAllHaveRoom) {
  std::vector<Tlp> packets = shapes();
  TlpQueue queue;
  for (Tlp& tlp : packets) queue.push(&tlp);
  for (Tlp& tlp : packets) {
    ASSERT_EQ(queue.choose(kAny), &tlp);
    queue.take(&tlp);
  }
  EXPECT_EQ(queue.choose(kAny), nullptr);
}

TEST(TlpQueue, ItCountsByClassAndDrainsInOrder) {
  std::vector<Tlp> packets = shapes();
  TlpQueue queue;
  for (Tlp& tlp : packets) queue.push(&tlp);
  EXPECT_EQ(queue.size(), 7U);
  EXPECT_EQ(queue.count(TlpClass::posted), 2U);
  EXPECT_EQ(queue.count(TlpClass::non_posted), 2U);
  EXPECT_EQ(queue.count(TlpClass::completion), 3U);
  std::vector<const Tlp*> seen, drained;
  queue.for_each([&](const Tlp& t) { seen.push_back(&t); });
  queue.drain([&](const Tlp* t) { drained.push_back(t); });
  EXPECT_EQ(seen, drained);
  ASSERT_EQ(drained.size(), packets.size());
  EXPECT_EQ(drained.front(), &packets.front());
  EXPECT_TRUE(queue.empty());
}

}  // namespace tlp_queue_test
}  // namespace warpline
