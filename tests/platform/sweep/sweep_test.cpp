#include "platform/sweep/sweep.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "rtl_models/base/random.h"
#include "tests/support/environment.h"
#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace sweep_test {

/// A study of `points` points that no hardware is needed for, and its results in a folder of their own.
class Sweeps : public ::testing::Test {
 protected:
  Sweeps() {
    results_ = folder_ + "/results.sqlite";
    study_.name = "a study";
    study_.text = "its text";
    study_.workloads.push_back({"w", false, {"w.toml"}, {}});
  }

  void make_points(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
      Point p;
      p.number = n;
      p.gpu = "mini";
      p.settings = {{"l2.slices", std::to_string(n + 1)}};
      plan_.points.push_back(p);
    }
  }
  /// The number of the point that words are of.
  static std::size_t point_of(const std::vector<std::string>& words) {
    for (const std::string& word : words)
      if (word.rfind("l2.slices=", 0) == 0) return std::stoul(word.substr(10)) - 1;
    return ~std::size_t{0};
  }
  /// What a run of a point writes: a hundred counters, so that rows are not all of a page.
  static int write_statistics(const std::vector<std::string>& words) {
    const std::size_t n = point_of(words);
    std::string text = R"({"outcome": "finished", "cycles": )" + std::to_string(1000 + n) +
                       R"(, "time_ns": 1.5, "configuration": {"l2.slices": 1}, "configuration_sha256": ")" +
                       std::to_string(n) + R"(", "counters": {)";
    for (unsigned c = 0; c < 100; ++c)
      text += (c == 0 ? "" : ", ") + std::string("\"block.c") + std::to_string(c) + R"(": {"value": )" +
              std::to_string(n * c) + R"(, "unit": "things", "description": "d"})";
    std::ofstream(ChildRun::statistics_path()) << text << "}}";
    return 0;
  }
  Sweep::Outcome run(const Command& command, unsigned jobs = 2, bool retry = false) {
    ResultStore store(results_, ResultStore::Access::write);
    store.begin(study_, "1.2.3");
    if (retry) store.forget_unfinished();
    Sweep::Options options;
    options.jobs = jobs;
    options.command = command;
    return Sweep(study_, plan_, store, options).run();
  }
  /// Each row of the file: how it ended, and that its counters are all there.
  std::vector<std::string> outcomes() {
    const ResultStore store(results_, ResultStore::Access::read);
    std::vector<std::string> out;
    std::vector<std::vector<std::string>> rows = store.table({"cycles", "block.c7", "block.c99"});
    for (std::size_t r = 1; r < rows.size(); ++r) {
      const std::vector<std::string>& row = rows[r];
      const std::size_t n = std::stoul(row[0]);
      EXPECT_EQ(row[3], std::to_string(n + 1));
      if (row[4] == "finished") {
        EXPECT_EQ(row[6], std::to_string(1000 + n));
        EXPECT_EQ(row[7], std::to_string(7 * n));
        EXPECT_EQ(row[8], std::to_string(99 * n));
      }
      out.push_back(row[0] + " " + row[4]);
    }
    return out;
  }
  std::vector<std::string> all_finished() const {
    std::vector<std::string> out;
    for (const Point& p : plan_.points) out.push_back(std::to_string(p.number) + " finished");
    return out;
  }
  bool is_whole() {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(results_.c_str(), &db), SQLITE_OK);
    std::string said;
    sqlite3_exec(
        db, "PRAGMA integrity_check",
        [](void* to, int, char** values, char**) {
          *static_cast<std::string*>(to) += values[0];
          return 0;
        },
        &said, nullptr);
    sqlite3_close(db);
    return said == "ok";
  }

  Study study_;
  Plan plan_;
  ScratchFolder scratch_;
  std::string folder_ = scratch_.path(), results_;
};

TEST_F(Sweeps, WriteARowForEachPointAndGoOnBehindThoseThatAreThere) {
  make_points(20);
  plan_.points[3].impossible = "no such GPU";
  const Sweep::Outcome first = run(write_statistics, 3);
  EXPECT_EQ(first.ran, 20U);
  std::vector<std::string> expected = all_finished();
  expected[3] = "3 impossible";
  EXPECT_EQ(outcomes(), expected);
  EXPECT_EQ(run([](const auto&) { return 7; }).ran, 0U) << "nothing is run twice";
  EXPECT_EQ(outcomes(), expected);
}

