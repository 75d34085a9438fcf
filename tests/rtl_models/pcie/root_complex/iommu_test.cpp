#include "rtl_models/pcie/root_complex/iommu.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "rtl_models/base/random.h"

namespace warpline {
namespace iommu_test {

constexpr FunctionId kDevice = function_id(1, 0, 0), kOther = function_id(2, 0, 0);
constexpr std::uint64_t kPage = Iommu::kPage;

/// One window of two pages at 0x10000, which lies at 0x80000.
struct Bench {
  Bench() {
    iommu.enable(true);
    domain = iommu.make_domain();
    iommu.attach(kDevice, domain);
    EXPECT_TRUE(iommu.map(domain, {0x10000, 2 * kPage, 0x80000}));
  }
  std::optional<std::uint64_t> read(std::uint64_t address, std::uint32_t bytes, FunctionId who = kDevice) {
    return iommu.translate(who, address, bytes, false, 5);
  }
  std::optional<std::uint64_t> write(std::uint64_t address, std::uint32_t bytes) {
    return iommu.translate(kDevice, address, bytes, true, 6);
  }
  Iommu iommu;
  Iommu::Domain domain = 0;
};

TEST(Iommu, OffAddressesGoThroughAsTheyAre) {
  Iommu iommu;
  EXPECT_FALSE(iommu.enabled());
  EXPECT_EQ(iommu.translate(kDevice, 0x1234, 4, true, 0), 0x1234U);
  EXPECT_EQ(iommu.fault_count(), 0U);
}

TEST(Iommu, AWindowMovesItsAddresses) {
  Bench bench;
  EXPECT_EQ(bench.read(0x10000, 4), 0x80000U);
  EXPECT_EQ(bench.write(0x11FFF, 1), 0x81FFFU);
  EXPECT_EQ(bench.read(0x10FFC, 8), 0x80FFCU) << "pages of one window lie side by side";
  EXPECT_EQ(bench.read(0x11FFF, 0), 0x81FFFU) << "a flush";
  EXPECT_EQ(bench.iommu.fault_count(), 0U);
}

TEST(Iommu, EveryReasonToRefuseIsRecorded) {
  using R = IommuFault::Reason;
  Bench bench;
  ASSERT_TRUE(bench.iommu.map(bench.domain, {0x20000, kPage, 0, true, false}));
  ASSERT_TRUE(bench.iommu.map(bench.domain, {0x21000, kPage, 0, false, true}));
  const auto expect_fault = [&](const std::optional<std::uint64_t>& result, std::uint64_t address, R reason) {
    EXPECT_EQ(result, std::nullopt);
    const auto fault = bench.iommu.take_fault();
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->reason, reason) << to_text(fault->reason);
    EXPECT_EQ(fault->address, address);
    EXPECT_EQ(fault->cycle, fault->write ? 6U : 5U);
  };
  expect_fault(bench.read(0x10000, 4, kOther), 0x10000, R::no_domain);
  expect_fault(bench.read(0x0, 4), 0x0, R::unmapped);
  expect_fault(bench.read(0xFFFF, 4), 0xFFFF, R::unmapped);
  expect_fault(bench.write(0x12000, 4), 0x12000, R::unmapped);
  expect_fault(bench.read(0x12000, 0), 0x12000, R::unmapped);
  expect_fault(bench.write(0x11FFD, 4), 0x11FFD, R::beyond_window);
  expect_fault(bench.write(0x20000, 4), 0x20000, R::no_write);
  expect_fault(bench.read(0x21000, 4), 0x21000, R::no_read);
  EXPECT_EQ(bench.read(0x20000, 4), 0U);
  EXPECT_EQ(bench.write(0x21000, 4), 0U);
  EXPECT_EQ(bench.iommu.fault_count(), 8U);
  EXPECT_FALSE(bench.iommu.take_fault());
}

TEST(Iommu, AReadOfNoByteFollowsTheWritesOfAWindowThatMayNotBeRead) {
  Bench bench;
  ASSERT_TRUE(bench.iommu.map(bench.domain, {0x20000, kPage, 0x40000, false, true}));
  ASSERT_TRUE(bench.iommu.map(bench.domain, {0x21000, kPage, 0x50000, false, false}));
  EXPECT_EQ(bench.read(0x20FFF, 0), 0x40FFFU);
  EXPECT_EQ(bench.iommu.fault_count(), 0U);
  EXPECT_EQ(bench.read(0x20FFF, 1), std::nullopt);
  EXPECT_EQ(bench.read(0x21000, 0), std::nullopt) << "nor written";
  EXPECT_EQ(bench.iommu.fault_count(), 2U);
}

TEST(Iommu, DomainsAreApartAndCanBeShared) {
  Bench bench;
  const Iommu::Domain second = bench.iommu.make_domain();
  ASSERT_TRUE(bench.iommu.map(second, {0x10000, kPage, 0xF0000}));
  bench.iommu.attach(kOther, second);
  EXPECT_EQ(bench.read(0x10000, 4, kOther), 0xF0000U);
  EXPECT_EQ(bench.read(0x10000, 4), 0x80000U);
  bench.iommu.attach(kOther, bench.domain);
  EXPECT_EQ(bench.read(0x10000, 4, kOther), 0x80000U) << "out of the one it was in";
  bench.iommu.detach(kOther);
  EXPECT_EQ(bench.read(0x10000, 4, kOther), std::nullopt);
  EXPECT_EQ(bench.read(0x10000, 4), 0x80000U);
}

TEST(Iommu, WindowsThatCannotBeAreRefused) {
  Bench bench;
  const auto refused = [&](const Iommu::Window& w) { return !bench.iommu.map(bench.domain, w); };
  EXPECT_TRUE(refused({0x30000, 0, 0}));
  EXPECT_TRUE(refused({0x30001, kPage, 0}));
  EXPECT_TRUE(refused({0x30000, kPage - 1, 0}));
  EXPECT_TRUE(refused({0x30000, kPage, 0x800}));
  EXPECT_TRUE(refused({0 - kPage, 2 * kPage, 0})) << "past the end of addresses";
  EXPECT_TRUE(refused({0x30000, 2 * kPage, 0 - kPage})) << "past the end of memory";
  EXPECT_TRUE(refused({0x10000, kPage, 0}));
  EXPECT_TRUE(refused({0x11000, kPage, 0}));
  EXPECT_TRUE(refused({0xF000, 2 * kPage, 0}));
  EXPECT_TRUE(refused({0xF000, 16 * kPage, 0}));
  EXPECT_FALSE(refused({0xF000, kPage, 0}));
  EXPECT_FALSE(refused({0x12000, kPage, 0}));
  EXPECT_FALSE(refused({0 - kPage, kPage, 0 - kPage})) << "the last page of all";
  EXPECT_EQ(bench.read(0 - std::uint64_t{4}, 4), 0 - std::uint64_t{4});
  EXPECT_EQ(bench.read(0 - std::uint64_t{4}, 8), std::nullopt) << "no wrap to address 0";
}

TEST(Iommu, AWindowIsTakenAwayByItsFirstAddress) {
  Bench bench;
  EXPECT_FALSE(bench.iommu.unmap(bench.domain, 0x11000));
  EXPECT_TRUE(bench.iommu.unmap(bench.domain, 0x10000));
  EXPECT_FALSE(bench.iommu.unmap(bench.domain, 0x10000));
  EXPECT_EQ(bench.read(0x11000, 4), std::nullopt);
}

TEST(Iommu, FaultsBeyondItsRoomAreCountedOnly) {
  Iommu iommu(2);
  iommu.enable(true);
  for (Cycle c = 0; c < 5; ++c) static_cast<void>(iommu.translate(kDevice, 0, 4, false, c));
  EXPECT_EQ(iommu.fault_count(), 5U);
  ASSERT_EQ(iommu.faults().size(), 2U);
  EXPECT_EQ(iommu.faults().front().cycle, 0U) << "the first say how it began";
  static_cast<void>(iommu.take_fault());
  static_cast<void>(iommu.translate(kDevice, 0, 4, false, 9));
  EXPECT_EQ(iommu.faults().back().cycle, 9U);
}

/// What a page is in the naive twin: whose window, and where it lies.
struct Page {
  std::uint64_t window = 0, physical = 0;
  bool readable = false, writable = false;
};
using Pages = std::map<std::uint64_t, Page>;

TEST(Iommu, RandomUseIsThatOfATableOfPages) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    Iommu iommu;
    iommu.enable(true);
    std::map<Iommu::Domain, Pages> domains;
    for (int i = 0; i < 3; ++i) domains[iommu.make_domain()];
    std::map<std::uint16_t, Iommu::Domain> devices;
    std::uint64_t faults = 0;
    for (unsigned step = 0; step < 600; ++step) {
      const std::string where = "seed " + std::to_string(seed) + " step " + std::to_string(step);
      const FunctionId device = function_id(1 + static_cast<unsigned>(random.below(4)), 0, 0);
      const auto domain = static_cast<Iommu::Domain>(random.below(3));
      Pages& pages = domains[domain];
      const std::uint64_t page = random.below(40);
      switch (random.below(8)) {
        case 0: iommu.attach(device, domain), devices[device.value] = domain; break;
        case 1:
          if (random.below(4) != 0) break;
          iommu.detach(device);
          devices.erase(device.value);
          break;
        case 2: {
          const std::uint64_t count = 1 + random.below(4), physical = kPage * random.below(1000);
          const Iommu::Window w{page * kPage, count * kPage, physical, random.below(4) != 0,
                                random.below(4) != 0};
          const auto next = pages.lower_bound(page);
          const bool free = next == pages.end() || next->first >= page + count;
          ASSERT_EQ(iommu.map(domain, w), free) << where;
          for (std::uint64_t i = 0; free && i < count; ++i)
            pages[page + i] = {page, physical + i * kPage, w.readable, w.writable};
          break;
        }
        case 3: {
          const auto at = pages.find(page);
          const bool begins = at != pages.end() && at->second.window == page;
          ASSERT_EQ(iommu.unmap(domain, page * kPage), begins) << where;
          for (auto it = at; begins && it != pages.end() && it->second.window == page;) it = pages.erase(it);
          break;
        }
        default: {
          const std::uint64_t address = page * kPage + random.below(kPage);
          const auto bytes =
              static_cast<std::uint32_t>(random.below(8) == 0 ? 0 : 1 + random.below(2 * kPage));
          const bool write = random.below(2) == 0;
          std::optional<std::uint64_t> expected;
          if (devices.count(device.value) != 0) {
            const Pages& own = domains[devices[device.value]];
            const auto first = own.find(page);
            bool allowed = first != own.end();
            const std::uint64_t last = bytes == 0 ? address : address + bytes - 1;
            for (std::uint64_t p = page; allowed && p <= last / kPage; ++p) {
              const auto at = own.find(p);
              allowed =
                  at != own.end() && at->second.window == first->second.window &&
                  (write ? at->second.writable : at->second.readable || (bytes == 0 && at->second.writable));
            }
            if (allowed) expected = first->second.physical + address % kPage;
          }
          faults += expected ? 0 : 1;
          ASSERT_EQ(iommu.translate(device, address, bytes, write, step), expected) << where;
        }
      }
    }
    ASSERT_EQ(iommu.fault_count(), faults) << "seed " << seed;
  }
}

}  // namespace iommu_test
}  // namespace warpline
