#include "rtl_models/document/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "rtl_models/document/file_identity.h"
#include "rtl_models/document/files.h"

namespace warpline::test {
namespace output_file_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder of its own. Nothing here touches a file or device of the machine; all holds for root, too.
class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "warpline-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void make(const std::string& name, const std::string& bytes) const { std::ofstream(path(name)) << bytes; }
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name)).rdbuf();
    return out.str();
  }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat found = {};
    return ::lstat(path(name).c_str(), &found) == 0 ? found.st_mode : 0;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWhenItIsClosedAndNotBefore) {
  make("x", "old");
  OutputFile given_up, file;
  ASSERT_EQ(given_up.open(path("y")), "");
  given_up.write("half");
  ASSERT_EQ(file.open(path("x")), "");
  file.write("new");
  EXPECT_EQ(bytes_of("x"), "old");
  EXPECT_EQ(file.close(), "");
  EXPECT_EQ(bytes_of("x"), "new");
  EXPECT_FALSE(fs::exists(path("y")));
}

TEST_F(OutputFileTest, KeepsTheModeOfAFile) {
  make("x", "old");
  ASSERT_EQ(::chmod(path("x").c_str(), 0640), 0);
  EXPECT_EQ(write_file_atomically(path("x"), "new"), "");
  EXPECT_EQ(mode_of("x") & 07777U, 0640U);
  EXPECT_EQ(bytes_of("x"), "new");
}

TEST_F(OutputFileTest, WritesWhereALinkPointsAndKeepsTheLink) {
  fs::create_directory(folder_ / "sub");
  make("sub/target", "old and longer");
  fs::create_symlink("sub/target", folder_ / "link");
  fs::create_symlink("link", folder_ / "link_of_link");
  fs::create_symlink("sub/nothing_yet", folder_ / "dangling");
  EXPECT_EQ(write_file_atomically(path("link_of_link"), "new"), "");
  EXPECT_EQ(write_file_atomically(path("dangling"), "made"), "");
  for (const char* link : {"link", "link_of_link", "dangling"}) EXPECT_TRUE(S_ISLNK(mode_of(link))) << link;
  EXPECT_EQ(bytes_of("sub/target"), "new");
  EXPECT_EQ(bytes_of("sub/nothing_yet"), "made");
  fs::create_symlink("round", folder_ / "round");
  EXPECT_THAT(write_file_atomically(path("round"), "x"), HasSubstr("cannot be created"));
  EXPECT_THAT(write_file_atomically(path("round/x"), "x"), HasSubstr("cannot be created"));
}

TEST_F(OutputFileTest, AllNamesOfAFileSeeWhatIsWritten) {
  make("x", "old and longer");
  fs::create_hard_link(path("x"), path("y"));
  EXPECT_EQ(write_file_atomically(path("x"), "new"), "");
  EXPECT_EQ(bytes_of("y"), "new");
}

