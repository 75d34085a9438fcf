// What only some folders may do: open files, parse arguments, know SystemC.
#include <gtest/gtest.h>

#include <regex>

#include "tests/structure/sources.h"

namespace warpline::test {
namespace source_rules_test {

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.rfind(prefix, 0) == 0;
}

/// Anything that opens a file: the headers made for it, and the functions of headers with other uses.
const std::regex kOpensFiles("<fstream>|<filesystem>|<fcntl\\.h>|\\b(f|fre|fd)open\\b|(^|[\\s(=])::open\\(");
const std::regex kArguments("^\\s*#\\s*include\\s*<CLI/.*");
const std::regex kSystemC("^\\s*#\\s*include\\s*<(systemc|tlm).*");

/// Descriptions of registers are files, and the program that reads them is no model.
TEST(SourceRules, HardwareModelsOpenNoFiles) {
  for (const Line& line : lines_below("rtl_models")) {
    if (starts_with(line.file, "rtl_models/document/") ||
        starts_with(line.file, "rtl_models/registers/generator/"))
      continue;
    EXPECT_FALSE(std::regex_search(line.text, kOpensFiles)) << line.place();
  }
}

TEST(SourceRules, OnlyTheReadersOfFilesAndTheCommandOpenThem) {
  for (const Line& line : lines_below("platform")) {
    if (starts_with(line.file, "platform/config/") || starts_with(line.file, "platform/programs/") ||
        starts_with(line.file, "platform/launch/") || starts_with(line.file, "platform/cli/") ||
        starts_with(line.file, "platform/cuda/") || starts_with(line.file, "platform/sweep/") ||
        starts_with(line.file, "platform/vfio_user/"))  // which asks what descriptors are that it is given
      continue;
    EXPECT_FALSE(std::regex_search(line.text, kOpensFiles)) << line.place();
  }
}

/// What asks the file system throws where a folder may not be searched, unless it is given a place for the
/// error, which is called `error` or `failed`, or `unknown` or `ignored` where nothing depends on it.
TEST(SourceRules, QuestionsToTheFileSystemDoNotThrow) {
  const std::regex asks(
      "\\b(fs|filesystem)::(absolute|(weakly_)?canonical|copy\\w*|create_\\w+|current_path|equivalent|exists|"
      "file_size|hard_link_count|is_\\w+|last_write_time|permissions|proximate|read_symlink|relative|"
      "remove\\w*|rename|resize_file|space|status|symlink_status|temp_directory_path|"
      "(recursive_)?directory_iterator)\\b");
  const std::regex has_place("\\b(error|failed|unknown|ignored)\\b");
  unsigned questions = 0;
  for (const std::string top : {"rtl_models", "platform"}) {
    for (const Line& line : lines_below(top)) {
      if (!std::regex_search(line.text, asks)) continue;
      EXPECT_TRUE(std::regex_search(line.text, has_place)) << line.place();
      ++questions;
    }
  }
  EXPECT_GT(questions, 5U);
}

TEST(SourceRules, OnlyTheCommandParsesArguments) {
  unsigned users = 0;
  for (const std::string top : {"rtl_models", "platform"}) {
    for (const Line& line : lines_below(top)) {
      if (!std::regex_match(line.text, kArguments)) continue;
      EXPECT_TRUE(starts_with(line.file, "platform/cli/")) << line.place();
      ++users;
    }
  }
  EXPECT_GT(users, 0U);
}

TEST(SourceRules, OnlyModulesAndCarriersKnowSystemC) {
  for (const std::string top : {"rtl_models", "platform"}) {
    for (const Line& line : lines_below(top)) {
      if (!std::regex_match(line.text, kSystemC)) continue;
      EXPECT_TRUE(line.file.find("_module.") != std::string::npos ||
                  starts_with(line.file, "rtl_models/tlm/") || starts_with(line.file, "platform/systemc/"))
          << line.place();
    }
  }
}

}  // namespace source_rules_test
}  // namespace warpline::test
