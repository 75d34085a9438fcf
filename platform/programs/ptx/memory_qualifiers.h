#pragma once

#include "platform/programs/ptx/decoder.h"
#include "rtl_models/isa/mem_op.h"

namespace warpline::ptx {

/// Reads every qualifier of a memory instruction that MemOp has a place for, but its type. The statement has
/// been judged: which of them go together is not asked again.
[[nodiscard]] MemOp take_qualifiers(Decoder& d, MemKind kind);
/// Decodes a `fence` or `membar` between proxies. Returns whether the statement is one.
bool decode_proxy_fence(Decoder& d);
/// Fails, with the qualifier, where PTX allows `m` and this version does not run it.
void refuse_unmodelled(Decoder& d, const MemOp& m);

}  // namespace warpline::ptx
