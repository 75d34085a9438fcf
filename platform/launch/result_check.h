#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/launch/loaded_file.h"

namespace warpline {

/// What the host put into the arrays that a file's expressions name: made again, for those that are named,
/// when results are checked, so that a run holds no second copy of its data.
class InitialArrays {
 public:
  explicit InitialArrays(const LoadedFile& loaded);
  /// As LaunchFile::arrays; empty for arrays that no expression names.
  [[nodiscard]] const std::vector<ArrayView>& views() const { return views_; }

 private:
  std::vector<std::vector<std::uint8_t>> bytes_;
  std::vector<ArrayView> views_;
};

/// What a check compares, and how it gets at it.
struct CheckedData {
  std::string name;
  DataType type = DataType::none;
  std::uint64_t count = 0;
  /// Reads elements [first, first + n) as they are after the last launch.
  std::function<void(std::uint64_t first, std::uint64_t n, std::uint8_t* to)> read;
  /// Asked now and then; false stops the comparison, and what it returns means nothing. Empty: none does.
  std::function<bool()> go_on{};
};

/// Compares with what was expected: to the bit (any NaN equals any NaN), or within the tolerance.
/// Returns an empty string, or a sentence with the number of differences, the first index, got and wanted;
/// or, of an expression that fails, why. `arrays` are the contents that expressions may name.
[[nodiscard]] std::string check_data(const CheckedData& data, const Expectation& expect,
                                     const std::vector<ArrayView>& arrays, const Document& document);

}  // namespace warpline