TEST_F(Sweeps, WhatEndsOtherwiseIsARowWithItsReasonAndCanBeRunAgain) {
  make_points(5);
  study_.limit_s = 0.2;
  run([](const std::vector<std::string>& words) {
    const std::size_t n = point_of(words);
    if (n == 1) raise(SIGKILL);
    if (n == 2) pause();
    if (n == 3) {
      dprintf(2, "error: there is no kernel \"k\"\nhint: none\n");
      return 2;
    }
    return write_statistics(words);
  });
  EXPECT_EQ(outcomes(),
            (std::vector<std::string>{"0 finished", "1 lost", "2 too long", "3 refused", "4 finished"}));
  {
    const ResultStore store(results_, ResultStore::Access::read);
    const auto rows = store.table({});
    EXPECT_EQ(rows[2][5], "its process was killed by signal 9 (Killed), 2 times");
    EXPECT_EQ(rows[3][5], "it was not done after 0.2 s");
    EXPECT_EQ(rows[4][5], "there is no kernel \"k\"");
    const std::vector<ResultStore::Ending> ends = store.endings();
    ASSERT_EQ(ends.size(), 4U);
    EXPECT_EQ(ends[0].outcome + " " + std::to_string(ends[0].rows), "finished 2");
    EXPECT_EQ(ends[2].outcome + " " + std::to_string(ends[2].first) + " " + ends[2].reason,
              "refused 3 there is no kernel \"k\"");
  }
  EXPECT_EQ(run(write_statistics, 2, true).ran, 3U);
  EXPECT_EQ(outcomes(), all_finished());
}

TEST_F(Sweeps, ALostProcessIsReplacedByAnother) {
  make_points(6);
  run([this](const std::vector<std::string>& words) {
    const std::string once = folder_ + "/" + std::to_string(point_of(words));
    if (!std::filesystem::exists(once)) {
      std::ofstream(once) << "x";
      raise(SIGKILL);
    }
    return write_statistics(words);
  });
  EXPECT_EQ(outcomes(), all_finished());
}

TEST_F(Sweeps, KilledAtAnyMomentNoResultIsLostOrDoubled) {
  // WARPLINE_SWEEP_KILLS sets how often.
  make_points(60);
  Random random(7);
  std::size_t rows = 0;
  const std::uint64_t kills = from_environment("WARPLINE_SWEEP_KILLS", 12);
  for (std::uint64_t n = 0; n < kills; ++n) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        run([](const std::vector<std::string>& words) {
          usleep(500);
          return write_statistics(words);
        });
      } catch (const StoreError& e) {
        dprintf(2, "%s\n", e.what.c_str());
        _exit(9);
      }
      _exit(0);
    }
    usleep(static_cast<useconds_t>(random.below(40'000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    if (!std::filesystem::exists(results_)) continue;
    try {
      const std::size_t now = outcomes().size();
      EXPECT_GE(now, rows) << "what was written stays";
      rows = now;
    } catch (const StoreError&) {
      EXPECT_EQ(rows, 0U) << "a file without tables has had no rows";
    }
  }
  run(write_statistics);
  EXPECT_EQ(outcomes(), all_finished());
  EXPECT_TRUE(is_whole());
}

TEST_F(Sweeps, CountersOfBlocksMeanWhatTheirTotalsDo) {
  make_points(2);
  run([](const std::vector<std::string>&) {
    std::ofstream(ChildRun::statistics_path()) << R"({"outcome": "finished", "cycles": 1, "counters": {
               "l2.hits": {"value": 5, "unit": "sectors", "description": "that hit"},
               "l2[0].hits": {"value": 5}}})";
    return 0;
  });
  const ResultStore store(results_, ResultStore::Access::read);
  std::string said;
  store.ask(
      "SELECT path, total, unit, description, value FROM counters JOIN counter_names ON id = counter "
      "WHERE point = 1 ORDER BY path",
      [&](const ResultStore::Row& row) {
        for (int n = 0; n < 5; ++n) said += row.text(n) + (n == 4 ? "\n" : " ");
      });
  EXPECT_EQ(said, "l2.hits 1 sectors that hit 5\nl2[0].hits 0 sectors that hit 5\n");
}

