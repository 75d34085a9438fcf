#include "warpline/tlp/config_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace warpline {
namespace {

FunctionDescription description() {
  FunctionDescription d;
  d.vendor = 0x1234;
  d.device = 0x5678;
  d.class_code = 0x088001;
  d.revision = 7;
  d.bars[0] = {0x1000, false, false};
  d.bars[1] = {0x10'0000, true, true};
  d.bars[3] = {16, false, true};
  d.bars[4] = {std::uint64_t{1} << 33U, true, true};
  d.vectors = 32;
  d.msix_bar = 0;
  d.max_payload_supported = 512;
  d.link_speed = 3;
  d.link_width = 8;
  return d;
}

/// The capabilities, found by walking the list as software does: offset by number.
std::map<unsigned, unsigned> capabilities(const ConfigSpace& config) {
  std::map<unsigned, unsigned> found;
  if ((config.read(0x04) >> 20U & 1U) == 0) return found;
  for (unsigned at = config.read(0x34) & 0xFFU; at != 0; at = config.read(at) >> 8U & 0xFFU)
    if (!found.emplace(config.read(at) & 0xFFU, at).second) break;
  return found;
}

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

TEST(ConfigSpace, CapabilitiesAreFoundByTheirList) {
  const ConfigSpace with(description());
  const std::map<unsigned, unsigned> expected = {
      {0x01, with.power_capability()}, {0x11, with.msix_capability()}, {0x10, with.express_capability()}};
  EXPECT_EQ(capabilities(with), expected);
  FunctionDescription d = description();
  d.vectors = 0;
  const ConfigSpace without(d);
  EXPECT_EQ(without.msix_capability(), 0U);
  EXPECT_EQ(capabilities(without).size(), 2U);
  EXPECT_EQ(capabilities(without).count(0x11), 0U);
  EXPECT_FALSE(without.msix_enabled());
}

TEST(ConfigSpace, MsixSaysWhereItsTableIs) {
  FunctionDescription d = description();
  d.msix_bar = 1;
  ConfigSpace config(d);
  const unsigned at = config.msix_capability();
  EXPECT_EQ(config.read(at) >> 16U, 31U) << "one less than its vectors";
  EXPECT_EQ(config.read(at + 4), 1U);
  EXPECT_EQ(config.read(at + 8), 16U * 32 + 1);
  config.write(at, 0xFFFFFFFF);
  EXPECT_EQ(config.read(at) >> 16U, 0xC01FU);
  EXPECT_TRUE(config.msix_enabled());
  EXPECT_TRUE(config.msix_masked());
  config.write(at, 0x80000000);
  EXPECT_TRUE(config.msix_enabled());
  EXPECT_FALSE(config.msix_masked());
}

TEST(ConfigSpace, DeviceControlSetsSizesWithinWhatIsSupported) {
  ConfigSpace config(description());
  const unsigned control = config.express_capability() + 8;
  EXPECT_EQ(config.read(control - 4) & 7U, 2U) << "512 bytes supported";
  EXPECT_EQ(config.max_payload(), 128U);
  EXPECT_EQ(config.max_read_request(), 512U);
  EXPECT_TRUE(config.relaxed_ordering_enabled());
  EXPECT_TRUE(config.no_snoop_enabled());
  EXPECT_TRUE(config.extended_tags());
  for (unsigned code = 0; code < 8; ++code) {
    config.write(control, code << 5U | code << 12U, 0x3);
    EXPECT_EQ(config.max_payload(), std::min(128U << code, 512U));
    EXPECT_EQ(config.max_read_request(), std::min(128U << code, 4096U));
  }
  EXPECT_FALSE(config.relaxed_ordering_enabled());
  EXPECT_FALSE(config.no_snoop_enabled());
  EXPECT_FALSE(config.extended_tags());
  config.write(control, 0xFFFF, 0x3);
  EXPECT_EQ(config.read(control), 0x79FFU) << "no phantom functions, no auxiliary power, no function reset";
}

TEST(ConfigSpace, TheLinkIsAsFastAndWideAsDescribed) {
  const ConfigSpace config(description());
  const unsigned at = config.express_capability();
  EXPECT_EQ(config.read(at) >> 16U, 2U) << "version 2, an endpoint";
  EXPECT_EQ(config.read(at + 0x0C), 0x83U);
  EXPECT_EQ(config.read(at + 0x10) >> 16U & 0x3FFU, 0x83U);
  EXPECT_EQ(config.read(at + 0x2C), 0xEU) << "generations 1 to 3";
}

TEST(ConfigSpace, CompletionTimeoutsHaveRangesAndCanBeOff) {
  ConfigSpace config(description());
  const unsigned at = config.express_capability() + 0x28;
  EXPECT_EQ(config.read(at - 4), 0x1FU) << "all ranges, and off";
  const std::map<unsigned, unsigned> scales = {{0, 1},    {1, 1},      {2, 20},     {5, 320},     {6, 1300},
                                               {9, 5200}, {10, 20000}, {13, 80000}, {14, 340000}, {3, 1}};
  for (const auto& [code, scale] : scales) {
    config.write(at, code);
    EXPECT_EQ(config.completion_timeout_scale(), scale) << code;
    config.write(at, code | 0x10);
    EXPECT_EQ(config.completion_timeout_scale(), 0U) << code;
  }
}

TEST(ConfigSpace, PowerStatesD0AndD3hotExistAndComingBackResets) {
  ConfigSpace config(description());
  const unsigned at = config.power_capability() + 4;
  config.write(0x10, 0xE0000000);
  config.write(0x04, 6);
  for (const unsigned missing : {1U, 2U}) {
    config.write(at, missing);
    EXPECT_EQ(config.power_state(), PowerState::d0);
  }
  config.write(at, 3);
  EXPECT_EQ(config.power_state(), PowerState::d3hot);
  EXPECT_FALSE(config.decode(0xE0000000, 4));
  EXPECT_EQ(config.address_of(0), 0xE0000000U) << "it sleeps, and forgets nothing yet";
  config.write(at, 1);
  EXPECT_EQ(config.power_state(), PowerState::d3hot);
  EXPECT_FALSE(config.take_soft_reset());
  config.write(at, 0);
  EXPECT_EQ(config.power_state(), PowerState::d0);
  EXPECT_EQ(config.address_of(0), std::nullopt);
  EXPECT_FALSE(config.bus_master());
  EXPECT_TRUE(config.take_soft_reset());
  EXPECT_FALSE(config.take_soft_reset());
}

TEST(ConfigSpace, ResetUndoesEverySetting) {
  const ConfigSpace fresh(description());
  ConfigSpace config(description());
  const unsigned power = config.power_capability() + 4;
  for (unsigned at = 0; at < 256; at += 4)
    if (at != power) config.write(at, 0xFFFFFFFF);
  config.report(ConfigSpace::kFatal);
  unsigned changed = 0;
  for (unsigned at = 0; at < 4096; at += 4) changed += config.read(at) != fresh.read(at) ? 1 : 0;
  EXPECT_GE(changed, 11U);
  config.reset();
  for (unsigned at = 0; at < 4096; at += 4) ASSERT_EQ(config.read(at), fresh.read(at)) << at;
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

}  // namespace
}  // namespace warpline
