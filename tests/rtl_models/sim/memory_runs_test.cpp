#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "rtl_models/sim/memory_image.h"

namespace warpline {
namespace memory_runs_test {

using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Runs runs_of(const MemoryImage& memory) {
  Runs runs;
  memory.for_each_run(
      [&runs](std::uint64_t offset, std::uint64_t bytes) { runs.emplace_back(offset, bytes); });
  return runs;
}

TEST(MemoryRuns, AreOfBlocksThatAreNotZero) {
  MemoryImage memory((std::uint64_t{40} << 30U) + 100);
  EXPECT_EQ(runs_of(memory), Runs{});
  *memory.at(5) = 1;
  *memory.at(3 * MemoryImage::kBlock) = 1;
  *memory.at(5 * MemoryImage::kBlock - 1) = 1;
  *memory.at(9 * MemoryImage::kBlock) = 0;
  *memory.at((std::uint64_t{1} << 30U) - 1) = 1;
  *memory.at(std::uint64_t{1} << 30U) = 1;
  *memory.at(memory.size() - 1) = 1;
  constexpr std::uint64_t kBlock = MemoryImage::kBlock;
  EXPECT_EQ(runs_of(memory), (Runs{{0, kBlock},
                                   {3 * kBlock, 2 * kBlock},
                                   {(std::uint64_t{1} << 30U) - kBlock, 2 * kBlock},
                                   {std::uint64_t{40} << 30U, 100}}));
}

TEST(MemoryRuns, ThereAreNoneOfAMemoryThatWasCleared) {
  MemoryImage memory(1 << 20);
  *memory.at(12345) = 1;
  memory.clear();
  EXPECT_EQ(*memory.at(12345), 0);
  EXPECT_EQ(runs_of(memory), Runs{});
  MemoryImage none(0);
  none.clear();
  EXPECT_EQ(runs_of(none), Runs{});
}

}  // namespace memory_runs_test
}  // namespace warpline
