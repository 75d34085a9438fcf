#pragma once

#include <vector>

namespace warpline::study {

/// The kernels of sw/microbench as PTX, which the build puts into the library.
struct MicrobenchText {
  const char* name;
  unsigned target;  ///< ten times the compute capability that it needs
  const char* ptx;
};
[[nodiscard]] const std::vector<MicrobenchText>& microbench_texts();
/// sw/microbench/rows.toml: published measurements, and how each is repeated.
[[nodiscard]] const char* microbench_rows();

}  // namespace warpline::study
