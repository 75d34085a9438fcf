// `warpline calibrate`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace calibration_test {

using nlohmann::json;
using testing::HasSubstr;

/// sw/microbench/errors.toml: the median error of each class, per cent.
std::map<std::string, double> errors_written() {
  std::ifstream file(in_source("sw/microbench/errors.toml"));
  std::map<std::string, double> out;
  for (std::string line; std::getline(file, line);) {
    const std::size_t name = line.find('"'), end = line.find('"', name + 1), equals = line.find('=', end);
    if (line.empty() || line[0] != '"' || equals == std::string::npos) continue;
    out[line.substr(name + 1, end - name - 1)] = std::stod(line.substr(equals + 1));
  }
  return out;
}

TEST(Calibration, ErrorsByClassAreNoWorseThanWritten) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "without sanitizers this is measured once";
#endif
  const Workspace w;
  const Finished run = w.warpline({"calibrate", "all", "--brief", "--quiet", "--json", "b.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const std::map<std::string, double> written = errors_written();
  const json measured = json::parse(read_file(w.path("b.json")));
  EXPECT_EQ(written.size(), measured["classes"].size());
  constexpr double kNoise = 0.5;
  for (const json& c : measured["classes"]) {
    const std::string name = c["class"];
    ASSERT_EQ(written.count(name), 1U) << name << " is not in sw/microbench/errors.toml";
    const double median = c["median_error_percent"];
    EXPECT_LT(median, written.at(name) + kNoise) << name << ": worse than sw/microbench/errors.toml says";
    EXPECT_GT(median, written.at(name) - kNoise)
        << name << ": better; write it into sw/microbench/errors.toml";
    EXPECT_EQ(c["answered"], c["rows"]) << name;
  }
}

/// The driver's library of `warpline exec` stands for that of a real GPU.
TEST(Calibration, ADriverMeasuresWhatTheModelDoes) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the libraries of exec are for programs without sanitizers";
#endif
  const Workspace w;
  const Finished run = w.warpline({"exec", "--gpu", "v100", WARPLINE_BINARY, "calibrate", "v100", "--measure",
                                   "own.toml", "--quiet", "--row", "V100.chase.513k", "--row",
                                   "mtV100.texture.lat", "--row", "mtV100.constl1.lat"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("3 rows of Warpline v100 in own.toml"));
  const Finished compared = w.warpline(
      {"calibrate", "v100", "--rows", "own.toml", "--quiet", "--json", "c.json", "--report", "c.html"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const json rows = json::parse(read_file(w.path("c.json")))["rows"];
  ASSERT_EQ(rows.size(), 3U);
  for (const json& row : rows) EXPECT_LT(std::abs(row["error_percent"].get<double>()), 2.0) << row;
  EXPECT_THAT(read_file(w.path("c.html")), HasSubstr("Calibration of v100"));
}

TEST(Calibration, ADriversCopiesTakeWhatTheModelSays) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the libraries of exec are for programs without sanitizers";
#endif
  const Workspace w;
  std::string rows;
  for (const char* to : {"device", "host"})
    for (const char* memory : {"page_locked", "pageable"})
      rows += std::string("[[row]]\nid = \"") + to + "." + memory +
              "\"\ngpu = \"rtx6000\"\nclass = \"host link\"\nvalue = 1\nunit = \"us\"\ntolerance = 1\n"
              "source = \"a test\"\nquantity = \"host_copy_time\"\nbytes = 1_000_000\nto = \"" +
              to + "\"\nmemory = \"" + memory + "\"\n";
  w.write("rows.toml", rows);
  const Finished run =
      w.warpline({"exec", "--gpu", "rtx6000", WARPLINE_BINARY, "calibrate", "rtx6000", "--measure",
                  "own.toml", "--quiet", "--rows", "rows.toml", "--repeat", "1"});
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const Finished compared =
      w.warpline({"calibrate", "rtx6000", "--rows", "own.toml", "--quiet", "--json", "c.json"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const json compared_rows = json::parse(read_file(w.path("c.json")))["rows"];
  ASSERT_EQ(compared_rows.size(), 4U);
  std::vector<double> times;
  for (const json& row : compared_rows) {
    EXPECT_LT(std::abs(row["error_percent"].get<double>()), 0.1) << row;
    times.push_back(row["measured"].get<double>());
  }
  EXPECT_LT(times[0] + 10, times[1]) << "memory that is not page-locked takes longer";
}

TEST(Calibration, MistakesAreTold) {
  const Workspace w;
  const Finished nothing = w.warpline({"calibrate", "mini"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("no published row of mini is asked for"));
  EXPECT_EQ(w.warpline({"calibrate", "nobody"}).status, 2);
  EXPECT_EQ(w.warpline({"calibrate", "v100", "--rows", "absent.toml"}).status, 2);
  EXPECT_EQ(w.warpline({"calibrate", "v100", "--row", "no such row"}).status, 2);
  const Finished driver = w.warpline({"calibrate", "v100", "--measure", "own.toml", "--device", "77"});
  EXPECT_EQ(driver.status, 2);
  const Finished listed = w.warpline({"calibrate", "v100", "--list", "--class", "latency"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(listed.out, HasSubstr("V100.chase.16k"));
}

TEST(Calibration, GpusAreComparedKeyByKey) {
  const Workspace w;
  const Finished same = w.warpline({"config", "compare", "a100", "a100-80"});
  EXPECT_THAT(same.out, testing::StartsWith("0 of "));
  const Finished other = w.warpline({"config", "compare", "rtx6000", "rtx2080ti"});
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.out, testing::ContainsRegex("sms +72 +68"));
  EXPECT_EQ(w.warpline({"config", "compare", "a100", "nobody"}).status, 2);
}

}  // namespace calibration_test
}  // namespace warpline::test
