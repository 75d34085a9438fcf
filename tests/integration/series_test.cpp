// `warpline run --series`, as a user types it: the rows of a launch add up to what its statistics count,
// whatever part of a run they are of.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/integration/workspace.h"
#include "tests/support/series_reader.h"

namespace warpline::test {
namespace series_test {

using nlohmann::json;

/// A run on `mini`, which is to end so.
void run(const Workspace& at, int status, std::vector<std::string> words) {
  words.insert(words.begin(), {"run", "--gpu", "mini", "--quiet"});
  const Finished ran = at.warpline(words);
  ASSERT_EQ(ran.status, status) << ran.err;
}

/// Of launch `number`, from 1 on, the rows of a series added up, and where they end.
struct Launch {
  Launch(const Series& series, std::size_t number) {
    for (std::size_t row = 0; row < series.rows.size(); ++row) {
      if (series.number(row, "launch") != number) continue;
      kernel = series.at(row, "kernel");
      cycles += series.number(row, "last") + 1 - series.number(row, "first");
      instructions += series.number(row, "sm.instructions");
    }
  }
  std::string kernel;
  std::uint64_t cycles = 0, instructions = 0;
};

const std::vector<std::string> kCounted = {"--series", "s.csv", "--figures", "ipc,sm.instructions",
                                           "--stats",  "s.json"};

std::vector<std::string> with_series(std::vector<std::string> words) {
  words.insert(words.end(), kCounted.begin(), kCounted.end());
  return words;
}

/// Compares the rows with the statistics, of launches from number `from` on; `skipped`: those that the
/// statistics know of, and the series does not.
void compare(const Workspace& at, std::size_t from = 0, std::size_t skipped = 0) {
  const Series series = Series::read(at.path("s.csv"));
  const json stats = json::parse(text_of(at.path("s.json")));
  const json& launches = stats.at("launches");
  ASSERT_GT(launches.size(), from);
  std::uint64_t cycles = 0;
  for (std::size_t n = from; n < launches.size(); ++n) {
    const Launch of_series(series, n + 1 - skipped);
    EXPECT_EQ(of_series.kernel, launches[n].at("kernel"));
    EXPECT_EQ(of_series.cycles, launches[n].at("cycles"));
    EXPECT_EQ(of_series.instructions, launches[n].at("counters").at("sm.instructions").at("value"));
    cycles += of_series.cycles;
  }
  EXPECT_EQ(cycles + series.number(0, "first") - 1, series.number(series.rows.size() - 1, "last"));
}

TEST(Series, OfALaunchAddsUpToItsStatistics) {
  const Workspace at;
  const std::string kernel = in_source("sw/kernels/transpose.toml");
  run(at, 0, with_series({kernel, "--sample", "300"}));
  compare(at);
  const Series plain = Series::read(at.path("s.csv"));
  // A run in two parts: of each, what it ran.
  run(at, 0, with_series({kernel, "--sample", "300", "--save", "half", "--save-after", "1"}));
  compare(at);
  const std::size_t first_part = Series::read(at.path("s.csv")).rows.size();
  run(at, 0, with_series({kernel, "--sample", "300", "--restore", "half"}));
  compare(at, 1, 1);
  const Series rest = Series::read(at.path("s.csv"));
  ASSERT_EQ(first_part + rest.rows.size(), plain.rows.size());
  for (std::size_t row = 0; row < rest.rows.size(); ++row)
    EXPECT_EQ(rest.at(row, "sm.instructions"), plain.at(first_part + row, "sm.instructions"));
  run(at, 0, with_series({kernel, "--restore", "half", "--warm"}));
  compare(at);
  // What is not measured has no row.
  for (const bool warm : {false, true}) {
    std::vector<std::string> words = with_series({kernel, "--fast-forward", "1"});
    if (warm) words.emplace_back("--keep-warm");
    run(at, 0, words);
    compare(at, 1);
  }
  // A span that is longer than the run.
  run(at, 0, with_series({kernel, "--sample", "18446744073709551614"}));
  compare(at);
  EXPECT_EQ(Series::read(at.path("s.csv")).rows.size(), 2U);
}

TEST(Series, OfARunThatIsCutShortIsUpToThere) {
  const Workspace at;
  run(at, 3,
      with_series({in_source("sw/kernels/transpose.toml"), "--sample", "300", "--max-cycles", "1000"}));
  compare(at);
  at.write("spin.toml", "module = \"" + in_source("tests/integration/data/misbehave.ptx") +
                            "\"\nkernel = \"spin\"\ngrid = [1, 1, 1]\nblock = [32, 1, 1]\n");
  const Finished stopped = at.signalled(with_series({"run", "spin.toml", "--gpu", "mini", "--quiet"}),
                                        {SIGUSR1, SIGINT}, "who waits for what");
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  compare(at);
}

TEST(Series, IsTheSameOverSocketsWithThreadsAndBesideATimeline) {
  const Workspace at;
  const std::string kernel = in_source("sw/kernels/reduce.toml");
  run(at, 0, {kernel, "--series", "plain.csv", "--sample", "50"});
  run(at, 0, {kernel, "--series", "at.csv", "--sample", "50", "--transport", "at"});
  run(at, 0, {kernel, "--series", "threads.csv", "--sample", "50", "--threads", "2"});
  run(at, 0, {kernel, "--series", "beside.csv", "--sample", "50", "--timeline", "t.json"});
  run(at, 0, {kernel, "--sample", "50", "--timeline", "alone.json"});
  const std::string plain = text_of(at.path("plain.csv"));
  for (const char* other : {"at.csv", "threads.csv", "beside.csv"})
    EXPECT_EQ(text_of(at.path(other)), plain) << other;
  EXPECT_EQ(text_of(at.path("t.json")), text_of(at.path("alone.json")));
  // The tracks of the timeline show the rows.
  const Series rows = Series::read(at.path("plain.csv"));
  std::size_t row = 0;
  const json timeline = json::parse(text_of(at.path("t.json")));
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("ph") != "C" || event.at("name") != "ipc") continue;
    ASSERT_LT(row, rows.rows.size());
    EXPECT_EQ(event.at("ts"), rows.number(row, "first"));
    EXPECT_EQ(event.at("args").at("instructions"), std::stod(rows.at(row, "ipc")));
    ++row;
  }
  EXPECT_EQ(row, rows.rows.size());
}

