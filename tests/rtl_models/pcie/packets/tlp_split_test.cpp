#include <gtest/gtest.h>

#include <ostream>

#include "rtl_models/base/random.h"
#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {

static bool operator==(const ByteRun& a, const ByteRun& b) {
  return a.address == b.address && a.bytes == b.bytes;
}
static std::ostream& operator<<(std::ostream& out, const ByteRun& p) {
  return out << p.bytes << " at " << p.address;
}

namespace tlp_split_test {

using Parts = std::vector<ByteRun>;

/// Byte by byte: a new part begins where the one under way is full, or a page begins.
Parts naive_requests(std::uint64_t address, std::uint32_t bytes, unsigned most) {
  Parts parts{{address, 0}};
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (i != 0 && (parts.back().bytes == most || (address + i) % 4096 == 0))
      parts.push_back({address + i, 0});
    ++parts.back().bytes;
  }
  return parts;
}

/// Boundary block by boundary block: a part takes in the next block if all of it, or all that is asked for of
/// it, finds room.
Parts naive_completions(std::uint64_t address, std::uint32_t bytes, unsigned most, unsigned boundary) {
  Parts blocks{{address, 0}};
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (i != 0 && (address + i) % boundary == 0) blocks.push_back({address + i, 0});
    ++blocks.back().bytes;
  }
  Parts parts;
  for (const ByteRun& b : blocks) {
    if (parts.empty() || parts.back().bytes + b.bytes > most) {
      parts.push_back(b);
    } else {
      parts.back().bytes += b.bytes;
    }
  }
  return parts;
}

TEST(TlpSplit, RequestsEndAtPagesAndAtTheirMost) {
  EXPECT_EQ(split_request(0x1000, 512, 512), (Parts{{0x1000, 512}}));
  EXPECT_EQ(split_request(0x1000, 513, 512), (Parts{{0x1000, 512}, {0x1200, 1}}));
  EXPECT_EQ(split_request(0x0FFF, 2, 512), (Parts{{0x0FFF, 1}, {0x1000, 1}}));
  EXPECT_EQ(split_request(0x0FC0, 128, 128), (Parts{{0x0FC0, 64}, {0x1000, 64}}));
  EXPECT_EQ(split_request(0x0F00, 256, 512), (Parts{{0x0F00, 256}}));
  EXPECT_EQ(split_request(0x1234, 0, 128), (Parts{{0x1234, 0}})) << "a flush is one packet";
}

TEST(TlpSplit, CompletionsEndOnTheirBoundary) {
  EXPECT_EQ(split_completion(0x1000, 256, 256, 64), (Parts{{0x1000, 256}}));
  EXPECT_EQ(split_completion(0x1010, 256, 128, 64), (Parts{{0x1010, 112}, {0x1080, 128}, {0x1100, 16}}));
  EXPECT_EQ(split_completion(0x1010, 256, 128, 128), (Parts{{0x1010, 112}, {0x1080, 128}, {0x1100, 16}}));
  EXPECT_EQ(split_completion(0x1050, 256, 128, 64), (Parts{{0x1050, 112}, {0x10C0, 128}, {0x1140, 16}}));
  EXPECT_EQ(split_completion(0x1050, 128, 128, 64), (Parts{{0x1050, 128}})) << "what fits is not cut";
  EXPECT_EQ(split_completion(0x1234, 0, 128, 64), (Parts{{0x1234, 0}}));
}

TEST(TlpSplit, BothCutAsOneWouldByteByByte) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    const unsigned most = 128U << random.below(6);
    const unsigned boundary = random.below(2) == 0 ? 64 : 128;
    const std::uint64_t address = random.below(1U << 20U);
    const auto bytes = static_cast<std::uint32_t>(random.below(random.below(2) == 0 ? 300 : 9000));
    ASSERT_EQ(split_request(address, bytes, most), naive_requests(address, bytes, most)) << "seed " << seed;
    ASSERT_EQ(split_completion(address, bytes, most, boundary),
              naive_completions(address, bytes, most, boundary))
        << "seed " << seed;
  }
}

}  // namespace tlp_split_test
}  // namespace warpline
