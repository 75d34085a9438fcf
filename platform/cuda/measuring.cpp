#include "platform/cuda/measuring.h"

#include <charconv>

#include "rtl_models/base/plain_name.h"

namespace warpline::cuda {

Diagnostics Measuring::include(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool counted = colon != std::string::npos && colon != 0 && text[colon - 1] != ':';
  std::string name = text.substr(0, counted ? colon : std::string::npos);
  std::uint64_t count = 1;
  if (counted) {
    const char* const first = text.data() + colon + 1;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, count);
    if (error != std::errc() || end != last || count == 0)
      return {Diagnostic::about("--measure " + text, "behind the colon is how many grids of it, from 1 on")};
  }
  if (name.empty()) return {Diagnostic::about("--measure " + text, "it names no kernel")};
  all_ = false;
  left_[std::move(name)] = count;
  return {};
}

bool Measuring::takes(const std::string& kernel) {
  if (all_) return true;
  if (left_.empty()) return false;
  const std::uint64_t before = counts_[kernel]++;
  const std::string plain = plain_name(kernel);
  for (const auto& [begin, count] : left_)
    if ((kernel.rfind(begin, 0) == 0 || plain.rfind(begin, 0) == 0) && before < count) return true;
  return false;
}

}  // namespace warpline::cuda
