#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "platform/observe/reuse_distance.h"
#include "rtl_models/base/random.h"
#include "tests/platform/observe/observed_run.h"

namespace warpline::test {
namespace observe_reuse_test {

using nlohmann::json;
using ::testing::ElementsAre;

/// Lines in a list, the last accessed first.
TEST(ReuseDistance, IsTheDepthInAListOfTheLinesLastUsed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const std::uint64_t lines = 1 + random.below(300);
    ReuseDistance distances;
    std::vector<std::uint64_t> list;
    for (unsigned n = 0; n < 4000; ++n) {
      const std::uint64_t line = random.below(3) == 0 ? random.below(lines) : n % (lines / 2 + 1);
      const auto at = std::find(list.begin(), list.end(), line);
      const auto got = distances.access(line * kLineBytes);
      if (at == list.end()) {
        ASSERT_EQ(got, std::nullopt) << "seed " << seed << ", access " << n;
      } else {
        ASSERT_EQ(got, static_cast<std::uint64_t>(at - list.begin())) << "seed " << seed << ", access " << n;
        list.erase(at);
      }
      list.insert(list.begin(), line);
      ASSERT_EQ(distances.lines(), list.size());
    }
  }
}

std::map<std::string, json> buffers_of(const Watched& run) {
  std::map<std::string, json> out;
  const json reuse = json::parse(run.reuse);
  for (const json& b : reuse.at("buffers"))
    out[b.at("name").is_null() ? "" : b.at("name").get<std::string>()] = b;
  return out;
}

std::uint64_t accesses(const json& reuse) {
  std::uint64_t out = reuse.at("first");
  for (const json& c : reuse.at("up_to")) out += c.at(1).get<std::uint64_t>();
  return out;
}

TEST(Reuse, OfArraysThatAreReadOnce) {
  // 16,384 floats each, in lines of 32; each is read, or written, once.
  const Watched run = watch_kernel(preset("mini"), "vecadd", false, {});
  auto buffers = buffers_of(run);
  ASSERT_EQ(buffers.size(), 3U);
  std::uint64_t fetched = 0;
  for (const char* name : {"a", "b", "c"}) {
    const json& b = buffers.at(name);
    const bool out = std::string(name) == "c";
    EXPECT_EQ(b.at("lines"), 512) << name;
    EXPECT_EQ(b.at("sectors"), 2048) << name;
    EXPECT_EQ(b.at("read_sectors"), out ? 0 : 2048) << name;
    EXPECT_EQ(b.at("written_sectors"), out ? 2048 : 0) << name;
    EXPECT_EQ(b.at("fetched_in_vain"), 0) << name;
    EXPECT_EQ(b.at("sms_of_lines"), json::parse("[[1, 512]]")) << name;
    EXPECT_EQ(b.at("reuse_by_sm").at("first"), out ? 0 : 512) << name;
    EXPECT_EQ(accesses(b.at("reuse_by_sm")), out ? 0 : 512) << name;
    fetched += b.at("fetched_sectors").get<std::uint64_t>();
  }
  EXPECT_EQ(fetched, 2 * 2048U);
}

TEST(Reuse, CountsWhatTheKernelDoes) {
  for (const char* kernel : {"transpose", "histogram"}) {
    const Watched run = watch_kernel(preset("mini"), kernel, false, {});
    std::uint64_t sectors = 0, atomics = 0;
    for (const auto& [name, b] : buffers_of(run)) {
      sectors += b.at("read_sectors").get<std::uint64_t>() + b.at("written_sectors").get<std::uint64_t>();
      atomics += b.at("atomic_requests").get<std::uint64_t>();
      EXPECT_EQ(accesses(b.at("reuse_by_sm")), b.at("read_requests")) << kernel << ", " << name;
      std::uint64_t lines = 0;
      for (const json& by : b.at("sms_of_lines")) lines += by.at(1).get<std::uint64_t>();
      EXPECT_EQ(lines, b.at("lines")) << kernel << ", " << name;
      std::uint64_t most = 0;
      for (const json& w : b.at("lines_by_window")) most = std::max(most, w.get<std::uint64_t>());
      EXPECT_LE(most, lines) << kernel << ", " << name;
      EXPECT_GT(most, 0U) << kernel << ", " << name;
    }
    EXPECT_EQ(sectors,
              sum(run, "sm[", ".lsu.global_load_sectors") + sum(run, "sm[", ".lsu.global_store_sectors"))
        << kernel;
    EXPECT_EQ(atomics, sum(run, "sm[", ".l1_lg.atomics")) << kernel;
  }
}

/// What a line of a buffer that several SMs read is shared by, and what is fetched of it again.
TEST(Reuse, TellsWhatIsSharedAndFetchedAgain) {
  GpuConfig config = preset("mini");
  const auto shared = buffers_of(watch_kernel(config, "transpose", false, {})).at("in").at("sms_of_lines");
  EXPECT_TRUE(std::any_of(shared.begin(), shared.end(), [](const json& by) { return by.at(0) > 1; }))
      << shared;
  const auto once = buffers_of(watch_kernel(config, "matmul", false, {}));
  config.l2.geometry = {4, 2};
  const auto again = buffers_of(watch_kernel(config, "matmul", false, {}));
  for (const auto& [name, b] : once) EXPECT_EQ(b.at("fetched_again"), 0) << name;
  std::uint64_t more = 0;
  for (const auto& [name, b] : again) {
    more += b.at("fetched_again").get<std::uint64_t>();
    EXPECT_EQ(b.at("fetched_sectors").get<std::uint64_t>() - b.at("fetched_again").get<std::uint64_t>(),
              once.at(name).at("fetched_sectors").get<std::uint64_t>())
        << name;
  }
  EXPECT_GT(more, 1000U);
}

TEST(Reuse, BuffersOfOneNameHaveRowsOfTheirOwn) {
  const std::string file = WARPLINE_SOURCE_DIR "/sw/kernels/vecadd.toml";
  auto buffers = buffers_of(watch_files(preset("mini"), {file, file}, {}));
  ASSERT_EQ(buffers.size(), 6U);
  for (const char* name : {"a", "b", "a (2)", "b (2)"})
    EXPECT_EQ(buffers.at(name).at("read_sectors"), 2048) << name;
  for (const char* name : {"c", "c (2)"}) EXPECT_EQ(buffers.at(name).at("written_sectors"), 2048) << name;
}

TEST(Reuse, MulticastObjectsHaveRowsOfTheirOwn) {
  GpuConfig config = preset("mini");
  config.gpus = 2;
  config.gpu_switch.count = 1;
  auto buffers = buffers_of(watch_kernel(config, "all_reduce", false, {}));
  EXPECT_EQ(buffers.count(""), 0U) << "all of it is somebody's";
  std::uint64_t atomics = 0, written = 0;
  for (const auto& [name, b] : buffers) {
    if (name.rfind("multicast object ", 0) != 0) continue;
    atomics += b.at("atomic_requests").get<std::uint64_t>();
    written += b.at("written_sectors").get<std::uint64_t>();
  }
  // Each of 4,096 numbers is loaded and stored once, by requests of a line, and each CTA arrives once.
  EXPECT_EQ(written, 4096U * 4 / kSectorBytes);
  EXPECT_EQ(atomics, 4096U * 4 / kLineBytes + 8);
}

}  // namespace observe_reuse_test
}  // namespace warpline::test