TEST(Series, FiguresAreWhatTheyAreCalled) {
  const Workspace at;
  run(at, 0,
      {in_source("sw/kernels/transpose.toml"), "--series", "s.csv", "--sample", "200", "--set",
       "clocks.dram=500", "--figures",
       "ipc,l2_hit_rate,dram_read,dram_busy,request_ports,warps,sm.instructions,l2.sector_hits", "--figures",
       "l2.sector_accesses,l2.merged_sectors,dram.bytes_read,dram.busy_cycles,crossbar.beats,crossbar.reply_"
       "beats"});
  const Series s = Series::read(at.path("s.csv"));
  bool any_warps = false;
  for (std::size_t row = 0; row < s.rows.size(); ++row) {
    const auto cycles = static_cast<double>(s.number(row, "last") + 1 - s.number(row, "first"));
    const auto near = [&](const char* column, double value) {
      EXPECT_NEAR(std::stod(s.at(row, column)), value, 1e-4 * value) << column << " of row " << row;
    };
    const auto counted = [&](const char* path) { return static_cast<double>(s.number(row, path)); };
    near("ipc", counted("sm.instructions") / cycles);
    near("dram_read", counted("dram.bytes_read") / cycles);  // at 1000 MHz
    near("dram_busy", counted("dram.busy_cycles") / (cycles * 0.5 * 2));
    near("request_ports", (counted("crossbar.beats") - counted("crossbar.reply_beats")) / (cycles * 4));
    if (counted("l2.sector_accesses") == 0)
      EXPECT_EQ(s.at(row, "l2_hit_rate"), "");
    else
      near("l2_hit_rate",
           (counted("l2.sector_hits") + counted("l2.merged_sectors")) / counted("l2.sector_accesses"));
    any_warps = any_warps || s.number(row, "warps") != 0;
    EXPECT_LE(s.number(row, "warps"), 4U * 64);
  }
  EXPECT_TRUE(any_warps);
}

TEST(Series, WhatCannotBeIsRefused) {
  const Workspace at;
  const std::string kernel = in_source("sw/kernels/vecadd.toml");
  const auto refused = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), {"run", kernel, "--gpu", "mini", "--quiet"});
    const Finished ran = at.warpline(words);
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
  };
  refused({"--series", "s.csv", "--sample", "0"}, "at least 1");
  refused({"--series", "s.csv", "--sample", "often"}, "no whole number");
  refused({"--sample", "10"}, "neither is given");
  refused({"--figures", "ipc"}, "neither is given");
  refused({"--series", "s.csv", "--figures", "l2_hit_rat"}, "did you mean \"l2_hit_rate\"?");
  refused({"--series", "s.csv", "--figures", "ipc,l2.sector_hit"}, "did you mean \"l2.sector_hits\"?");
  refused({"--series", "s.csv", "--transport", "lt"}, "no cycle of its own");
  refused({"--series", "/proc/s.csv"}, "/proc/s.csv");
  refused({"--series", "s.csv", "--stats", "s.csv"}, "file of --stats, too");
  refused({"--series", "/dev/full"}, "No space left");
}

}  // namespace series_test
}  // namespace warpline::test
