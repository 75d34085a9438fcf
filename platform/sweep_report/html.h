#pragma once

#include <string>
#include <vector>

#include "platform/report/svg_plot.h"

namespace warpline::sweep {

/// A text of a user's for HTML: what would be markup or control is shown, not done.
[[nodiscard]] std::string escaped(const std::string& text);
/// A text as part of a name that links may point at: letters, digits and underscores.
[[nodiscard]] std::string anchor(const std::string& text);

/// Numbers for people. 12,345; 0.352; three significant digits below 1,000.
[[nodiscard]] std::string number_text(double value);
/// 0.482 as "48.2%".
[[nodiscard]] std::string percent_text(double share);
/// "1.2 MiB".
[[nodiscard]] std::string bytes_text(double bytes);
/// A ratio as a change: 0.42 is "−58%", 1.2 is "+20%", 3.4 is "3.4 times".
[[nodiscard]] std::string change_text(double ratio);

/// A cell of a table.
struct Cell {
  std::string html;          ///< escaped already
  std::string classes = {};  ///< of the style sheet
  unsigned columns = 1;
};

/// A table of HTML, built row by row. `caption` says what it is, escaped already.
class HtmlTable {
 public:
  explicit HtmlTable(std::string caption, std::string classes = {})
      : caption_(std::move(caption)), classes_(std::move(classes)) {}
  /// Rows of the head; the first cells of other rows are heads, too.
  void head(const std::vector<Cell>& cells);
  void row(const std::vector<Cell>& cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// In a frame that scrolls where the page is too narrow.
  [[nodiscard]] std::string html() const;

 private:
  std::string caption_, classes_, head_, rows_;
};

}  // namespace warpline::sweep
