#pragma once

#include "rtl_models/base/types.h"

namespace warpline {

/// Which of several ports between an SM and its L1 a line goes by: all that concerns one line by the same, in
/// its order. Of 2^k ports, so that lines at strides of powers of two spread over them (fit of the strided
/// loads of A100 and A40, RRZE-HPC/gpu-benches).
[[nodiscard]] constexpr unsigned l1_port_of(VirtualAddress line, unsigned ports) {
  const std::uint64_t n = line_number(line);
  return static_cast<unsigned>(n ^ n >> 2U) & (ports - 1);
}

}  // namespace warpline
