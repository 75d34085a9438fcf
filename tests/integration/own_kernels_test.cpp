// The kernels of sw/kernels, as a user runs them: each launch file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/small_float.h"
#include "tests/integration/workspace.h"

namespace warpline::test {
namespace own_kernels_test {

using nlohmann::json;

const char* const kKernels[] = {"attention", "chase",  "gemm",     "grid_sum", "hints",     "histogram",
                                "hot_set",   "matmul", "pipeline", "reduce",   "report",    "sampling",
                                "spmv",      "stale",  "stencil",  "texture",  "transpose", "vecadd"};
/// These want a host with a device, nvme_io with a drive.
const char* const kHosted[] = {"nvme_io", "serve", "submit"};
/// And these a network between SMs.
const char* const kClustered[] = {"cluster_histogram"};
/// And these two GPUs with a switch between them.
const char* const kOfGpus[] = {"all_reduce"};

bool wants_host(const std::string& kernel) {
  return std::find(std::begin(kHosted), std::end(kHosted), kernel) != std::end(kHosted);
}

std::uint64_t value(const json& statistics, const std::string& counter) {
  return statistics.at("counters").at(counter).at("value").get<std::uint64_t>();
}

bool wants_gpus(const std::string& kernel) {
  return std::find(std::begin(kOfGpus), std::end(kOfGpus), kernel) != std::end(kOfGpus);
}

bool wants_network(const std::string& kernel) {
  return std::find(std::begin(kClustered), std::end(kClustered), kernel) != std::end(kClustered);
}

/// A factor of a matrix multiply: its bytes, and how many blocks read each of them.
struct Factor {
  std::uint64_t bytes, readers;
};

/// Each block reads its part of A and B at L2, DRAM has them once, within 2 %; C is written once, `c` bytes.
void expect_traffic(const json& statistics, Factor a, Factor b, std::uint64_t c) {
  constexpr std::uint64_t kSector = 32;
  EXPECT_EQ(value(statistics, "buffer.a.l2.sector_accesses"), a.bytes * a.readers / kSector);
  EXPECT_EQ(value(statistics, "buffer.b.l2.sector_accesses"), b.bytes * b.readers / kSector);
  EXPECT_EQ(value(statistics, "buffer.c.l2.sector_accesses"), c / kSector);
  const auto factors = static_cast<double>(a.bytes + b.bytes);
  EXPECT_NEAR(static_cast<double>(value(statistics, "dram.bytes_read")), factors, factors * 0.02);
}

/// The traffic of a matrix multiply follows from its tiles: 64 by 64 of C for each block, all of k.
TEST(OwnKernels, GemmMovesWhatItsTilesSay) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", in_source("sw/kernels/gemm.toml"), "--gpu", "a100", "--stats", "stats.json"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const json statistics = json::parse(read_file(w.path("stats.json")));
  constexpr std::uint64_t kM = 256, kN = 512, kK = 256, kTile = 64;
  constexpr std::uint64_t kA = kM * kK * 2, kB = kN * kK * 2, kC = kM * kN * 4;
  expect_traffic(statistics, {kA, kN / kTile}, {kB, kM / kTile}, kC);
  EXPECT_EQ(value(statistics, "sm.matrix_multiply_adds"), kM * kN * kK);
  EXPECT_EQ(value(statistics, "sm.tensor_cycles"), kM * kN * kK / 256);
  // ldmatrix.x4: four matrices of 128 bytes, whose rows are in different banks.
  EXPECT_EQ(value(statistics, "sm.lsu.shared_passes"), 4 * value(statistics, "sm.lsu.shared_accesses"));
  EXPECT_EQ(value(statistics, "sm.lsu.shared_conflicts"), 0U);
}

/// So does that of one by bulk copies and wgmma: 64 rows and 128 columns of C for each block.
TEST(OwnKernels, GemmByTensorCopiesMovesWhatItsTilesSay) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", in_source("sw/kernels/gemm_tma.toml"), "--gpu", "h100", "--stats", "stats.json"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const json statistics = json::parse(read_file(w.path("stats.json")));
  constexpr std::uint64_t kM = 256, kN = 256, kK = 512, kRows = 64, kColumns = 128;
  constexpr std::uint64_t kA = kM * kK * 2, kB = kN * kK * 2, kC = kM * kN * 4;
  expect_traffic(statistics, {kA, kN / kColumns}, {kB, kM / kRows}, kC);
  EXPECT_EQ(value(statistics, "sm.matrix_multiply_adds"), kM * kN * kK);
}

