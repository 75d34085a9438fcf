#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpline::test {

/// A table of a manual: its cells without the marks of code, and under which headings it stands.
struct ManualTable {
  std::string chapter;  ///< the last heading of level 2
  std::string section;  ///< of level 3, if any came after that
  std::string before;   ///< the last line of text before it
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// Every table of a Markdown text. A row that has not the cells of its head is a failure.
[[nodiscard]] std::vector<ManualTable> tables_of(std::string_view markdown);

}  // namespace warpline::test
