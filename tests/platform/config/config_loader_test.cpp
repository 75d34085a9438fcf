#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace config_loader_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A file that lives as long as the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : folder_(std::filesystem::temp_directory_path() / ("warpline-config-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

Result<GpuConfig> load_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const TemporaryFile file("my_gpu.toml", text);
  return load_gpu(file.path(), overrides);
}

TEST(ConfigLoader, FileStartsFromItsBaseAndIsCalledAfterItself) {
  const auto loaded = load_text("base = \"v100\"\nl2.slices = 48\n");
  ASSERT_TRUE(loaded.ok()) << loaded.faults().front().text();
  EXPECT_EQ(loaded.value().name, "my_gpu");
  EXPECT_EQ(loaded.value().sms, 80U);
  EXPECT_EQ(loaded.value().l2.slices, 48U);
  EXPECT_EQ(loaded.value().l2.geometry.ways, 16U);
}

TEST(ConfigLoader, AValueMaySayWhereItComesFrom) {
  const TemporaryFile file(
      "my_gpu.toml",
      "sms = { value = 3, source = \"a document\" }\nl2 = { slices = 2, sets = { value = 64, "
      "assumed = \"so\" }, fit = [\"A.b\", \"C.d\"] }\n");
  const auto traced = trace_gpu(file.path());
  ASSERT_TRUE(traced.ok()) << traced.faults().front().text();
  EXPECT_EQ(traced.value().config.sms, 3U);
  EXPECT_EQ(traced.value().config.l2.slices, 2U);
  EXPECT_EQ(traced.value().sources.at("sms").toml(), "source = \"a document\"");
  EXPECT_EQ(traced.value().sources.at("l2.slices").toml(), "fit = [\"A.b\", \"C.d\"]")
      << "of the table around";
  EXPECT_EQ(traced.value().sources.at("l2.sets").toml(), "assumed = \"so\"");
  // What is printed is read again, with all that it says.
  const TemporaryFile copy("copy.toml", to_toml(traced.value().config, traced.value().sources));
  const auto again = trace_gpu(copy.path());
  ASSERT_TRUE(again.ok()) << again.faults().front().text();
  EXPECT_EQ(to_toml(again.value().config, again.value().sources),
            to_toml(traced.value().config, traced.value().sources));
  // A value that is set later has lost its source.
  EXPECT_EQ(trace_gpu(file.path(), {"sms=4"}).value().sources.count("sms"), 0U);
}

TEST(ConfigLoader, ValuesThatSayItWronglyAreFaults) {
  const auto said = [](const std::string& text) {
    const auto loaded = load_text(text + "\n");
    return loaded.ok() ? std::string{} : loaded.faults().front().text();
  };
  EXPECT_THAT(said("sms = { source = \"x\" }"), HasSubstr("needs the key \"value\""));
  EXPECT_THAT(said("sms = { value = 3, source = \"x\", assumed = \"y\" }"), HasSubstr("not two"));
  EXPECT_THAT(said("sms = { value = 3, source = 4 }"), HasSubstr("must be a string"));
  EXPECT_THAT(said("sms = { value = 3, fit = \"\" }"), HasSubstr("names of rows"));
  EXPECT_THAT(said("sms = { value = 3, fit = [] }"), HasSubstr("names no row"));
  EXPECT_THAT(said("sms = { value = 3, sauce = \"x\" }"), HasSubstr("sauce"));
  EXPECT_THAT(said("sms = { value = true, source = \"x\" }"), HasSubstr("must be an integer"));
  EXPECT_THAT(said("l2 = { slices = 2, source = \"x\", fit = [\"y\"] }"), HasSubstr("not two"));
}

TEST(ConfigLoader, FileWithoutBaseStartsFromMini) {
  const auto loaded = load_text("name = \"other\"\n");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.value().name, "other");
  EXPECT_EQ(loaded.value().sms, load_gpu("mini", {}).value().sms);
}

