// Configuration keys as parameters: read under paths, preset before modules are made.
#include "platform/config/parameter_broker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"

namespace warpline {
namespace parameter_broker_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Exception, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return {};
}

std::string faults_of(const Result<GpuConfig>& config) {
  std::string all;
  if (config.ok()) return all;
  for (const Diagnostic& d : config.faults()) all += d.text();
  return all;
}

static_assert(!std::is_convertible_v<double, ParameterValue> && !std::is_convertible_v<void*, ParameterValue>,
              "neither is silently true");

TEST(ParameterBroker, EveryKeyIsAParameterUnderTheNameOfItsModule) {
  ParameterBroker broker;
  ASSERT_TRUE(broker.load_gpu("top.card", "v100", {"l2.slices=8", "hops.sm_l1_lg.request={latency=9}"}).ok());
  std::vector<std::string> keys;
  for (const Parameter& p : broker.parameters()) {
    EXPECT_EQ(p.path, "top.card." + p.key);
    EXPECT_FALSE(p.description.empty()) << p.path;
    keys.push_back(p.key);
  }
  EXPECT_EQ(keys, config_keys());
  const Parameter slices = broker.parameter("top.card.l2.slices").value();
  EXPECT_EQ(slices.value.number(), 8U);
  EXPECT_EQ(slices.default_value.number(), load_gpu("v100").value().l2.slices);
  EXPECT_EQ(slices.origin, ParameterOrigin::setting);
  EXPECT_EQ(slices.set_by, "--set");
  EXPECT_EQ(broker.parameter("top.card.hops.sm_l1_lg.request.latency")->origin, ParameterOrigin::setting);
  const Parameter sms = broker.parameter("top.card.sms").value();
  EXPECT_EQ(sms.origin, ParameterOrigin::built_in);
  EXPECT_EQ(sms.set_by, "v100.toml (built in)");
  EXPECT_EQ(sms.value, sms.default_value);
  EXPECT_EQ(broker.parameter("top.card.name")->value.text(), "v100");
  EXPECT_EQ(broker.parameter("top.card.pcie.atomic_ops")->value.boolean(),
            load_gpu("v100").value().pcie.atomic_ops);
  EXPECT_FALSE(broker.parameter("top.card.l2.slies"));
  EXPECT_FALSE(broker.parameter("l2.slices"));
}

TEST(ParameterBroker, APresetValueWinsOverSettings) {
  ParameterBroker broker;
  broker.set_preset_value("card.l2.slices", 2);
  broker.set_preset_value("card.pcie.atomic_ops", false, "the test plan");
  broker.set_preset_value("card.name", "mine");
  broker.set_preset_value("card.crossbar.hash_masks", std::vector<std::uint64_t>{3});
  EXPECT_TRUE(broker.has_preset_value("card.l2.slices"));
  EXPECT_EQ(broker.preset_value("card.l2.slices")->number(), 2U);
  EXPECT_FALSE(broker.has_preset_value("card.l2"));
  const GpuConfig config = broker.load_gpu("card", "mini", {"l2.slices=8", "sms=1"}).value();
  EXPECT_EQ(config.l2.slices, 2U);
  EXPECT_EQ(config.sms, 1U);
  EXPECT_EQ(config.name, "mine");
  EXPECT_FALSE(config.pcie.atomic_ops);
  EXPECT_THAT(config.crossbar.hash_masks, ElementsAre(3U));
  const Parameter slices = broker.parameter("card.l2.slices").value();
  EXPECT_EQ(slices.origin, ParameterOrigin::broker);
  EXPECT_EQ(slices.set_by, "preset value of card.l2.slices");
  EXPECT_EQ(slices.value.json(), "2");
  EXPECT_EQ(broker.parameter("card.pcie.atomic_ops")->set_by, "the test plan");
  EXPECT_THAT(broker.parameter("card.crossbar.hash_masks")->value.list(), ElementsAre(3U));
  EXPECT_EQ(broker.load_gpu("other", "mini").value().l2.slices, load_gpu("mini").value().l2.slices)
      << "a module of another name";
}

TEST(ParameterBroker, MistakesOfPresetValuesAreFaultsAllAtOnce) {
  ParameterBroker broker;
  broker.set_preset_value("card.l2.slies", 4);
  broker.set_preset_value("card.sms", "two", "plan.json");
  broker.set_preset_value("card.gpus", -1);
  const std::string all = faults_of(broker.load_gpu("card", "mini"));
  EXPECT_THAT(all, HasSubstr("preset value of card.l2.slies:1:4: error: gpu.l2.slies: unknown key"));
  EXPECT_THAT(all, HasSubstr("did you mean \"slices\"?"));
  EXPECT_THAT(all, HasSubstr("plan.json:1:7: error: gpu.sms: must be an integer, not a string"));
  EXPECT_THAT(all, HasSubstr("gpu.gpus: must not be negative"));
  EXPECT_THAT(broker.parameters(), IsEmpty()) << "there is no such module";
  ParameterBroker rule;
  rule.set_preset_value("card.gpus", 9);
  EXPECT_THAT(faults_of(rule.load_gpu("card", "mini")),
              HasSubstr("preset value of card.gpus:1:8: error: gpu.gpus: must be"));
}

