#pragma once

#include <cstdint>

#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/sm/kernel.h"

namespace warpline::ptx {

/// Who a warp is.
struct WarpIdentity {
  const KernelInfo* kernel = nullptr;
  std::uint32_t dynamic_shared_bytes = 0;
  Dim3 cta;
  unsigned warp = 0;
  unsigned sm = 0;
  unsigned sms = 1;
};

/// The value of `id` in `lane`.
[[nodiscard]] std::uint64_t special_value(SpecialRegister id, const WarpIdentity& who, unsigned lane);

}  // namespace warpline::ptx
