#pragma once

#include <cstddef>
#include <string_view>

namespace warpline {

/// Whether all of `text` matches `pattern`, in which `*` stands for any number of characters, `?` for one,
/// and every other character for itself: brackets, too, since names of blocks have them (`l2[0]*`).
[[nodiscard]] inline bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  // After a mismatch the last star takes one character more; an earlier star never needs to.
  std::size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace warpline
