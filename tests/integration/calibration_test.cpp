// `warpline calibrate`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
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
#ifdef WARPLINE_SANITIZE
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
#ifdef WARPLINE_SANITIZE
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
#ifdef WARPLINE_SANITIZE
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

/// Rows of mini whose published values are what the model has with other latencies.
class Fitting : public testing::Test {
 protected:
  Fitting() {
    write_rows({1, 1, 1});
    const Finished run =
        w.warpline({"calibrate", "mini", "--rows", "rows.toml", "--quiet", "--json", "r.json", "--set",
                    "sm.writeback_latency=9", "--set", "hops.crossbar_l2.request.latency=23"});
    EXPECT_EQ(run.status, 0) << run.err;
    std::vector<double> values;
    const json r = json::parse(read_file(w.path("r.json")));
    for (const json& row : r["rows"]) values.push_back(row["measured"]);
    write_rows(values);
    w.write("keys.toml",
            "gpu = \"mini\"\n[[key]]\npath = \"sm.writeback_latency\"\nlowest = 1\nhighest = 20\n"
            "[[key]]\npath = \"hops.crossbar_l2.request.latency\"\nlowest = 1\nhighest = 60\n"
            "[[rows]]\nmatch = \"m.*\"\n");
  }
  void write_rows(const std::vector<double>& values) const {
    const unsigned bytes[] = {4096, 8192, 65536};
    std::string text;
    for (unsigned n = 0; n < 3; ++n)
      text += "[[row]]\nid = \"m." + std::to_string(n) +
              "\"\ngpu = \"mini\"\nclass = \"latency\"\nunit = \"cycles\"\ntolerance = 1\nsource = \"test\"\n"
              "quantity = \"chase\"\nbytes = " +
              std::to_string(bytes[n]) + "\nvalue = " + std::to_string(values[n]) + "\n";
    w.write("rows.toml", text);
  }
  /// `warpline calibrate --fit keys.toml` with the rows.
  [[nodiscard]] Finished fit(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"calibrate", "--fit", "keys.toml", "--rows", "rows.toml"});
    return w.warpline(more);
  }
  const Workspace w;
};