TEST_F(OutputFileTest, WritesIntoAPipeWhoeverReadsIt) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(OutputFile::refusal(path("pipe")), "") << "and does not wait";
  std::string read;
  std::thread reader([&] { read = bytes_of("pipe"); });
  EXPECT_EQ(write_file_atomically(path("pipe"), std::string(300'000, 'x')), "");
  reader.join();
  EXPECT_EQ(read, std::string(300'000, 'x'));
  EXPECT_TRUE(S_ISFIFO(mode_of("pipe")));
}

/// Root only: others make no devices.
TEST_F(OutputFileTest, AReaderOfAPipeThatGoesAwayHasHadWhatItWanted) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  OutputFile file;
  EXPECT_EQ(file.open("/proc/self/fd/" + std::to_string(ends[1])), "");
  ::close(ends[0]);
  file.write(std::string(std::size_t{1} << 20U, 'x'));
  file.write("more");
  EXPECT_EQ(file.close(), "");
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

TEST_F(OutputFileTest, WritesIntoADevice) {
  constexpr dev_t kNull = 0x103, kFull = 0x107;
  if (::mknod(path("null").c_str(), S_IFCHR | 0666, kNull) != 0 ||
      ::mknod(path("full").c_str(), S_IFCHR | 0666, kFull) != 0)
    GTEST_SKIP() << "no device can be made here";
  if (const int file = ::open(path("null").c_str(), O_WRONLY); file < 0)
    GTEST_SKIP() << "devices do not work in this folder";
  else
    ::close(file);
  EXPECT_EQ(write_file_atomically(path("null"), "gone"), "");
  EXPECT_TRUE(S_ISCHR(mode_of("null")));
  EXPECT_THAT(write_file_atomically(path("full"), "x"), HasSubstr("No space left"));
  EXPECT_TRUE(S_ISCHR(mode_of("full")));
}

TEST_F(OutputFileTest, WritesIntoAnOpenFileWhereItIs) {
  const int file = ::open(path("x").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "first, ", 7), 7);
  fs::create_symlink("/proc/self/fd/" + std::to_string(file), folder_ / "link");
  EXPECT_EQ(write_file_atomically(path("link"), "second, "), "");
  EXPECT_EQ(write_file_atomically("/proc/self/fd/" + std::to_string(file), "third"), "");
  ::close(file);
  EXPECT_EQ(bytes_of("x"), "first, second, third");
}

TEST_F(OutputFileTest, MakesTheFoldersOfItsPathWhenItIsBegun) {
  EXPECT_EQ(OutputFile::refusal(path("a/b/x")), "");
  EXPECT_EQ(files(), 0U) << "to look leaves nothing";
  EXPECT_EQ(write_file_atomically(path("a/b/x"), "new"), "");
  EXPECT_EQ(bytes_of("a/b/x"), "new");
}

TEST_F(OutputFileTest, WritesWhereThePathLeadsThroughFoldersThatAreMissing) {
  make("x", "old");
  fs::create_symlink("newdir", folder_ / "nowhere");
  fs::create_symlink("round/../circle", folder_ / "circle");
  EXPECT_EQ(write_file_atomically(path("gone/../x"), "new"), "");
  EXPECT_EQ(bytes_of("x"), "new");
  EXPECT_FALSE(fs::exists(path("gone"))) << "nothing lies there";
  EXPECT_EQ(OutputFile::refusal(path("nowhere/a/y")), "");
  EXPECT_EQ(files(), 3U) << "to look leaves nothing";
  EXPECT_EQ(write_file_atomically(path("nowhere/a/y"), "new"), "");
  EXPECT_EQ(bytes_of("newdir/a/y"), "new");
  EXPECT_THAT(OutputFile::refusal(path("circle")), HasSubstr("symbolic links"));
  EXPECT_THAT(OutputFile::refusal(path("gone/..")), HasSubstr("is a folder"));
  EXPECT_THAT(OutputFile::refusal(path("gone/" + std::string(300, 'a'))), HasSubstr("too long"));
  EXPECT_THAT(OutputFile::refusal(path("gone/" + std::string(300, 'a') + "/x")), HasSubstr("too long"));
  EXPECT_THAT(OutputFile::refusal("/proc/gone/x"), HasSubstr("cannot be created")) << "for root, too";
}

TEST_F(OutputFileTest, LooksWhetherAnOpenFileOrASocketCanBeWritten) {
  make("x", "old");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int plain = ::open(path("x").c_str(), O_RDONLY | O_CLOEXEC);
  for (const int only_read : {ends[0], plain})
    EXPECT_THAT(OutputFile::refusal("/proc/self/fd/" + std::to_string(only_read)),
                HasSubstr("for reading only"));
  EXPECT_EQ(OutputFile::refusal("/proc/self/fd/" + std::to_string(ends[1])), "");
  for (const int file : {ends[0], ends[1], plain}) ::close(file);
  ASSERT_EQ(::mknod(path("socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_THAT(OutputFile::refusal(path("socket")), HasSubstr("is a socket"));
}

TEST_F(OutputFileTest, LooksWhetherAFileCanBeWritten) {
  make("x", "old");
  fs::create_directory(folder_ / "sub");
  EXPECT_EQ(OutputFile::refusal(path("x")), "");
  EXPECT_EQ(OutputFile::refusal(path("new")), "");
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(bytes_of("x"), "old");
  EXPECT_THAT(OutputFile::refusal(path("sub")), HasSubstr("is a folder"));
  EXPECT_THAT(OutputFile::refusal(path("missing/")), HasSubstr("is a folder"));
  EXPECT_THAT(OutputFile::refusal(path("x/y")), HasSubstr("Not a directory"));
  EXPECT_THAT(OutputFile::refusal(path("x/y/z")), HasSubstr("Not a directory"));
  EXPECT_THAT(OutputFile::refusal(path(std::string(300, 'a'))), HasSubstr("too long"));
  EXPECT_THAT(OutputFile::refusal(""), HasSubstr("without a name"));
  EXPECT_EQ(write_file_atomically(path(std::string(255, 'a')), "x"), "") << "as long as a name may be";
}

/// Root may write everywhere, so these are an ordinary user's.
TEST_F(OutputFileTest, RespectsWhatAnOrdinaryUserMayNot) {
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.c_str(), 65534, 65534), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  fs::create_directories(folder_ / "closed/sub");
  fs::create_directory(folder_ / "full");
  make("full/mine", "old and longer");
  make("protected", "old");
  ::chmod(path("protected").c_str(), 0444);
  ::chmod(path("closed").c_str(), 0);
  ::chmod(path("full").c_str(), 0555);
  EXPECT_THAT(OutputFile::refusal(path("closed/sub/x")), HasSubstr("Permission denied"));
  EXPECT_THAT(OutputFile::refusal(path("full/x")), HasSubstr("Permission denied"));
  EXPECT_THAT(OutputFile::refusal(path("full/a/b")), HasSubstr("Permission denied"));
  EXPECT_THAT(OutputFile::refusal(path("protected")), HasSubstr("Permission denied"));
  EXPECT_EQ(write_file_atomically(path("full/mine"), "new"), "");
  EXPECT_EQ(bytes_of("full/mine"), "new");
  for (const char* folder : {"closed", "full"}) ::chmod(path(folder).c_str(), 0755);
  if (::getuid() == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
}

TEST_F(OutputFileTest, AFileIsTheSameHoweverItIsSpelt) {
  make("x", "");
  fs::create_directory(folder_ / "sub");
  fs::create_symlink("sub", folder_ / "link");
  const auto same = [&](const std::string& a, const std::string& b) {
    return !identity_of(path(a)).file.empty() && identity_of(path(a)).file == identity_of(path(b)).file;
  };
  EXPECT_TRUE(same("x", "./x"));
  EXPECT_TRUE(same("x", "sub/../x"));
  EXPECT_FALSE(same("x", "y"));
  EXPECT_TRUE(same("sub/new", "link/new"));
  EXPECT_TRUE(same("sub/a/b", "link/./a//b"));
  EXPECT_FALSE(same("sub/a/b", "sub/a/c"));
  EXPECT_FALSE(same("sub/new", "new"));
  fs::create_symlink("sub/new", folder_ / "dangling");
  EXPECT_TRUE(same("dangling", "link/new"));
  EXPECT_TRUE(same("x", "gone/../x"));
  EXPECT_TRUE(same("x", "sub/gone/./further/../../../x"));
  EXPECT_TRUE(same("x", "gone/../link/../x"));
  EXPECT_TRUE(same("new", "gone/../sub/../new"));
  EXPECT_FALSE(same("x", "gone/x"));
  fs::create_symlink("newdir", folder_ / "nowhere");
  fs::create_symlink(path("sub/gone"), folder_ / "elsewhere");
  EXPECT_TRUE(same("nowhere/x", "newdir/x"));
  EXPECT_TRUE(same("x", "nowhere/../x"));
  EXPECT_TRUE(same("elsewhere/x", "link/gone/x"));
  EXPECT_TRUE(same("sub/new", "elsewhere/../new"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(same("pipe", "pipe")) << "nothing is lost there";
}

}  // namespace output_file_test
}  // namespace warpline::test
