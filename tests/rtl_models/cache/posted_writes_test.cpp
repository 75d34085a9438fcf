// What a debugger sees of writes that are on their way.
#include "rtl_models/cache/posted_writes.h"

#include <gtest/gtest.h>

#include <array>

#include "rtl_models/sim/request_pool.h"

namespace warpline::test {
namespace posted_writes_test {

constexpr PhysicalAddress kLine{0x1000};

Request* write_of(RequestPool& pool, unsigned first, unsigned count, std::uint8_t value) {
  Request* r = pool.allocate();
  r->command = Command::write;
  r->line = kLine;
  r->bytes = ByteMask{};
  r->bytes.set(first, count);
  for (unsigned n = first; n < first + count; ++n) r->data[n] = value;
  return r;
}

std::array<std::uint8_t, kLineBytes> seen(const PostedWrites& posted, PhysicalAddress line = kLine) {
  std::array<std::uint8_t, kLineBytes> bytes{};
  posted.overlay(line, bytes.data(), kLineBytes);
  return bytes;
}

TEST(PostedWrites, AreSeenInTheirOrderUntilTheyArePerformed) {
  RequestPool pool;
  PostedWrites posted;
  Request* unseen = write_of(pool, 0, 128, 9);
  posted.sent(*unseen);
  EXPECT_EQ(seen(posted)[0], 0) << "nobody watches";
  posted.watch();
  Request* const first = write_of(pool, 8, 8, 1);
  Request* const second = write_of(pool, 12, 8, 2);
  posted.sent(*first);
  posted.sent(*second);
  EXPECT_EQ(seen(posted)[7], 0);
  EXPECT_EQ(seen(posted)[11], 1);
  EXPECT_EQ(seen(posted)[12], 2);
  EXPECT_EQ(seen(posted)[19], 2);
  EXPECT_EQ(seen(posted, PhysicalAddress{0x1080})[12], 0) << "another line";
  posted.performed(*second);
  EXPECT_EQ(seen(posted)[12], 1);
  EXPECT_EQ(seen(posted)[19], 0);
  posted.performed(*first);
  posted.performed(*first);
  EXPECT_EQ(seen(posted)[8], 0);
  for (Request* r : {unseen, first, second}) pool.release(r);
}

TEST(PostedWrites, BringWhatADebuggerHasWrittenSince) {
  RequestPool pool;
  PostedWrites posted;
  posted.watch();
  Request* const r = write_of(pool, 8, 8, 1);
  posted.sent(*r);
  const std::array<std::uint8_t, 4> bytes{5, 6, 7, 8};
  posted.update(PhysicalAddress{kLine.value + 6}, bytes.data(), 4);
  EXPECT_EQ(seen(posted)[7], 0) << "not a byte of the write";
  EXPECT_EQ(r->data[8], 7);
  EXPECT_EQ(r->data[9], 8);
  EXPECT_EQ(r->data[10], 1);
  pool.release(r);
}

}  // namespace posted_writes_test
}  // namespace warpline::test