TEST(ConfigLoader, OverridesApplyInOrderAtAnyDepth) {
  const auto loaded = load_gpu("mini", {{"sms=3"},
                                        {"sms = 7"},
                                        {"hops.sm_l1_lg.request.depth=99"},
                                        {"pcie.atomic_ops=false"},
                                        {"crossbar.hash_masks=[0x10, 32]"},
                                        {"l2 = { slices = 5 }"}});
  ASSERT_TRUE(loaded.ok()) << loaded.faults().front().text();
  EXPECT_EQ(loaded.value().sms, 7U);
  EXPECT_EQ(loaded.value().hops.sm_l1_lg.request.depth, 99U);
  EXPECT_FALSE(loaded.value().pcie.atomic_ops);
  EXPECT_EQ(loaded.value().crossbar.hash_masks, (std::vector<std::uint64_t>{16, 32}));
  EXPECT_EQ(loaded.value().l2.slices, 5U);
}

TEST(ConfigLoader, EveryFaultAtOnceWithPlaceAndHint) {
  const auto loaded = load_text(
      "base = \"v10\"\n"
      "sms = \"four\"\n"
      "slices = 3\n"
      "[l2]\n"
      "slcies = 4\n"
      "sets = -1\n"
      "ways = 4294967296\n"
      "[pcie]\n"
      "atomic_ops = 1\n"
      "[crossbar]\n"
      "hash_masks = [1, -2, \"x\"]\n"
      "[hops]\n"
      "sm_l1_lg = 3\n");
  ASSERT_FALSE(loaded.ok());
  const Diagnostics& f = loaded.faults();
  ASSERT_THAT(f, SizeIs(10));
  EXPECT_EQ(f[0].hint, "did you mean \"v100\"?");
  EXPECT_EQ(f[0].line, 1U);
  EXPECT_EQ(f[0].column, 8U);
  std::string all;
  for (const Diagnostic& d : f) all += d.text();
  EXPECT_THAT(all, HasSubstr("gpu.sms: must be an integer, not a string"));
  EXPECT_THAT(all, HasSubstr("did you mean \"l2.slices\"?"));
  EXPECT_THAT(all, HasSubstr(":5:1: error: gpu.l2.slcies: unknown key\n  5 | slcies = 4\n    | ^~~~~~\n  "
                             "hint: did you mean \"slices\"?"));
  EXPECT_THAT(all, HasSubstr("gpu.l2.sets: must not be negative"));
  EXPECT_THAT(all, HasSubstr("gpu.l2.ways: must be at most 4294967295"));
  EXPECT_THAT(all, HasSubstr("gpu.pcie.atomic_ops: must be true or false, not an integer"));
  EXPECT_THAT(all, HasSubstr("gpu.hops.sm_l1_lg: must be a table"));
}

TEST(ConfigLoader, BrokenRulesPointAtTheKeyThatBrokeThem) {
  const auto loaded = load_text("[l2]\nslices = 0\n[clocks]\ndram = 100001\n", {{"sms=1025"}});
  ASSERT_FALSE(loaded.ok());
  ASSERT_THAT(loaded.faults(), SizeIs(3));
  EXPECT_THAT(loaded.faults()[0].text(), HasSubstr("--set:1:5: error: gpu.sms: must be 1 to 1024"));
  EXPECT_THAT(loaded.faults()[1].text(), HasSubstr(":4:8: error: gpu.clocks.dram: must be 1 to 100000 MHz"));
  EXPECT_THAT(loaded.faults()[2].text(), HasSubstr(":2:10: error: gpu.l2.slices: must be 1 to 4096"));
}