TEST_F(Sweeps, AFullDiskLosesNothingThatWasWritten) {
  make_points(200);
  const pid_t child = fork();
  if (child == 0) {
    // Files may not grow further: what a full disk says, too.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {150'000, 150'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      run(write_statistics);
    } catch (const StoreError&) {
      _exit(9);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 9);
  outcomes();
  EXPECT_TRUE(is_whole());
  run(write_statistics);
  EXPECT_EQ(outcomes(), all_finished());
}

TEST_F(Sweeps, AFileOfResultsIsOfOneStudyAndWrittenByOne) {
  make_points(1);
  run(write_statistics);
  const auto refusal = [](const auto& with) -> std::string {
    try {
      with();
    } catch (const StoreError& e) {
      return e.what;
    }
    return {};
  };
  {
    const ResultStore writer(results_, ResultStore::Access::write);
    EXPECT_EQ(refusal([this] { run(write_statistics); }), "another `warpline sweep` writes it");
  }
  study_.workloads[0].words = {"elsewhere/w.toml"};
  EXPECT_EQ(refusal([this] {
              run(write_statistics);
            }).rfind("has the results of the same study in another folder", 0),
            0U);
  study_.text = "another";
  EXPECT_EQ(refusal([this] { run(write_statistics); }),
            "has the results of a study of another text (\"a study\")");
  results_ = folder_ + "/text";
  std::ofstream(results_) << "no database, but a text that is long enough to be looked at by anybody";
  EXPECT_EQ(refusal([this] { run(write_statistics); }), "file is not a database");
  EXPECT_EQ(refusal([this] { ResultStore(folder_ + "/none", ResultStore::Access::read); }),
            "there is no such file");
}

TEST_F(Sweeps, AFileOfOtherTablesIsRefused) {
  make_points(1);
  run(write_statistics, 1);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(results_.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "UPDATE study SET value = '1' WHERE key = 'schema'", nullptr, nullptr, nullptr);
  ASSERT_EQ(sqlite3_changes(db), 1);
  sqlite3_close(db);
  try {
    const ResultStore store(results_, ResultStore::Access::read);
    ADD_FAILURE() << "taken";
  } catch (const StoreError& e) {
    EXPECT_NE(e.what.find("has tables of version 1"), std::string::npos) << e.what;
    EXPECT_NE(e.what.find("into another file"), std::string::npos) << e.what;
  }
}

/// What is kept of a run where a study asks for it. Every third has another line first.
int write_observed(const std::vector<std::string>& words, std::size_t n) {
  const auto path_behind = [&words](const char* option) {
    const auto at = std::find(words.begin(), words.end(), option);
    return at == words.end() ? std::string{} : *(at + 1);
  };
  std::ofstream(ChildRun::statistics_path()) << R"({"outcome": "finished", "cycles": )" << 1000 + n << "}";
  const std::string line =
      R"({"where": "k.ptx:)" + std::to_string(n % 3 == 0 ? 7 : 8) + R"(", "text": "ld, \"x\";",
      "issued": 4, "lanes": 128, "stalls": {"dram": 100, "selected": 4}, "memory": {"accesses": 4, "bytes": 512,
      "sectors": 16, "answered": {"first_level": 1, "l2": 2, "dram": 13, "link": 0}, "shared_passes": 0,
      "shared_conflicts": 0, "latency": {"total": 2000}}})";
  const std::string sum =
      R"({"where": "k.ptx:9", "text": "add;", "issued": 4, "lanes": 128, "stalls": {"selected": 4, "pipe": 3}})";
  // A line of two instructions is one.
  if (const std::string path = path_behind("--profile"); !path.empty())
    std::ofstream(path) << R"({"kernels": [{"name": "k", "warps": 4, "warp_cycles": )" << 222
                        << R"(, "lines": [)" << line << "," << sum << "," << line << "]}]}";
  if (const std::string path = path_behind("--series"); !path.empty())
    std::ofstream(path) << "launch,kernel,first,last,ipc\n1,k,1,500,0." << n << "\n";
  return 0;
}

