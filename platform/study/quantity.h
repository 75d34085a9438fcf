#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/study/bench_device.h"

namespace warpline::study {

/// What a row says of how it is measured, beside the quantity's name: numbers and words, by key.
struct QuantityArguments {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;
};

/// A measurement that can be made on a device.
struct Quantity {
  const char* name;
  const char* meaning;                      ///< with its unit
  std::vector<const char*> numbers, words;  ///< keys of its arguments
  double (*measure)(BenchDevice& device, const QuantityArguments& arguments);
};

/// All that there are.
[[nodiscard]] const std::vector<Quantity>& quantities();
/// Null: there is none of that name.
[[nodiscard]] const Quantity* find_quantity(const std::string& name);

}  // namespace warpline::study
