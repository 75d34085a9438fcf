// The program as builds and people run it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warpline::test {
namespace program_test {

namespace fs = std::filesystem;

constexpr const char* kTimer = R"([block]
name = "timer"
title = "Timer"
meaning = "Counts."
bytes = 0x10
[[register]]
name = "COUNT"
offset = 0
access = "ro"
meaning = "So many."
)";

struct RegsProgram : ::testing::Test {
  void SetUp() override {
    folder = fs::path(::testing::TempDir()) /
             ("regs_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder / "timer.toml") << kTimer;
  }
  void TearDown() override { fs::remove_all(folder); }
  /// The exit status; what it wrote to either stream is in `said`.
  int run(const std::string& arguments) {
    const std::string log = (folder / "said").string();
    const int status = std::system(
        ("cd '" + folder.string() + "' && '" WARPLINE_REGS_PROGRAM "' " + arguments + " >'" + log + "' 2>&1")
            .c_str());
    said = text("said");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(folder / name).rdbuf();
    return all.str();
  }
  [[nodiscard]] bool says(const std::string& what) const { return said.find(what) != std::string::npos; }
  fs::path folder;
  std::string said;
};

TEST_F(RegsProgram, WritesWhatIsAskedFor) {
  EXPECT_EQ(run("timer.toml --table t.h --header h.h --manual m.md"), 0);
  EXPECT_EQ(said, "");
  EXPECT_NE(text("t.h").find("namespace warpline::regs::timer"), std::string::npos);
  EXPECT_NE(text("h.h").find("#define WL_TIMER_COUNT_OFFSET"), std::string::npos);
  EXPECT_NE(text("m.md").find("# Timer (`timer`)"), std::string::npos);
}

TEST_F(RegsProgram, WithoutOutputsOnlyChecks) {
  EXPECT_EQ(run("timer.toml"), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2)
      << "description and said";
}

TEST_F(RegsProgram, AWrongDescriptionLeavesTheOldFiles) {
  EXPECT_EQ(run("timer.toml --header h.h"), 0);
  const std::string before = text("h.h");
  std::ofstream(folder / "timer.toml", std::ios::app) << "count = 0\nstrde = 4\n";
  EXPECT_EQ(run("timer.toml --header h.h"), 2);
  EXPECT_EQ(text("h.h"), before);
  EXPECT_TRUE(says("timer.toml:11:9: error: count: must be 1 to 65535, not 0")) << said;
  EXPECT_TRUE(says("did you mean \"stride\"?")) << said;
}

TEST_F(RegsProgram, MistakesOfTheCommandLine) {
  EXPECT_EQ(run(""), 2);
  EXPECT_TRUE(says("a description is needed"));
  EXPECT_EQ(run("timer.toml --tabel t.h"), 2);
  EXPECT_TRUE(says("did you mean --table?"));
  EXPECT_EQ(run("timer.toml --table"), 2);
  EXPECT_TRUE(says("--table needs the name of a file"));
  EXPECT_EQ(run("timer.toml --header --table t.h"), 2);
  EXPECT_TRUE(says("--header needs the name of a file"));
  EXPECT_EQ(run("timer.toml --table a --table b"), 2);
  EXPECT_TRUE(says("--table is given twice"));
  EXPECT_EQ(run("timer.toml timer.toml"), 2);
  EXPECT_TRUE(says("one description at a time"));
  EXPECT_EQ(run("none.toml"), 2);
  EXPECT_TRUE(says("none.toml: error: cannot be opened"));
  EXPECT_EQ(run("timer.toml --table timer.toml/t.h"), 2);
  EXPECT_TRUE(says("timer.toml/t.h: cannot be created: Not a directory"));
  EXPECT_EQ(run("timer.toml --table ./timer.toml"), 2);
  EXPECT_TRUE(says("./timer.toml is the description, too"));
  EXPECT_EQ(run("timer.toml --table out.h --header ././out.h"), 2);
  EXPECT_TRUE(says("././out.h is the file of --table, too"));
  EXPECT_EQ(run("timer.toml --header gone/../timer.toml"), 2);
  EXPECT_TRUE(says("gone/../timer.toml is the description, too"));
  EXPECT_EQ(run("timer.toml --table out --header out/h.h"), 2);
  EXPECT_TRUE(says("out/h.h leads through the file of --table"));
  EXPECT_EQ(run("--help"), 0);
  EXPECT_TRUE(says("usage: warpline_regs FILE.toml"));
}

}  // namespace program_test
}  // namespace warpline::test
