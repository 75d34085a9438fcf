#include "tests/rtl_models/registers/generator/manual_tables.h"

#include <gtest/gtest.h>

#include <sstream>

namespace warpline::test {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" `"), last = text.find_last_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// The cells of "| a | b |".
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      cells.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

}  // namespace

std::vector<ManualTable> tables_of(std::string_view markdown) {
  std::vector<ManualTable> tables;
  std::istringstream in{std::string(markdown)};
  std::string chapter, section, before;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool row = !line.empty() && line[0] == '|';
    if (row && !inside) tables.push_back({chapter, section, before, cells_of(line), {}});
    if (row && inside && line.find("|---") != 0) {
      tables.back().rows.push_back(cells_of(line));
      EXPECT_EQ(tables.back().rows.back().size(), tables.back().head.size()) << line;
    }
    inside = row;
    if (line.rfind("### ", 0) == 0) section = line.substr(4);
    if (line.rfind("## ", 0) == 0) chapter = line.substr(3), section.clear();
    if (!row && !line.empty()) before = line;
  }
  return tables;
}

}  // namespace warpline::test
