#include "rtl_models/sim/memory_image.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace warpline {
namespace memory_image_test {

TEST(MemoryImage, IsZeroUntilWritten) {
  MemoryImage memory(1ULL << 40U);  // costs what is touched
  EXPECT_EQ(memory.size(), 1ULL << 40U);
  EXPECT_EQ(*memory.at((1ULL << 40U) - 1), 0U);
  *memory.at(123456789012) = 7;
  EXPECT_EQ(*memory.at(123456789012), 7U);
  EXPECT_EQ(*memory.at(123456789013), 0U);
}

TEST(MemoryImage, WhatIsClearedTakesNoRoom) {
  constexpr std::uint64_t kBytes = 10 * 4096;
  for (const bool lends : {false, true}) {
    MemoryImage memory(kBytes, 0, lends);
    const auto pages = [&memory] {
      unsigned char resident[10];
      EXPECT_EQ(mincore(memory.at(0), kBytes, resident), 0);
      unsigned count = 0;
      for (const unsigned char page : resident) count += page & 1U;
      return count;
    };
    std::memset(memory.at(0), 0x5A, kBytes);
    EXPECT_EQ(pages(), 10U);
    memory.clear(100, 3 * 4096);  // two pages, and a part of two others
    EXPECT_EQ(pages(), 8U);
    for (std::uint64_t at = 0; at < kBytes; ++at)
      ASSERT_EQ(*memory.at(at), at < 100 || at >= 100 + 3 * 4096 ? 0x5A : 0) << at;
    memory.clear(5000, 0);
    memory.clear(5 * 4096 + 8, 16);
    EXPECT_EQ(*memory.at(5 * 4096 + 23), 0U);
    EXPECT_EQ(*memory.at(5 * 4096 + 24), 0x5AU);
    memory.clear(8 * 4096, 2 * 4096);
    EXPECT_EQ(pages(), 8U) << "looking at the first two has brought them back";
    memory.clear();
    EXPECT_EQ(pages(), 0U);
  }
}

TEST(MemoryImage, MayBeEmpty) {
  const MemoryImage memory(0);
  EXPECT_EQ(memory.size(), 0U);
}

}  // namespace memory_image_test
}  // namespace warpline
