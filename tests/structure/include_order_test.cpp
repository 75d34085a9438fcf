// base <- {mmio, isa} <- {fabric, regs} <- cache <- blocks <- document <- config <- programs <- gpu <- litmus
// <- cli, and no block includes another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "sources.h"

namespace warpline::test {
namespace {

/// Per folder, the folders whose headers its build can reach, as CMake passes them to the compiler.
std::map<std::string, std::vector<std::string>> reachable_roots() {
  std::map<std::string, std::vector<std::string>> roots;
  std::ifstream in(WARPLINE_INCLUDE_ROOTS);
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find('=');
    std::istringstream list(line.substr(equals + 1));
    std::vector<std::string>& paths = roots[line.substr(0, equals)];
    for (std::string path; std::getline(list, path, ':');) paths.push_back(path);
  }
  return roots;
}

/// Compiles a file that includes `header` with the include roots of `folder`. Says whether that worked.
testing::AssertionResult compiles(const std::string& header, const std::string& folder) {
  const std::string name = testing::TempDir() + "include_" + folder;
  std::ofstream(name + ".cpp") << "#include \"" << header << "\"\n";
  std::string command = WARPLINE_COMPILER " -std=c++17 -fsyntax-only '" + name + ".cpp'";
  const std::vector<std::string> roots = reachable_roots().at(folder);
  for (const std::string& root : roots) command += " -I'" + root + "'";
  const int status = std::system((command + " >'" + name + ".log' 2>&1").c_str());
  std::ostringstream log;
  log << std::ifstream(name + ".log").rdbuf();
  return (status == 0 ? testing::AssertionSuccess() : testing::AssertionFailure()) << log.str();
}

TEST(IncludeOrder, SourcesFollowIt) {
  unsigned seen = 0;
  for (const std::string top : {"rtl_models", "platform"}) {
    for (const Line& line : lines_below(top)) {
      const std::string to = included_folder(line);
      if (to.empty()) continue;
      const std::string from =
          line.file.substr(top.size() + 1, line.file.find('/', top.size() + 1) - top.size() - 1);
      EXPECT_THAT(may_include(from), testing::Contains(to)) << line.place();
      ++seen;
    }
  }
  EXPECT_GT(seen, 100U);
}

TEST(IncludeOrder, TheBuildReachesNoFartherThanAllowed) {
  const auto roots = reachable_roots();
  for (const std::string& folder : folders()) {
    if (folder == "cli") continue;  // the top: nothing includes it
    ASSERT_TRUE(roots.count(folder)) << folder;
    for (const std::string& root : roots.at(folder)) {
      const std::size_t at = root.rfind("/include/");
      if (at == std::string::npos) continue;  // a library of the system
      EXPECT_THAT(may_include(folder), testing::Contains(root.substr(at + 9)))
          << folder << " reaches " << root;
    }
  }
}

TEST(IncludeOrder, ADeliberateUpwardIncludeDoesNotCompile) {
  const testing::AssertionResult upward = compiles("warpline/sm/kernel.h", "fabric");
  EXPECT_FALSE(upward);
  EXPECT_THAT(upward.message(), testing::HasSubstr("warpline/sm/kernel.h"));
  EXPECT_TRUE(compiles("warpline/sm/kernel.h", "sm")) << "the same include from where it is allowed";
}

TEST(IncludeOrder, ABlockCannotIncludeAnother) {
  EXPECT_FALSE(compiles("warpline/l2/l2_parameters.h", "crossbar"));
  EXPECT_TRUE(compiles("warpline/l2/l2_parameters.h", "l2"));
  EXPECT_TRUE(compiles("warpline/l2/l2_parameters.h", "config")) << "platform folders see every block";
}

}  // namespace
}  // namespace warpline::test
