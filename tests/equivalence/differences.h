#pragma once

#include <string>
#include <vector>

namespace warpline::test {

/// How two runs differ, a sentence for each of the first few places: the comparison by which every law of
/// this folder is judged. Empty if the traces are equal.
[[nodiscard]] inline std::vector<std::string> differences(const std::vector<std::string>& expected,
                                                          const std::vector<std::string>& seen) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> found;
  if (expected.size() != seen.size())
    found.push_back(std::to_string(expected.size()) + " lines expected, " + std::to_string(seen.size()) +
                    " seen");
  for (std::size_t i = 0; i < expected.size() && i < seen.size() && found.size() < kMost; ++i)
    if (expected[i] != seen[i])
      found.push_back("line " + std::to_string(i) + ": expected \"" + expected[i] + "\", saw \"" + seen[i] +
                      "\"");
  return found;
}

}  // namespace warpline::test