TEST_F(Sweeps, KeepProfilesAndFiguresOverTimeWhereTheyAreAskedFor) {
  make_points(2);
  const Command command = [](const std::vector<std::string>& words) {
    return write_observed(words, point_of(words));
  };
  run(command, 1);
  {
    const ResultStore store(results_, ResultStore::Access::read);
    EXPECT_EQ(store.stalls_csv(), "point,workload,kernel,place,text,cuda,cuda_text,reason,warp_cycles\n")
        << "nobody has asked";
    EXPECT_EQ(store.series_of(1), "");
  }
  std::filesystem::remove(results_);
  study_.profile = true;
  study_.sample = 500;
  study_.figures = {"ipc"};
  run(command, 1);
  const ResultStore store(results_, ResultStore::Access::read);
  EXPECT_EQ(store.stalls_csv(),
            "point,workload,kernel,place,text,cuda,cuda_text,reason,warp_cycles\n"
            "0,w,k,k.ptx:7,\"ld, \"\"x\"\";\",,,dram,200\n0,w,k,k.ptx:7,\"ld, \"\"x\"\";\",,,selected,8\n"
            "0,w,k,k.ptx:9,add;,,,pipe,3\n0,w,k,k.ptx:9,add;,,,selected,4\n"
            "1,w,k,k.ptx:9,add;,,,pipe,3\n1,w,k,k.ptx:9,add;,,,selected,4\n"
            "1,w,k,k.ptx:8,\"ld, \"\"x\"\";\",,,dram,200\n1,w,k,k.ptx:8,\"ld, \"\"x\"\";\",,,selected,8\n");
  EXPECT_NE(store.lines_csv().find("k.ptx:7,\"ld, \"\"x\"\";\",,,8,256,8,1024,32,2,4,26,0,0,0,4000,200\n"),
            std::string::npos)
      << store.lines_csv();
  EXPECT_EQ(store.series_csv(),
            "point,workload,launch,kernel,first,last,ipc\n0,w,1,k,1,500,0.0\n1,w,1,k,1,500,0.1\n");
  EXPECT_EQ(store.series_of(1), "launch,kernel,first,last,ipc\n1,k,1,500,0.1\n");
  const std::vector<std::string> words = Sweep::words_of(study_, plan_.points[0]);
  EXPECT_EQ(std::find(words.begin(), words.end(), "--profile"), words.end())
      << "who repeats a point keeps nothing";
}

TEST_F(Sweeps, FiguresOverTimeHaveTheColumnsOfAllPoints) {
  make_points(3);
  study_.sample = 500;
  run([](const std::vector<std::string>& words) {
    const std::size_t n = point_of(words);
    std::ofstream(ChildRun::series_path())
        << (n == 0   ? "launch,kernel,first,last,ipc\n1,\"k<1, 2>\",1,500,7\n"
            : n == 1 ? "launch,kernel,first,last,link,ipc\n1,k,1,500,8,9\n"
                     : "launch,kernel,first,last,warps\n1,k,1,500,3\n2,k,1,400,4\n");
    return write_statistics(words);
  });
  EXPECT_EQ(ResultStore(results_, ResultStore::Access::read).series_csv(),
            "point,workload,launch,kernel,first,last,ipc,link,warps\n0,w,1,\"k<1, 2>\",1,500,7,,\n"
            "1,w,1,k,1,500,9,8,\n2,w,1,k,1,500,,,3\n2,w,2,k,1,400,,,4\n");
}

TEST_F(Sweeps, LaunchesThatWereNotTimedAreLeftOut) {
  make_points(2);
  run([](const std::vector<std::string>& words) {
    std::ofstream(ChildRun::statistics_path())
        << (point_of(words) == 0
                ? R"({"outcome": "finished", "cycles": 7, "counters": {"a.b": {"value": 3}}, "launches": [
              {"kernel": "skipped", "outcome": "done", "fast_forwarded": true, "cycles": 999, "counters": {"a.b": {"value": 9}}},
              {"kernel": "k", "outcome": "done", "cycles": 7, "counters": {"a.b": {"value": 3}}}]})"
                : R"({"kernels": [
              {"name": "skipped", "launches": 2, "timed": 0, "cycles": 999, "time_ns": 9, "counters": {"a.b": 9}},
              {"name": "k", "launches": 2, "timed": 1, "cycles": 7, "time_ns": 7, "counters": {"a.b": 3}}]})");
    return 0;
  });
  const ResultStore store(results_, ResultStore::Access::read);
  std::vector<std::string> launches;
  store.ask("SELECT point, kernel, cycles FROM launches ORDER BY point", [&](const ResultStore::Row& row) {
    launches.push_back(std::to_string(row.number(0)) + " " + row.text(1) + " " +
                       std::to_string(row.number(2)));
  });
  EXPECT_EQ(launches, (std::vector<std::string>{"0 k 7", "1 k 7"}));
  EXPECT_EQ(store.found(1, {"cycles", "a.b"})->values, store.found(0, {"cycles", "a.b"})->values);
  store.ask("SELECT count(*) FROM kernel_counters",
            [](const ResultStore::Row& row) { EXPECT_EQ(row.number(0), 0); });
}

