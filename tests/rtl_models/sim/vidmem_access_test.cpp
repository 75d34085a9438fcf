#include "rtl_models/sim/vidmem_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/support/naive_atomic.h"

namespace warpline::test {
namespace vidmem_access_test {

constexpr std::uint64_t kBytes = 64 * kLineBytes;

/// Against a vector that is written byte by byte.
TEST(VidmemAccess, PerformsRequestsOnTheBytesOfMemory) {
  Random random(1);
  MemoryImage image(kBytes);
  VidmemAccess vidmem(image);
  std::vector<std::uint8_t> naive(kBytes);
  const auto r = std::make_unique<Request>();
  for (unsigned n = 0; n < 5000; ++n) {
    const std::uint64_t line = random.below(kBytes / kLineBytes) * kLineBytes;
    *r = Request();
    r->line = physical(Aperture::vidmem, line);
    ASSERT_TRUE(VidmemAccess::takes(*r));
    Cycle at = n;
    switch (random.below(3)) {
      case 0: {
        r->command = Command::read;
        r->sectors = static_cast<SectorMask>(1 + random.below(kAllSectors));
        vidmem.perform(*r, at);
        for (unsigned i = 0; i < kLineBytes; ++i)
          if ((r->sectors >> i / kSectorBytes & 1U) != 0) {
            ASSERT_EQ(r->data[i], naive[line + i]);
          }
        break;
      }
      case 1: {
        r->command = Command::write;
        for (unsigned i = 0; i < kLineBytes; ++i) {
          r->data[i] = static_cast<std::uint8_t>(random.next());
          if (random.below(3) != 0) continue;
          r->bytes.set(i, 1);
          naive[line + i] = r->data[i];
        }
        vidmem.perform(*r, at);
        break;
      }
      default: {
        AtomicBlock block = random_atomic_block(random);
        const AtomicBlock before = block;
        r->command = random.below(2) == 0 ? Command::atomic : Command::reduce;
        r->atomics = &block;
        vidmem.perform(*r, at);
        for (unsigned i = 0; i < block.count; ++i)
          ASSERT_EQ(old_bytes(block, i), naive_lane(before, i, naive.data() + line));
      }
    }
    EXPECT_EQ(r->status, Status::ok);
    EXPECT_EQ(at, n + 1U);
  }
  EXPECT_TRUE(std::equal(naive.begin(), naive.end(), image.at(0)));
}

TEST(VidmemAccess, AnswersLinesBeyondMemoryWithAnErrorAndLeavesOthersAlone) {
  MemoryImage image(kBytes);
  VidmemAccess vidmem(image);
  Request r;
  r.line = physical(Aperture::vidmem, kBytes);
  r.sectors = kAllSectors;
  Cycle at = 1;
  vidmem.perform(r, at);
  EXPECT_EQ(r.status, Status::address_error);
  EXPECT_EQ(vidmem.find(physical(Aperture::vidmem, kBytes - 4), 4), image.at(kBytes - 4));
  EXPECT_EQ(vidmem.find(physical(Aperture::vidmem, kBytes - 4), 8), nullptr);
  EXPECT_EQ(vidmem.find(physical(Aperture::sysmem, 0), 4), nullptr);
  r.line = physical(Aperture::sysmem, 0);
  EXPECT_FALSE(VidmemAccess::takes(r));
  r.line = physical(Aperture::vidmem, 0);
  r.command = Command::maintain;
  EXPECT_FALSE(VidmemAccess::takes(r));
}

}  // namespace vidmem_access_test
}  // namespace warpline::test
