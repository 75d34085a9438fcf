// `warpline report` as users run it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace report_test {

using testing::HasSubstr;

class ReportCommand : public ::testing::Test {
 protected:
  ReportCommand() {
    work_.write("study.toml", "gpus = \"mini\"\nkeys.\"l2.slices\" = [2, 4]\n[[workload]]\nrun = \"" +
                                  in_source("sw/kernels/vecadd.toml") + "\"\n");
  }
  void sweep() {
    const Finished f = work_.warpline({"sweep", "study.toml", "--results", "study.sqlite", "--quiet"});
    ASSERT_EQ(f.status, 0) << f.err;
  }
  void refused(std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "report");
    const Finished f = work_.warpline(words);
    EXPECT_EQ(f.status, 2);
    EXPECT_THAT(f.err, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(work_.path("study.html")));
  }
  Workspace work_;
};

TEST_F(ReportCommand, WritesAPage) {
  sweep();
  const Finished f = work_.warpline({"report", "study.sqlite", "-o", "study.html", "--title", "mine",
                                     "--metrics", "dram.reads,cycles", "--pareto", "l2.slices,cycles"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_EQ(f.out + f.err, "");
  EXPECT_THAT(read_file(work_.path("study.html")), HasSubstr("<h1>mine</h1>"));
}

TEST_F(ReportCommand, RefusesWhatIsNoFileOfResults) {
  refused({"none.sqlite", "-o", "study.html"}, "there is no such file");
  refused({"study.toml", "-o", "study.html"}, "study.toml: file is not a database");
  sweep();
  refused({"study.sqlite"}, "--output");
  refused({"study.sqlite", "-o", "study.sqlite"}, "the file of results");
  refused({"study.sqlite", "-o", "./study.sqlite-wal"}, "the file of results");
  EXPECT_EQ(work_.warpline({"report", "study.sqlite", "-o", "study.html"}).status, 0)
      << "the results are as they were";
}

TEST_F(ReportCommand, RefusesNamesThatAreNone) {
  sweep();
  refused({"study.sqlite", "-o", "study.html", "--metrics", "cycle"}, "did you mean \"cycles\"");
  refused({"study.sqlite", "-o", "study.html", "--pareto", "l2.slices"}, "--pareto");
  refused({"study.sqlite", "-o", "study.html", "--pareto", "l2.slice,cycles"}, "nothing is called l2.slice");
  refused({"study.sqlite", "-o", "study.html", "--heat", "l2.slices,l2.slices"}, "are varied together");
}

}  // namespace report_test
}  // namespace warpline::test
