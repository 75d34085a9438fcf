// The given litmus tests whose outcome no sequential machine shows, and the model allows: the platform is as
// weak.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "platform/consistency/places.h"
#include "tests/platform/consistency/bench.h"
#include "tests/platform/consistency/files.h"
#include "tests/platform/consistency/seen.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace given_weak_test {

const std::string kFolder = WARPLINE_SOURCE_DIR "/../shared/oracles/litmus/";

bool is_seen_in(const std::string& name, std::uint64_t runs) {
  const auto test = parse_file(kFolder + name, name);
  EXPECT_TRUE(test.ok()) << name;
  if (!test.ok()) return false;
  const unsigned gpus = litmus::places_of(test.value()).gpus;
  return is_seen(test.value(), {{"gpus=" + std::to_string(gpus)}}, runs, false);
}

/// Tests of expected.tsv that are allowed and need a weak machine.
std::vector<std::string> weak_ones() {
  constexpr std::size_t kPath = 0, kVerdict = 5, kVerdictWithSc = 6, kSequential = 9;
  std::vector<std::string> out;
  std::ifstream table(kFolder + "expected.tsv");
  for (std::string line; std::getline(table, line);) {
    std::vector<std::string> cells(kSequential + 1);
    std::istringstream row(line);
    for (std::string& cell : cells) std::getline(row, cell, '\t');
    const bool unsupported = cells[kVerdictWithSc].rfind("UNSUP", 0) == 0;
    const std::string& said = cells[unsupported ? kVerdict : kVerdictWithSc];
    const bool allowed = said == "outcome-allowed" || said == "can-fail(negation-allowed)";
    if (allowed && cells[kSequential] == "no") out.push_back(cells[kPath]);
  }
  return out;
}

TEST(GivenLitmusTests, ShowWhatIsWeakIn2000Runs) {
  if (!std::filesystem::is_directory(kFolder)) GTEST_SKIP() << "there is no " << kFolder;
  for (const char* const name : {"Manual/CoRW-WW",
                                 "Manual/LB-dlb-no-fence-1",
                                 "Manual/LB-dlb-no-fence-2",
                                 "Manual/MP-cta",
                                 "Manual/MP-dlb-no-fence-1",
                                 "Manual/MP-dlb-no-fence-2",
                                 "Manual/SB+bar-diff-cta",
                                 "Manual/SB-weak",
                                 "Manual/SL-cas-minus",
                                 "Manual/SL-future-minus",
                                 "Manual/Ticketlock-diff-gpu",
                                 "Manual/XF-Barrier-rlx",
                                 "Manual/proxy/Proxy-Const-MP-cause-different-cta",
                                 "Nvidia/Atom-SB-ld",
                                 "Nvidia/proxy/Proxy-MP-Alias+diffProxy-noFence1",
                                 "Nvidia/proxy/Proxy-MP-cta-synonym1",
                                 "Nvidia/proxy/Proxy-MP-cta-synonym22",
                                 "Nvidia/proxy/Proxy-MP-cta-synonym4",
                                 "Nvidia/proxy/Proxy-MP-gen-sur-no-proxyFence",
                                 "Nvidia/proxy/Proxy-MP-gpu10",
                                 "Nvidia/proxy/Proxy-MP-gpu11",
                                 "Nvidia/proxy/Proxy-MP-gpu14",
                                 "Nvidia/proxy/Proxy-MP-gpu15",
                                 "Nvidia/proxy/Proxy-MP-gpu16",
                                 "Nvidia/proxy/Proxy-MP-gpu3",
                                 "Nvidia/proxy/Proxy-MP-gpu4",
                                 "Nvidia/proxy/Proxy-MP-gpu5",
                                 "Nvidia/proxy/Proxy-MP-gpu8",
                                 "Nvidia/proxy/Proxy-MP-sur-gen-no-proxyFence",
                                 "Nvidia/proxy/Proxy-MP-sur-tex-surfaceFence1",
                                 "Nvidia/proxy/Proxy-SingleThread-rf-surW-genR",
                                 "Nvidia/proxy/Proxy-SingleThread-rf-surW-surF-texR",
                                 "Nvidia/proxy/Proxy-SingleThread-rf-surW-texR-genR"})
    EXPECT_TRUE(is_seen_in(std::string(name) + ".litmus", 2000)) << name;
}

/// WARPLINE_WEAK_RUNS: of each; 20000 take a minute.
TEST(GivenLitmusTests, ShowMostOfWhatIsWeakInManyRuns) {
  const std::uint64_t runs = from_environment("WARPLINE_WEAK_RUNS", 0);
  if (runs == 0) GTEST_SKIP() << "WARPLINE_WEAK_RUNS=20000 asks for it";
  if (!std::filesystem::is_directory(kFolder)) GTEST_SKIP() << "there is no " << kFolder;
  const std::vector<std::string> names = weak_ones();
  EXPECT_EQ(names.size(), 83U);
  unsigned seen = 0;
  for (const std::string& name : names) seen += is_seen_in(name, runs);
  EXPECT_GE(seen, 34U) << "in " << runs << " runs of each";
}

}  // namespace given_weak_test
}  // namespace warpline::test
