#include "rtl_models/sim/memory_image.h"

#include <gtest/gtest.h>

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

TEST(MemoryImage, MayBeEmpty) {
  const MemoryImage memory(0);
  EXPECT_EQ(memory.size(), 0U);
}

}  // namespace memory_image_test
}  // namespace warpline
