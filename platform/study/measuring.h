#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/study/quantity.h"

// What measurements have in common.

namespace warpline::study {

/// A row's arguments, each with what it is where the row does not say.
class Given {
 public:
  explicit Given(const QuantityArguments& a) : arguments_(a) {}
  [[nodiscard]] std::uint64_t number(const char* key, std::uint64_t otherwise) const {
    const auto found = arguments_.numbers.find(key);
    return found == arguments_.numbers.end() ? otherwise : static_cast<std::uint64_t>(found->second);
  }
  [[nodiscard]] std::string word(const char* key, const char* otherwise) const {
    const auto found = arguments_.words.find(key);
    return found == arguments_.words.end() ? otherwise : found->second;
  }

 private:
  const QuantityArguments& arguments_;
};

/// The value in the middle; of an even number, the upper of the two. Pre: there are some.
template <class T>
T median_of(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Cycles that a kernel told in result[0].
inline double told_cycles(BenchDevice& device, KernelCall call, std::uint64_t result) {
  device.run(call.pointer(result));
  std::uint64_t cycles = 0;
  device.read(result, &cycles, sizeof cycles);
  return static_cast<double>(cycles);
}

/// By how much run(2 * rounds) takes longer than run(rounds), once the code is in the caches: what a launch
/// costs is left out.
template <class Run>
double of_rounds(const Run& run, unsigned rounds) {
  run(rounds);
  const double few = run(rounds);
  return run(2 * rounds) - few;
}

}  // namespace warpline::study
