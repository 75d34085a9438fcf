#include "rtl_models/sim/zeroed_bytes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "rtl_models/base/state_archive.h"

namespace warpline {
namespace zeroed_bytes_test {

constexpr std::size_t kSizes[] = {0, 1, 128, 16383, 16384, 233472};

TEST(ZeroedBytes, AreZeroUntilWritten) {
  for (const std::size_t size : kSizes) {
    ZeroedBytes bytes(size);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(bytes.empty(), size == 0);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(*bytes.at(i), 0) << size;
    if (size == 0) continue;
    *bytes.at(size - 1) = 7;
    ZeroedBytes moved = std::move(bytes);
    EXPECT_EQ(moved.size(), size);
    EXPECT_EQ(*moved.at(size - 1), 7);
    EXPECT_TRUE(bytes.empty());
    bytes = std::move(moved);
    EXPECT_EQ(*bytes.at(size - 1), 7);
    EXPECT_TRUE(moved.empty());
    bytes = ZeroedBytes(3);
    EXPECT_EQ(bytes.size(), 3U);
    EXPECT_EQ(*bytes.at(2), 0);
  }
}

TEST(ZeroedBytes, AreRestoredWhereTheyAreAsMany) {
  for (const std::size_t size : kSizes) {
    ZeroedBytes bytes(size), others(size), more(size + 1);
    if (size != 0) *bytes.at(size / 2) = 7;
    std::string state;
    StateArchive to(state);
    to(bytes);
    StateArchive from{std::string_view(state)};
    from(others);
    EXPECT_TRUE(from.ended());
    if (size != 0) EXPECT_EQ(*others.at(size / 2), 7);
    StateArchive misfit{std::string_view(state)};
    EXPECT_THROW(misfit(more), StateMisfit);
  }
}

}  // namespace zeroed_bytes_test
}  // namespace warpline
