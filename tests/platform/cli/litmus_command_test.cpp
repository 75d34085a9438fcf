#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/cli/command_line.h"
#include "tests/support/command.h"

namespace warpline {
namespace litmus_command_test {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ended;

constexpr const char* kStoreBuffer = R"(PTX SB
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1 | st.weak y, 1 ;
 ld.weak r0, y | ld.weak r1, x ;
exists (P0:r0 == 0 /\ P1:r1 == 0)
)";
constexpr const char* kCoherent = R"(PTX CoRW
{ x=0; }
 P0@cta 0,gpu 0 ;
 st.weak x, 1 ;
 ld.weak r0, x ;
~exists (P0:r0 == 0)
)";
constexpr const char* kNeverMet = R"(PTX hang
{ x=0; }
 P0@cta 0,gpu 0 ;
 bar.cta.sync 1, 1, 2 ;
exists (x == 0)
)";

class LitmusCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("litmus_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_ / "sub");
    write("sb.litmus", kStoreBuffer);
    write("sub/coherent.litmus", kCoherent);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static Ended litmus(std::vector<std::string> words) {
    words.insert(words.begin(), "litmus");
    return test::command(words);
  }
  static std::vector<json> lines(const std::string& text) {
    std::vector<json> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
    return out;
  }

 private:
  fs::path folder_;
};

TEST_F(LitmusCommandTest, PrintsALineOfJsonForEachTest) {
  const Ended e = litmus({path(""), "--json", "--runs", "200"});
  EXPECT_EQ(e.status, kDone) << e.err;
  const std::vector<json> rows = lines(e.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["test"], path("sb"));
  EXPECT_EQ(rows[0]["file"], path("sb.litmus"));
  EXPECT_EQ(rows[0]["condition"], "exists");
  EXPECT_EQ(rows[0]["axiomatic"], "allowed");
  EXPECT_EQ(rows[0]["observed"], true);
  EXPECT_EQ(rows[0]["runs"], 200);
  EXPECT_EQ(rows[0]["stuck"], 0);
  EXPECT_EQ(rows[0]["terminates"], true);
  std::uint64_t sum = 0;
  for (const auto& [text, count] : rows[0]["outcomes"].items()) sum += count.get<std::uint64_t>();
  EXPECT_EQ(sum, 200U);
  EXPECT_TRUE(rows[0]["outcomes"].contains("P0:r0=0 P1:r1=0"));
  EXPECT_EQ(rows[1]["condition"], "~exists");
  EXPECT_EQ(rows[1]["axiomatic"], "forbidden");
  EXPECT_EQ(rows[1]["observed"], false);
}

TEST_F(LitmusCommandTest, IsReproducibleBySeed) {
  const auto run = [&](const char* seed) {
    return litmus({path("sb.litmus"), "--json", "--runs", "300", "--seed", seed}).out;
  };
  EXPECT_EQ(run("5"), run("5"));
  EXPECT_NE(run("5"), run("6"));
}

TEST_F(LitmusCommandTest, AsksTheModelAloneWithoutRuns) {
  write("hang.litmus", kNeverMet);
  const std::vector<json> rows = lines(litmus({path("hang.litmus"), "--json", "--runs", "0"}).out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["runs"], 0);
  EXPECT_EQ(rows[0]["terminates"], false);
  EXPECT_TRUE(rows[0]["outcomes"].empty());
}