/// Clusters of 2 x 2 blocks ask L2 for half of that: what two blocks need, one of them copies to both.
TEST(OwnKernels, GemmOfClustersReadsOnceWhatItsBlocksShare) {
  const Workspace w;
  const Finished run = w.warpline(
      {"run", in_source("sw/kernels/gemm_cluster.toml"), "--gpu", "h100", "--stats", "stats.json"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const json statistics = json::parse(read_file(w.path("stats.json")));
  constexpr std::uint64_t kM = 256, kN = 256, kK = 512, kRows = 64, kColumns = 128;
  constexpr std::uint64_t kA = kM * kK * 2, kB = kN * kK * 2, kC = kM * kN * 4;
  expect_traffic(statistics, {kA, kN / kColumns / 2}, {kB, kM / kRows / 2}, kC);
  EXPECT_EQ(value(statistics, "sm.matrix_multiply_adds"), kM * kN * kK);
  EXPECT_EQ(value(statistics, "sm.bulk_copy.bytes_to_cluster"),
            value(statistics, "sm.bulk_copy.bytes_to_shared"));
}

/// `count` binary16 numbers of which a sixteenth is the unit, from -1 to 1, as doubles.
std::vector<double> sixteenths(std::uint64_t seed, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back((static_cast<double>(splitmix64(seed * 1000003 + i) % 33) - 16) / 16);
  return values;
}

TEST(OwnKernels, AttentionIsWhatItsFormulaSays) {
  constexpr std::size_t kHeads = 2, kN = 128, kDepth = 64, kAll = kHeads * kN * kDepth;
  const Workspace w;
  std::string text = read_file(in_source("sw/kernels/attention.toml"));
  const auto give = [&](const char* name, const char* init, std::uint64_t seed) {
    const std::vector<double> values = sixteenths(seed, kAll);
    std::vector<std::uint16_t> halves;
    for (const double x : values) halves.push_back(encode(x, kHalf, Rounding::nearest));
    w.write_values(std::string(name) + ".bin", halves);
    const std::string before = text;
    text = replaced(text, init, std::string("{ file = \"") + name + ".bin\" }");
    EXPECT_NE(text, before) << name;
    return values;
  };
  const std::vector<double> q = give("q", "{ random = { seed = 1 } }", 1);
  const std::vector<double> k = give("k", "{ random = { seed = 2 } }", 2);
  const std::vector<double> v = give("v", "{ value = 1.0 }", 3);
  text = replaced(text, "attention.sm_80.ptx", in_source("sw/kernels/attention.sm_80.ptx"));
  text =
      replaced(text, "expect = { value = 1.0, tolerance = { abs = 0.002, rel = 0.0 } }", "dump = \"o.bin\"");
  w.write("attention.toml", text);
  const Finished run = w.warpline({"run", "attention.toml", "--gpu", "a100", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const std::string bytes = read_file(w.path("o.bin"));
  std::vector<float> o(kAll);
  ASSERT_EQ(bytes.size(), kAll * sizeof(float));
  std::memcpy(o.data(), bytes.data(), bytes.size());
  double apart = 0;
  for (std::size_t head = 0; head < kAll; head += kN * kDepth)
    for (std::size_t row = 0; row < kN; ++row) {
      std::vector<double> weight(kN);
      double total = 0;
      for (std::size_t key = 0; key < kN; ++key) {
        double score = 0;
        for (std::size_t d = 0; d < kDepth; ++d)
          score += q[head + row * kDepth + d] * k[head + key * kDepth + d];
        total += weight[key] = std::exp(score / 8);
      }
      for (std::size_t d = 0; d < kDepth; ++d) {
        double want = 0;
        for (std::size_t key = 0; key < kN; ++key) want += weight[key] / total * v[head + key * kDepth + d];
        apart = std::max(apart, std::abs(want - o[head + row * kDepth + d]));
      }
    }
  // Weights pass through binary16, whose last place is 2^-11 of them.
  EXPECT_LT(apart, 5e-4);
  EXPECT_GT(apart, 0.0);
}

class OwnKernel : public testing::TestWithParam<const char*> {};

TEST_P(OwnKernel, GivesTheExpectedResult) {
  const std::string kernel = GetParam();
  const Workspace w;
  std::vector<std::string> command{
      "run", in_source("sw/kernels/" + kernel + ".toml"), "--gpu", "mini", "--stats", "stats.json"};
  if (wants_host(kernel))
    command.insert(command.end(),
                   kernel == "nvme_io" ? "--set=pcie_system.nvme.count=1" : "--set=pcie_system.peers=1");
  if (wants_network(kernel)) command.insert(command.end(), {"--set=sm_network.present=true"});
  if (wants_gpus(kernel)) command.insert(command.end(), {"--set=gpus=2", "--set=gpu_switch.count=1"});
  const Finished run = w.warpline(command);
  ASSERT_EQ(run.status, 0) << run.out << run.err;

  const json statistics = json::parse(read_file(w.path("stats.json")));
  EXPECT_EQ(statistics.at("schema"), 2);
  EXPECT_EQ(statistics.at("outcome"), "finished");
  EXPECT_EQ(statistics.at("comparisons").size(), statistics.at("checks").get<std::size_t>());
  EXPECT_EQ(statistics.at("gpu"), "mini");
  EXPECT_EQ(statistics.at("transport"), "fast");
  EXPECT_EQ(statistics.at("input").size(), 1U);
  EXPECT_GT(statistics.at("cycles").get<std::uint64_t>(), 0U);
  EXPECT_GT(statistics.at("time_ns").get<double>(), 0.0);
  EXPECT_GE(statistics.at("wall_s").get<double>(), 0.0);
  EXPECT_EQ(statistics.at("launches").is_array(), true);
  EXPECT_EQ(value(statistics, "sm.lsu.faults"), 0U);
  EXPECT_GT(value(statistics, "sm.thread_instructions"), 0U);
  EXPECT_GE(value(statistics, "sm.lsu.global_sectors"), value(statistics, "sm.lsu.global_requests"));
  EXPECT_GE(value(statistics, "l2.sector_accesses"), value(statistics, "l2.sector_hits"));
  for (const auto& [path, counter] : statistics.at("counters").items()) {
    EXPECT_TRUE(counter.contains("unit")) << path;
    EXPECT_FALSE(counter.at("description").get<std::string>().empty()) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(AllKernels, OwnKernel, testing::ValuesIn(kKernels),
                         [](const auto& p) { return std::string(p.param); });
INSTANTIATE_TEST_SUITE_P(WithAHost, OwnKernel, testing::ValuesIn(kHosted),
                         [](const auto& p) { return std::string(p.param); });
INSTANTIATE_TEST_SUITE_P(OfSeveralGpus, OwnKernel, testing::ValuesIn(kOfGpus),
                         [](const auto& p) { return std::string(p.param); });
INSTANTIATE_TEST_SUITE_P(OfClusters, OwnKernel, testing::ValuesIn(kClustered),
                         [](const auto& p) { return std::string(p.param); });

/// As the compiler makes them for sm_80, and for sm_90, where its output differs in the target only.
TEST(OwnKernels, AreLegal) {
  const Workspace w;
  std::vector<const char*> all(std::begin(kKernels), std::end(kKernels));
  all.insert(all.end(), std::begin(kHosted), std::end(kHosted));
  for (const char* kernel : all) {
    const std::string path = in_source(std::string("sw/kernels/") + kernel + ".sm_80.ptx");
    const std::string text = read_file(path);
    const std::string next = replaced(text, ".target sm_80\n", ".target sm_90\n");
    ASSERT_NE(text, next) << path;
    w.write("sm_90.ptx", next);
    const Finished run = w.warpline({"check", path, "sm_90.ptx"});
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }
}

TEST(OwnKernels, AreAllTested) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(in_source("sw/kernels")))
    if (entry.path().extension() == ".cu") found.insert(entry.path().stem().string());
  std::set<std::string> tested(std::begin(kKernels), std::end(kKernels));
  tested.insert(std::begin(kHosted), std::end(kHosted));
  tested.insert(std::begin(kClustered), std::end(kClustered));
  tested.insert(std::begin(kOfGpus), std::end(kOfGpus));
  tested.insert({"gemm_tma", "gemm_cluster"});
  EXPECT_EQ(found, tested);
}

TEST(OwnKernels, RunFromTheirFolderOnABigGpu) {
  const Workspace w;
  const Finished run =
      w.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--gpu", "v100", "--stats", "stats.json"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const json statistics = json::parse(read_file(w.path("stats.json")));
  EXPECT_EQ(statistics.at("gpu"), "v100");
  // Three arrays of 16,384 floats, four bytes each, in sectors of 32 and lines of 128 bytes.
  EXPECT_EQ(value(statistics, "sm.lsu.global_sectors"), 3U * 16384U * 4U / 32U);
  EXPECT_EQ(value(statistics, "sm.lsu.global_requests"), 3U * 16384U * 4U / 128U);
  EXPECT_EQ(value(statistics, "sm.lsu.global_load_sectors"), 2U * 16384U * 4U / 32U);
  EXPECT_EQ(value(statistics, "sm.lsu.global_store_sectors"), 16384U * 4U / 32U);
  EXPECT_EQ(value(statistics, "sm.lsu.global_loads"), 2U * 16384U / 32U);
  EXPECT_EQ(value(statistics, "sm.lsu.global_stores"), 16384U / 32U);
}

TEST(OwnKernels, RunTwiceTheSame) {
  const Workspace w;
  std::string text[2];
  for (std::string& statistics : text) {
    const Finished run =
        w.warpline({"run", in_source("sw/kernels/histogram.toml"), "--seed", "7", "--stats", "stats.json"});
    ASSERT_EQ(run.status, 0) << run.err;
    json parsed = json::parse(read_file(w.path("stats.json")));
    for (const char* const key : {"wall_s", "command"}) parsed.erase(key);
    statistics = parsed.dump();
  }
  EXPECT_EQ(text[0], text[1]);
}

TEST(OwnKernels, AreCountedPerLaunch) {
  const Workspace w;
  ASSERT_EQ(w.warpline({"run", in_source("sw/kernels/chase.toml"), "--stats", "stats.json"}).status, 0);
  const json statistics = json::parse(read_file(w.path("stats.json")));
  ASSERT_EQ(statistics.at("launches").size(), 3U);
  std::uint64_t sectors = 0;
  for (const json& launch : statistics.at("launches")) sectors += value(launch, "sm.lsu.global_sectors");
  EXPECT_EQ(sectors, value(statistics, "sm.lsu.global_sectors"));
  // The chases differ in one thing: the 4,096 loads of the second do not look L1 up.
  EXPECT_EQ(value(statistics.at("launches").at(1), "l1_lg.sector_accesses"),
            value(statistics.at("launches").at(2), "l1_lg.sector_accesses") + 4096U);
}

TEST(OwnKernels, CopiesPastL1AreNotLookedUpThere) {
  const Workspace w;
  ASSERT_EQ(w.warpline({"run", in_source("sw/kernels/pipeline.toml"), "--stats", "stats.json"}).status, 0);
  const json statistics = json::parse(read_file(w.path("stats.json")));
  // 7,680 words are copied past L1 and written through it; 1,408 words and as many pairs are copied through
  // it.
  const json& wide = statistics.at("launches").at(0);
  EXPECT_EQ(value(wide, "sm.lsu.global_sectors"), 2U * 7680U * 4U / 32U);
  EXPECT_EQ(value(wide, "l1_lg.sector_accesses"), 7680U * 4U / 32U);
  const json& narrow = statistics.at("launches").at(1);
  EXPECT_EQ(value(narrow, "sm.lsu.global_sectors"), 4U * 1408U * 4U / 32U);
  EXPECT_EQ(value(narrow, "l1_lg.sector_accesses"), 4U * 1408U * 4U / 32U);
}

TEST(OwnKernels, TexturesAskTheTextureCacheAndSurfacesL1) {
  const Workspace w;
  ASSERT_EQ(w.warpline({"run", in_source("sw/kernels/texture.toml"), "--stats", "stats.json"}).status, 0);
  const json statistics = json::parse(read_file(w.path("stats.json")));
  const json& box = statistics.at("launches").at(0);
  EXPECT_EQ(value(box, "texture.sector_accesses"), value(box, "sm.lsu.image_sectors"));
  EXPECT_GT(value(box, "texture.sector_hits"), value(box, "texture.sector_accesses") / 2)
      << "each texel is read nine times";
  EXPECT_EQ(value(box, "l1_lg.sector_accesses"), value(box, "sm.lsu.global_sectors"));
  const json& shift = statistics.at("launches").at(2);
  EXPECT_EQ(value(shift, "texture.sector_accesses"), 0U);
  EXPECT_EQ(value(shift, "l1_lg.forwarded_sectors"), 0U);
  EXPECT_EQ(value(shift, "l1_lg.sector_accesses"),
            value(shift, "sm.lsu.image_sectors") + value(shift, "sm.lsu.global_sectors"));
}

}  // namespace own_kernels_test
}  // namespace warpline::test
