// The given producer, consumer and doorbell, by launch files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace given_handshake_test {

using testing::HasSubstr;

std::string module_path() {
  return in_source("../shared/inputs/kernels/k08_handshake.sm_80.ptx");
}
std::string launch(const std::string& kernel) {
  return "[[launch]]\nmodule = \"" + module_path() + "\"\nkernel = \"" + kernel +
         "\"\ngrid = [1]\nblock = [64]\n";
}
std::string scalar(unsigned n) {
  return "[[launch.argument]]\ntype = \"u32\"\nscalar = " + std::to_string(n) + "\n";
}
std::string named(const std::string& buffer) {
  return "[[launch.argument]]\nbuffer = \"" + buffer + "\"\n";
}
std::string declared(const std::string& buffer, const std::string& type, unsigned count,
                     const std::string& expect = {}) {
  return named(buffer) + "type = \"" + type + "\"\ncount = " + std::to_string(count) +
         "\naperture = \"sysmem\"\n" + (expect.empty() ? "" : "expect = { " + expect + " }\n");
}

class GivenHandshake : public testing::TestWithParam<const char*> {
 protected:
  static constexpr unsigned kItems = 50, kDepth = 3, kRounds = 10;
  void SetUp() override {
    if (!std::filesystem::exists(module_path())) GTEST_SKIP() << "../shared is absent";
  }
  static std::string producer() {
    return launch("producer") + declared("items", "u32", 4 * kItems * kDepth) + scalar(kItems) +
           declared("head", "u64", 1, "value = 10") + declared("tail", "u64", 1, "value = 10") +
           scalar(kDepth) + scalar(kRounds);
  }
  /// Expects `checks` results, all of them right.
  void expect(const std::string& text, unsigned checks, const std::vector<std::string>& settings) {
    workspace_.write("launch.toml", text);
    std::vector<std::string> command{"run", "launch.toml", "--transport", GetParam()};
    for (const std::string& s : settings) command.insert(command.end(), {"--set", s});
    const Finished run = workspace_.warpline(command);
    EXPECT_EQ(run.status, 0) << run.err;
    const std::string n = std::to_string(checks);
    EXPECT_THAT(run.out, HasSubstr(n + " of " + n + " results as expected"));
  }
  Workspace workspace_;
};
INSTANTIATE_TEST_SUITE_P(Transports, GivenHandshake, testing::Values("fast", "at", "lt"),
                         [](const auto& p) { return std::string(p.param); });

TEST_P(GivenHandshake, ProducerAndConsumerRunAtTheSameTimeOnTwoGpus) {
  const std::string text = producer() + launch("consumer") + "gpu = 1\nconcurrent = true\n" + named("items") +
                           scalar(kItems) + named("head") + named("tail") + scalar(kDepth) + scalar(kRounds) +
                           declared("bad", "u32", 1, "value = 0");
  expect(text, 3, {"gpus=2"});
  expect(text, 3, {"gpus=2", "pcie_system.peers=1", "peer_bytes=0"});
}

TEST_P(GivenHandshake, TheHostConsumesWhatAGpuProduces) {
  std::string text = producer();
  const auto step = [&](const std::string& what, const char* key, unsigned n) {
    text += "[[launch.host]]\n" + what + "\n" + key + " = " + std::to_string(n) + "\n";
  };
  for (unsigned r = 0; r < kRounds; ++r) {
    step("wait = \"head[0]\"", "at_least", r + 1);
    for (const unsigned item : {0U, kItems - 1}) {
      const unsigned wanted[] = {r, item, r ^ item, r + item};
      for (unsigned w = 0; w < 4; ++w)
        step("read = \"items[" + std::to_string((r % kDepth * kItems + item) * 4 + w) + "]\"", "value",
             wanted[w]);
    }
    step("write = \"tail[0]\"", "value", r + 1);
  }
  expect(text, 2 + 8 * kRounds, {"pcie_system.peers=1", "peer_bytes=0"});
}

TEST_P(GivenHandshake, TheDoorbellIsARegisterOfADevice) {
  const std::string address = "[[launch.argument]]\naddress = \"peer[1].SCRATCH[1]\"\n";
  expect(launch("doorbell") + address + address +
             declared("memory", "u32", 65, "expression = \"i == 0 ? 4711 : 4710 + i\"") + scalar(4711) +
             "[[register]]\nname = \"peer[1].SCRATCH[1]\"\ninit = 5\nexpect = 4711\n",
         2, {"pcie_system.peers=2", "peer_bytes=0", "gpus=2"});
}

}  // namespace given_handshake_test
}  // namespace warpline::test
