// Traces as users run them: what they take of the host's memory is bounded, whatever their length, and from
// their packed form they run as from their text.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rtl_models/base/random.h"
#include "tests/integration/workspace.h"

namespace warpline::test {
namespace trace_runs_test {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
#ifdef WARPLINE_SANITIZE
constexpr bool kSanitized = true;  // which takes memory of its own
#else
constexpr bool kSanitized = false;
#endif

/// One thread block for each SM of a V100, whose warps load from addresses that nothing could foretell.
void write_trace(const std::string& path, unsigned warps, unsigned loads) {
  constexpr unsigned kBlocks = 80;
  std::ofstream out(path, std::ios::binary);
  out << "-kernel name = scattered\n-grid dim = (" << kBlocks << ",1,1)\n-block dim = (" << warps * 32
      << ",1,1)\n-nregs = 16\n-binary version = 70\n-accelsim tracer version = 5\n\n";
  Random random(3);
  std::string line;
  for (unsigned b = 0; b < kBlocks; ++b) {
    out << "#BEGIN_TB\nthread block = " << b << ",0,0\n";
    for (unsigned w = 0; w < warps; ++w) {
      out << "warp = " << w << "\ninsts = " << loads << '\n';
      for (unsigned i = 0; i < loads; ++i) {
        line = "0000 ffffffff 1 R2 LDG.E 1 R4 4 0";
        for (unsigned lane = 0; lane < 32; ++lane) {
          char address[24];
          std::snprintf(address, sizeof address, " 0x7f%010llx",
                        static_cast<unsigned long long>(random.next() & 0xFFFFFFFFFCU));
          line += address;
        }
        out << line << " 0\n";
      }
    }
    out << "#END_TB\n";
  }
}

/// The most memory of a run on a V100 that takes in the whole trace, as every block has an SM of its own, and
/// ends soon after.
std::uint64_t peak(const Workspace& w, unsigned warps, unsigned loads, const std::string& cache) {
  write_trace(w.path("kernel-1.traceg"), warps, loads);
  const Finished end = w.warpline(
      {"run", "kernel-1.traceg", "--gpu", "v100", "--quiet", "--max-cycles", "1000", "--trace-cache", cache});
  EXPECT_EQ(end.status, 3) << end.err;
  EXPECT_EQ(std::filesystem::exists(w.path("kernel-1.traceg.wlt")), cache == "on");
  return end.peak_bytes;
}

TEST(TraceMemory, DoesNotGrowWithTheLengthOfTheTrace) {
  if (kSanitized) GTEST_SKIP();
  const Workspace w;
  const std::uint64_t little = peak(w, 4, 8, "off");
  // 65 MB of text, of which packed addresses are 30 MB.
  const std::uint64_t much = peak(w, 4, 420, "off");
  EXPECT_LT(much, little + 12 * kMiB);
  EXPECT_LT(peak(w, 4, 420, "on"), little + 12 * kMiB);
}

TEST(TraceMemory, OfAV100ThatIsFullIsAtMost250MiB) {
  if (kSanitized) GTEST_SKIP();
  const Workspace w;
  EXPECT_LT(peak(w, 32, 32, "off"), 250 * kMiB);
}

/// A machine takes of the host what runs touch of it, and not what it could hold.
TEST(MachineMemory, OfAnH100ThatDoesLittleIsAtMost150MiB) {
  if (kSanitized) GTEST_SKIP();
  // Some hosts commit 2 MiB wherever a byte is touched.
  std::ifstream huge("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string choice;
  if (std::getline(huge, choice) && choice.find("[always]") != std::string::npos)
    GTEST_SKIP() << "the host's pages are large";
  const Workspace w;
  const Finished end = w.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--gpu", "h100", "--quiet"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_LT(end.peak_bytes, 150 * kMiB);
}

/// The counters of a run of a trace, as its statistics have them.
nlohmann::json counters(const Workspace& w, const std::string& trace, const std::string& cache,
                        const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"run", trace, "--quiet", "--stats", "s.json", "--trace-cache", cache};
  words.insert(words.end(), options.begin(), options.end());
  const Finished end = w.warpline(words);
  EXPECT_EQ(end.status, 0) << end.err;
  const nlohmann::json all = nlohmann::json::parse(read_file(w.path("s.json")));
  return {all["cycles"], all["counters"]};
}

TEST(TraceCaches, ChangeNothingOfARun) {
  const std::string given = in_source("../shared/inputs/traces");
  if (!std::filesystem::exists(given)) GTEST_SKIP() << "no given traces at " << given;
  const Workspace w;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(given)) {
    const std::string name = entry.path().filename().string();
    // What a run beside them has kept of them is none of them.
    if (name.find(".traceg") == std::string::npos || entry.path().extension() == ".wlt") continue;
    SCOPED_TRACE(entry.path());
    w.write(name, read_file(entry.path().string()));
    const nlohmann::json text = counters(w, name, "off");
    EXPECT_FALSE(std::filesystem::exists(w.path(name + ".wlt")));
    EXPECT_EQ(counters(w, name, "on"), text);
    EXPECT_TRUE(std::filesystem::exists(w.path(name + ".wlt")));
    EXPECT_EQ(counters(w, name, "on"), text);
    std::filesystem::remove(w.path(name + ".wlt"));
  }
}

TEST(TraceThreads, ChangeNothingOfARun) {
  const Workspace w;
  write_trace(w.path("kernel-1.traceg"), 4, 12);
  const nlohmann::json one = counters(w, "kernel-1.traceg", "off", {"--gpu", "v100"});
  for (const char* threads : {"2", "3"})
    for (const char* cache : {"off", "on", "on"})  // text, text that is packed, and what was
      EXPECT_EQ(counters(w, "kernel-1.traceg", cache, {"--gpu", "v100", "--threads", threads}), one)
          << threads << " threads, " << cache;
}

TEST(TraceThreads, AreSaidToDoNothingWhereNothingIsTimed) {
  const Workspace w;
  write_trace(w.path("kernel-1.traceg"), 1, 1);
  const Finished end = w.warpline({"run", "kernel-1.traceg", "--quiet", "--trace-cache", "off", "--gpu",
                                   "v100", "--transport", "lt", "--threads", "2"});
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "note: --threads 2: the run keeps to one, as requests are not timed\n");
}

TEST(TraceCaches, AreOnOrOff) {
  const Workspace w;
  write_trace(w.path("kernel-1.traceg"), 1, 1);
  const Finished end = w.warpline({"run", "kernel-1.traceg", "--trace-cache", "of"});
  EXPECT_EQ(end.status, 2);
  EXPECT_NE(end.err.find("--trace-cache: \"of\" is none of on, off"), std::string::npos) << end.err;
}

}  // namespace trace_runs_test
}  // namespace warpline::test
