#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "rtl_models/pcie/packets/config_space.h"
#include "tests/rtl_models/pcie/packets/described_function.h"

namespace warpline {
namespace config_capabilities_test {

using test::description;

/// The capabilities, found by walking the list as software does: offset by number.
std::map<unsigned, unsigned> capabilities(const ConfigSpace& config) {
  std::map<unsigned, unsigned> found;
  if ((config.read(0x04) >> 20U & 1U) == 0) return found;
  for (unsigned at = config.read(0x34) & 0xFFU; at != 0; at = config.read(at) >> 8U & 0xFFU)
    if (!found.emplace(config.read(at) & 0xFFU, at).second) break;
  return found;
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
  config.write(control, 0x7FFF, 0x3);
  EXPECT_EQ(config.read(control), 0x79FFU) << "no phantom functions, no auxiliary power";
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

TEST(ConfigSpace, AFunctionLevelResetUndoesAllButWhatTheLinkGoesOnWith) {
  ConfigSpace config(description());
  const unsigned express = config.express_capability(), control = express + 8;
  EXPECT_NE(config.read(express + 4) & 1U << 28U, 0U) << "the function offers it";
  config.write(0x10, 0xE0000000);
  config.write(0x04, 6);
  config.write(config.msix_capability(), 1U << 31U);
  config.write(control, 1U << 5U | 5U << 12U);
  config.report(ConfigSpace::kFatal);
  EXPECT_FALSE(config.take_soft_reset());
  config.write(control, 1U << 15U | 1U << 5U, 0x1);
  EXPECT_FALSE(config.was_softly_reset()) << "the byte with the bit is not written";
  config.write(control, 1U << 15U | 2U << 5U, 0x2);
  EXPECT_EQ(config.address_of(0), std::nullopt);
  EXPECT_FALSE(config.memory_enabled());
  EXPECT_FALSE(config.bus_master());
  EXPECT_FALSE(config.msix_enabled());
  EXPECT_EQ(config.read(control), (ConfigSpace(description()).read(control) & ~(7U << 5U)) | 1U << 5U);
  EXPECT_TRUE(config.take_soft_reset());
  EXPECT_FALSE(config.take_soft_reset());
}

TEST(ConfigSpace, ResetUndoesEverySetting) {
  const ConfigSpace fresh(description());
  ConfigSpace config(description());
  const unsigned power = config.power_capability() + 4, control = config.express_capability() + 8;
  for (unsigned at = 0; at < 256; at += 4)
    if (at != power) config.write(at, at == control ? 0xFFFF7FFF : 0xFFFFFFFF);
  config.report(ConfigSpace::kFatal);
  unsigned changed = 0;
  for (unsigned at = 0; at < 4096; at += 4) changed += config.read(at) != fresh.read(at) ? 1 : 0;
  EXPECT_GE(changed, 11U);
  config.reset();
  for (unsigned at = 0; at < 4096; at += 4) ASSERT_EQ(config.read(at), fresh.read(at)) << at;
}

}  // namespace config_capabilities_test
}  // namespace warpline