TEST(ConfigLoader, RulesHoldAtTheirEdges) {
  EXPECT_TRUE(load_gpu("mini", {{"sms=1024"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"sms=1025"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"sms=0"}}).ok());
  EXPECT_TRUE(load_gpu("mini", {{"clocks.sm=1"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"clocks.sm=0"}}).ok());
  EXPECT_TRUE(load_gpu("mini", {{"vidmem_bytes=1048576"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"vidmem_bytes=1048575"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"vidmem_bytes=1048577"}}).ok());
  EXPECT_TRUE(load_gpu("mini", {{"wls_window=4294963200"}}).ok());
  EXPECT_TRUE(load_gpu("mini", {{"wls_window=0"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"wls_window=4294967296"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"wls_window=4095"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"hops.l2_dram.response.latency=0"}}).ok());
  EXPECT_FALSE(load_gpu("mini", {{"l2.sets=16777216"}, {"l2.ways=1024"}}).ok());
  EXPECT_TRUE(load_gpu("mini", {{"l2.sets=1"}, {"l2.ways=1"}, {"l2.slices=3"}}).ok());
}

TEST(ConfigLoader, APcieSystemIsKeysLikeAllOthers) {
  const auto loaded = load_gpu("v100", {{"pcie_system.peers=2"},
                                        {"peer_bytes=0"},
                                        {"pcie_system.device.max_payload=512"},
                                        {"pcie_system.root.memory_channels=4"},
                                        {"pcie_system.peer.commands=3"}});
  ASSERT_TRUE(loaded.ok()) << loaded.faults().front().text();
  const PcieSystemParameters& p = loaded.value().pcie_system;
  EXPECT_EQ(p.peers, 2U);
  EXPECT_EQ(p.device.max_payload, 512U);
  EXPECT_EQ(p.gpu.max_payload, 256U);
  EXPECT_EQ(p.root.memory_channels, 4U);
  EXPECT_EQ(p.peer.commands, 3U);
  EXPECT_THAT(to_toml(loaded.value()), HasSubstr("[pcie_system.device]"));
}

TEST(ConfigLoader, DevicesTakeThePlaceOfAPresetsPlainPeerMemory) {
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{{"pcie_system.peers=1"}}, {{"pcie_system.peers=2"}, {"peer_bytes=0"}}}) {
    const auto loaded = load_gpu("mini", overrides);
    ASSERT_TRUE(loaded.ok()) << loaded.faults().front().text();
    EXPECT_EQ(loaded.value().peer_bytes, 0U);
    EXPECT_TRUE(load_text(to_toml(loaded.value())).ok());
  }
  EXPECT_EQ(load_gpu("mini", {{"pcie_system.peers=0"}}).value().peer_bytes, 16'777'216U);
  const auto file = load_text("base = \"mini\"\npcie_system.peers = 1\n");
  ASSERT_TRUE(file.ok()) << file.faults().front().text();
  EXPECT_EQ(file.value().peer_bytes, 0U);
  EXPECT_FALSE(load_text("peer_bytes = 1048576\npcie_system.peers = 1\n").ok());
}

TEST(ConfigLoader, DevicesAndPlainPeerMemoryExcludeEachOther) {
  const auto both = load_gpu("mini", {{"pcie_system.peers=1"}, {"peer_bytes=16777216"}});
  ASSERT_FALSE(both.ok());
  ASSERT_THAT(both.faults(), SizeIs(1));
  EXPECT_THAT(both.faults()[0].text(),
              HasSubstr("gpu.peer_bytes: must be 0 where there are devices (pcie_system.peers, "
                        "pcie_system.nvme.count, pcie.registers), which take the place of "
                        "the plain memory (--set peer_bytes=0)"));
  const auto wrong = load_gpu(
      "mini",
      {{"pcie_system.peers=9"}, {"pcie_system.host.max_payload=100"}, {"pcie_system.peer.write_queue=0"}});
  ASSERT_FALSE(wrong.ok());
  ASSERT_THAT(wrong.faults(), SizeIs(3));
  EXPECT_THAT(wrong.faults()[0].text(), HasSubstr("gpu.pcie_system.peers: must be at most 8"));
  EXPECT_THAT(wrong.faults()[1].text(),
              HasSubstr("gpu.pcie_system.host.max_payload: must be a power of two"));
  EXPECT_THAT(wrong.faults()[2].text(), HasSubstr("gpu.pcie_system.peer.write_queue: must be at least 1"));
}

