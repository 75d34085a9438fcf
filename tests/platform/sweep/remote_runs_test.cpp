#include "platform/sweep/remote_runs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "platform/sweep/sweep.h"
#include "tests/support/local_mail.h"
#include "tests/support/scratch_folder.h"

namespace warpline::sweep {
namespace remote_runs_test {

/// A study of points that no hardware is needed for, and two workers of which each runs two at a time.
class Remote : public ::testing::Test {
 protected:
  Remote() {
    study_.text = "its text";
    study_.workloads.push_back({"w", false, {"w.toml"}, {}});
    for (std::size_t n = 0; n < 24; ++n) {
      Point p;
      p.number = n;
      p.gpu = "mini";
      p.settings = {{"l2.slices", std::to_string(n)}};
      plan_.points.push_back(p);
    }
  }
  /// Returns "number outcome cycles" of each row.
  std::vector<std::string> run(
      const Command& command, const std::string& their_version = "1",
      const std::function<bool()>& stop = [] { return false; }) {
    PostOffice office;
    office.boxes.resize(3);
    std::vector<std::thread> workers;
    for (unsigned n = 1; n < 3; ++n)
      workers.emplace_back([&, n] {
        LocalMail mail(office, n);
        work_for_others(mail, their_version, 2, command, stop);
      });
    LocalMail mail(office, 0);
    std::vector<std::string> out;
    try {
      RemoteRuns others(mail, "1");
      EXPECT_EQ(others.places(), 4U);
      ResultStore store(folder_.path() + "/results.sqlite", ResultStore::Access::write);
      store.begin(study_, "1");
      Sweep::Options options;
      options.jobs = 1;
      options.others = &others;
      options.command = command;
      stopped_ = Sweep(study_, plan_, store, options).run().stopped;
      store.ask("SELECT point, outcome, cycles, reason FROM runs ORDER BY point",
                [&](const ResultStore::Row& row) {
                  out.push_back(row.text(0) + " " + row.text(1) + " " + row.text(2) + row.text(3));
                });
    } catch (const RemoteError& e) {
      out = {e.what};
      for (unsigned n = 1; n < 3; ++n) mail.post(n, "{\"end\": true}");
    }
    for (std::thread& w : workers) w.join();
    return out;
  }
  static unsigned number_of(const std::vector<std::string>& words) {
    for (const std::string& word : words)
      if (word.rfind("l2.slices=", 0) == 0) return static_cast<unsigned>(std::stoul(word.substr(10)));
    return 0;
  }
  static int well(const std::vector<std::string>& words) {
    std::ofstream(ChildRun::statistics_path())
        << R"({"outcome": "finished", "cycles": )" << 100 + number_of(words) << "}";
    return 0;
  }

  Study study_;
  Plan plan_;
  ScratchFolder folder_;
  bool stopped_ = false;
};

TEST_F(Remote, RunsAreThoseOfOneProcessAndAllWork) {
  const std::string who = folder_.path() + "/who";
  const std::vector<std::string> rows = run([&who](const std::vector<std::string>& words) {
    std::ofstream(who, std::ios::app) << "x";
    usleep(5'000);
    return well(words);
  });
  ASSERT_EQ(rows.size(), 24U);
  for (std::size_t n = 0; n < 24; ++n)
    EXPECT_EQ(rows[n], std::to_string(n) + " finished " + std::to_string(100 + n));
  std::ifstream runs(who);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(runs), {}).size(), 24U) << "each is run once";
}

TEST_F(Remote, RunsHaveTheirProfiles) {
  study_.profile = true;
  run([](const std::vector<std::string>& words) {
    std::ofstream(ChildRun::profile_path()) << R"({"kernels": [{"name": "k", "warps": 1, "warp_cycles": )"
                                            << number_of(words) << R"(, "lines": []}]})";
    return well(words);
  });
  const ResultStore store(folder_.path() + "/results.sqlite", ResultStore::Access::read);
  std::size_t rows = 0;
  store.ask("SELECT point FROM profiled_kernels WHERE warp_cycles = point", [&rows](const auto&) { ++rows; });
  EXPECT_EQ(rows, 24U);
}

TEST_F(Remote, ARunThatDiesIsLostAndTheStudyGoesOn) {
  const std::vector<std::string> rows = run([](const std::vector<std::string>& words) {
    if (number_of(words) == 5) raise(SIGKILL);
    if (number_of(words) == 9) {
      dprintf(2, "error: \xff is no text\n");
      return 2;
    }
    return well(words);
  });
  ASSERT_EQ(rows.size(), 24U);
  EXPECT_EQ(rows[5], "5 lost its process was killed by signal 9 (Killed), 2 times");
  EXPECT_EQ(rows[9], "9 refused \xef\xbf\xbd is no text");
  EXPECT_EQ(rows[23], "23 finished 123");
}

/// By a worker, or by the process that has the plan.
TEST_F(Remote, WhatARunSaysIsUtf8WhoeverRanIt) {
  const std::vector<std::string> rows = run([](const std::vector<std::string>&) {
    dprintf(2, "error: \xff is no text\n");
    return 2;
  });
  ASSERT_EQ(rows.size(), 24U);
  for (std::size_t n = 0; n < rows.size(); ++n)
    EXPECT_EQ(rows[n], std::to_string(n) + " refused \xef\xbf\xbd is no text");
}

TEST_F(Remote, ARunThatTakesTooLongIsEndedAndTheStudyGoesOn) {
  // Others may be as slow, on a host that does something else.
  study_.limit_s = 0.2;
  const std::vector<std::string> rows = run([](const std::vector<std::string>& words) {
    if (number_of(words) == 7) pause();
    return well(words);
  });
  ASSERT_EQ(rows.size(), 24U);
  EXPECT_EQ(rows[7], "7 too long it was not done after 0.2 s");
  EXPECT_TRUE(rows[23] == "23 finished 123" || rows[23] == "23 too long it was not done after 0.2 s")
      << rows[23];
}

TEST_F(Remote, WhatStopsAWorkerStopsTheStudy) {
  run([](const auto&) { return pause(); }, "1", [] { return true; });
  EXPECT_TRUE(stopped_);
}

TEST_F(Remote, OtherVersionsAreRefused) {
  EXPECT_EQ(run(well, "2").front().substr(7), "is warpline 2, and this is 1");
}

}  // namespace remote_runs_test
}  // namespace warpline::sweep