TEST_F(LitmusCommandTest, JudgesTheOthersWhereAFileIsBad) {
  write("bad.litmus", "PTX bad\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weka x, 1 ;\nexists (x == 1)\n");
  const Ended e =
      litmus({path("bad.litmus"), path("sb.litmus"), path("none.litmus"), "--json", "--runs", "10"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_EQ(lines(e.out).size(), 1U);
  EXPECT_NE(e.err.find("bad.litmus:4:2: error:"), std::string::npos) << e.err;
  EXPECT_NE(e.err.find("none.litmus: error: cannot be opened"), std::string::npos) << e.err;
}

TEST_F(LitmusCommandTest, RefusesWhatItCannotRunAndJudgesItAllTheSame) {
  write("two.litmus",
        "PTX two\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.weak x, 1 | st.weak x, 2 ;\nexists (x == "
        "1)\n");
  write("own.litmus",
        "PTX own\n{ x @ vidmem; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.weak x, 1 | st.weak x, 2 "
        ";\nexists (x == 1)\n");
  const Ended e = litmus({path("own.litmus"), path("two.litmus"), path("sb.litmus"), "--json"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_NE(e.err.find("own.litmus cannot run: x lies in video memory, which one GPU only can reach"),
            std::string::npos)
      << e.err;
  const std::vector<json> rows = lines(e.out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["axiomatic"], "allowed");
  EXPECT_EQ(rows[0]["runs"], 0);
  EXPECT_EQ(rows[1]["runs"], 1000);
  EXPECT_EQ(rows[2]["runs"], 1000);
}

/// What the model has not looked through, it cannot forbid.
TEST_F(LitmusCommandTest, NothingIsAViolationOfAModelThatGaveUp) {
  std::string stores;
  for (unsigned n = 0; n < 200; ++n) stores += " st.weak x, " + std::to_string(n) + " ;\n";
  write("long.litmus", "PTX long\n{ x=0; }\n P0@cta 0,gpu 0 ;\n" + stores + "exists (x == 199)\n");
  const Ended e = litmus({path("long.litmus"), "--json", "--runs", "10"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_NE(e.err.find("long.litmus: the model gives up: thread P0 has too many ways"), std::string::npos)
      << e.err;
  const std::vector<json> rows = lines(e.out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["axiomatic"], "undecided");
  EXPECT_EQ(rows[0]["observed"], true);
  const Ended text = litmus({path("long.litmus"), "--runs", "10"});
  EXPECT_NE(text.out.find("is undecided"), std::string::npos) << text.out;
  const Ended table = litmus({path("long.litmus"), path("sb.litmus"), "--runs", "10"});
  EXPECT_NE(table.out.find(" 0 forbidden and seen"), std::string::npos) << table.out;
}

TEST_F(LitmusCommandTest, FindsFilesInFolders) {
  fs::create_directories(path("inner.litmus"));
  fs::create_directories(path("empty"));
  write("inner.litmus/coherent.litmus", kCoherent);
  const Ended e = litmus({path("inner.litmus"), path("sub"), path("empty"), "--json", "--runs", "10"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_NE(e.err.find("empty: error: is a folder without any file called *.litmus"), std::string::npos)
      << e.err;
  EXPECT_EQ(lines(e.out).size(), 2U);
  EXPECT_EQ(litmus({path(""), "--json", "--runs", "10"}).status, kDone)
      << "a folder may be called like a file";
}

TEST_F(LitmusCommandTest, RefusesAFileThatNobodyWrote) {
  write("huge.litmus", std::string(1U << 19U, 'x'));
  const Ended e = litmus({path("huge.litmus"), "--runs", "10"});
  EXPECT_EQ(e.status, kBadInput);
  EXPECT_NE(e.err.find("has more than"), std::string::npos) << e.err;
}

TEST_F(LitmusCommandTest, ShowsPeopleAHistogramOrATable) {
  const Ended one = litmus({path("sb.litmus"), "--runs", "100"});
  EXPECT_NE(one.out.find("is allowed"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("* P0:r0=0 P1:r1=0"), std::string::npos) << one.out;
  write("hang.litmus", kNeverMet);
  const Ended all = litmus({path(""), "--runs", "100"});
  EXPECT_EQ(all.status, kDone) << all.err;
  EXPECT_LT(all.out.find("hang"), all.out.find("sb")) << "what does not end comes first\n" << all.out;
  EXPECT_NE(all.out.find("3 tests"), std::string::npos) << all.out;
}

TEST_F(LitmusCommandTest, DrawsAnExecution) {
  const std::string dot = path("sb.dot");
  EXPECT_EQ(litmus({path("sb.litmus"), "--runs", "0", "--dot", dot}).status, kDone);
  std::ifstream in(dot);
  std::string first;
  std::getline(in, first);
  EXPECT_NE(first.find("digraph"), std::string::npos) << first;
  EXPECT_EQ(litmus({path("sb.litmus"), path("sub/coherent.litmus"), "--dot", dot}).status, kBadInput);
  write("none.litmus", "PTX none\n{ x=0; }\n P0@cta 0 ;\n ld.weak r0, x ;\nexists (P0:r0 == 42)\n");
  const Ended none = litmus({path("none.litmus"), "--runs", "0", "--dot", path("none.dot")});
  EXPECT_EQ(none.status, kBadInput);
  EXPECT_NE(none.err.find("no execution that ends so"), std::string::npos) << none.err;
  EXPECT_FALSE(fs::exists(path("none.dot")));
}

TEST_F(LitmusCommandTest, RefusesOptionsThatMeanNothing) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--model", "ptx60"}, "is none of ptx75"},
      {{"--transport", "fats"}, "did you mean \"fast\"?"},
      {{"--transport", "lt", "--pins", "*"}, "--pins opens hops of a timed run"},
      {{"--pins", "l3*"}, "l3*"},
      {{"--gpu", "minni"}, "mini"},
      {{"--runs", "-1"}, "is no whole number"},
      {{"--run", "1"}, "did you mean \"--runs\"?"}};
  for (auto [words, what] : cases) {
    words.insert(words.begin(), path("sb.litmus"));
    const Ended e = litmus(words);
    EXPECT_EQ(e.status, kBadInput) << what;
    EXPECT_NE(e.err.find(what), std::string::npos) << e.err;
  }
}

}  // namespace litmus_command_test
}  // namespace warpline