TEST(ParameterBroker, WhatNobodyHasReadIsTold) {
  ParameterBroker broker;
  broker.set_preset_value("card.sms", 1);
  broker.set_preset_value("cart.sms", 1);
  broker.set_preset_value("cart.l2.slices", 1);
  broker.set_preset_value("cards.sms", 1);
  EXPECT_EQ(broker.unconsumed_preset_values().size(), 4U);
  ASSERT_TRUE(broker.load_gpu("card", "mini").ok());
  EXPECT_THAT(broker.unconsumed_preset_values(), ElementsAre("cards.sms", "cart.l2.slices", "cart.sms"));
  broker.ignore_unconsumed_preset_values("cart.*");
  EXPECT_THAT(broker.unconsumed_preset_values(), ElementsAre("cards.sms"));
}

TEST(ParameterBroker, ItIsTooLateOnceTheModuleIsMade) {
  ParameterBroker broker;
  ASSERT_TRUE(broker.load_gpu("card", "mini").ok());
  EXPECT_EQ(message_of<std::logic_error>([&] { broker.set_preset_value("card.l2.slices", 4); }),
            "card.l2.slices: too late: \"card\" has been made, and read its configuration then");
  EXPECT_FALSE(broker.has_preset_value("card.l2.slices"));
  broker.withdraw("card");
  broker.set_preset_value("card.l2.slices", 2);
  EXPECT_EQ(broker.load_gpu("card", "mini").value().l2.slices, 2U);
}

TEST(ParameterBroker, ALockedValueStays) {
  ParameterBroker broker;
  EXPECT_EQ(message_of<std::logic_error>([&] { broker.lock_preset_value("card.sms"); }),
            "card.sms: there is no preset value to be locked");
  broker.set_preset_value("card.sms", 3);
  broker.set_preset_value("card.sms", 1);
  broker.lock_preset_value("card.sms");
  EXPECT_EQ(message_of<std::logic_error>([&] { broker.set_preset_value("card.sms", 2); }),
            "card.sms: the preset value is locked, at 1");
  EXPECT_EQ(broker.load_gpu("card", "mini").value().sms, 1U);
}

TEST(ParameterBroker, ListsByPatternsInTheOrderOfTheKeys) {
  ParameterBroker broker;
  ASSERT_TRUE(broker.load_gpu("b", "mini").ok());
  ASSERT_TRUE(broker.load_gpu("a", "mini").ok());
  std::vector<std::string> paths;
  for (const Parameter& p : broker.parameters("?.clocks.*")) paths.push_back(p.path);
  EXPECT_THAT(paths, ElementsAre("b.clocks.sm", "b.clocks.l2", "b.clocks.dram", "b.clocks.link",
                                 "a.clocks.sm", "a.clocks.l2", "a.clocks.dram", "a.clocks.link"));
}

TEST(ParameterBroker, SaysTheRulesOfAParameter) {
  ParameterBroker broker;
  ASSERT_TRUE(broker.load_gpu("card", "mini").ok());
  EXPECT_THAT(broker.rules(*broker.parameter("card.hops.sm_l1_lg.request.width")),
              Contains("must be 1 to 128 bytes"));
  EXPECT_THAT(broker.rules(*broker.parameter("card.pcie_system.peers")), Contains("must be at most 8"));
}

TEST(ParameterValue, HasTheTypeThatItHas) {
  const ParameterValue list = ParameterValue::from_json("[1, 0x20]");
  EXPECT_THAT(list.list(), ElementsAre(1U, 32U));
  EXPECT_THAT(ParameterValue(std::vector<std::uint64_t>{}).list(), IsEmpty());
  EXPECT_EQ(ParameterValue(std::vector<std::uint64_t>{1, 2}).json(), "[1, 2]");
  EXPECT_EQ(ParameterValue("a\"b").json(), "\"a\\\"b\"");
  EXPECT_EQ(ParameterValue("a\"b").text(), "a\"b");
  EXPECT_EQ(ParameterValue(~std::uint64_t{0}).number(), ~std::uint64_t{0});
  EXPECT_EQ(ParameterValue(true).json(), "true");
  EXPECT_EQ(ParameterValue(4), ParameterValue::from_json("4"));
  EXPECT_NE(ParameterValue(4), ParameterValue("4"));
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)ParameterValue(true).number(); }),
            "the value is true, not a whole number from 0 on");
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)ParameterValue(1).boolean(); }),
            "the value is 1, not true or false");
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)ParameterValue(1).text(); }),
            "the value is 1, not a string");
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)ParameterValue("x").list(); }),
            "the value is \"x\", not an array of whole numbers from 0 on");
  for (const char* wrong : {"", "1.5", "{a = 1}", "[1, \"x\"]", "4\nsms = 1", "yes", "4 5"})
    EXPECT_THAT(message_of<std::invalid_argument>([&] { (void)ParameterValue::from_json(wrong); }),
                HasSubstr("is no value of a parameter"))
        << wrong;
}

}  // namespace parameter_broker_test
}  // namespace warpline
