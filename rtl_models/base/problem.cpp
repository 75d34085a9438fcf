#include "rtl_models/base/problem.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace warpline {
namespace {

/// Of a longer line, what is around the place in question is shown, bytes.
constexpr std::size_t kLongestShown = 200;
constexpr std::size_t kShownBefore = 80;
constexpr std::string_view kLeftOut = "...";

struct Shown {
  std::string text;
  std::size_t column, length;
};

bool is_inside_character(const std::string& text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80;
}

/// Of a longer message, which repeats much of what somebody wrote, the beginning is shown, bytes.
constexpr std::size_t kLongestMessage = 4000;

std::string cut(const std::string& message) {
  if (message.size() <= kLongestMessage) return message;
  std::size_t end = kLongestMessage;
  while (is_inside_character(message, end)) --end;
  return message.substr(0, end) + std::string(kLeftOut);
}

Shown shown_part(const std::string& source, std::size_t column, std::size_t length) {
  if (source.size() <= kLongestShown) return {source, column, length};
  const std::size_t place = std::min(column == 0 ? 0 : column - 1, source.size());
  std::size_t begin = place > kShownBefore ? place - kShownBefore : 0;
  std::size_t end = std::min(begin + kLongestShown, source.size());
  while (is_inside_character(source, begin)) ++begin;
  while (is_inside_character(source, end)) --end;
  const std::string before(begin != 0 ? kLeftOut : ""), after(end != source.size() ? kLeftOut : "");
  return {before + source.substr(begin, end - begin) + after, before.size() + (place - begin) + 1,
          std::min(length, end - place)};
}

}  // namespace

std::string Diagnostic::text() const {
  std::string out = file;
  if (line != 0) out += ":" + std::to_string(line);
  if (line != 0 && column != 0) out += ":" + std::to_string(column);
  if (!out.empty()) out += ": ";
  out += "error: " + cut(message) + "\n";
  if (!source.empty()) {
    const std::string number = std::to_string(line);
    const Shown shown = shown_part(source, column, length);
    out += "  " + number + " | " + shown.text + "\n";
    if (column != 0) {
      std::string pad;
      for (std::size_t i = 0; i + 1 < shown.column && i < shown.text.size(); ++i)
        pad += shown.text[i] == '\t' ? '\t' : ' ';
      out += "  " + std::string(number.size(), ' ') + " | " + pad + "^" +
             std::string(shown.length > 1 ? shown.length - 1 : 0, '~') + "\n";
    }
  }
  if (!hint.empty()) out += "  hint: " + hint + "\n";
  return out;
}

namespace {

/// Levenshtein distance with transposed neighbours counted as one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = previous;
    previous = row;
  }
  return previous[b.size()];
}

}  // namespace

std::string near_miss(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& c : candidates) {
    // As many letters at least must come or go.
    if (std::max(c.size(), word.size()) - std::min(c.size(), word.size()) >= best_distance) continue;
    const std::size_t d = edit_distance(word, c);
    if (d < best_distance) {
      best_distance = d;
      best = c;
    }
  }
  return best;
}

}  // namespace warpline
