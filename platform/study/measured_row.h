#pragma once

#include <string>
#include <vector>

#include "platform/study/quantity.h"
#include "rtl_models/base/problem.h"

namespace warpline::study {

/// A published measurement of a GPU, and how it is repeated.
struct MeasuredRow {
  std::string id;
  std::string gpu;   ///< the preset that stands for it
  std::string kind;  ///< class of what is measured, by which errors are told
  double value = 0;
  std::string unit;
  double tolerance = 0;  ///< per cent; 0: none is asked for
  bool brief = false;    ///< measured in about a second: of the part that every run of the tests measures
  std::string source;
  const Quantity* quantity = nullptr;  ///< null: refused says why there is none
  QuantityArguments arguments;
  std::string refused;
};

/// Reads a file of rows (sw/microbench/rows.toml describes it). Every fault is told at once.
[[nodiscard]] Result<std::vector<MeasuredRow>> read_rows(const std::string& file, const std::string& text);

/// Rows as such a file has them.
[[nodiscard]] std::string rows_toml(const std::vector<MeasuredRow>& rows);

/// `measured`, in the unit of its quantity, in the unit of the row. Pre: the row was read.
[[nodiscard]] double in_unit_of(const MeasuredRow& row, double measured, const DeviceShape& shape);

}  // namespace warpline::study