/// As where another program writes what the run of a study was to write.
TEST_F(Sweeps, AProfileThatWasNotWrittenIsSaid) {
  make_points(1);
  study_.profile = true;
  run(write_statistics);
  EXPECT_EQ(ResultStore(results_, ResultStore::Access::read).found(0, {})->reason, "it wrote no profile");
}

/// A sweep that knew the finished ones alone would foretell little of a study that hangs.
TEST_F(Sweeps, RunsCostWhatTheyTookHoweverTheyEnded) {
  make_points(3);
  run(write_statistics);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(results_.c_str(), &db), SQLITE_OK);
  const auto seconds_after = [&](const char* sql) {
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    const auto cost = ResultStore(results_, ResultStore::Access::read).cost_of("w");
    return cost ? cost->seconds : -1;
  };
  EXPECT_EQ(seconds_after("UPDATE runs SET wall_s = 1"), 1);
  EXPECT_EQ(seconds_after("UPDATE runs SET outcome = 'too long', cycles = NULL, wall_s = 10 WHERE point = 1"),
            4);
  EXPECT_EQ(seconds_after("UPDATE runs SET wall_s = 9e999 WHERE point = 0"), 5.5);
  EXPECT_EQ(seconds_after("UPDATE runs SET wall_s = -3 WHERE point = 2"), 10);
  EXPECT_EQ(seconds_after("UPDATE runs SET outcome = 'refused', cycles = NULL, wall_s = 1"), -1);
  sqlite3_close(db);
}

TEST_F(Sweeps, WhatIsNoProfileIsSaid) {
  make_points(1);
  study_.profile = true;
  run([](const std::vector<std::string>& words) {
    std::ofstream(ChildRun::profile_path()) << R"({"kernels": 3})";
    return write_statistics(words);
  });
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"0 refused"}));
}

/// A counter of a block that a point's GPU has not is no 0, with which the point would be the best.
TEST_F(Sweeps, HaveNothingOfBlocksThatAPointHasNot) {
  {
    ResultStore store(results_, ResultStore::Access::write);
    store.begin(study_, "1.2.3");
    for (const unsigned slices : {2U, 4U}) {
      Point p;
      p.number = slices;
      p.gpu = "mini";
      PointResult r;
      r.outcome = "finished";
      r.statistics = std::make_shared<const nlohmann::json>(
          nlohmann::json{{"cycles", 10},
                         {"configuration", {{"l2.slices", slices}, {"gpus", 2}, {"dram.channels", 2}}},
                         {"configuration_sha256", std::to_string(slices)},
                         {"counters",
                          {{"l2.hits", {{"value", slices == 2 ? 0 : 5}}},
                           {"l2[1].hits", {{"value", slices == 2 ? 0 : 1}}},
                           {"gpu[1].l2[3].hits", {{"value", slices == 2 ? 0 : 4}}}}}});
      store.add(study_, p, r);
    }
    store.commit();
  }
  const ResultStore store(results_, ResultStore::Access::read);
  EXPECT_EQ(store.csv({"l2.hits", "l2[1].hits", "gpu[1].l2[3].hits"}),
            "point,workload,gpu,outcome,reason,l2.hits,l2[1].hits,gpu[1].l2[3].hits\n"
            "2,w,mini,finished,,0,0,\n4,w,mini,finished,,5,1,4\n");
}

