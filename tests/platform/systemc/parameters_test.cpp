// Modules read preset values under their hierarchical names. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "platform/config/parameter_broker.h"
#include "platform/systemc/gpu_system_module.h"
#include "platform/systemc/memory_subsystem_module.h"
#include "platform/systemc/pcie_system_module.h"
#include "platform/systemc/systemc_backend.h"

namespace warpline {
namespace parameters_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParameterBroker& broker() {
  return ParameterBroker::global();
}

/// A platform that somebody else wrote.
struct Top final : sc_core::sc_module {
  explicit Top(const sc_core::sc_module_name& name) : sc_module(name) {}
  MemorySubsystemModule memory{"memory", {"mini", {"sms=2", "l2.slices=4"}}};
};

TEST(Parameters, OfAMemorySubsystemWithinAPlatform) {
  broker().set_preset_value("top.memory.sms", 1);
  broker().set_preset_value("top.memory.vidmem_bytes", 1U << 20U);
  {
    Top top("top");
    EXPECT_EQ(top.memory.sms(), 1U);
    EXPECT_EQ(top.memory.video_memory_bytes(), 1U << 20U);
    EXPECT_EQ(broker().parameter("top.memory.l2.slices")->value.number(), 4U);
    EXPECT_EQ(broker().parameter("top.memory.sms")->origin, ParameterOrigin::broker);
    EXPECT_THAT(broker().unconsumed_preset_values(), IsEmpty());
    EXPECT_THROW(broker().set_preset_value("top.memory.sms", 2), std::logic_error);
  }
  EXPECT_THAT(broker().parameters(), IsEmpty()) << "they go with the module";
}

TEST(Parameters, OfAGpuOnABus) {
  broker().set_preset_value("card.sms", 3);
  {
    GpuSystemModule card("card", {"mini", {"sms=1"}});
    EXPECT_EQ(card.platform().config().sms, 3U);
    EXPECT_EQ(broker().parameter("card.pcie_system.peers")->value.number(), 1U);
    EXPECT_THAT(broker().parameters("card.host_bus.*"), IsEmpty()) << "those are the card's";
  }
  EXPECT_THAT(broker().parameters(), IsEmpty());
  broker().set_preset_value("bare.pcie_system.peers", 0);
  try {
    GpuSystemModule bare("bare");
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("bare.pcie_system.peers: must be at least 1"));
  }
  EXPECT_THAT(broker().parameters(), IsEmpty()) << "it has not been made";
}

TEST(Parameters, OfAHostsPciExpress) {
  broker().set_preset_value("host.peers", 2);
  broker().set_preset_value("host.memory_bytes", 1U << 22U);
  broker().set_preset_value("host.host.latency", 33, "the plan");
  PcieSystemModule host("host");
  EXPECT_EQ(host.system().peers(), 2U);
  EXPECT_EQ(host.system().sysmem().size(), 1U << 22U);
  const Parameter latency = broker().parameter("host.host.latency").value();
  EXPECT_EQ(latency.value.number(), 33U);
  EXPECT_EQ(latency.default_value.number(), 20U);
  EXPECT_EQ(latency.set_by, "the plan");
  EXPECT_EQ(latency.key, "pcie_system.host.latency");
  EXPECT_EQ(broker().parameter("host.mhz")->value.number(), 1000U);
  broker().set_preset_value("wrong.peers", 9);
  EXPECT_THROW(PcieSystemModule("wrong"), std::invalid_argument);
  broker().set_preset_value("wrong.peers", "two");
  broker().set_preset_value("wrong.rooot", 1);
  try {
    PcieSystemModule wrong("wrong2");
    PcieSystemModule again("wrong");
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("peers: must be an integer, not a string"));
    EXPECT_THAT(e.what(), HasSubstr("rooot: unknown key"));
    EXPECT_THAT(e.what(), HasSubstr("did you mean \"root\"?"));
  }
  EXPECT_THAT(broker().parameters("wrong.*"), IsEmpty());
}

TEST(Parameters, OfAPlatformOfOnesOwnAndAWarningForWhatNobodyReads) {
  std::vector<std::string> warnings;
  static std::vector<std::string>* heard = nullptr;
  heard = &warnings;
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    if (r.get_severity() == sc_core::SC_WARNING) heard->emplace_back(r.get_msg());
  });
  broker().set_preset_value("my_gpu.l2.slices", 2);
  broker().set_preset_value("your_gpu.l2.slices", 2);
  broker().set_preset_value("other.thing", 2);
  broker().ignore_unconsumed_preset_values("other.*");
  const GpuConfig config = broker().load_gpu("my_gpu", "mini").value();
  RunOptions options;
  options.backend = std::make_shared<SystemCBackend>(config.clocks, HopTransport::direct);
  GpuPlatform gpu(config, options);
  gpu.build();
  EXPECT_EQ(gpu.config().l2.slices, 2U);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  EXPECT_THAT(warnings, ElementsAre("no module has read these preset values: your_gpu.l2.slices"));
  heard = nullptr;
}

}  // namespace parameters_test
}  // namespace warpline
