#include <gtest/gtest.h>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/pcie/root_complex/root_complex.h"
#include "rtl_models/queue_device/queue_device.h"
#include "rtl_models/registers/access_log.h"
#include "tests/sw/driver/command_traffic.h"

namespace warpline {
namespace random_access_test {

using test::BenchOfDriver;
using test::CommandTraffic;

struct Poke {
  unsigned bar = 0;
  std::uint64_t offset = 0;
  unsigned bytes = 4;
  bool writes = false;
};

Poke draw(Random& random) {
  constexpr std::array<unsigned, 4> kBars = {0, 0, 2, 4};
  Poke p;
  p.bar = kBars[random.below(kBars.size())];
  p.bytes = 1U << random.below(4);
  // Where registers are, mostly.
  const std::uint64_t most = p.bar != 0 ? 4096 : random.below(2) == 0 ? 0x80 : 0x4000;
  p.offset = random.below(most / p.bytes) * p.bytes;
  p.writes = random.below(2) == 0;
  return p;
}

/// Software gone mad, while commands run: the log says what it did, and a link's reset ends it.
TEST(RandomAccess, OfRegistersAndMemoryNeverEndsBadly) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    PcieSystemParameters parameters;
    parameters.device.completion_timeout = 3000;
    parameters.host.completion_timeout = 4000;
    parameters.peer.buffer_bytes = 1U << 15U;
    BenchOfDriver bench(parameters, seed % 3 == 0, 1U << 19U);
    bench.start(4);
    if (HasFatalFailure()) return;
    CommandTraffic traffic(bench, 0, 6, seed);
    while (traffic.submit()) {
    }
    ASSERT_EQ(wl_peer_ring(&bench.peer, 0), WL_OK);
    bench.host.pass(random.below(2000));
    const AccessLog& log = bench.system.peer(0).core().log();
    static_cast<void>(bench.port->read(bench.port->context, 0, WL_PEER_PRESENT_OFFSET, 4));
    const std::uint64_t before = log.total();
    std::vector<Poke> pokes;
    for (unsigned i = 0; i < 300; ++i) {
      const Poke& p = pokes.emplace_back(draw(random));
      if (p.writes) {
        bench.port->write(bench.port->context, p.bar, p.offset, p.bytes, random.next() >> random.below(64));
      } else {
        static_cast<void>(bench.port->read(bench.port->context, p.bar, p.offset, p.bytes));
      }
      if (random.below(4) == 0) bench.host.pass(random.below(300));
    }
    bench.host.pass(20000);
    ASSERT_EQ(log.total(), before + pokes.size());
    for (std::size_t i = 0; i < pokes.size(); ++i) {
      const BusAccess& access = log.entries()[before + i];
      ASSERT_EQ(access.bar, pokes[i].bar);
      ASSERT_EQ(access.offset, pokes[i].offset);
      ASSERT_EQ(access.bytes, pokes[i].bytes);
      ASSERT_EQ(access.kind, pokes[i].writes ? AccessKind::write : AccessKind::read);
    }
    wl_peer_teardown(&bench.peer);
    bench.system.hot_reset(0);
    bench.host.enumerate();
    bench.start(3);
    if (HasFatalFailure()) return;
    const wl_peer_command nop{};
    wl_peer_completion completion{};
    ASSERT_EQ(bench.run(nop, completion), WL_OK);
    EXPECT_EQ(completion.status, WL_PEER_STATUS_CODE_OK);
    wl_peer_teardown(&bench.peer);
    bench.host.pass(20000);
    EXPECT_EQ(bench.system.root().core().pool().in_use(), 0U);
  }
}

}  // namespace random_access_test
}  // namespace warpline