/// Shares of a study in files of their own, which are put together.
class Shares : public Sweeps {
 protected:
  static constexpr std::size_t kShares = 3;
  [[nodiscard]] std::string part(std::size_t n) const { return folder_ + "/part." + std::to_string(n); }
  void run_share(std::size_t n, const Command& command = write_statistics) {
    Plan share;
    for (const Point& p : plan_.points)
      if (Share{n, kShares}.has(p.number)) share.points.push_back(p);
    ResultStore store(part(n), ResultStore::Access::write);
    store.begin(study_, "1.2.3");
    Sweep::Options options;
    options.jobs = 2;
    options.command = command;
    EXPECT_FALSE(Sweep(study_, share, store, options).run().stopped);
  }
  /// Returns how many rows came, or why none does.
  std::string take(std::size_t n) {
    ResultStore store(results_, ResultStore::Access::write);
    store.begin(study_, "1.2.3");
    try {
      return std::to_string(store.take_from(part(n), study_, "1.2.3"));
    } catch (const StoreError& e) {
      return e.what;
    }
  }
};

TEST_F(Shares, ArePutTogetherOnceWithAllTheirCounters) {
  make_points(20);
  plan_.points[4].impossible = "no such GPU";
  // Every file numbers what it counts for itself: the first of these begins with another counter.
  run_share(1, [](const std::vector<std::string>& words) {
    if (point_of(words) != 1) return write_statistics(words);
    std::ofstream(ChildRun::statistics_path())
        << R"({"outcome": "finished", "cycles": 1001, "configuration": {}, "configuration_sha256": "x", "counters":
              {"block.c99": {"value": 99}, "block.c7": {"value": 7}}, "launches": [
              {"kernel": "k", "outcome": "done", "cycles": 1, "counters": {"block.c7": {"value": 3}}},
              {"kernel": "l", "outcome": "done", "cycles": 2, "counters": {"block.c7": {"value": 4}}}]})";
    return 0;
  });
  for (const std::size_t n : {0U, 2U}) run_share(n);
  EXPECT_EQ(take(2), "6");
  EXPECT_EQ(take(1), "7");
  EXPECT_EQ(take(0), "7");
  for (const std::size_t n : {0U, 1U, 2U}) EXPECT_EQ(take(n), "0") << "nothing comes twice";
  std::vector<std::string> expected = all_finished();
  expected[4] = "4 impossible";
  EXPECT_EQ(outcomes(), expected);
  EXPECT_TRUE(is_whole());
  const ResultStore store(results_, ResultStore::Access::read);
  std::string kernels;
  store.ask(
      "SELECT runs.point, launches.kernel, value, path, sha256, keys FROM runs JOIN launches USING (point) "
      "JOIN "
      "kernels ON kernels.name = launches.kernel JOIN kernel_counters ON kernel_counters.point = runs.point "
      "AND "
      "kernel_counters.kernel = kernels.id JOIN counter_names ON counter_names.id = counter JOIN "
      "configurations "
      "ON configurations.id = configuration ORDER BY launches.number",
      [&kernels](const ResultStore::Row& row) {
        for (int n = 0; n < 6; ++n) kernels += row.text(n) + " ";
      });
  EXPECT_EQ(kernels, "1 k 3 block.c7 x {} 1 l 4 block.c7 x {} ");
}

TEST_F(Shares, BringTheirProfilesAndFiguresOverTime) {
  make_points(6);
  study_.profile = true;
  study_.sample = 500;
  const Command command = [](const std::vector<std::string>& words) {
    return write_observed(words, point_of(words));
  };
  for (const std::size_t n : {2U, 0U, 1U}) {
    run_share(n, command);
    EXPECT_EQ(take(n), "2");
  }
  const ResultStore store(results_, ResultStore::Access::read);
  std::string rows;
  store.ask(
      "SELECT point, place, warp_cycles, issued FROM stalls JOIN profile_lines USING (point, line) JOIN "
      "source_lines "
      "ON id = line WHERE reason = 'dram' ORDER BY point",
      [&rows](const auto& row) {
        rows += row.text(0) + " " + row.text(1) + " " + row.text(2) + " " + row.text(3) + "\n";
      });
  EXPECT_EQ(rows,
            "0 k.ptx:7 200 8\n1 k.ptx:8 200 8\n2 k.ptx:8 200 8\n3 k.ptx:7 200 8\n4 k.ptx:8 200 8\n5 k.ptx:8 "
            "200 8\n");
  for (std::size_t n = 0; n < 6; ++n)
    EXPECT_EQ(store.series_of(n), "launch,kernel,first,last,ipc\n1,k,1,500,0." + std::to_string(n) + "\n");
}

