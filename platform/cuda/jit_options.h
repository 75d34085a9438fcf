#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpline::cuda {

/// What a program asks of the compiler that makes machine code of PTX when it loads a module
/// (CUDA Driver API, "CUjit_option"): numbers, and a value for each. The code that runs here is PTX itself,
/// so that what it asks of the code changes nothing; it gets its logs.
class JitOptions {
 public:
  JitOptions(unsigned count, const int* options, void** values)
      : count_(options == nullptr || values == nullptr ? 0 : count), options_(options), values_(values) {}

  /// Whether all are options that CUDA knows.
  [[nodiscard]] bool are_known() const;
  /// Writes what went wrong (empty: nothing did) into the program's buffer, as far as that goes, and how
  /// much that was; the log of what went right stays empty.
  void report(const std::string& errors) const;

 private:
  [[nodiscard]] void** value_of(int option) const;
  void fill(int buffer, int size, const std::string& text) const;

  unsigned count_;
  const int* options_;
  void** values_;
};

}  // namespace warpline::cuda
