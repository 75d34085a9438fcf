#pragma once

#include <cstdint>
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

/// What a quantity is measured in, before a row's unit is made of it.
enum class Dimension : unsigned char {
  cycles,
  bytes_per_second,
  bytes_per_cycle,
  operations_per_cycle,
  count
};

/// An argument that is a number, at least `least` and at most `most`.
struct NumberArgument {
  const char* name;
  bool required = false;
  std::uint64_t least = 1, most = std::uint64_t{1} << 40U;
};
/// An argument that is one of a few words; the first is meant where a row says none.
struct WordArgument {
  const char* name;
  std::vector<const char*> words;
};

/// A measurement that can be made on a device.
struct Quantity {
  const char* name;
  const char* meaning;  ///< with its unit
  Dimension dimension;
  std::vector<NumberArgument> numbers;
  std::vector<WordArgument> words;
  /// Pre: all required arguments are given, and all are allowed.
  double (*measure)(BenchDevice& device, const QuantityArguments& arguments);
};

/// All that there are.
[[nodiscard]] const std::vector<Quantity>& quantities();
/// Null: there is none of that name.
[[nodiscard]] const Quantity* find_quantity(const std::string& name);

}  // namespace warpline::study
