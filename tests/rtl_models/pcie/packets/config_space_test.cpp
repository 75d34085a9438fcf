#include "rtl_models/pcie/packets/config_space.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/rtl_models/pcie/packets/described_function.h"

namespace warpline {
namespace config_space_test {

using test::description;

TEST(ConfigSpace, TheHeaderSaysWhoItIs) {
  const ConfigSpace config(description());
  EXPECT_EQ(config.read(0x00), 0x56781234U);
  EXPECT_EQ(config.read(0x08), 0x08800107U);
  EXPECT_EQ(config.read(0x0C), 0U) << "type 0, one function";
  EXPECT_EQ(config.read(0x2C), 0x00011AF0U);
  EXPECT_EQ(config.read(0x30), 0U) << "no expansion ROM";
  EXPECT_EQ(config.read(0x100), 0U) << "no extended capabilities";
  EXPECT_EQ(config.read(0xFFC), 0U);
}

struct Sized {
  std::uint64_t bytes = 0;
  bool wide = false, prefetchable = false;
};

/// As an operating system enumerates: all ones in, what sticks says how large.
std::map<unsigned, Sized> size_bars(ConfigSpace& config) {
  std::map<unsigned, Sized> sized;
  for (unsigned i = 0; i < kBars; ++i) {
    const unsigned at = 0x10 + 4 * i;
    const std::uint32_t before = config.read(at);
    config.write(at, 0xFFFFFFFF);
    std::uint64_t mask = config.read(at) | 0xFFFFFFFF00000000ULL;
    config.write(at, before);
    Sized s{0, (mask & 4U) != 0, (mask & 8U) != 0};
    if (static_cast<std::uint32_t>(mask) == 0) continue;
    const unsigned bar = i;
    if (s.wide) {
      ++i;
      config.write(at + 4, 0xFFFFFFFF);
      mask = (mask & 0xFFFFFFFFU) | std::uint64_t{config.read(at + 4)} << 32U;
      config.write(at + 4, 0);
    }
    s.bytes = ~(mask & ~std::uint64_t{0xF}) + 1;
    sized[bar] = s;
  }
  return sized;
}

TEST(ConfigSpace, AnOperatingSystemSizesAndPlacesItsBars) {
  ConfigSpace config(description());
  const std::map<unsigned, Sized> sized = size_bars(config);
  ASSERT_EQ(sized.size(), 4U);
  for (const auto& [bar, s] : sized) {
    const BarDescription& d = config.description().bars[bar];
    EXPECT_EQ(s.bytes, d.bytes) << "BAR " << bar;
    EXPECT_EQ(s.wide, d.wide) << "BAR " << bar;
    EXPECT_EQ(s.prefetchable, d.prefetchable) << "BAR " << bar;
    EXPECT_EQ(config.address_of(bar), std::nullopt) << "not placed yet";
  }
  EXPECT_EQ(config.address_of(2), std::nullopt) << "the upper half of BAR 1 is none of its own";
  config.write(0x10, 0xE0000123);
  config.write(0x14, 0x00123456);
  config.write(0x18, 0x00000042);
  config.write(0x1C, 0x000000FF);
  config.write(0x20, 0xFFFFFFFF);
  config.write(0x24, 0x00000012);
  EXPECT_EQ(config.address_of(0), 0xE0000000U) << "multiples of its size";
  EXPECT_EQ(config.address_of(1), 0x4200100000U);
  EXPECT_EQ(config.address_of(3), 0xF0U);
  EXPECT_EQ(config.address_of(4), 0x1200000000U);
}

TEST(ConfigSpace, ABarClaimsAccessesThatLieInItWhole) {
  ConfigSpace config(description());
  config.write(0x10, 0xE0000000);
  config.write(0x18, 0x00000042);
  EXPECT_FALSE(config.decode(0xE0000000, 4)) << "memory space is off";
  config.write(0x04, 2);
  const auto expect_hit = [&](std::uint64_t address, std::uint64_t bytes, unsigned bar,
                              std::uint64_t offset) {
    const auto hit = config.decode(address, bytes);
    ASSERT_TRUE(hit) << std::hex << address;
    EXPECT_EQ(hit->bar, bar);
    EXPECT_EQ(hit->offset, offset);
  };
  expect_hit(0xE0000000, 4, 0, 0);
  expect_hit(0xE0000FFC, 4, 0, 0xFFC);
  expect_hit(0xE0000FFF, 0, 0, 0xFFF);
  expect_hit(0x42000FFFFF, 1, 1, 0xFFFFF);
  EXPECT_FALSE(config.decode(0xE0000FFD, 4)) << "ends outside";
  EXPECT_FALSE(config.decode(0xDFFFFFFF, 4)) << "begins outside";
  EXPECT_FALSE(config.decode(0xE0001000, 0));
  EXPECT_FALSE(config.decode(0, 16)) << "BAR 3 is not placed";
  config.write(0x20, 0xFFFFFFFF);
  config.write(0x24, 0xFFFFFFFF);
  expect_hit(0xFFFFFFFFFFFFFFF0, 16, 4, 0x1FFFFFFF0);
  EXPECT_FALSE(config.decode(0xFFFFFFFFFFFFFFF0, 17)) << "no wrap around the end of addresses";
}

TEST(ConfigSpace, CommandHasTheBitsThatMeanSomething) {
  ConfigSpace config(description());
  config.write(0x04, 0x0000FFFF);
  EXPECT_EQ(config.read(0x04) & 0xFFFFU, 0x0546U) << "memory, master, parity, SERR, interrupt disable";
  EXPECT_TRUE(config.memory_enabled());
  EXPECT_TRUE(config.bus_master());
  EXPECT_TRUE(config.parity_response());
  config.write(0x04, 0, 0x2);
  EXPECT_EQ(config.read(0x04) & 0xFFFFU, 0x0046U) << "only the upper byte is written";
  config.write(0x04, 0, 0x1);
  EXPECT_FALSE(config.bus_master());
}

TEST(ConfigSpace, ErrorBitsAreClearedByWritingOne) {
  ConfigSpace config(description());
  config.report_status(1U << 15U | 1U << 12U);
  EXPECT_EQ(config.read(0x04) >> 16U, 0x9010U);
  config.write(0x04, 0x80000006, 0x3);
  EXPECT_EQ(config.read(0x04), 0x90100006U) << "status is not written when command is";
  config.write(0x04, 0x80000000, 0xC);
  EXPECT_EQ(config.read(0x04), 0x10100006U);
  const unsigned control = config.express_capability() + 8;
  config.report(ConfigSpace::kCorrectable | ConfigSpace::kUnsupportedRequest);
  config.show_pending(true);
  EXPECT_EQ(config.read(control) >> 16U, 0x29U);
  config.write(control, 0xFFFF0000, 0xC);
  EXPECT_EQ(config.read(control) >> 16U, 0x20U) << "pending transactions are no error";
  config.show_pending(false);
  EXPECT_EQ(config.read(control) >> 16U, 0U);
}

TEST(FunctionDescription, EveryBrokenRuleIsNamed) {
  EXPECT_TRUE(description().problems("f").empty());
  const auto expect_problem = [](auto&& change, const std::string& path) {
    FunctionDescription d = description();
    change(d);
    const Problems problems = d.problems("f");
    ASSERT_FALSE(problems.empty()) << path;
    EXPECT_EQ(problems.front().path, path);
  };
  using D = FunctionDescription;
  expect_problem([](D& d) { d.vendor = 0xFFFF; }, "f.vendor");
  expect_problem([](D& d) { d.class_code = 0x1000000; }, "f.class_code");
  expect_problem([](D& d) { d.bars[0].bytes = 0x1800; }, "f.bars[0]");
  expect_problem([](D& d) { d.bars[3].bytes = 8; }, "f.bars[3]");
  expect_problem([](D& d) { d.bars[0].bytes = std::uint64_t{1} << 32U; }, "f.bars[0]");
  expect_problem([](D& d) { d.bars[2].bytes = 16; }, "f.bars[1]");
  expect_problem([](D& d) { d.bars[5] = {16, true, false}; }, "f.bars[4]");
  expect_problem([](D& d) { d.vectors = 2049; }, "f.vectors");
  expect_problem([](D& d) { d.vectors = 256; }, "f.msix_bar");
  expect_problem([](D& d) { d.msix_bar = 6; }, "f.msix_bar");
  expect_problem([](D& d) { d.max_payload_supported = 64; }, "f.max_payload_supported");
  expect_problem([](D& d) { d.link_speed = 0; }, "f.link_speed");
  expect_problem([](D& d) { d.link_width = 3; }, "f.link_width");
  D last = description();
  last.bars[4] = {};
  last.bars[5] = {16, true, false};
  EXPECT_EQ(last.problems("f").size(), 1U) << "nothing comes after the last BAR";
}

}  // namespace config_space_test
}  // namespace warpline
