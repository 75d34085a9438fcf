#include "rtl_models/queue_device/queue_pair.h"

#include <gtest/gtest.h>

#include "rtl_models/base/random.h"

namespace warpline {
namespace queue_pair_test {

QueuePair::Shape shape(unsigned order) {
  QueuePair::Shape s;
  s.submissions = 0x1000;
  s.completions = 0x8000;
  s.order = order;
  s.interrupts = true;
  return s;
}

TEST(QueuePair, TakesNoDoorbellUntilItIsEnabled) {
  QueuePair q;
  EXPECT_FALSE(q.ring_submissions(1));
  EXPECT_FALSE(q.ring_completions(0));
  q.enable(shape(3));
  EXPECT_TRUE(q.ring_submissions(1));
  q.disable();
  EXPECT_FALSE(q.ring_submissions(2));
  EXPECT_FALSE(q.may_fetch());
}

TEST(QueuePair, ARingOfEightHoldsSevenCommands) {
  QueuePair q;
  q.enable(shape(3));
  EXPECT_FALSE(q.ring_submissions(8)) << "beyond the ring";
  EXPECT_TRUE(q.ring_submissions(7));
  EXPECT_FALSE(q.ring_submissions(0)) << "an eighth";
  EXPECT_EQ(q.fetch(), 0x1000U);
  EXPECT_TRUE(q.ring_submissions(0));
  EXPECT_EQ(q.fetch(), 0x1040U);
}

TEST(QueuePair, CountsWhatItWasToldOfAndWhatItFetched) {
  QueuePair q;
  q.enable(shape(2));
  for (unsigned round = 0; round < 5; ++round) {
    EXPECT_TRUE(q.ring_submissions((3 * round + 3) % 4));
    EXPECT_EQ(q.submitted(), 3U * round + 3);
    for (unsigned n = 0; n < 3; ++n) {
      EXPECT_EQ(q.fetches(), 3U * round + n);
      static_cast<void>(q.fetch());
      static_cast<void>(q.complete());
    }
    EXPECT_TRUE(q.ring_completions((3 * round + 3) % 4));
  }
  q.enable(shape(2));
  EXPECT_EQ(q.submitted() + q.fetches(), 0U);
}

TEST(QueuePair, ThePhaseChangesWithEveryRound) {
  QueuePair q;
  q.enable(shape(1));
  for (unsigned i = 0; i < 8; ++i) {
    ASSERT_TRUE(q.ring_submissions((i + 1) % 2));
    static_cast<void>(q.fetch());
    const QueuePair::Slot slot = q.complete();
    EXPECT_EQ(slot.address, 0x8000U + 16 * (i % 2));
    EXPECT_EQ(slot.phase, i / 2 % 2 == 0 ? 1 : 0);
    EXPECT_FALSE(q.ring_completions(i % 2 == 0 ? 2 : 3)) << "beyond the ring";
    EXPECT_TRUE(q.ring_completions((i + 1) % 2));
  }
}

TEST(QueuePair, ACompletionIsNotTakenBeforeItIsWritten) {
  QueuePair q;
  q.enable(shape(2));
  ASSERT_TRUE(q.ring_submissions(1));
  static_cast<void>(q.fetch());
  static_cast<void>(q.complete());
  EXPECT_FALSE(q.ring_completions(2));
  EXPECT_TRUE(q.ring_completions(1));
  EXPECT_FALSE(q.ring_completions(0)) << "backwards";
}

TEST(QueuePair, ACommandIsFetchedOnlyWhereItsCompletionHasAPlace) {
  QueuePair q;
  q.enable(shape(1));
  ASSERT_TRUE(q.ring_submissions(1));
  static_cast<void>(q.fetch());
  ASSERT_TRUE(q.ring_submissions(0));
  EXPECT_FALSE(q.may_fetch()) << "the one before is not completed";
  static_cast<void>(q.complete());
  EXPECT_FALSE(q.may_fetch()) << "its completion is not taken";
  ASSERT_TRUE(q.ring_completions(1));
  EXPECT_TRUE(q.may_fetch());
}

TEST(QueuePair, TheInterruptWaitsForCountOrTime) {
  QueuePair q;
  q.enable(shape(3));
  EXPECT_FALSE(q.tell(3, 100, 10));
  EXPECT_EQ(q.deadline(), 110U);
  EXPECT_FALSE(q.tell(3, 100, 20));
  EXPECT_EQ(q.deadline(), 110U) << "the time counts from the first";
  EXPECT_TRUE(q.tell(3, 100, 30));
  EXPECT_EQ(q.deadline(), kNever);
  EXPECT_FALSE(q.tell(3, 100, 40));
  EXPECT_FALSE(q.due(139));
  EXPECT_TRUE(q.due(140));
  EXPECT_FALSE(q.due(1000)) << "once";
  EXPECT_TRUE(q.tell(0, 0, 50)) << "0 counts as 1";
  QueuePair silent;
  QueuePair::Shape s = shape(3);
  s.interrupts = false;
  silent.enable(s);
  EXPECT_FALSE(silent.tell(1, 0, 1));
}

TEST(QueuePair, CoalescingThatIsSetAnewHoldsForWhatIsUntold) {
  QueuePair q;
  q.enable(shape(3));
  q.coalesce(1, 10, 5);
  EXPECT_EQ(q.deadline(), kNever) << "there is nothing to be told of";
  EXPECT_FALSE(q.tell(10, 0, 10));
  EXPECT_FALSE(q.tell(10, 0, 20));
  EXPECT_EQ(q.deadline(), kNever);
  q.coalesce(10, 50, 30);
  EXPECT_EQ(q.deadline(), 60U) << "the time counts from the first";
  q.coalesce(3, 0, 31);
  EXPECT_EQ(q.deadline(), kNever);
  q.coalesce(2, 0, 32);
  EXPECT_TRUE(q.due(32)) << "there are as many";
  EXPECT_FALSE(q.tell(2, 0, 40)) << "those are not counted again";
  q.coalesce(9, 1, 90);
  EXPECT_TRUE(q.due(90)) << "the time is over";
  EXPECT_FALSE(q.tell(2, 0, 95));
  q.coalesce(0, 0, 100);
  EXPECT_TRUE(q.due(100)) << "0 counts as 1";
}

/// The same as two queues of numbers that count all entries ever.
TEST(QueuePair, AgreesWithCountsThatNeverWrap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto order = 1 + static_cast<unsigned>(random.below(5));
    const std::uint64_t entries = std::uint64_t{1} << order;
    QueuePair q;
    q.enable(shape(order));
    std::uint64_t tail = 0, head = 0, written = 0, taken = 0;
    for (unsigned i = 0; i < 2000; ++i) {
      switch (random.below(4)) {
        case 0: {
          const std::uint64_t to = tail + random.below(entries);
          const bool fits = to - head < entries;
          ASSERT_EQ(q.ring_submissions(static_cast<std::uint32_t>(to % entries)), fits) << "seed " << seed;
          if (fits) tail = to;
          break;
        }
        case 1:
          ASSERT_EQ(q.may_fetch(), head != tail && head - taken < entries - 1);
          if (!q.may_fetch()) break;
          ASSERT_EQ(q.fetch(), 0x1000 + 64 * (head++ % entries));
          break;
        case 2:
          if (written != head) {
            const QueuePair::Slot slot = q.complete();
            ASSERT_EQ(slot.address, 0x8000 + 16 * (written % entries));
            ASSERT_EQ(slot.phase, written / entries % 2 == 0 ? 1 : 0);
            ++written;
          }
          break;
        default: {
          const std::uint64_t to = taken + random.below(entries);
          ASSERT_EQ(q.ring_completions(static_cast<std::uint32_t>(to % entries)), to <= written);
          if (to <= written) taken = to;
        }
      }
    }
  }
}

}  // namespace queue_pair_test
}  // namespace warpline
