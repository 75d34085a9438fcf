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

/// Of a lesson, slow and mended: the slow line, and the wait that goes away.
TEST_F(ReportCommand, ShowsWhatMendsALesson) {
  work_.write("lessons.toml", "gpus = \"mini\"\nprofile = true\n[[workload]]\nrun = \"" +
                                  in_source("sw/kernels/lessons/banks.toml") + "\"\n");
  const Finished f = work_.warpline({"sweep", "lessons.toml", "--results", "l.sqlite", "--quiet"});
  ASSERT_EQ(f.status, 0) << f.err;
  ASSERT_EQ(work_.warpline({"report", "l.sqlite", "-o", "l.html"}).status, 0);
  const std::string page = read_file(work_.path("l.html"));
  const std::size_t slow = page.find("<section id=\"s-banks-conflicting\""),
                    mended = page.find("<section id=\"s-banks-padded\"");
  ASSERT_LT(slow, mended);
  const std::string at_slow = page.substr(slow, mended - slow), at_mended = page.substr(mended);
  const auto first_line = [](const std::string& text) {
    const std::size_t row = text.find("<tbody>", text.find("Lines of CUDA"));
    return text.substr(row, text.find("</tr>", row) - row);
  };
  EXPECT_THAT(first_line(at_slow), HasSubstr("// slow: banks"));
  EXPECT_THAT(first_line(at_slow), HasSubstr("<code>memory_queue</code>"));
  EXPECT_THAT(at_slow, HasSubstr("<code>memory_queue</code></th><td class=\"number\">88%</td>"));
  EXPECT_THAT(at_mended, ::testing::Not(HasSubstr("<code>memory_queue</code></th>")))
      << "under half a per cent";
}

TEST_F(ReportCommand, OfRunsThatWereMadeOneByOne) {
  for (const char* const slices : {"2", "8"}) {
    const std::string name = slices;
    const Finished f =
        work_.warpline({"run", in_source("sw/kernels/vecadd.toml"), "--quiet", "--set", "l2.slices=" + name,
                        "--stats", name + ".json", "--profile", name + ".p", "--series", name + ".csv"});
    ASSERT_EQ(f.status, 0) << f.err;
  }
  const Finished f = work_.warpline({"report", "2.json", "8.json", "--profile", "2.p", "--profile", "8.p",
                                     "--series", "2.csv", "--series", "8.csv", "-o", "runs.html"});
  ASSERT_EQ(f.status, 0) << f.err;
  const std::string page = read_file(work_.path("runs.html"));
  EXPECT_THAT(page, HasSubstr("<h1>2.json, 8.json</h1>"));
  EXPECT_THAT(page, HasSubstr("<b class=\"key\">l2.slices</b> 2 \u2192 8: "));
  EXPECT_THAT(page, HasSubstr("vecadd.toml --gpu mini --set l2.slices=8</code>"));
  EXPECT_THAT(page, HasSubstr("<h4>Over time</h4>"));
  EXPECT_THAT(page, HasSubstr("point 0 (first and worst): l2.slices = 2"));
  refused({"2.json", "8.json", "--profile", "2.p", "-o", "study.html"}, "1 file for 2 runs");
  refused({"2.p", "2.csv", "-o", "study.html"}, "is neither a file of results nor one of statistics");
  refused({"2.json", "--profile", "2.json", "-o", "study.html"}, "2.json: error: is no profile");
  refused({"2.json", "-o", "2.json"}, "a file of a run");
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
