#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "platform/config/config_entries.h"
#include "platform/config/dram_standard.h"
#include "platform/config/load_gpu.h"
#include "rtl_models/base/text.h"
#include "rtl_models/base/types.h"
#include "rtl_models/crossbar/crossbar_core.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace config_preset_test {

using ::testing::HasSubstr;
using ::testing::Not;

std::string study_rows() {
  return read_file(std::string(WARPLINE_SOURCE_DIR) + "/sw/microbench/rows.toml").value();
}

class Preset : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(BuiltIn, Preset, ::testing::ValuesIn(preset_names()), [](const auto& preset) {
  std::string name = preset.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Preset, LoadsUnderItsOwnName) {
  const auto loaded = load_gpu(GetParam(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.faults().front().text();
  EXPECT_EQ(loaded.value().name, GetParam());
}

TEST_P(Preset, ChannelsAreDeepEnoughToFillTheirWires) {
  for (const Problem& p : load_gpu(GetParam(), {}).value().shallow_channels())
    ADD_FAILURE() << p.path << ": " << p.message;
}

/// A key that says nothing would be a number that means nothing.
TEST_P(Preset, EveryKeySaysWhereItsValueComesFrom) {
  const auto traced = trace_gpu(GetParam());
  ASSERT_TRUE(traced.ok());
  for (const std::string& key : config_keys()) {
    if (key == "name") continue;
    const auto found = traced.value().sources.find(key);
    ASSERT_NE(found, traced.value().sources.end()) << key;
    EXPECT_THAT(found->second.text, Not(HasSubstr("calibrated"))) << key;
    EXPECT_GT(found->second.text.size(), 3U) << key;
  }
}

/// Rows that a value is fit to are published ones.
TEST_P(Preset, FitsNameRowsThatThereAre) {
  const std::string rows = study_rows();
  const TracedGpu traced = trace_gpu(GetParam()).value();
  for (const auto& [key, source] : traced.sources) {
    if (source.kind != KeySource::Kind::fit) continue;
    for (const std::string_view row : split(source.text, ','))
      EXPECT_THAT(rows, HasSubstr("id = \"" + std::string(trimmed(row)) + "\"")) << key;
  }
}

TEST(Presets, ShortNamesStandForWholeOnes) {
  GpuConfig a100 = load_gpu("a100").value();
  EXPECT_EQ(a100.name, "a100");
  a100.name = "a100-80";
  EXPECT_EQ(to_toml(a100), to_toml(load_gpu("a100-80").value()));
  EXPECT_EQ(load_gpu("h100").value().vidmem_bytes, load_gpu("h100-sxm").value().vidmem_bytes);
}

TEST(Presets, TakeOverWhatTheirBaseHasAndSaySo) {
  const auto t4 = trace_gpu("t4").value();
  EXPECT_EQ(t4.config.sm.warp_slots, load_gpu("rtx6000").value().sm.warp_slots);
  EXPECT_EQ(t4.sources.at("sm.warp_slots").as, "rtx6000");
  EXPECT_THAT(t4.sources.at("sm.warp_slots").toml(), HasSubstr("assumed = \"as rtx6000, by "));
  EXPECT_EQ(t4.sources.at("sm.registers").as, "v100") << "from a base's base";
  EXPECT_EQ(t4.sources.at("sms").as, "");
}

std::uint64_t cache_bytes(const CacheGeometry& g) {
  return std::uint64_t{g.sets} * g.ways * kLineBytes;
}

TEST(Presets, ShapesAreThoseOfThePublicDocuments) {
  const GpuConfig v100 = load_gpu("v100", {}).value();
  EXPECT_EQ(v100.sms, 80U);
  EXPECT_EQ(v100.l2.slices * cache_bytes(v100.l2.geometry), 6U << 20U);
  EXPECT_EQ(cache_bytes(v100.l1_lg.geometry), 128U << 10U);
  const double v100_bandwidth = v100.dram.channels * 32.0 / v100.dram.sector_cycles * v100.clocks.dram * 1e6;
  EXPECT_NEAR(v100_bandwidth, 900e9, 5e9);

  const GpuConfig a100 = load_gpu("a100", {}).value();
  EXPECT_EQ(a100.sms, 108U);
  EXPECT_EQ(a100.l2.slices * cache_bytes(a100.l2.geometry), 40U << 20U);
  EXPECT_EQ(cache_bytes(a100.l1_lg.geometry), 192U << 10U);
  const double a100_bandwidth = a100.dram.channels * 32.0 / a100.dram.sector_cycles * a100.clocks.dram * 1e6;
  EXPECT_NEAR(a100_bandwidth, 2039e9, 5e9);

  const GpuConfig h100 = load_gpu("h100", {}).value();
  EXPECT_EQ(h100.sms, 132U);
  EXPECT_EQ(h100.gpcs, 8U);
  EXPECT_EQ(h100.sm.shared_bytes, 228U << 10U);
  EXPECT_EQ(h100.l2.slices * cache_bytes(h100.l2.geometry), 50U << 20U);
  EXPECT_EQ(cache_bytes(h100.l1_lg.geometry), 256U << 10U);
  const double h100_bandwidth = h100.dram.channels * 32.0 / h100.dram.sector_cycles * h100.clocks.dram * 1e6;
  EXPECT_NEAR(h100_bandwidth, 3350e9, 5e9);
}

class DramStandard : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, DramStandard, ::testing::ValuesIn(dram_standard_names()),
                         [](const auto& standard) { return standard.param; });

TEST_P(DramStandard, EveryNumberSaysWhereItComesFrom) {
  std::istringstream lines(dram_standard_text(GetParam()));
  unsigned sources = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" = ") == std::string::npos) continue;
    const std::string source = line.substr(std::min(line.find('#'), line.size()));
    const bool says = source.find("assumed") != std::string::npos || source.find('(') != std::string::npos;
    EXPECT_TRUE(says) << line;
    ++sources;
  }
  EXPECT_GE(sources, 23U);
}

