// The kernels of tests/programs/kernels, as the compiler makes them of what users write: each launch file is
// right, and over sockets takes the same cycles with the same counters.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace modern_kernels_test {

using nlohmann::json;

TEST(ModernKernels, AreRightByEveryTransport) {
  const Workspace w;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(in_source("tests/programs/kernels")))
    if (entry.path().extension() == ".toml") files.insert(entry.path().string());
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    std::string counted[2];
    // Clusters want a network between SMs.
    const char* const gpu = file.find("cluster") == std::string::npos ? "mini" : "h100";
    for (const char* transport : {"fast", "at", "lt"}) {
      const Finished run = w.warpline({"run", file, "--gpu", gpu, "--transport", transport, "--stats",
                                       "stats.json", "--max-cycles", "10000000"});
      ASSERT_EQ(run.status, 0) << file << " " << transport << "\n" << run.out << run.err;
      const json statistics = json::parse(read_file(w.path("stats.json")));
      EXPECT_GT(statistics.at("checks").get<std::size_t>(), 0U) << file;
      if (std::string(transport) != "lt")
        counted[std::string(transport) == "at"] =
            statistics.at("cycles").dump() + statistics.at("counters").dump();
    }
    EXPECT_EQ(counted[0], counted[1]) << file;
  }
}

}  // namespace modern_kernels_test
}  // namespace warpline::test