TEST_F(Fitting, FindsKeysAndGoesOnAfterAStop) {
  const Finished whole = fit({"--state", "whole.json", "--json", "whole.out", "--out", "found.toml"});
  ASSERT_EQ(whole.status, 0) << whole.err;
  const json found = json::parse(read_file(w.path("whole.out")));
  EXPECT_TRUE(found["ended"]);
  EXPECT_EQ(found["keys"][0]["found"], 9) << whole.out;
  EXPECT_EQ(found["keys"][1]["found"], 23) << whole.out;
  EXPECT_LT(found["cost"], 1e-6);
  EXPECT_TRUE(found["undetermined"].empty());

  // The same in pieces, measured by one.
  unsigned runs = 0;
  Finished piece;
  do {
    piece = fit({"--evaluations", "9", "--jobs", "1", "--json", "pieces.out"});
    ASSERT_EQ(piece.status, 0) << piece.err;
  } while (++runs < 100 && piece.out.find("stopped: after 9 new evaluations") != std::string::npos);
  EXPECT_GT(runs, 1U);
  EXPECT_EQ(read_file(w.path("pieces.out")), read_file(w.path("whole.out")));
  EXPECT_EQ(read_file(w.path("keys.fit.json")), read_file(w.path("whole.json")))
      << "no point more, none less";
  EXPECT_THAT(piece.out, HasSubstr("base = \"mini\"\nsm.writeback_latency = { value = 9, fit = [\"m.0\""));

  // A preset of one's own takes it over.
  const Finished shown = w.warpline({"config", "show", "found.toml"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("writeback_latency = { value = 9, fit = [\"m.0"));
}

TEST_F(Fitting, AnInterruptKeepsWhatWasMeasured) {
  // Longer than a test: by every point of the bounds.
  w.write("long.toml",
          read_file(w.path("keys.toml")) +
              "[search]\nevaluations = 100000\nglobal = \"direct\"\nglobal_evaluations = 99999\n");
  const std::vector<std::string> command = {"calibrate", "--fit", "long.toml", "--rows", "rows.toml"};
  const Finished stopped = w.signalled(command, {SIGINT}, "");
  EXPECT_EQ(stopped.status, 130);
  EXPECT_THAT(stopped.out, HasSubstr("stopped"));
  EXPECT_THAT(stopped.out, HasSubstr("by Ctrl-C"));
  std::vector<std::string> few = command;
  few.insert(few.end(), {"--evaluations", "2"});
  const Finished more = w.warpline(few);
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_THAT(more.out, HasSubstr("2 of them measured now"));
  w.write("timed.toml", read_file(w.path("keys.toml")) + "[search]\nseconds = 0.000001\n");
  const Finished timed = w.warpline({"calibrate", "--fit", "timed.toml", "--rows", "rows.toml"});
  EXPECT_EQ(timed.status, 0) << timed.err;
  EXPECT_THAT(timed.out, HasSubstr("1 points, 1 of them measured now\nstopped: after 1e-06 seconds"))
      << "each run gets on by one at least";
}

TEST_F(Fitting, SaysWhatStaysOpen) {
  w.write("keys.toml",
          "[[key]]\npath = \"hops.crossbar_l2.request.latency\"\nlowest = 1\nhighest = 10\n"
          "[[key]]\npath = \"hops.crossbar_l2.response.latency\"\nlowest = 1\nhighest = 3\n"
          "[[key]]\npath = \"sm.texture_latency\"\nlowest = 0\nhighest = 60\n"
          "[[rows]]\nmatch = \"m.2\"\n[search]\nmethod = \"sbplx\"\nevaluations = 40\n");
  const Finished run = fit({"mini", "--set", "sm.writeback_latency=8"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("hops.crossbar_l2.request.latency is at its highest, 10"));
  EXPECT_THAT(run.out, HasSubstr("undetermined: sm.texture_latency: no row moves from 0 to 60"));
  EXPECT_THAT(run.out,
              HasSubstr("hops.crossbar_l2.request.latency and hops.crossbar_l2.response.latency move "
                        "the rows alike (correlation +1.000)"));
  EXPECT_THAT(run.out, HasSubstr("\nsm.writeback_latency = { value = 8, assumed = \"as the GPU of the fit"));
}

TEST_F(Fitting, MistakesAreTold) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Finished run = fit(more);
    EXPECT_EQ(run.status, 2) << run.out;
    return run.err;
  };
  EXPECT_EQ(fit({"--evaluations", "1"}).status, 0);
  EXPECT_THAT(refusal({"--set", "sm.issue_latency=3"}),
              HasSubstr("keys.fit.json: error: is the state of another fit: of another GPU"));
  EXPECT_THAT(refusal({"v100"}), HasSubstr("keys.toml:1:7: error: gpu: these keys are of mini"));
  w.write("other.toml", "x = 1\n");
  EXPECT_THAT(refusal({"--state", "other.toml"}), HasSubstr("other.toml: error: is no state of a fit"));
  EXPECT_THAT(refusal({"--state", "rows.toml"}), HasSubstr("rows.toml is the file of --rows, too"));
  EXPECT_THAT(refusal({"--out", "rows.toml"}), HasSubstr("rows.toml is the file of --rows, too"));
  EXPECT_THAT(refusal({"--out", "keys.toml"}), HasSubstr("keys.toml is the file of --fit, too"));
  EXPECT_THAT(refusal({"--state", "/proc/x/state"}), HasSubstr("/proc/x/state"));
  EXPECT_THAT(refusal({"--json", "keys.fit.json"}), HasSubstr("is the "));
  EXPECT_THAT(refusal({"--evaluations", "0"}), HasSubstr("--evaluations"));
  EXPECT_THAT(refusal({"--row", "m.*"}), HasSubstr("excludes"));
  w.write("keys.toml", "[[key]]\npath = \"sm.writeback_latency\"\nlowest = 1\nhighest = 20\n");
  EXPECT_THAT(refusal({}), HasSubstr("which GPU is --fit for?"));
  EXPECT_THAT(refusal({"mini"}), HasSubstr("there are no [[rows]]"));
  EXPECT_EQ(w.warpline({"calibrate", "mini", "--out", "x"}).status, 2) << "of --fit alone";
  EXPECT_EQ(w.warpline({"calibrate", "mini", "--fit", "absent.toml"}).status, 2);
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