TEST_P(DramStandard, GivesWhatTheModelTakesAtEveryClock) {
  for (const unsigned megahertz : {500U, 877U, 1313U, 1593U, 2250U})
    for (const unsigned abreast : {1U, 2U, 4U}) {
      DramParameters p;
      p.standard = GetParam();
      ASSERT_TRUE(set_by_dram_standard(p, megahertz, "dram").empty());
      p.bus_bits *= abreast;
      ASSERT_TRUE(set_by_dram_standard(p, megahertz, "dram").empty());
      for (const Problem& problem : p.problems("dram"))
        ADD_FAILURE() << megahertz << " MHz, " << abreast << ": " << problem.path << " " << problem.message;
    }
}

TEST(DramStandards, TimesAreRoundedUpToCycles) {
  const DramParameters p = load_gpu("v100", {}).value().dram;
  EXPECT_EQ(p.standard, "HBM2");
  EXPECT_EQ(p.banks, 16U);
  EXPECT_EQ(p.bank_groups, 4U);
  EXPECT_EQ(p.row_bytes, 2048U);  // of two pseudo channels
  EXPECT_EQ(p.sector_cycles, 1U);
  EXPECT_EQ(p.column_interval_group, 2U);
  EXPECT_EQ(p.activate, 13U);        // 14 ns are 12.3 cycles of 877 MHz
  EXPECT_EQ(p.row_active, 29U);      // 33 ns, 28.9
  EXPECT_EQ(p.four_activates, 15U);  // 16 ns, 14.03
  EXPECT_EQ(p.write_to_read, 3U + 13);
  EXPECT_EQ(p.refresh_interval, 3420U);  // 3900 ns, 3420.3, and no more
}