TEST(ConfigLoader, MalformedOverridesAreFaults) {
  for (const char* text :
       {"", "sms", "=3", "sms=", "[l2]", "#a=b", "sms=1\nsms=2", "l2.slices==4", "[l2]\r\nslices=4"}) {
    const auto loaded = load_gpu("mini", {{text}});
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_THAT(loaded.faults().front().text(), HasSubstr("--set")) << text;
  }
}

TEST(ConfigLoader, UnknownPresetSuggestsTheNearest) {
  const auto loaded = load_gpu("v10", {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.faults().front().hint,
            "did you mean \"v100\"? (presets: mini, titanv, v100, rtx2060, rtx2080ti, rtx6000, t4, a100-40, "
            "a100-80, a40, rtx3070, l40, rtx4090, gh200, h100-nvl, h100-pcie, h100-sxm, h200, h800, b200; or "
            "a TOML file)");
}

TEST(ConfigLoader, PathsOfMessagesAreExplainedWhenUsedAsKeys) {
  const auto loaded = load_gpu("mini", {{"gpu.l2.slices=3"}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.faults().front().hint, HasSubstr("without the gpu."));
}

TEST(ConfigLoader, ShallowChannelsAreNamed) {
  const auto loaded =
      load_gpu("mini", {{"hops.l2_dram.request.depth=2"}, {"hops.l2_dram.request.latency=5"}});
  ASSERT_TRUE(loaded.ok());
  const Problems shallow = loaded.value().shallow_channels();
  ASSERT_THAT(shallow, SizeIs(1));
  EXPECT_EQ(shallow[0].path, "gpu.hops.l2_dram.request.depth");
  EXPECT_THAT(shallow[0].message, HasSubstr("need 6"));
}

TEST(ConfigLoader, ConfigurationSurvivesTheWayThroughToml) {
  GpuConfig config = load_gpu("a100", {{"sms=13"}, {"pcie.atomic_ops=false"}}).value();
  config.name = "odd \"name\" \\ \x01";
  const auto again = load_text(to_toml(config));
  ASSERT_TRUE(again.ok()) << again.faults().front().text();
  EXPECT_EQ(to_toml(again.value()), to_toml(config));
}

TEST(Files, AtomicWriteReplacesAndLeavesNothingBehind) {
  const TemporaryFile file("out.txt", "old");
  EXPECT_THAT(write_file_atomically(file.path(), "new"), IsEmpty());
  EXPECT_EQ(read_file(file.path()).value(), "new");
  const auto folder = std::filesystem::path(file.path()).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()),
            1);
  EXPECT_THAT(write_file_atomically(file.path() + "/no/out.txt", "x"), HasSubstr("Not a directory"));
  EXPECT_THAT(write_file_atomically(folder.string(), "x"), HasSubstr("is a folder"));
  EXPECT_FALSE(read_file(folder.string()).ok());
}

TEST(Files, WithoutEndAreRefusedBeforeTheyTakeTheHostsMemory) {
  const Result<std::string> endless = read_file("/dev/zero", 5'000'000);
  ASSERT_FALSE(endless.ok());
  EXPECT_THAT(endless.faults().front().text(), HasSubstr("/dev/zero: error: has more than 5000000 bytes"));
  EXPECT_FALSE(load_gpu("/dev/zero", {}).ok());
  const TemporaryFile five("five.bin", "12345");
  EXPECT_EQ(read_file(five.path(), 5).value(), "12345");
  EXPECT_FALSE(read_file(five.path(), 4).ok());
}

}  // namespace config_loader_test
}  // namespace warpline
