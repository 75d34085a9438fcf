#include "platform/cuda/shortcomings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace warpline::cuda {

void say(const std::string& line) {
  std::fputs(("warpline: " + line + (line.empty() || line.back() != '\n' ? "\n" : "")).c_str(), stderr);
}

Shortcomings& Shortcomings::instance() {
  static auto* const all = new Shortcomings;  // destructors of the program may still call
  return *all;
}

void Shortcomings::note(const std::string& what, const std::string& sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (++counts_[what] != 1) return;
  }
  say(sentence);
}

std::map<std::string, std::uint64_t> Shortcomings::all() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Shortcomings::summary() const {
  const auto counts = all();
  if (counts.empty()) return {};
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = "the program did not get all that it asked for:\n";
  for (const auto& [what, count] : sorted)
    out += fmt::format("  {:>8}  {}\n", fmt::format("{} x", count), what);
  return out;
}

}  // namespace warpline::cuda