TEST_F(Shares, TakeThePlaceOfRunsThatDidNotEndAndOfNoOthers) {
  make_points(3);
  run([](const std::vector<std::string>& words) {
    if (point_of(words) == 0) return 2;
    return write_statistics(words);
  });
  const auto refused = [](const auto&) { return 2; };
  run_share(0);
  run_share(1, refused);
  EXPECT_EQ(take(0), "1");
  EXPECT_EQ(take(1), "0");
  EXPECT_EQ(outcomes(), all_finished());
}

TEST_F(Shares, OfAnotherStudyOrUnderWayAreRefused) {
  make_points(6);
  run_share(1);
  const std::string text = std::exchange(study_.text, "another");
  run_share(0);
  study_.text = text;
  EXPECT_EQ(take(0), "has the results of a study of another text (\"a study\")");
  {
    const ResultStore writer(part(1), ResultStore::Access::write);
    EXPECT_TRUE(ResultStore::somebody_writes(part(1)));
  }
  std::ofstream(part(2)) << "no database, but a text that is long enough to be looked at by anybody";
  EXPECT_EQ(take(2), "file is not a database");
  EXPECT_TRUE(outcomes().empty());
}

TEST_F(Shares, OfATaskThatWasKilledHaveWhatWasWritten) {
  make_points(180);
  const pid_t child = fork();
  if (child == 0) {
    run_share(0, [](const std::vector<std::string>& words) {
      usleep(30'000);
      return write_statistics(words);
    });
    _exit(0);
  }
  usleep(700'000);  // what is older than half a second is written
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NE(take(0), "0");
  EXPECT_LT(outcomes().size(), 60U);
  EXPECT_TRUE(is_whole());
  run_share(0);
  take(0);
  EXPECT_EQ(outcomes().size(), 60U);
}

TEST_F(Sweeps, FilesThatChangeBetweenRunsAreNoticed) {
  make_points(1);
  const std::string input = folder_ + "/input";
  std::ofstream(input) << "one";
  run([&](const std::vector<std::string>&) {
    // SHA-256 of "one".
    std::ofstream(ChildRun::statistics_path())
        << R"({"outcome": "finished", "cycles": 1, "files": [{"path": ")" << input
        << R"(", "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"}]})";
    return 0;
  });
  const auto changed = [this] { return ResultStore(results_, ResultStore::Access::read).changed_files(); };
  EXPECT_TRUE(changed().empty());
  std::ofstream(input) << "two";
  EXPECT_EQ(changed(), (std::vector<std::string>{input + " has changed since"}));
}

TEST_F(Sweeps, RunsOfWhichNobodyHearsTheEndAreLost) {
  make_points(2);
  std::signal(SIGCHLD, SIG_IGN);
  run(write_statistics);
  std::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"0 lost", "1 lost"}));
}

TEST_F(Sweeps, WhatIsNoCounterHasNoValueAndOneThatCountedNothingHas) {
  make_points(1);
  run(write_statistics);
  const ResultStore store(results_, ResultStore::Access::read);
  EXPECT_EQ(store.csv({"block.c0", "block.c100"}),
            "point,workload,gpu,l2.slices,outcome,reason,block.c0,block.c100\n0,w,mini,1,finished,,0,\n");
  const std::vector<std::string> totals = store.totals();
  EXPECT_NE(std::find(totals.begin(), totals.end(), "block.c0"), totals.end());
}

TEST_F(Sweeps, TablesAreCommaSeparatedValues) {
  make_points(2);
  plan_.points[1].impossible = "a, \"b\"";
  run(write_statistics);
  EXPECT_EQ(ResultStore(results_, ResultStore::Access::read).csv({"cycles", "block.c7"}),
            "point,workload,gpu,l2.slices,outcome,reason,cycles,block.c7\n"
            "0,w,mini,1,finished,,1000,0\n"
            "1,w,mini,2,impossible,\"a, \"\"b\"\"\",,\n");
}

}  // namespace sweep_test
}  // namespace warpline::sweep
