#include <gtest/gtest.h>

#include "rtl_models/base/random.h"
#include "tests/rtl_models/pcie/gpu_link/bench_of_pcie.h"
#include "tests/support/naive_atomic.h"

namespace warpline::test {
namespace pcie_traffic_test {

struct Shape {
  PcieParameters parameters;
  std::vector<std::vector<Item>> items;
  ClockDomain domain;
  Cycle gap = 1;
};

/// Port i works on lines i, i + ports, ...: what it reads depends on its own requests alone.
Shape random_shape(std::uint64_t seed) {
  Random random(seed * 131);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<unsigned>(low + random.below(high - low + 1));
  };
  Shape s;
  s.parameters.latency = pick(1, 60);
  s.parameters.bytes_per_cycle = pick(1, 64);
  s.parameters.tlp_overhead = pick(0, 40);
  s.parameters.max_payload = pick(32, 256);
  s.parameters.tags = pick(1, 40);
  s.parameters.atomic_ops = pick(0, 3) != 0;
  s.domain = ClockDomain(pick(3, 7), 3);
  s.gap = pick(1, 5);
  s.items.resize(pick(1, 5));
  for (unsigned port = 0; port < s.items.size(); ++port) {
    Cycle at = 0;
    for (unsigned i = 0; i < 60; ++i) {
      at += pick(0, 20);
      const PhysicalAddress line = sys((port + s.items.size() * pick(0, 2)) * 128ULL);
      switch (pick(0, 2)) {
        case 0: s.items[port].push_back(read_item(at, line, static_cast<SectorMask>(pick(1, 15)))); break;
        case 1: {
          const unsigned offset = pick(0, 127);
          Item item = write_item(at, line, bytes(offset, pick(1, 128 - offset)));
          for (std::uint8_t& b : item.request.data) b = static_cast<std::uint8_t>(random.next());
          s.items[port].push_back(item);
          break;
        }
        default: {
          s.items[port].push_back(atomic_item(at, line, random_atomic_block(random)));
        }
      }
    }
  }
  return s;
}

/// Memory as it must be if every port's requests were performed in order.
void check_data(const Shape& s, const PcieBench& bench, std::uint64_t seed) {
  std::vector<std::uint8_t> memory(65536, 0);
  for (std::size_t port = 0; port < s.items.size(); ++port) {
    for (std::size_t i = 0; i < s.items[port].size(); ++i) {
      const Item& item = s.items[port][i];
      const Answer& answer = bench.l2[port]->answers[i];
      std::uint8_t* line = &memory[offset_in_aperture(item.request.line)];
      switch (item.request.command) {
        case Command::read:
          for (unsigned b = 0; b < kLineBytes; ++b) {
            if (((item.request.sectors >> (b / 32)) & 1U) != 0) {
              ASSERT_EQ(answer.data[b], line[b]) << "seed " << seed << " port " << port << " item " << i;
            }
          }
          break;
        case Command::write:
          for (unsigned b = 0; b < kLineBytes; ++b)
            if (item.request.bytes.test(b)) line[b] = item.request.data[b];
          break;
        default:
          for (unsigned lane = 0; lane < item.atomics->count; ++lane) {
            const LaneBytes old = naive_lane(*item.atomics, lane, line);
            ASSERT_EQ(old_bytes(answer.atomics, lane), old)
                << "seed " << seed << " port " << port << " item " << i << " " << name_of(item.atomics->type);
          }
      }
    }
  }
  EXPECT_EQ(std::memcmp(memory.data(), bench.memory.at(0), memory.size()), 0) << "seed " << seed;
}

TEST(PcieTraffic, DataIsThatOfEachPortInOrder) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Shape s = random_shape(seed);
    PcieBench bench(s.parameters, s.items, true, s.domain, TickMode::lazy, s.gap);
    ASSERT_EQ(bench.engine.run_until(10000000), RunOutcome::quiescent) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(check_data(s, bench, seed));
    const PcieCounters& c = bench.link.counters();
    EXPECT_EQ(c.requests, s.items.size() * 60);
    EXPECT_EQ(c.requests, c.reads + c.writes + c.atomics);
    EXPECT_EQ(bench.engine.pool().in_use(), 0U);
  }
}

TEST(PcieTraffic, AllTickModesAgree) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Shape s = random_shape(seed);
    PcieBench lazy(s.parameters, s.items, true, s.domain, TickMode::lazy, s.gap);
    ASSERT_EQ(lazy.engine.run_until(10000000), RunOutcome::quiescent);
    for (const TickMode mode : {TickMode::every_cycle, TickMode::spurious_and_shuffled}) {
      PcieBench other(s.parameters, s.items, true, s.domain, mode, s.gap);
      ASSERT_EQ(other.engine.run_until(10000000), RunOutcome::quiescent);
      for (std::size_t port = 0; port < s.items.size(); ++port)
        for (std::size_t i = 0; i < s.items[port].size(); ++i) {
          ASSERT_EQ(lazy.l2[port]->answers[i].sent, other.l2[port]->answers[i].sent) << "seed " << seed;
          ASSERT_EQ(lazy.l2[port]->answers[i].answered, other.l2[port]->answers[i].answered)
              << "seed " << seed;
        }
      EXPECT_EQ(lazy.link.counters().tlp_bytes, other.link.counters().tlp_bytes);
      EXPECT_EQ(lazy.link.counters().cas_retries, other.link.counters().cas_retries);
    }
  }
}

}  // namespace pcie_traffic_test
}  // namespace warpline::test
