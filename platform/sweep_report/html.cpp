#include "platform/sweep_report/html.h"

#include <fmt/format.h>

#include <cmath>

#include "rtl_models/base/text.h"

namespace warpline::sweep {

std::string escaped(const std::string& text) {
  return html_text(printable(text));
}

std::string anchor(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    out += plain ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "\u2013";
  if (std::abs(value) < 1000) {
    const std::string text = fmt::format("{:.3g}", value);
    return text == "1e+03" ? "1,000" : text;
  }
  if (std::abs(value) >= 1e15) return fmt::format("{:.4g}", value);
  return (value < 0 ? "\u2212" : "") + grouped(static_cast<std::uint64_t>(std::llround(std::abs(value))));
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return fmt::format(percent < 10 ? "{:.1f}%" : "{:.0f}%", percent);
}

std::string bytes_text(double bytes) {
  if (std::isnan(bytes)) return "\u2013";
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t u = 0;
  while (bytes >= 1024 && u + 1 < std::size(units)) bytes /= 1024, ++u;
  return fmt::format("{:.4g} {}", bytes >= 100 ? std::round(bytes) : std::round(bytes * 10) / 10, units[u]);
}

std::string change_text(double ratio) {
  if (ratio >= 2) return fmt::format(ratio < 10 ? "{:.1f} times" : "{:.0f} times", ratio);
  const double percent = 100 * (ratio - 1);
  if (std::abs(percent) < 0.05) return "\u00b10%";
  const char* const sign = percent < 0 ? "\u2212" : "+";
  return sign + fmt::format(std::abs(percent) < 9.95 ? "{:.1f}%" : "{:.0f}%", std::abs(percent));
}

namespace {

std::string row_of(const std::vector<Cell>& cells, bool head) {
  std::string out = "<tr>";
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const Cell& c = cells[n];
    const char* const tag = head || n == 0 ? "th" : "td";
    out += fmt::format("<{}", tag);
    if (head) {
      out += c.columns > 1 ? " scope=\"colgroup\"" : " scope=\"col\"";
    } else if (n == 0) {
      out += " scope=\"row\"";
    }
    if (c.columns > 1) out += fmt::format(" colspan=\"{}\"", c.columns);
    if (!c.classes.empty()) out += fmt::format(" class=\"{}\"", c.classes);
    out += fmt::format(">{}</{}>", c.html, tag);
  }
  return out + "</tr>\n";
}

}  // namespace

void HtmlTable::head(const std::vector<Cell>& cells) {
  head_ += row_of(cells, true);
}

void HtmlTable::row(const std::vector<Cell>& cells) {
  rows_ += row_of(cells, false);
}

std::string HtmlTable::html() const {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table "
      "class=\"{3}\"><caption>{0}</caption>\n"
      "<thead>{1}</thead>\n<tbody>{2}</tbody></table></div>\n",
      caption_, head_, rows_, classes_);
}

}  // namespace warpline::sweep
