#include "rtl_models/document/file_claims.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace warpline::test {
namespace file_claims_test {

namespace fs = std::filesystem;

class FileClaimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "warpline-claims-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// What is said of the second of two files that are to be written.
  [[nodiscard]] std::string second(const std::string& first, const std::string& next) const {
    FileClaims claims;
    EXPECT_EQ(claims.claim(path(first), "the first"), "");
    const std::string why = claims.claim(path(next), "the second");
    return why.empty() ? why : why.substr(path(next).size());
  }

  fs::path folder_;
};

TEST_F(FileClaimsTest, AnInputIsNoOutput) {
  std::ofstream(path("in")) << "x";
  FileClaims claims;
  claims.add(path("in"), "an input");
  claims.add(path("in"), "the module");
  EXPECT_EQ(claims.claim(path("gone/../in"), "an output"), path("gone/../in") + " is the module, too");
  EXPECT_EQ(claims.claim(path("out"), "an output"), "");
}

TEST_F(FileClaimsTest, NoFileIsAFolderOfAnother) {
  EXPECT_EQ(second("o", "o"), " is the first, too");
  EXPECT_EQ(second("o", "o/x"), " leads through the first");
  EXPECT_EQ(second("o", "o/a/b/x"), " leads through the first");
  EXPECT_EQ(second("o/a/x", "o"), " is a folder on the way to the first, too");
  EXPECT_EQ(second("o/a/x", "o/a"), " is a folder on the way to the first, too");
  EXPECT_EQ(second("o", "o/../x"), " leads through the first") << "by then it is a file";
  EXPECT_EQ(second("o/../x", "o"), " is a folder on the way to the first, too");
  EXPECT_EQ(second("o", "op/x"), "");
  EXPECT_EQ(second("o/x", "o/y"), "");
  fs::create_symlink("newdir", folder_ / "nowhere");
  EXPECT_EQ(second("newdir", "nowhere/x"), " leads through the first");
  EXPECT_EQ(second("nowhere/x", "newdir"), " is a folder on the way to the first, too");
}

TEST_F(FileClaimsTest, PipesAreAnybodys) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(second("pipe", "gone/../pipe"), "");
}

}  // namespace file_claims_test
}  // namespace warpline::test
