// DRAM answers a fetch with an error: who waited is told, and nothing is installed.
#include "tests/rtl_models/l2/core_bench.h"

namespace warpline::test {
namespace l2_error_test {

class Nowhere final : public WriteBackSink {
 public:
  void write_back(const WriteBack& /*w*/) override {}
};

Request read_of(SectorMask sectors) {
  Request r;
  r.command = Command::read;
  r.line = PhysicalAddress{0};
  r.sectors = sectors;
  return r;
}

Request fetch_of(const Request& r, const L2Outcome& out, Status status) {
  Request f;
  f.command = Command::read;
  f.line = r.line;
  f.sectors = out.fetch;
  f.token = out.entry;
  f.status = status;
  return f;
}

TEST(L2Errors, AFailedFetchReachesThoseWhoWaitedForItAndInstallsNothing) {
  MemoryImage vidmem(1 << 16);
  L2Core core(one_line(), 1, &vidmem);
  Nowhere sink;
  Request low = read_of(1), both = read_of(3), high = read_of(2);
  const L2Outcome first = core.access(low, sink), second = core.access(both, sink);
  ASSERT_EQ(first.fetch, 1U);
  ASSERT_EQ(second.fetch, 2U);
  ASSERT_EQ(core.access(high, sink).kind, L2Outcome::Kind::wait);
  RequestList served, again;
  core.fill(fetch_of(low, first, Status::address_error), served, again, sink);
  ASSERT_EQ(served.pop(), &low);
  EXPECT_TRUE(served.empty());
  EXPECT_EQ(low.status, Status::address_error);
  core.fill(fetch_of(both, second, Status::ok), served, again, sink);
  ASSERT_EQ(served.pop(), &both);
  ASSERT_EQ(served.pop(), &high);
  EXPECT_EQ(both.status, Status::address_error) << "one of its sectors is not there";
  EXPECT_EQ(high.status, Status::ok);
  EXPECT_EQ(core.counters().dead_fills, 1U);
  Request again_low = read_of(1), again_high = read_of(2);
  EXPECT_EQ(core.access(again_high, sink).kind, L2Outcome::Kind::done);
  EXPECT_EQ(core.access(again_low, sink).fetch, 1U) << "what failed is asked for again";
  EXPECT_EQ(core.misses().in_use(), 1U);
}

}  // namespace l2_error_test
}  // namespace warpline::test