TEST(DramStandards, FollowTheClockAndGiveWayToWhatIsSet) {
  const auto dram = [](const char* gpu, const std::vector<std::string>& sets) {
    const auto loaded = load_gpu(gpu, sets);
    EXPECT_TRUE(loaded.ok()) << loaded.faults().front().text();
    return loaded.value().dram;
  };
  EXPECT_EQ(dram("v100", {"clocks.dram=1000"}).activate, 14U);
  EXPECT_EQ(dram("v100", {"dram.activate=20"}).activate, 20U);
  EXPECT_EQ(dram("v100", {"dram.bus_bits=64"}).row_bytes, 1024U);
  // Another one takes the place of what was set for the one before, in whatever order keys of a layer are.
  EXPECT_EQ(dram("v100", {"dram.standard=\"GDDR6\""}).bus_bits, 16U);
  EXPECT_EQ(dram("v100", {"dram.activate=20", "dram.standard=\"GDDR6\""}).activate, 14U);
  EXPECT_EQ(dram("v100", {"dram.standard=\"GDDR6\"", "dram.activate=20"}).activate, 20U);
  EXPECT_EQ(dram("mini", {"dram.standard=\"HBM3\""}).bank_groups, 4U);
  EXPECT_EQ(dram("mini", {}).bank_groups, 1U);
  const auto file =
      load_gpu_text("mine.toml", "base = \"mini\"\n[dram]\nactivate = 9\nstandard = \"HBM2\"\n");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().dram.activate, 9U);
  EXPECT_EQ(file.value().dram.precharge, 14U);
}

TEST(DramStandards, WhatFitsNoneIsRefused) {
  const auto message = [](const std::vector<std::string>& sets) {
    return load_gpu("v100", sets).faults().front().text();
  };
  EXPECT_THAT(message({"dram.bus_bits=96"}),
              ::testing::HasSubstr("gpu.dram.bus_bits: must be a multiple of 64"));
  EXPECT_THAT(message({"dram.standard=\"HBM\""}),
              ::testing::HasSubstr("gpu.dram.standard: must be \"custom\""));
}

/// With a power of two of slices, masks beside the bits of the slice number spread every aligned run of lines
/// over all slices equally.
TEST(Presets, HashSpreadsStridedLinesOverSlices) {
  const GpuConfig v100 = load_gpu("v100", {}).value();
  const CrossbarCore crossbar(v100.crossbar, v100.l2.slices);
  for (const std::uint64_t stride : {1U, 2U, 16U, 64U, 128U, 1024U, 4096U}) {
    std::vector<unsigned> hits(v100.l2.slices);
    for (std::uint64_t n = 0; n < 4096; ++n)
      ++hits[crossbar.slice_of(physical(Aperture::vidmem, n * stride * kLineBytes))];
    const unsigned fair = 4096 / v100.l2.slices;
    EXPECT_LE(*std::max_element(hits.begin(), hits.end()), 4 * fair) << "stride of " << stride << " lines";
  }
}

/// As measured: bit i of the class is the parity of mask i and bits 10 to 19 of the offset in a page of 2
/// MiB.
TEST(Presets, LinesOfV100FallInTheClassesThatWereMeasured) {
  const GpuConfig v100 = load_gpu("v100", {}).value();
  const CrossbarCore crossbar(v100.crossbar, v100.l2.slices);
  constexpr std::array<std::uint64_t, 5> kMasks = {0x02A, 0x044, 0x081, 0x10A, 0x208};
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20U;
  for (const std::uint64_t page : {0U, 1U, 77U, 4000U}) {
    std::map<unsigned, std::set<unsigned>> slices_of;
    std::map<unsigned, unsigned> lines, class_of;
    for (std::uint64_t offset = 0; offset < kPage; offset += kLineBytes) {
      unsigned kind = 0;
      for (std::size_t i = 0; i < kMasks.size(); ++i)
        kind |= static_cast<unsigned>(__builtin_parityll(kMasks[i] & (offset >> 10U & 1023U))) << i;
      const unsigned slice = crossbar.slice_of(physical(Aperture::vidmem, page * kPage + offset));
      slices_of[kind].insert(slice);
      ++lines[slice];
      ASSERT_EQ(class_of.emplace(slice, kind).first->second, kind) << "a slice has lines of one class";
    }
    EXPECT_EQ(slices_of.size(), 32U);
    for (const auto& [kind, slices] : slices_of) EXPECT_EQ(slices.size(), 2U) << "a pair of the 64";
    for (const auto& [slice, count] : lines) EXPECT_EQ(count, kPage / kLineBytes / 64) << slice;
  }
}

}  // namespace config_preset_test
}  // namespace warpline
