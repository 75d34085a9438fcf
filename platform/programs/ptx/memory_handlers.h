#pragma once

#include "platform/programs/ptx/frame.h"
#include "rtl_models/isa/data_type.h"

namespace warpline::ptx {

// Handlers of memory operations. The issuing ones fill Issue::access; the finishing ones take the
// loaded bytes from it.

void issue_load(const Op& op, Frame& f);
void issue_atomic(const Op& op, Frame& f);
/// Takes the elements of `b` from the registers in the list kSecond.
void issue_vector_atomic(const Op& op, Frame& f);
/// Stores elements of `data_bytes` from registers of `register_bytes`.
[[nodiscard]] Handler store_handler(unsigned data_bytes, unsigned register_bytes);
/// Extends elements of `type` to registers of `register_bytes`: signed types with their sign.
[[nodiscard]] Handler load_handler(DataType type, unsigned register_bytes);

/// `.param` variables of device functions, which lie in the warp's register file: the block's
/// place is operand kAddress, its bytes per lane `target`, the offset `immediate`; mode 1: signed.
void read_parameter(const Op& op, Frame& f);
void write_parameter(const Op& op, Frame& f);

}  // namespace warpline::ptx
