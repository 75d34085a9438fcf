#pragma once

#include <string>
#include <vector>

namespace warpline::test {

/// A line of a source file, with its place.
struct Line {
  std::string file;  ///< relative to the project's top folder
  unsigned number = 0;
  std::string text;
  [[nodiscard]] std::string place() const { return file + ":" + std::to_string(number) + ": " + text; }
};

/// Every line of every C and C++ file below `folder`, a path relative to the project's top folder.
[[nodiscard]] std::vector<Line> lines_below(const std::string& folder);

/// An `#include "..."` of a source file.
struct Include {
  Line line;
  std::string from;    ///< the file's folder
  std::string header;  ///< as it is written
  std::string to;      ///< the folder of the header that it names in the checkout; empty: there is none
};
/// Every one below `folder`. A header is named from the project's top folder; the driver, which also builds
/// without the rest, and the examples, which are projects of their own, name their own headers from where
/// they are.
[[nodiscard]] std::vector<Include> includes_below(const std::string& folder);

/// Whether the build makes a header of that name: the tables and headers of described registers.
[[nodiscard]] bool is_made(const std::string& header);

/// The architecture's order, from the bottom up: a folder includes itself and those on lower levels, and no
/// other of its own.
[[nodiscard]] const std::vector<std::vector<std::string>>& levels();
/// The level of a folder; none: it is not in the list.
[[nodiscard]] int level_of(const std::string& folder);

}  // namespace warpline::test
