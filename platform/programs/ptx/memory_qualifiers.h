#pragma once

#include "warpline/isa/mem_op.h"
#include "warpline/programs/ptx/decoder.h"

namespace warpline::ptx {

/// Reads every qualifier of a memory instruction but its type.
[[nodiscard]] MemOp take_qualifiers(Decoder& d, MemKind kind);
/// Decodes a `fence` or `membar` between proxies. Returns whether the statement is one.
bool decode_proxy_fence(Decoder& d);
/// Fails, with the qualifier, where PTX allows `m` and this version does not run it.
void refuse_unmodelled(Decoder& d, const MemOp& m);

}  // namespace warpline::ptx
