#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/programs/sass_trace/line_reader.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"

namespace warpline::sass {

/// What the `-key = value` lines at the top of a kernel trace say.
struct TraceHeader {
  std::string kernel_name;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;    ///< `shmem`: static and dynamic, per thread block
  std::uint32_t registers = 0;       ///< `nregs`, per thread
  std::uint32_t binary_version = 0;  ///< 80 for sm_80
  std::uint64_t shared_base = 0;     ///< generic address of the shared window; 0: not told
  std::uint64_t local_base = 0;      ///< generic address of the local window; 0: not told
  unsigned version = 1;              ///< of the tracer; 1 where the header does not say
  bool has_lines = false;            ///< `enable lineinfo`: instructions start with a line number
  std::vector<std::string> unknown;  ///< keys that this reader does not know

  friend bool operator==(const TraceHeader& a, const TraceHeader& b) {
    return a.kernel_name == b.kernel_name && a.grid == b.grid && a.block == b.block &&
           a.shared_bytes == b.shared_bytes && a.registers == b.registers &&
           a.binary_version == b.binary_version && a.shared_base == b.shared_base &&
           a.local_base == b.local_base && a.version == b.version && a.has_lines == b.has_lines &&
           a.unknown == b.unknown;
  }
  [[nodiscard]] unsigned warps_per_block() const {
    return static_cast<unsigned>((block.count() + kWarpLanes - 1) / kWarpLanes);
  }
  /// Lanes that exist in warp `warp` of a thread block.
  [[nodiscard]] LaneMask lanes_of(unsigned warp) const {
    const std::uint64_t left = block.count() - std::uint64_t{warp} * kWarpLanes;
    return left >= kWarpLanes ? 0xFFFFFFFFU : (LaneMask{1} << left) - 1;
  }
};

/// Reads the header, and stops after its `#traces format` line (or before the first thread block
/// where there is none: `first_body_line` then holds that line). Every fault at once. Throws
/// InputError if the file cannot be read on.
[[nodiscard]] Result<TraceHeader> read_header(LineReader& lines, std::string& first_body_line);

}  // namespace warpline::sass
