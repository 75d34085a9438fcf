#pragma once

#include <string>
#include <vector>

namespace warpline::test {

/// One `#include` or other line of a source file, with its place.
struct Line {
  std::string file;  ///< relative to the project's top folder
  unsigned number = 0;
  std::string text;
  [[nodiscard]] std::string place() const { return file + ":" + std::to_string(number) + ": " + text; }
};

/// Every line of every C++ file below `folder`, a path relative to the project's top folder.
[[nodiscard]] std::vector<Line> lines_below(const std::string& folder);
/// What `#include "warpline/FOLDER/..."` names in `line`, or nothing.
[[nodiscard]] std::string included_folder(const Line& line);
/// The architecture's order: which folders `folder` may include, itself among them.
[[nodiscard]] std::vector<std::string> may_include(const std::string& folder);
/// Every folder that is a CMake target, from the bottom up.
[[nodiscard]] std::vector<std::string> folders();

}  // namespace warpline::test
