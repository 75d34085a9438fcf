#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/msix_table.h"

namespace warpline {
namespace msix_test {

void program(MsixTable& table, unsigned vector, bool masked) {
  table.write(16 * vector, 8, 0x1'0000'0000ULL + 4 * vector);
  table.write(16 * vector + 8, 4, 0x100 + vector);
  table.write(16 * vector + 12, 4, masked ? 1 : 0);
}

TEST(Msix, TheTableReadsBackWhatWasWritten) {
  MsixTable table(3);
  EXPECT_EQ(table.pending_offset(), 48U);
  EXPECT_EQ(table.bytes(), 56U);
  EXPECT_EQ(table.read(12, 4), 1U) << "masked at first";
  table.write(16, 4, 0xFEE0'0007);
  table.write(20, 4, 0x12);
  table.write(24, 8, 0xFFFF'FFFE'0000'0ABCULL);
  EXPECT_EQ(table.read(16, 8), 0x12'FEE0'0004ULL) << "a multiple of 4";
  EXPECT_EQ(table.read(24, 8), 0xABCU) << "of vector control, one bit is there";
  EXPECT_EQ(table.read(28, 4), 0U);
  EXPECT_EQ(table.read(0, 8), 0U) << "its neighbour is as it was";
}

TEST(Msix, AccessesOfOtherSizesOrPlacesDoNothing) {
  MsixTable table(2);
  program(table, 0, false);
  for (const unsigned bytes : {0U, 1U, 2U, 3U, 5U, 16U}) {
    table.write(0, bytes, ~0ULL);
    EXPECT_EQ(table.read(0, bytes), 0U) << bytes;
  }
  table.write(2, 4, ~0ULL);
  table.write(4, 8, ~0ULL);
  EXPECT_EQ(table.read(4, 8), 0U);
  EXPECT_EQ(table.read(0, 8), 0x1'0000'0000ULL);
  EXPECT_EQ(table.read(8, 8), 0x100U);
  for (const std::uint64_t beyond : {table.bytes(), table.bytes() + 4, ~std::uint64_t{7}}) {
    table.write(beyond, 4, ~0ULL);
    EXPECT_EQ(table.read(beyond, 4), 0U);
  }
}

TEST(Msix, PendingBitsAreReadOnlyAndSayWhatWaits) {
  MsixTable table(70);
  table.raise(1);
  table.raise(69);
  EXPECT_EQ(table.read(table.pending_offset(), 8), 2U);
  EXPECT_EQ(table.read(table.pending_offset() + 8, 4), 1U << 5U);
  table.raise(40);
  EXPECT_EQ(table.read(table.pending_offset() + 4, 4), 1U << 8U);
  table.write(table.pending_offset(), 8, 0);
  table.write(table.pending_offset(), 8, ~0ULL);
  EXPECT_TRUE(table.pending(1));
  EXPECT_FALSE(table.pending(2));
  table.reset();
  EXPECT_FALSE(table.any_pending());
}

TEST(Msix, AMaskedVectorWaitsAndGoesOnceWhenUnmasked) {
  MsixTable table(4);
  for (unsigned v = 0; v < 4; ++v) program(table, v, v == 2);
  InterruptMessage message;
  EXPECT_FALSE(table.take(true, false, message)) << "nobody raised any";
  table.raise(2);
  table.raise(2);
  EXPECT_FALSE(table.take(true, false, message));
  EXPECT_TRUE(table.pending(2));
  table.raise(3);
  ASSERT_TRUE(table.take(true, false, message)) << "another is not held up";
  EXPECT_EQ(message.vector, 3U);
  table.write(16 * 2 + 12, 4, 0);
  EXPECT_FALSE(table.take(true, true, message)) << "the function is masked";
  EXPECT_FALSE(table.take(false, false, message)) << "MSI-X is off";
  ASSERT_TRUE(table.take(true, false, message));
  EXPECT_EQ(message.vector, 2U);
  EXPECT_EQ(message.address, 0x1'0000'0008ULL);
  EXPECT_EQ(message.data, 0x102U);
  EXPECT_FALSE(table.pending(2));
  EXPECT_FALSE(table.take(true, false, message)) << "twice raised while pending is one message";
}

TEST(Msix, RandomUseLosesNoInterruptAndMakesNone) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto vectors = static_cast<unsigned>(1 + random.below(130));
    MsixTable table(vectors);
    std::set<unsigned> waiting, unmasked;
    for (unsigned v = 0; v < vectors; ++v) program(table, v, true);
    for (unsigned step = 0; step < 400; ++step) {
      const auto v = static_cast<unsigned>(random.below(vectors));
      const bool enabled = random.below(4) != 0, masked = random.below(4) == 0;
      switch (random.below(4)) {
        case 0: table.raise(v), waiting.insert(v); break;
        case 1: program(table, v, false), unmasked.insert(v); break;
        case 2: program(table, v, true), unmasked.erase(v); break;
        default: break;
      }
      const auto first =
          std::find_if(waiting.begin(), waiting.end(), [&](unsigned w) { return unmasked.count(w) != 0; });
      const bool expected = enabled && !masked && first != waiting.end();
      InterruptMessage message;
      ASSERT_EQ(table.take(enabled, masked, message), expected) << "seed " << seed << " step " << step;
      if (!expected) continue;
      ASSERT_EQ(message.vector, *first) << "seed " << seed << " step " << step;
      ASSERT_EQ(message.data, 0x100 + *first);
      waiting.erase(first);
    }
    for (unsigned v = 0; v < vectors; ++v)
      ASSERT_EQ(table.pending(v), waiting.count(v) != 0) << "seed " << seed;
  }
}

}  // namespace msix_test
}  // namespace warpline
