#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace warpline::test {

/// A series (docs/series.md), read again.
struct Series {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  /// Pre: no field has a comma.
  [[nodiscard]] static Series read(const std::string& path) {
    const auto fields = [](const std::string& line) {
      std::vector<std::string> out(1);
      for (const char c : line)
        if (c == ',')
          out.emplace_back();
        else
          out.back() += c;
      return out;
    };
    Series out;
    std::ifstream in(path);
    std::string line;
    if (std::getline(in, line)) out.columns = fields(line);
    while (std::getline(in, line)) out.rows.push_back(fields(line));
    return out;
  }
  /// Of a row, the field in that column; nothing: there is none.
  [[nodiscard]] std::string at(std::size_t row, const std::string& column) const {
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c] == column) return rows.at(row).at(c);
    return {};
  }
  [[nodiscard]] std::uint64_t number(std::size_t row, const std::string& column) const {
    return std::stoull(at(row, column));
  }
  /// Of all rows together, by the names of the columns from that one on.
  [[nodiscard]] std::map<std::string, std::uint64_t> sums(std::size_t from) const {
    std::map<std::string, std::uint64_t> out;
    for (const auto& row : rows)
      for (std::size_t c = from; c < row.size(); ++c) out[columns.at(c)] += std::stoull(row[c]);
    return out;
  }
};

/// The bytes of a file.
[[nodiscard]] inline std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace warpline::test
